"""The two API servers that the contract tests run against, behind one face."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.adapters.policies import parse_object
from autoscaler.model import Decision, Memory, Observation, Outcome, Result, Target
from autoscaler.policy import TidePolicy
from autoscaler.sandbox.kubernetes import KubernetesServer
from tests.lab.api import Api
from tests.lab.process import wait_until

CRD = Path(__file__).resolve().parents[2] / "deploy" / "crd.yaml"
PATIENT = Timeouts(connect=60.0, read=60.0)
"""For answers that do come: a busy machine is not a silent server."""
BRIEF = Timeouts(connect=0.5, read=0.5)
"""For answers that never come."""
Json = dict[str, Any]


class World:
    """One API server, a namespace of the test's own, and the test's own hand in it.

    Attributes
    ----------
    hand : writes as somebody else, without the adapter under test
    cluster : the adapter's client, with every right
    """

    def __init__(
        self, url: str, hand: Api, kubeconfig: Callable[[str, str], Json], real: bool
    ) -> None:
        self.url = url
        self.hand = hand
        self.real = real
        self.namespace = f"test-{secrets.token_hex(4)}"
        self._kubeconfig = kubeconfig
        self._clusters: list[Cluster] = []
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        hand.create(document)
        self.cluster = self.connect()

    def connect(
        self, user: str = "admin", url: str = "", timeouts: Timeouts | None = None
    ) -> Cluster:
        """A client of the adapter, possibly of another user or through a proxy."""
        kubeconfig = self._kubeconfig(user, url or self.url)
        cluster = connect(kubeconfig=kubeconfig, timeouts=timeouts or PATIENT)
        self._clusters.append(cluster)
        return cluster

    def close(self) -> None:
        for cluster in self._clusters:
            cluster.close()

    def hpa(self, name: str = "qwen", *, low: int = 2, high: int = 10, **metadata: Any) -> Json:
        """Create an HPA with fields that the adapter knows nothing about."""
        document = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name, "namespace": self.namespace, **metadata},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
                "minReplicas": low,
                "maxReplicas": high,
                "metrics": [
                    {
                        "type": "External",
                        "external": {
                            "metric": {"name": "queue"},
                            "target": {"type": "AverageValue", "averageValue": "10"},
                        },
                    }
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            },
        }
        return self.hand.create(document)

    def get_hpa(self, name: str = "qwen") -> Json:
        return self.hand.get("HorizontalPodAutoscaler", name, self.namespace)

    def move(self, spec: Mapping[str, Any], name: str = "qwen", manager: str = "somebody") -> Json:
        """Change the spec of an HPA as somebody else."""
        return self.hand.patch(
            "HorizontalPodAutoscaler", name, {"spec": dict(spec)}, self.namespace, manager=manager
        )

    def annotate(self, kind: str, name: str, annotations: Mapping[str, str | None]) -> Json:
        body = {"metadata": {"annotations": dict(annotations)}}
        return self.hand.patch(kind, name, body, self.namespace, manager="somebody")

    def policy(self, name: str = "qwen", **spec: Any) -> TidePolicy:
        """A policy as from a file: no object of the cluster."""
        return parse_object(self.manifest(name, **spec))

    def manifest(self, name: str = "qwen", **spec: Any) -> Json:
        return {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "mode": "Act",
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": name,
                },
                "demand": {"preset": "vllm"},
                "capacity": {"perReplica": 3.2},
                **spec,
            },
        }


def sandbox() -> tuple[KubernetesServer, World]:
    """A started sandbox server, with the policies' definition and a user without any right."""
    server = KubernetesServer(
        tokens={"admin-token": "admin", "nobody-token": "nobody"},
        definitions=(yaml.safe_load(CRD.read_text()),),
    ).start()
    server.deny(user="nobody")

    def kubeconfig(user: str, url: str) -> Json:
        document = server.kubeconfig(f"{user}-token")
        document["clusters"][0]["cluster"]["server"] = url
        return document

    return server, World(server.url, Api(server.url, "", "admin-token"), kubeconfig, real=False)


def lab(plane: Any) -> World:
    """The lab's control plane, with the policies' definition."""
    plane.api.apply(yaml.safe_load(CRD.read_text()))
    path = "/apis/foretide.dev/v1alpha1/tidepolicies"

    def served() -> bool:
        answer = plane.api._session.get(plane.url + path, timeout=60)
        return bool(answer.status_code == 200)

    wait_until(served, "TidePolicy is served")

    def kubeconfig(user: str, url: str) -> Json:
        document: Json = yaml.safe_load(plane.kubeconfig(user).read_text())
        document["clusters"][0]["cluster"]["server"] = url
        return document

    return World(plane.url, plane.api, kubeconfig, real=True)


def decided(target: Target, floor: int, **changes: Any) -> Result:
    """What a cycle came to that decided on `floor`."""
    fields: Json = {
        "at": 1_800_000_000.0,
        "floor": floor,
        "present": target.floor,
        "write": floor != target.floor,
        "uncapped": floor,
        "series": None,
        "forecast": None,
        "need": None,
        "plan": None,
        "reasons": (),
        "doubts": (),
        "memory": Memory(),
    }
    outcome = changes.pop("outcome", Outcome.UNCHANGED)
    return Result(decision=Decision(**(fields | changes)), outcome=outcome)


def observed(target: Target) -> Observation:
    return Observation(target=target, history=None)
