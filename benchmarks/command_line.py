"""CPU seconds of commands in a fresh process, imports included.

    python -m benchmarks.command_line [--demo]

`foretide --help` and `foretide plan` on 28 days at 60 s, target read too; the servers that it asks
run in this process, so their work is not in it. With `--demo` also the whole demo, with servers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.world.tides import Tide, make_tide

DAYS = 28
POLICY = """
apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata: {name: chat, namespace: llm}
spec:
  timeZone: Asia/Shanghai
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: chat}
  demand: {query: "sum(demand)", history: 28d}
  capacity: {perReplica: 3.2}
"""


def cpu_of(*arguments: str, environment: dict[str, str] | None = None) -> float:
    """CPU seconds, user and system, of one command and its children; its output is dropped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "autoscaler.cli.main", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plan(folder: Path) -> tuple[float, float]:
    """CPU seconds of `plan` without and with its pictures."""
    now = float(np.floor(time.time() / 60) * 60)
    times = now - DAYS * 86_400 + 60.0 * np.arange(DAYS * 1440 + 1)
    demand = make_tide(Tide(), DAYS + 1, seed=1)[: len(times)]
    with PrometheusServer() as prometheus, KubernetesServer() as cluster:
        prometheus.append("demand", {}, times, demand)
        cluster.put(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "chat", "namespace": "llm"},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "c"},
                    "minReplicas": 3,
                    "maxReplicas": 30,
                },
            }
        )
        (folder / "kubeconfig").write_text(json.dumps(cluster.kubeconfig()))
        (folder / "policy.yaml").write_text(POLICY)
        where = {"KUBECONFIG": str(folder / "kubeconfig")}
        command = ("plan", "-f", str(folder / "policy.yaml"), "--prometheus", prometheus.url)
        plain = cpu_of(*command, environment=where)
        return plain, cpu_of(*command, "--out", str(folder / "out"), environment=where)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demo", action="store_true", help="measure the demo too (a minute)")
    given = parser.parse_args()
    print(f"foretide --help: {min(cpu_of('--help') for _ in range(3)):.2f} CPU s")
    with tempfile.TemporaryDirectory() as folder:
        plain, pictures = plan(Path(folder))
        print(f"foretide plan, {DAYS} days at 60 s: {plain:.2f} CPU s; with --out {pictures:.2f}")
        if given.demo:
            spent = cpu_of("demo", "--out", str(Path(folder) / "demo"))
            print(f"foretide demo, 3 days: {spent:.0f} CPU s, servers included")


if __name__ == "__main__":
    main()
