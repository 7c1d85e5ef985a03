"""CPU seconds of `foretide plan` against the lab: a real Prometheus, a real API server.

    python -m benchmarks.lab_plan

28 days at 60 s are backfilled; the programs of the lab must have been built (`make lab`). Imports
are included, the servers' own work is not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from autoscaler.world.tides import Tide, make_tide
from benchmarks.command_line import DAYS, POLICY, cpu_of
from tests.lab import build
from tests.lab.objects import scaler
from tests.lab.plane import ControlPlane
from tests.lab.prometheus import Prometheus, openmetrics


def past(now: float) -> str:
    """28 days of a made-up tide at 60 s, as OpenMetrics."""
    times = now - 60.0 * np.arange(DAYS * 1440, 0, -1)
    demand = make_tide(Tide(), DAYS + 1, seed=1)[: len(times)]
    return openmetrics("gauge", "demand", [({}, times.tolist(), demand.tolist())])


def main() -> int:
    """Measure and print; 1 when the lab is not there."""
    if absent := build.missing():
        print(f"not built: {', '.join(absent)}; run make lab once")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "policy.yaml").write_text(POLICY)
        prometheus = Prometheus(home / "prometheus", past=[past(time.time() // 60 * 60)])
        plane = ControlPlane(home)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "llm"}}
        plane.api.create(namespace)
        plane.api.create(scaler("llm", "chat", low=3, high=30, metric="none", target="1"))
        command = ("plan", "-f", str(home / "policy.yaml"), "--prometheus", prometheus.url)
        where = {"KUBECONFIG": str(plane.kubeconfig())}
        spent = [cpu_of(*command, environment=where) for _ in range(3)]
        print(f"foretide plan, {DAYS} days at 60 s from the lab: {min(spent):.2f} CPU s")
        plane.stop()
        prometheus.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
