"""Traffic files written, from imported slots or from one's own Prometheus."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Config
from autoscaler.errors import HistoryUnavailable
from autoscaler.model import History
from autoscaler.policy import TidePolicy
from autoscaler.report import utc_time
from autoscaler.simulator.counting import Imported
from autoscaler.world.traffic import Traffic


def write_traffic(imported: Imported, out: Path) -> None:
    """Write a traffic file, compressed when its name ends in .gz."""
    names = list(imported.columns)
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(["t", *(["timestamp"] if imported.absolute else []), *names])
    first = float(imported.times[0])
    for i, at in enumerate(imported.times.tolist()):
        stamp = [utc_time(at)] if imported.absolute else []
        values = (f"{imported.columns[name][i]:.9g}" for name in names)
        rows.writerow([f"{at - first:.9g}", *stamp, *values])
    data = buffer.getvalue().encode()
    # no time inside the archive: the same source gives the same bytes
    out.write_bytes(gzip.compress(data, mtime=0) if out.suffix == ".gz" else data)


def from_prometheus(policy: TidePolicy, config: Config, now: float, days: int) -> Traffic:
    """Take a policy's own history as traffic.

    Raises
    ------
    HistoryUnavailable
        Prometheus does not answer, or has nothing.
    """
    demand = policy.spec.demand.model_copy(update={"history": days * 86_400.0})
    asked = policy.copy_with(demand=demand)
    history = PrometheusDemand(config.prometheus, step=config.step).read(asked, now)
    return traffic_of(history)


def traffic_of(history: History) -> Traffic:
    """Give a history as traffic; what is not finite is a hole."""
    known = np.isfinite(history.demand.values)
    times, values = history.demand.times[known], history.demand.values[known]
    if len(times) < 2:
        raise HistoryUnavailable("fewer than two samples", code="NoSeries")
    return Traffic(
        times=times - times[0],
        values=values,
        column="demand",
        slot=history.step,
        start=float(times[0]),
    )
