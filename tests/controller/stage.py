"""A whole small world for the controller: both sandbox servers, policy files, and the real process.

The tests wait for what they expect with a deadline, never for a time.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from autoscaler.adapters.kubernetes.resources import HPAS
from autoscaler.sandbox.kubernetes.server import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer

NAMESPACE = "llm"
ROOT = Path(__file__).parents[2]
PATIENCE = 180.0  # seconds until what is expected counts as missing
STOPPED = 20.0  # seconds that a busy machine may take to a stop of less than five
FOR_EVER = "5m"  # how long a controller that waits for an answer would wait, where STOPPED is asked


def eventually(what: str, check: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Ask until the answer is truthy; fail with `what` after `patience` seconds."""
    end = time.monotonic() + patience
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience:.0f} s: {what}; last: {found!r}")
        time.sleep(0.05)  # between two looks; nothing depends on how long


@dataclass
class Process:
    """`foretide run` as it is run for real."""

    popen: subprocess.Popen[str]
    log: Path
    url: str = ""

    def lines(self) -> list[dict[str, Any]]:
        """Its log lines so far."""
        found = []
        for line in self.log.read_text().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def said(self, text: str) -> bool:
        return any(text in line["message"] for line in self.lines())

    def get(self, page: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url + page, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, name: str) -> float | None:
        """Value of the series with exactly this text before the blank."""
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        return None

    def decisions(self, policy: str, outcome: str) -> float:
        labels = f'namespace="{NAMESPACE}",outcome="{outcome}",policy="{policy}"'
        return self.metric(f"foretide_decisions_total{{{labels}}}") or 0.0

    def ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def terminate(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; exit code and the seconds that it took."""
        began = time.monotonic()
        self.popen.send_signal(number)
        return self.popen.wait(timeout=PATIENCE), time.monotonic() - began


@dataclass
class Stage:
    """The world around a controller."""

    root: Path
    kubernetes: KubernetesServer
    prometheus: PrometheusServer
    running: list[Process] = field(default_factory=list)

    @property
    def policies(self) -> Path:
        return self.root / "policies"

    @property
    def records(self) -> Path:
        return self.root / "records"

    def config(
        self, *, timeout: str = "20s", kubernetes: dict[str, str] | None = None, **changes: Any
    ) -> Path:
        """Configuration with a short period; `timeout` is Prometheus', `changes` go on top."""
        kubeconfig = self.root / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(self.kubernetes.kubeconfig()))
        document = {
            "prometheus": {"url": self.prometheus.url, "timeout": timeout},
            "kubernetes": {"kubeconfig": str(kubeconfig), **(kubernetes or {})},
            "policies": {"paths": [str(self.policies)]},
            "period": "1s",
            "web": {"port": 0},
            "telemetry": {"records": {"directory": str(self.records)}, "logs": {"format": "json"}},
            **changes,
        }
        path = self.root / f"config-{len(list(self.root.glob('config-*')))}.yaml"
        path.write_text(yaml.safe_dump(document))
        return path

    def hpa(self, name: str, floor: int = 2, ceiling: int = 20, **annotations: str) -> None:
        self.kubernetes.put(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
                "spec": {
                    "minReplicas": floor,
                    "maxReplicas": ceiling,
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
                    "metrics": [],
                },
            }
        )

    def floor(self, name: str) -> int:
        return self.kubernetes.get(HPAS, NAMESPACE, name)["spec"]["minReplicas"]

    def writes(self, name: str | None = None) -> list[tuple[int, int]]:
        """Floors before and after of every write of an HPA that was done by Foretide."""
        return [
            (w.before["spec"]["minReplicas"], w.after["spec"]["minReplicas"])
            for w in self.kubernetes.audit
            if w.kind == "HorizontalPodAutoscaler"
            and w.verb == "patch"
            and w.status == 200
            and (name is None or w.name == name)
        ]

    def demand(self, name: str, level: Callable[[np.ndarray], np.ndarray], days: float = 3) -> None:
        """A history at 60 s until a few minutes from now."""
        end = np.ceil(time.time() / 60) * 60 + 300
        times = np.arange(end - days * 86_400, end, 60.0)
        values = np.asarray(level(times), dtype=np.float32).astype(float)
        self.prometheus.append("demand", {"service": name}, times, values)

    def policy(self, name: str, mode: str = "Act", **spec: Any) -> Path:
        """Write a policy as a file."""
        self.policies.mkdir(exist_ok=True)
        path = self.policies / f"{name}.yaml"
        path.write_text(yaml.safe_dump(self.document(name, mode, **spec)))
        return path

    def resource(self, name: str, mode: str = "Act", **spec: Any) -> None:
        """Put a policy into the cluster, as a custom resource."""
        self.kubernetes.put(self.document(name, mode, **spec))

    def document(self, name: str, mode: str = "Act", **spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "mode": mode,
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": name,
                },
                "demand": {"query": f'demand{{service="{name}"}}', "history": "2d"},
                "capacity": {"perReplica": 3.0},
                "floor": {"min": 1},
                "release": {"after": "2s", "breakEven": "5m"},
                **spec,
            },
        }

    def service(self, name: str, *, rps: float = 18.0, floor: int = 2, **spec: Any) -> None:
        """Target, steady demand and policy of one service."""
        self.hpa(name, floor)
        self.demand(name, lambda t: np.full(len(t), rps))
        self.policy(name, **spec)

    def run(self, *arguments: str, config: Path | None = None) -> Process:
        """Start the controller and wait until it listens."""
        log = self.root / f"log-{len(self.running)}.jsonl"
        command = [sys.executable, "-m", "autoscaler.cli.main", "run"]
        command += ["--config", str(config or self.config()), *arguments]
        with log.open("w") as stream:
            popen = subprocess.Popen(
                command,
                stderr=stream,
                stdout=stream,
                text=True,
            )
        process = Process(popen=popen, log=log)
        self.running.append(process)

        def address() -> str:
            assert popen.poll() is None, log.read_text()
            for line in process.lines():
                if line["message"].startswith("running: "):
                    return (
                        line["message"]
                        .split()[1]
                        .removesuffix("/metrics;")
                        .removesuffix("/metrics")
                    )
            return ""

        process.url = eventually("the controller listens", address)
        return process

    def close(self) -> None:
        for process in self.running:
            if process.popen.poll() is None:
                process.popen.kill()
            process.popen.wait()


@contextlib.contextmanager
def stage(root: Path) -> Iterator[Stage]:
    with KubernetesServer() as kubernetes, PrometheusServer() as prometheus:
        made = Stage(root=root, kubernetes=kubernetes, prometheus=prometheus)
        try:
            yield made
        finally:
            made.close()
