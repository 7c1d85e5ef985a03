"""The role of `deploy/rbac.yaml` is what the adapters really ask of the API server, and no more.

The adapters run against the sandbox, which counts every request. (In the lab the controller runs on
a real API server with a token that has exactly this role.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import pytest
import yaml

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.events import EventWriter, Happening
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.giving_back import GivingBack
from autoscaler.adapters.kubernetes.lease import Elector
from autoscaler.adapters.kubernetes.policies import ClusterPolicySource
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.kubernetes.resources import HPAS
from autoscaler.adapters.kubernetes.status import StatusWriter
from autoscaler.errors import WriteConflict
from autoscaler.sandbox.kubernetes import KubernetesServer
from tests.deploy.manifests import DEPLOY, documents
from tests.kubernetes.world import decided, observed

NOW = 1_800_000_000.0
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
Right = tuple[str, str, str]  # group, resource, verb


def granted() -> set[Right]:
    """Every right of the two roles."""
    return {
        (group, resource, verb)
        for document in documents("rbac.yaml")
        if document["kind"] in ("ClusterRole", "Role")
        for rule in document["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def right_of(request: str) -> Right:
    """What a `METHOD /path` needs."""
    method, path = request.split(" ")
    parts = path.strip("/").split("/")
    group, rest = (parts[1], parts[3:]) if parts[0] == "apis" else ("", parts[2:])
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    resource = "/".join([rest[0], *rest[2:]])
    verb = VERBS.get(method) or ("get" if len(rest) > 1 else "list")
    return group, resource, verb


def hpa(name: str, workload: str, **annotations: str) -> dict[str, object]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "llm"}
        | ({"annotations": annotations} if annotations else {}),
        "spec": {
            "minReplicas": 2,
            "maxReplicas": 9,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": workload, "name": name},
        },
    }


def policy(name: str) -> dict[str, object]:
    target = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": name}
    return {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": {"name": name, "namespace": "llm"},
        "spec": {
            "mode": "Act",
            "targetRef": target,
            "demand": {"preset": "vllm"},
            "capacity": {"perReplica": 3},
        },
    }


class Day:
    """One controller's day in the cluster: everything it does there, each at least once."""

    def __init__(self, server: KubernetesServer, cluster: Cluster) -> None:
        self.server, self.cluster = server, cluster
        self.policies = ClusterPolicySource(cluster).list()
        self.targets = KubernetesTargets(cluster)
        self.floors = KubernetesFloors(cluster, may_write=lambda: True)

    def observes_and_writes(self) -> None:
        for each in self.policies.policies:
            self.floors.write(each, self.targets.observe(each), 4)
        # somebody was faster: the refused patch is told apart by reading again
        stale = self.targets.observe(self.policies.policies[0])
        with suppress(WriteConflict):
            self.floors.write(self.policies.policies[0], stale, 5)

    def gives_back(self) -> None:
        self.server.put(hpa("gone", "Deployment", **{"foretide.dev/original-floor": "3"}))
        GivingBack(self.cluster, may_write=lambda: True).sweep(self.policies)

    def speaks(self) -> None:
        first = self.policies.policies[0]
        target = self.targets.observe(first)
        status = StatusWriter(self.cluster, may_write=lambda: True, wall=lambda: NOW)
        status.write(first, observed(target), None, decided(target, 4))
        ticks = iter((0.0, 90.0))
        events = EventWriter(
            self.cluster,
            may_write=lambda: True,
            instance="foretide-0",
            wall=lambda: NOW,
            clock=lambda: next(ticks),
        )
        happening = Happening(reason="FloorRaised", action="MoveFloor", note="floor 2 → 4")
        for _ in range(2):
            events.emit(first, target, happening)

    def leads(self) -> None:
        place = ("foretide", "foretide")
        elector = Elector(self.cluster, place=place, identity="one", wall=lambda: NOW)
        for _ in range(2):
            elector.step()
        elector.release()


@pytest.fixture
def server() -> Iterator[KubernetesServer]:
    definition = yaml.safe_load((DEPLOY / "crd.yaml").read_text())
    with KubernetesServer(definitions=(definition,)) as made:
        made.namespace("foretide")
        for name, workload in (("chat", "Deployment"), ("code", "StatefulSet")):
            made.put(hpa(name, workload))
            made.put(policy(name))
        yield made


def asked(server: KubernetesServer, parts: Iterable[str]) -> set[Right]:
    """Rights that these parts of a day need."""
    cluster = connect(kubeconfig=server.kubeconfig())
    try:
        day = Day(server, cluster)
        for part in parts:
            action: Callable[[], None] = getattr(day, part)
            action()
    finally:
        cluster.close()
    return {right_of(request) for request in server.requests}


def test_the_role_is_what_a_day_needs(server: KubernetesServer):
    needed = asked(server, ("observes_and_writes", "gives_back", "speaks", "leads"))
    assert server.get(HPAS, "llm", "chat")["spec"]["minReplicas"] == 4
    assert server.get(HPAS, "llm", "gone")["spec"]["minReplicas"] == 3
    assert needed == granted()


def test_no_right_is_a_wildcard_and_each_has_its_reason():
    assert not {part for right in granted() for part in right if "*" in part}
    lines = (DEPLOY / "rbac.yaml").read_text().splitlines()
    verbs = [line for line in lines if line.strip().removeprefix("- ").split(" ")[0] in ALL_VERBS]
    assert verbs
    assert [line for line in verbs if " # " not in line] == []


ALL_VERBS = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
