"""What reading targets and writing a floor costs, against the lab's real API server.

    python -m benchmarks.cluster [--targets 200]

The programs of the lab must have been built (`make lab`). CPU is this process', so the API server's
work is not in it; a cycle reads every target once, as the controller does.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.policy import TidePolicy
from tests.lab import build
from tests.lab.objects import scaler, tide_policy
from tests.lab.plane import ControlPlane

CYCLES = 10


def measured(run: Callable[[], None]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, wall = time.process_time(), time.monotonic()
    run()
    return time.process_time() - cpu, time.monotonic() - wall


def read_all(targets: KubernetesTargets, policies: list[TidePolicy]) -> None:
    """One cycle's reads."""
    for policy in policies:
        targets.observe(policy)


def main() -> int:
    """Measure and print; 1 when the lab is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=200)
    count = parser.parse_args().targets
    if absent := build.missing():
        print(f"not built: {', '.join(absent)}; run make lab once")
        return 1
    policies = [
        TidePolicy.model_validate(
            tide_policy("llm", f"s-{i}", mode="Act", query="demand", capacity={"perReplica": 1})
        )
        for i in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        plane = ControlPlane(Path(folder))
        try:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "llm"}}
            plane.api.create(namespace)
            for i in range(count):
                target = scaler("llm", f"s-{i}", low=3, high=30, metric="none", target="1")
                plane.api.create(target)
            measure(plane, policies)
        finally:
            plane.stop()
    return 0


def measure(plane: ControlPlane, policies: list[TidePolicy]) -> None:
    """Read everything several times, then write every floor once."""
    cluster = connect(kubeconfig=plane.kubeconfig())
    cpu, wall = measured(lambda: read_all(KubernetesTargets(cluster), policies))
    print(f"{len(policies)} targets, first cycle: {cpu:.3f} CPU s, {wall:.2f} s")
    spent = [
        measured(lambda: read_all(KubernetesTargets(cluster), policies)) for _ in range(CYCLES)
    ]
    cpu, wall = (sum(each) / CYCLES for each in zip(*spent, strict=True))
    print(f"{len(policies)} targets, a cycle: {cpu:.3f} CPU s, {wall:.2f} s")
    targets = KubernetesTargets(cluster, fresh=60.0)
    seen = [targets.observe(policy) for policy in policies]
    floors = KubernetesFloors(cluster, may_write=lambda: True)

    def write_all() -> None:
        for policy, target in zip(policies, seen, strict=True):
            floors.write(policy, target, target.floor + 1)

    cpu, wall = measured(write_all)
    print(f"a first write: {cpu / len(policies) * 1e3:.1f} ms CPU, {wall / len(policies):.3f} s")
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"memory: {highest:.0f} MB at most, imports included")


if __name__ == "__main__":
    sys.exit(main())
