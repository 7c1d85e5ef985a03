"""CPU and memory of `foretide run` for a fleet, measured from outside on the real process.

    python -m benchmarks.controller --policies 200 --days 28 --cycles 10

Both sandbox servers run in this process, the controller in its own; what is printed is read from
/proc of the controller (and, apart, of its fit worker), so the servers' work is not in it. CPU of a
cycle is the mean over whole periods after the first pass, in which all history is fetched.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import yaml

from autoscaler.sandbox.kubernetes.server import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer

TICK = os.sysconf("SC_CLK_TCK")
NAMESPACE = "llm"


def cpu(pid: int) -> float:
    """CPU seconds of a process so far, user and system."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int, what: str = "VmRSS") -> float:
    """Memory of a process in MB of 10⁶ bytes."""
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{what}:\s+(\d+) kB", text)
    return int(found[1]) * 1024 / 1e6 if found else float("nan")


# long: documents written out
def build(root: Path, count: int, days: float, servers: tuple) -> Path:
    """Targets, demand and policies of a fleet, and the configuration."""
    kubernetes, prometheus = servers
    rng = np.random.default_rng(1)
    end = np.ceil(time.time() / 60) * 60 + 3 * 3600
    times = np.arange(end - 3 * 3600 - days * 86_400, end, 60.0)
    tide = 30 + 20 * np.sin(times * 2 * np.pi / 86_400) + 5 * np.sin(times * 2 * np.pi / 604_800)
    policies = root / "policies"
    policies.mkdir()
    for i in range(count):
        name = f"service-{i:03d}"
        values = rng.gamma(25.0, tide / 25.0).astype(np.float32).astype(float)
        prometheus.append("demand", {"service": name}, times, values)
        ref = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": name}
        kubernetes.put(
            {
                "apiVersion": ref["apiVersion"],
                "kind": ref["kind"],
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {
                    "minReplicas": 2,
                    "maxReplicas": 60,
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
                },
            }
        )
        policy = {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "mode": "Act",
                "targetRef": ref,
                "demand": {
                    "query": f'demand{{service="{name}"}}',
                    "history": f"{max(2, round(days))}d",
                },
                "capacity": {"perReplica": 3.2},
            },
        }
        (policies / f"{name}.yaml").write_text(yaml.safe_dump(policy))
    (root / "kubeconfig").write_text(yaml.safe_dump(kubernetes.kubeconfig()))
    config = {
        "prometheus": {"url": prometheus.url},
        "kubernetes": {"kubeconfig": str(root / "kubeconfig")},
        "policies": {"paths": [str(policies)]},
        "web": {"port": 0},
        "telemetry": {"records": {"directory": str(root / "records")}, "logs": {"format": "json"}},
    }
    path = root / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


class Run:
    """The controller in its own process."""

    def __init__(self, root: Path, config: Path) -> None:
        self.log = root / "log"
        self.stream = self.log.open("w")
        command = [sys.executable, "-m", "autoscaler.cli.main", "run", "--config", str(config)]
        self.process = subprocess.Popen(command, stderr=self.stream)
        self.url = ""

    @property
    def pid(self) -> int:
        """Process id of the controller."""
        return self.process.pid

    def fits_pid(self) -> int | None:
        """Process id of the fit worker, when there is one."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        for task in tasks:
            with contextlib.suppress(OSError):
                children += (task / "children").read_text().split()
        for child in children:
            with contextlib.suppress(OSError):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        return None

    def ready(self) -> bool:
        """Whether the first pass is done."""
        if self.process.poll() is not None:
            raise SystemExit(self.log.read_text()[-4000:])
        if not self.url:
            found = re.search(r"running: (http://[^/]+)/metrics", self.log.read_text())
            self.url = found[1] if found else ""
            return False
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=10) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            error.close()
            return False

    def page(self) -> str:
        """Text of /metrics."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=10) as answer:
            return str(answer.read().decode())

    def metric(self, name: str) -> float:
        """One series of /metrics."""
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.page(), re.MULTILINE)
        return float(found[1]) if found else float("nan")

    def stop(self) -> float:
        """Seconds from SIGTERM to the end."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.stream.close()
        return time.monotonic() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policies", type=int, default=200)
    parser.add_argument("--days", type=float, default=28.0)
    parser.add_argument("--cycles", type=int, default=5)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        KubernetesServer() as kubernetes,
        PrometheusServer() as prometheus,
    ):
        root = Path(folder)
        run = Run(root, build(root, given.policies, given.days, (kubernetes, prometheus)))
        try:
            measure(run, root, given.cycles)
            swallow(run, prometheus, given.policies)
            print(f"stopped {run.stop():.1f} s after SIGTERM")
        finally:
            run.process.kill()


def measure(run: Run, root: Path, cycles: int) -> None:
    """First pass, then one line a minute, then what it comes to."""
    began = time.monotonic()
    while not run.ready():
        time.sleep(0.2)
    first = time.monotonic() - began
    print(
        f"first pass: {first:.0f} s, {cpu(run.pid):.1f} CPU s, {memory(run.pid):.0f} MB", flush=True
    )
    used, wrote = [], []
    for cycle in range(cycles):
        before, bytes_before = cpu(run.pid), run.metric("foretide_record_bytes_total")
        time.sleep(60.0)
        used.append(cpu(run.pid) - before)
        wrote.append(run.metric("foretide_record_bytes_total") - bytes_before)
        worker, fits = run.fits_pid(), run.metric('foretide_fits_total{result="learnt"}')
        beside = "" if worker is None else f"; fit worker {memory(worker):.0f} MB"
        print(
            f"cycle {cycle}: {used[-1]:.2f} CPU s, {memory(run.pid):.0f} MB resident, "
            f"{wrote[-1] / 1e6:.3f} MB of records, "
            f"{fits:.0f} fits so far{beside}",
            flush=True,
        )
    newest = sorted((root / "records").iterdir())[0]
    lines = newest.read_bytes().splitlines()
    heads = [len(line) for line in lines if b'"all"' in line]
    fits = [len(line) for line in lines if b'"learnt"' in line and b'"all"' not in line]
    plain = [len(line) for line in lines if b'"learnt"' not in line and b'"all"' not in line]
    each = (sum(heads) / len(heads), float(np.mean(plain)), float(np.mean(fits or [0])))
    day = len(heads) * (each[0] + 1440 * each[1] + each[2])  # a day's fit, once
    print(f"CPU of a cycle: mean {np.mean(used):.2f} s, highest {max(used):.2f} s")
    print(f"memory: {memory(run.pid):.0f} MB resident, {memory(run.pid, 'VmHWM'):.0f} MB at most")
    print(
        f"records: {each[1]:.0f} bytes each, {each[2]:.0f} after a fit, snapshots {each[0]:.0f}; "
        f"a day of {len(heads)} policies at 60 s: {day / 1e6:.0f} MB"
    )
    print(f"late cycles: {run.metric('foretide_late_cycles_total'):.0f}", flush=True)


def swallow(run: Run, prometheus: PrometheusServer, count: int) -> None:
    """Let Prometheus swallow every request, and wait until every policy holds in doubt."""
    prometheus.faults.swallow = True
    began, held = time.monotonic(), 0
    while held < count and time.monotonic() - began < 120:
        time.sleep(0.5)
        held = run.page().count('foretide_doubt{code="HistoryUnavailable"')
    print(
        f"Prometheus swallows packets: {held} of {count} hold in doubt "
        f"after {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
