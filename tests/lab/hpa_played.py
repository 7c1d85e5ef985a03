"""A script of `hpa_scripts` as the real controller lives it: what it asked, was told, and saw."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from autoscaler.reactive import ExternalMetric, Metric, PodSeen, PodsMetric, ResourceMetric
from tests.lab.api import ApiError, Json
from tests.lab.controllers import Controllers
from tests.lab.hpa_scripts import BothScript, PodScript, Script
from tests.lab.pod_metrics import Sample

LOOKS = (0.05, 0.4)  # seconds after it asked: the controller lists the pods after the metrics


@dataclass(slots=True)
class Sync:
    """One look of the controller: when, what it was told, and what it saw besides.

    Attributes
    ----------
    seen : what may have stood then: Ready pods (for a Value), `status.replicas` (for an
        AverageValue), or every pod as the model takes it; as looked up then and soon after
    """

    at: float
    value: float | None
    seen: set[Hashable] = field(default_factory=set)


class Played:
    """A script of an External metric as it is being played.

    Attributes
    ----------
    syncs : every question of the controller
    floors : (when, minReplicas) as they were set
    """

    def __init__(self, script: Script, controllers: Controllers, namespace: str) -> None:
        self.script, self._controllers, self._namespace = script, controllers, namespace
        self.syncs: list[Sync] = []
        self.floors: list[tuple[float, int]] = []
        self.began = 0.0
        self._looking: list[threading.Timer] = []

    @property
    def metric(self) -> str:
        """Name of its own metric."""
        return f"script-{self.script.name}"

    def value(self) -> float:
        """Answer the controller, and write down that it asked."""
        sync = self._asked(self._status if self.script.average else self._ready)
        if sync.value is None:
            raise LookupError("the metric fails, as the script wants it")
        return sync.value

    def metrics_of(self, value: float | None, seen: Any) -> tuple[tuple[Metric, ...], int | None]:
        """Give the model's metrics, and the count that goes with them."""
        script = self.script
        metric = ExternalMetric(value=value, target=script.target, average=script.average)
        return (metric,), seen

    def start(self) -> None:
        """Create Deployment and HPA."""
        script, api = self.script, self._controllers.plane.api
        self._controllers.serve(
            self._namespace,
            script.name,
            replicas=script.replicas,
            cold_start=script.cold_start,
            requests={"cpu": "1"},
        )
        spec = {
            "minReplicas": script.floors[0][1],
            "maxReplicas": script.ceiling,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": script.name},
            "metrics": self._metric_specs(),
        }
        if script.behavior is not None:
            spec["behavior"] = script.behavior
        meta = {"name": script.name, "namespace": self._namespace}
        document = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
        self.floors.append((0.0, script.floors[0][1]))
        api.create({**document, "metadata": meta, "spec": spec})

    def moves(self) -> list[tuple[float, Callable[[], None]]]:
        """What the script does to the world, and how many seconds after the beginning."""
        return [
            (at, lambda floor=floor: self._move_floor(floor))
            for at, floor in self.script.floors[1:]
        ]

    def stop(self) -> None:
        """Delete the HPA, and let the last looks end."""
        api = self._controllers.plane.api
        api.delete("HorizontalPodAutoscaler", self.script.name, self._namespace)
        for timer in list(self._looking):
            timer.join()

    def _metric_specs(self) -> list[Json]:
        how = "averageValue" if self.script.average else "value"
        target = {
            "type": "AverageValue" if self.script.average else "Value",
            how: f"{round(self.script.target * 1000)}m",
        }
        external = {"metric": {"name": self.metric}, "target": target}
        return [{"type": "External", "external": external}]

    def _asked(self, look: Callable[[], Hashable]) -> Sync:
        """Write down a question, with what stands now and soon after."""
        at = time.time()
        sync = Sync(at=at, value=self._now(self.script.load, at))
        sync.seen.add(look())
        self.syncs.append(sync)

        def look_again() -> None:
            with contextlib.suppress(OSError, ApiError):  # one look less: the others may do
                sync.seen.add(look())

        for later in LOOKS:
            timer = threading.Timer(later, look_again)
            self._looking.append(timer)
            timer.start()
        return sync

    def _now(self, steps: tuple[tuple[float, Any], ...], at: float) -> Any:
        """Value of a step function of the script."""
        elapsed = at - self.began if self.began else 0.0
        return [value for since, value in steps if since <= elapsed][-1]

    def _move_floor(self, floor: int) -> None:
        """Patch minReplicas, and write down when it was done."""
        body = {"spec": {"minReplicas": floor}}
        api = self._controllers.plane.api
        api.patch("HorizontalPodAutoscaler", self.script.name, body, self._namespace)
        self.floors.append((time.time(), floor))

    def _status(self) -> int:
        deployment = self._controllers.plane.api.get(
            "Deployment", self.script.name, self._namespace
        )
        return int(deployment.get("status", {}).get("replicas", 0))

    def _ready(self) -> int:
        """Count as the controller does: Running and Ready, those being deleted included."""
        return sum(
            _is_ready(pod) and pod["status"].get("phase") == "Running" for pod in self._pods()
        )

    def _pods(self) -> list[Json]:
        """Pods of the target, oldest first."""
        pods = self._controllers.plane.api.list(
            "Pod", self._namespace, labelSelector=f"app={self.script.name}"
        )
        return sorted(
            pods, key=lambda p: (p["metadata"]["creationTimestamp"], p["metadata"]["name"])
        )


class PodsPlayed(Played):
    """A script of a Pods or a CPU metric: samples pod by pod, some missing, some pods unready."""

    script: PodScript

    def report(self) -> dict[str, Sample]:
        """Answer the controller: the load is shared by the pods that run and are Ready."""
        at = time.time()
        pods = self._pods()
        running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
        serving = [pod["metadata"]["name"] for pod in running if _is_ready(pod)]
        missing = self._now(self.script.missing, at)
        load = self._now(self.script.load, at)
        samples = {
            pod["metadata"]["name"]: Sample(
                value=round(load / len(serving), 3)
                if pod["metadata"]["name"] in serving
                else self.script.idle,
                at=float(int(at)),
                window=self.script.window,
            )
            for pod in running[missing:]
        }
        self._asked(lambda: self._stands(samples))
        return samples

    def metrics_of(self, value: float | None, seen: Any) -> tuple[tuple[Metric, ...], int | None]:
        """Give the model's metric; the pods are in it."""
        del value
        pods = seen or ()
        if self.script.cpu:
            return (ResourceMetric(pods=pods, target=round(self.script.target)),), None
        return (PodsMetric(pods=pods, target=self.script.target),), None

    def _stands(self, samples: dict[str, Sample]) -> Hashable:
        """Every pod as the model takes it."""
        return tuple(_seen(pod, samples) for pod in self._pods())

    def moves(self) -> list[tuple[float, Callable[[], None]]]:
        """Floors as ever, and pods that turn unready."""
        turns = [(at, lambda n=n: self._turn(n)) for at, n in self.script.unready]
        return [*super().moves(), *turns]

    def _turn(self, count: int) -> None:
        """Make the oldest `count` pods unready, and the others that were ready again."""
        for index, pod in enumerate(self._pods()):
            if pod["status"].get("phase") != "Running" or _is_ready(pod) == (index >= count):
                continue
            status = "False" if index < count else "True"
            now = datetime.now().astimezone().isoformat(timespec="seconds")
            conditions = [
                {**each, "status": status, "lastTransitionTime": now}
                if each["type"] == "Ready"
                else each
                for each in pod["status"]["conditions"]
            ]
            api = self._controllers.plane.api
            path = api.path("Pod", self._namespace, pod["metadata"]["name"])
            body = {"status": {"conditions": conditions}}
            api.call("PATCH", f"{path}/status", body, media="application/merge-patch+json")

    def _metric_specs(self) -> list[Json]:
        if self.script.cpu:
            target = {"type": "Utilization", "averageUtilization": round(self.script.target)}
            return [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        target = {"type": "AverageValue", "averageValue": f"{round(self.script.target * 1000)}m"}
        return [{"type": "Pods", "pods": {"metric": {"name": "load"}, "target": target}}]


class BothPlayed(PodsPlayed):
    """A script of two metrics: an External one, which is asked first, and one of the pods."""

    script: BothScript
    _told: float | None = None

    def value(self) -> float:
        """Answer for the External metric; the question that counts follows at once."""
        self._told = self._now(self.script.beside, time.time())
        if self._told is None:
            raise LookupError("the metric fails, as the script wants it")
        return self._told

    def report(self) -> dict[str, Sample]:
        """Answer for the pods, and write down what was told for both."""
        samples = super().report()
        self.syncs[-1].value = self._told
        return samples

    def metrics_of(self, value: float | None, seen: Any) -> tuple[tuple[Metric, ...], int | None]:
        """Both, and `status.replicas`, which the External one is divided by."""
        status, pods = seen or (None, ())
        own, _ = super().metrics_of(value, pods)
        return (ExternalMetric(value=value, target=self.script.target), *own), status

    def _stands(self, samples: dict[str, Sample]) -> Hashable:
        return self._status(), super()._stands(samples)

    def _metric_specs(self) -> list[Json]:
        return [*Played._metric_specs(self), *super()._metric_specs()]


def _is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _seen(pod: Json, samples: dict[str, Sample]) -> PodSeen:
    """One pod as the model takes it."""
    status = pod["status"]
    ready = next((c for c in status.get("conditions", ()) if c["type"] == "Ready"), None)
    sample = samples.get(pod["metadata"]["name"])
    return PodSeen(
        value=None if sample is None else sample.value,
        request=1.0,
        phase=status.get("phase", "Pending"),
        deleted="deletionTimestamp" in pod["metadata"],
        ready=None if ready is None else ready["status"] == "True",
        started=_seconds(status.get("startTime")),
        turned=(_seconds(ready["lastTransitionTime"]) if ready else None) or 0.0,
        sampled=0.0 if sample is None else sample.at,
        window=0.0 if sample is None else sample.window,
    )


def _seconds(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()
