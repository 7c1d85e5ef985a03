"""What a simulation leaves in its folder for other programs: summary.json and the timelines."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autoscaler.replay import need_of
from autoscaler.report import utc_time
from autoscaler.simulator.runs import Run
from autoscaler.simulator.simulation import Simulated
from autoscaler.world.traffic import Traffic

VERSION = 1

COLUMNS = (
    *("t", "timestamp", "demand", "forecast_p50", "forecast_upper", "need", "floor"),
    *("desired", "ready", "backlog_seconds", "late"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What of the question is told with the answer.

    Attributes
    ----------
    traffic, name : what was replayed
    seed : of the bootstrap
    gpus : a replica
    price : of a GPU-hour, None when it is not known
    """

    traffic: Traffic
    name: str
    seed: int = 0
    gpus: float = 1.0
    price: float | None = None


# long: a line for each field of the document
def summary(simulated: Simulated, asked: Asked) -> dict[str, Any]:
    """Give summary.json, the versioned account of a simulation: one document, so one function."""
    world, best = simulated.world, simulated.best.account
    service = world.service
    return {
        "version": VERSION,
        "partial": simulated.partial,
        "trace": {
            "name": asked.name,
            "column": asked.traffic.column,
            "begins": utc_time(world.begins),
            "days": len(world.demand) / world.day,
            "refused_rows": len(asked.traffic.refused),
        },
        "policy": simulated.policy.manifest(),
        "world": {
            "capacity": service.capacity,
            "cold_start_seconds": service.cold * service.step,
            "step_seconds": service.step,
            "wait_seconds": service.wait,
            "start_cost_replica_seconds": service.start_cost,
            "price": service.price,
            "hpa_target": world.target,
            "hpa": "manifest" if world.full is not None else "plain",
        },
        "seed": asked.seed,
        "evaluated": {
            "from": world.measured * service.step,
            "to": len(world.demand) * service.step,
            "steps": len(world.demand) - world.measured,
        },
        "clairvoyant": {
            "cost": best.cost(service),
            "replica_hours": best.replica_hours,
            "replicas_started": best.replicas_started,
        },
        "runs": [_run(simulated, run, asked) for run in simulated.runs],
        "learnt": [
            {
                "at": utc_time(fit.at),
                "forecaster": fit.name,
                "order_level": fit.level,
                "compared": fit.chosen,
            }
            for fit in (simulated.flight.learnings if simulated.flight else ())
        ],
    }


def _run(simulated: Simulated, run: Run, asked: Asked) -> dict[str, Any]:
    """Give one entry of `runs`."""
    hours = run.account.replica_hours * asked.gpus
    found = simulated.intervals.get(run.name)
    entry: dict[str, Any] = {
        "name": run.name,
        "settings": dict(run.settings),
        **asdict(run.account),
        "gpu_hours": hours,
        "money": None if asked.price is None else hours * asked.price,
        "interval_95": None if found is None else asdict(found),
    }
    if run.name in simulated.frontiers:
        entry["frontier"] = [asdict(point) for point in simulated.frontiers[run.name]]
    return entry


def write_json(document: Any, path: Path) -> None:
    """Write JSON in the same bytes for the same document; numbers that are not finite are null."""
    text = json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_timeline(simulated: Simulated, run: Run, path: Path) -> None:
    """Write one run step by step, from the start of the run on."""
    world = simulated.world
    service, demand = world.service, world.run_demand
    t = (world.start + np.arange(len(demand))) * service.step
    expected = np.full((2, len(demand)), np.nan) if run.expected is None else run.expected
    floors = np.full(len(demand), np.nan) if run.floors is None else run.floors
    ready, backlog = run.replayed.ready[0], run.replayed.backlog[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        waits = np.where(backlog > 0, backlog / (ready * service.capacity), 0.0)
    need = need_of(demand, service)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for i in range(len(demand)):
            rows.writerow(
                (
                    f"{t[i]:g}",
                    utc_time(world.begins + float(t[i])),
                    _number(demand[i]),
                    _number(expected[0, i]),
                    _number(expected[1, i]),
                    need[i],
                    _number(floors[i]),
                    run.replayed.total[0, i],
                    ready[i],
                    _number(waits[i]),
                    int(run.replayed.late[0, i]),
                )
            )


def file_name(run: Run) -> str:
    """Name of a run's timeline file."""
    return run.name.replace(" ", "-") + ".csv"


def _number(value: float) -> str:
    """Seven digits; an unknown number is an empty cell, an endless one `inf`."""
    return "" if math.isnan(value) else f"{value:.7g}"


def _plain(value: Any) -> Any:
    """Replace what JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
