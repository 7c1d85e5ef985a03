"""One simulated service behind the sandbox's API server: what happens to it is read from there.

The world obeys the `minReplicas` that stands in the API server, whoever wrote it, and tells the
API server what became of it: HPA and Deployment status, pods that start cold. So the demo's
numbers are counted on the side of the cluster and not by the controller that is being judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from autoscaler.adapters.kubernetes.resources import DEPLOYMENTS, HPAS, Json
from autoscaler.model import Floats
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.kubernetes.kinds import PODS
from autoscaler.sandbox.kubernetes.store import rfc3339
from autoscaler.world.service import Counted, Pod, Snapshot, World

MANAGER = "foretide"  # field manager of the controller's writes


@dataclass(slots=True)
class Track:
    """What a lane looked like at the end of every step."""

    floor: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    ready: list[float] = field(default_factory=list)
    wait: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the servers counted of one run.

    Attributes
    ----------
    changes : how often the number of ordered replicas changed
    floor_writes : accepted writes of another floor, from the API server's audit
    """

    name: str
    world: Counted
    changes: int
    floor_writes: int
    floor: Floats
    total: Floats
    ready: Floats
    wait: Floats


class Lane:
    """A service with its HPA, its Deployment and its pods, in a namespace of its own."""

    def __init__(
        self, server: KubernetesServer, namespace: str, name: str, world: World, *, title: str
    ) -> None:
        self.server, self.namespace, self.name = server, namespace, name
        self.world, self.title = world, title
        self.track = Track()
        self.changes = 0
        self._shown: dict[str, bool] = {}
        self._status: tuple[int, int, int] | None = None
        server.put(_hpa(namespace, name, world.floor, world.ceiling))
        server.put(_deployment(namespace, name))
        self._mirror(world.total, world.ready, world.desired)

    def step(self, dt: float, syncs: int) -> Snapshot:
        """Let `dt` seconds pass in `syncs` looks of the HPA, under the floor that stands now."""
        floor = int(self.server.get(HPAS, self.namespace, self.name)["spec"]["minReplicas"])
        waits: list[float] = []
        before = self.world.total
        snapshot = self.world.step(dt / syncs, floor)
        for turn in range(syncs):
            if turn:
                snapshot = self.world.step(dt / syncs)
            self.changes += snapshot.total != before
            before = snapshot.total
            waits.append(snapshot.wait)
        self._mirror(snapshot.total, snapshot.ready, snapshot.desired)
        track = self.track
        track.floor.append(snapshot.floor)
        track.total.append(snapshot.total)
        track.ready.append(snapshot.ready)
        track.wait.append(max(waits))
        return snapshot

    def counts(self, steps: int) -> Counts:
        """Everything that was counted in `steps` whole steps; an interrupted one is left out."""
        writes = [
            write
            for write in self.server.audit
            if write.kind == "HorizontalPodAutoscaler"
            and write.namespace == self.namespace
            and write.who.manager == MANAGER
            and 200 <= write.status < 300
            and _floor(write.before) != _floor(write.after)
        ]
        track = self.track
        return Counts(
            name=self.title,
            world=self.world.counted,
            changes=self.changes,
            floor_writes=len(writes),
            floor=np.asarray(track.floor[:steps], float),
            total=np.asarray(track.total[:steps], float),
            ready=np.asarray(track.ready[:steps], float),
            wait=np.asarray(track.wait[:steps], float),
        )

    def _mirror(self, total: int, ready: int, desired: int) -> None:
        """Tell the API server what became of the pods, where something did."""
        if self._status != (total, ready, desired):
            self._status = (total, ready, desired)
            self.server.update(
                HPAS,
                self.namespace,
                self.name,
                lambda o: o.update(status={"currentReplicas": total, "desiredReplicas": desired}),
            )
            self.server.update(
                DEPLOYMENTS,
                self.namespace,
                self.name,
                lambda o: o.update(
                    status={"observedGeneration": 1, "replicas": total, "readyReplicas": ready}
                ),
            )
        present = {pod.name: pod for pod in self.world.pods}
        for gone in self._shown.keys() - present.keys():
            self.server.delete(PODS, self.namespace, gone)
            del self._shown[gone]
        for pod in present.values():
            is_ready = pod.ready(self.world.now)
            if self._shown.get(pod.name) != is_ready:
                self._shown[pod.name] = is_ready
                self.server.put(_pod(self.namespace, self.name, pod, is_ready))


def _floor(document: Json | None) -> object:
    """Floor of an HPA in the audit."""
    return None if document is None else document["spec"].get("minReplicas")


def _hpa(namespace: str, name: str, floor: int, ceiling: int) -> Json:
    metric = {
        "type": "External",
        "external": {
            "metric": {"name": "requests_offered_per_second"},
            "target": {"type": "AverageValue", "averageValue": "1"},
        },
    }
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": floor,
            "maxReplicas": ceiling,
            "metrics": [metric],
        },
    }


def _deployment(namespace: str, name: str) -> Json:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}},
    }


def _pod(namespace: str, service: str, pod: Pod, ready: bool) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": pod.name, "namespace": namespace, "labels": {"app": service}},
        "spec": {"containers": [{"name": "vllm", "image": "vllm"}]},
        "status": {
            "phase": "Running" if ready else "Pending",
            "startTime": rfc3339(pod.created),
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }
