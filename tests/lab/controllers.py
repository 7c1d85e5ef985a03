"""The rest of a cluster: controller manager (with the HPA), scheduler, kwok's nodes and pods."""

from __future__ import annotations

import ssl
import urllib.request
from pathlib import Path

from tests.lab.api import Json
from tests.lab.plane import ControlPlane
from tests.lab.process import Process, free_ports, wait_until

HERE = Path(__file__).resolve().parent
HPA_SYNC = 2.0  # seconds; 15 in a stock cluster
HPA_WINDOW = 15.0  # seconds of downscale stabilisation; 300 in a stock cluster
COLD_START = "foretide.dev/lab-cold-start"


class Controllers:
    """Running controller manager, scheduler and kwok on a control plane."""

    # long: flags of three programs
    def __init__(self, plane: ControlPlane, nodes: int = 64) -> None:
        self.plane = plane
        manager, scheduler = free_ports(2)
        home = plane.home
        self._processes = [
            Process(
                "kube-controller-manager",
                [
                    f"--kubeconfig={plane.kubeconfig('system:kube-controller-manager')}",
                    f"--service-account-private-key-file={plane.signing_key}",
                    "--use-service-account-credentials",
                    "--leader-elect=false",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={manager}",
                    f"--cert-dir={home / 'kcm'}",
                    f"--horizontal-pod-autoscaler-sync-period={HPA_SYNC}s",
                    f"--horizontal-pod-autoscaler-downscale-stabilization={HPA_WINDOW}s",
                ],
                home,
            ),
            Process(
                "kube-scheduler",
                [
                    f"--kubeconfig={plane.kubeconfig('system:kube-scheduler')}",
                    "--leader-elect=false",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={scheduler}",
                    f"--cert-dir={home / 'scheduler'}",
                ],
                home,
            ),
            Process(
                "kwok",
                [
                    f"--kubeconfig={plane.kubeconfig('kwok')}",
                    f"--config={HERE / 'stages.yaml'}",
                    "--manage-all-nodes=true",
                    # without the lease the node controller calls the nodes NotReady after 40 s
                    "--node-lease-duration-seconds=40",
                ],
                home,
            ),
        ]
        try:
            self._add_nodes(nodes)
            for process, port in zip(self._processes, (manager, scheduler), strict=False):
                process.wait_ready(lambda port=port: _healthy(port))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the three programs."""
        for process in reversed(self._processes):
            process.stop()

    def logs(self) -> str:
        """The ends of their logs, for a failed test."""
        return "\n".join(f"--- {each.name}\n{each.tail(15)}" for each in self._processes)

    def serve(
        self,
        namespace: str,
        name: str,
        *,
        replicas: int,
        cold_start: str,
        annotations: Json | None = None,
        requests: Json | None = None,
    ) -> None:
        """Create a Deployment of GPU pods that become Ready `cold_start` after they are bound."""
        container = {
            "name": "engine",
            "image": "engine:lab",
            "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": requests or {}},
        }
        template = {
            "metadata": {
                "labels": {"app": name},
                "annotations": {COLD_START: cold_start},
            },
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
        }
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
        self.plane.api.create(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {**spec, "template": template},
            }
        )

    def ready(self, namespace: str, name: str) -> int:
        """Ready replicas of a Deployment."""
        status = self.plane.api.get("Deployment", name, namespace).get("status", {})
        return int(status.get("readyReplicas", 0))

    def _add_nodes(self, count: int) -> None:
        api = self.plane.api
        for number in range(count):
            meta = {"name": f"gpu-{number}", "labels": {"type": "kwok"}}
            api.create({"apiVersion": "v1", "kind": "Node", "metadata": meta})
        wait_until(lambda: all(map(_node_ready, api.list("Node"))), "nodes ready")


def _node_ready(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    gpus = node.get("status", {}).get("allocatable", {}).get("nvidia.com/gpu")
    return gpus is not None and any(
        each["type"] == "Ready" and each["status"] == "True" for each in conditions
    )


def _healthy(port: int) -> bool:
    # both sign their own certificate at the start: there is nothing to verify it with
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    url = f"https://127.0.0.1:{port}/healthz"
    with urllib.request.urlopen(url, timeout=20, context=context) as answer:
        return bool(answer.status == 200)
