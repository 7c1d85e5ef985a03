"""The HPA model against the real controller: every script, replica counts sync by sync.

The real kube-controller-manager asks the External metrics API once a sync, so the lab knows when
each sync looked and what it was told; the audit log knows what it wrote. The model is asked at the
same moments. The controller takes its own time stamp a little after it asked, so a window's edge
may fall either way within a second: all such histories are followed, and one must fit throughout.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import pytest

from autoscaler.reactive import ExternalMetric, HpaState, Look, hpa_step
from autoscaler.reactive.metrics import Standing
from tests.lab.controllers import Controllers
from tests.lab.external_metrics import ExternalMetrics
from tests.lab.hpa_scripts import LENGTH, SCRIPTS, Script

pytestmark = [pytest.mark.lab, pytest.mark.slow]

LATER = (0.0, 0.3, 0.7, 1.2)  # seconds from the metric's answer to the controller's own stamp
LEAST = 8  # syncs that a script must have seen


@dataclass(slots=True)
class Sync:
    """One look of the controller: when, what it was told, and what it saw besides.

    Attributes
    ----------
    seen : Ready pods (for a Value) or `status.replicas` (for an AverageValue), then and soon after
    """

    at: float
    value: float | None
    seen: set[int] = field(default_factory=set)


class Played:
    """A script as it is being played: the metric, the floor, and what was seen."""

    def __init__(self, script: Script, controllers: Controllers, namespace: str) -> None:
        self.script, self._controllers, self._namespace = script, controllers, namespace
        self.syncs: list[Sync] = []
        self.floors: list[tuple[float, int]] = []
        self.began = 0.0

    @property
    def metric(self) -> str:
        """Name of its own metric."""
        return f"script-{self.script.name}"

    def value(self) -> float:
        """Answer the controller, and write down that it asked."""
        at = time.time()
        load = self.script.load[0][1]
        for since, value in self.script.load:
            if self.began and at - self.began >= since:
                load = value
        sync = Sync(at=at, value=load)
        count = self._status if self.script.average else self._ready
        sync.seen.add(count())
        threading.Timer(0.4, lambda: sync.seen.add(count())).start()
        self.syncs.append(sync)
        if load is None:
            raise LookupError("the metric fails, as the script wants it")
        return load

    def start(self) -> None:
        """Create Deployment and HPA."""
        script, api = self.script, self._controllers.plane.api
        self._controllers.serve(
            self._namespace,
            script.name,
            replicas=script.replicas,
            cold_start=script.cold_start,
        )
        how = "averageValue" if script.average else "value"
        kind = "AverageValue" if script.average else "Value"
        spec = {
            "minReplicas": script.floors[0][1],
            "maxReplicas": script.ceiling,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": script.name},
            "metrics": [
                {
                    "type": "External",
                    "external": {
                        "metric": {"name": self.metric},
                        "target": {"type": kind, how: f"{round(script.target * 1000)}m"},
                    },
                }
            ],
        }
        if script.behavior is not None:
            spec["behavior"] = script.behavior
        meta = {"name": script.name, "namespace": self._namespace}
        document = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
        self.floors.append((0.0, script.floors[0][1]))
        api.create({**document, "metadata": meta, "spec": spec})

    def move_floor(self, floor: int) -> None:
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
        pods = self._controllers.plane.api.list(
            "Pod", self._namespace, labelSelector=f"app={self.script.name}"
        )
        return sum(
            pod["status"].get("phase") == "Running"
            and any(
                each["type"] == "Ready" and each["status"] == "True"
                for each in pod["status"].get("conditions", ())
            )
            for pod in pods
        )


@pytest.fixture(scope="module")
def played(
    controllers: Controllers,
    external_metrics: ExternalMetrics,
    module_namespaces: tuple[str, str],
) -> dict[str, tuple[Played, list[tuple[float, int]]]]:
    """Play all scripts side by side; what each saw, and the replicas that were written."""
    namespace = module_namespaces[0]
    runs = [Played(script, controllers, namespace) for script in SCRIPTS]
    for run in runs:
        external_metrics.values[run.metric] = run.value
        run.start()
    began = time.time()
    for run in runs:
        run.began = began
    moves = [(began + at, floor, run) for run in runs for at, floor in run.script.floors[1:]]
    moves.sort(key=lambda move: move[0])
    for at, floor, run in moves:
        time.sleep(max(0.0, at - time.time()))  # the script's own clock
        run.move_floor(floor)
    time.sleep(max(0.0, began + LENGTH - time.time()))
    for run in runs:
        del external_metrics.values[run.metric]
        controllers.plane.api.delete("HorizontalPodAutoscaler", run.script.name, namespace)
    scales: dict[str, list[tuple[float, int]]] = {run.script.name: [] for run in runs}
    for write in controllers.plane.audit(resource="deployments/scale"):
        if write.namespace == namespace and write.code == 200 and write.name in scales:
            scales[write.name].append((write.at, int(write.body["spec"]["replicas"])))
    return {run.script.name: (run, scales[run.script.name]) for run in runs}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_replicas_are_the_real_ones_sync_by_sync(played, script):
    run, scales = played[script.name]
    told = _told(run, scales)
    assert len(run.syncs) >= LEAST
    replicas = script.replicas
    histories = {HpaState()}
    for at, value, seen, after, measured in told:
        fitting: set[HpaState] = set()
        wanted: set[int] = set()
        floors = _floors(run, at, at + 1.2)
        for state in histories:
            for later in LATER:
                for count in seen or {replicas}:
                    for floor in floors:
                        metric = ExternalMetric(
                            value=value if measured else None,
                            target=script.target,
                            average=script.average,
                        )
                        look = Look(
                            standing=Standing(
                                spec=replicas, status=count, ready=count, now=at + later
                            ),
                            metrics=(metric,),
                            floor=floor,
                            ceiling=script.ceiling,
                        )
                        desired, new = hpa_step(script.hpa, state, look)
                        wanted.add(desired)
                        if desired == after:
                            fitting.add(new)
        found = f"{at - run.began:.1f} s: {replicas} replicas, metric {value}, floor {floors}"
        assert fitting, f"{found}: the real one went to {after}, the model to {wanted}"
        histories, replicas = _few(fitting), after


def _told(
    run: Played, scales: list[tuple[float, int]]
) -> list[tuple[float, float | None, set[int], int, bool]]:
    """Syncs in order: (at, metric, counts seen, replicas afterwards, whether it asked).

    A write without a question before it is a sync that found the replicas outside their bounds.
    """
    told = []
    replicas = run.script.replicas
    left = list(scales)
    for sync, following in zip(run.syncs, [*run.syncs[1:], None], strict=True):
        until = float("inf") if following is None else following.at
        first = True
        while left and left[0][0] < until:
            at, count = left.pop(0)
            if first and at < sync.at + 1.0:
                told.append((sync.at, sync.value, sync.seen, count, True))
            else:
                if first:
                    told.append((sync.at, sync.value, sync.seen, replicas, True))
                told.append((at, None, set(), count, False))
            replicas, first = count, False
        if first:
            told.append((sync.at, sync.value, sync.seen, replicas, True))
    return told


def _floors(run: Played, begin: float, end: float) -> set[int]:
    """Floors that a sync may have seen: its cache may be a second old, or it saw one set later."""
    sure = [floor for at, floor in run.floors if at <= begin - 1.0][-1]
    return {sure} | {floor for at, floor in run.floors if begin - 1.0 < at <= end}


def _few(states: set[HpaState]) -> set[HpaState]:
    """Bound how many histories are followed."""
    return set(sorted(states, key=repr)[:64])
