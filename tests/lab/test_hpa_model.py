"""The HPA model against the real controller: every script, replica counts sync by sync.

The real kube-controller-manager asks the External metrics API once a sync, so the lab knows when
each sync looked and what it was told; the audit log knows what it wrote. The model is asked at the
same moments. The controller takes its own time stamp a little after it asked, so a window's edge
may fall either way within a second: all such histories are followed, and one must fit throughout.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import itemgetter

import pytest

from autoscaler.reactive import HpaState, Look, hpa_step
from autoscaler.reactive.metrics import Standing
from tests.lab.controllers import Controllers
from tests.lab.external_metrics import ExternalMetrics
from tests.lab.hpa_played import BothPlayed, Played, PodsPlayed
from tests.lab.hpa_scripts import (
    LENGTH,
    POD_SCRIPTS,
    SCRIPTS,
    BothScript,
    PodScript,
    Script,
)
from tests.lab.pod_metrics import PodMetrics

Life = tuple[Played, list[tuple[float, int]]]

# all scripts at once take 45 s, and one that is played again as long
pytestmark = [pytest.mark.lab, pytest.mark.slow]

LATER = (0.0, 0.3, 0.7, 1.2)  # seconds from the metric's answer to the controller's own stamp
ANSWERED = 1.5  # seconds within which a write belongs to the question before it
LEAST = 8  # syncs that a script must have seen


class Stage:
    """Plays scripts side by side in a namespace."""

    def __init__(
        self, controllers: Controllers, external: ExternalMetrics, of_pods: PodMetrics
    ) -> None:
        self._controllers, self._external, self._of_pods = controllers, external, of_pods

    def play(self, scripts: Sequence[Script], namespace: str) -> dict[str, Life]:
        """Give what each controller asked and saw, and the replicas that were written."""
        runs = [self._run(script, namespace) for script in scripts]
        for run in runs:
            run.start()
        began = time.time()
        for run in runs:
            run.began = began
        moves = sorted(((at, move) for run in runs for at, move in run.moves()), key=itemgetter(0))
        for at, move in moves:
            time.sleep(max(0.0, began + at - time.time()))  # the script's own clock
            move()
        time.sleep(max(0.0, began + LENGTH - time.time()))
        for run in runs:
            self._external.values.pop(run.metric, None)
            self._of_pods.reports.pop(run.script.name, None)
            run.stop()
        scales: dict[str, list[tuple[float, int]]] = {run.script.name: [] for run in runs}
        for write in self._controllers.plane.audit(resource="deployments/scale"):
            if write.namespace == namespace and write.code == 200 and write.name in scales:
                scales[write.name].append((write.at, int(write.body["spec"]["replicas"])))
        return {run.script.name: (run, scales[run.script.name]) for run in runs}

    def _run(self, script: Script, namespace: str) -> Played:
        """Give a script its metric."""
        if isinstance(script, PodScript):
            kind = BothPlayed if isinstance(script, BothScript) else PodsPlayed
            pods = kind(script, self._controllers, namespace)
            self._of_pods.reports[script.name] = pods.report
            if kind is BothPlayed:
                self._external.values[pods.metric] = pods.value
            return pods
        run = Played(script, self._controllers, namespace)
        self._external.values[run.metric] = run.value
        return run


@pytest.fixture(scope="module")
def stage(
    controllers: Controllers, external_metrics: ExternalMetrics, pod_metrics: PodMetrics
) -> Stage:
    return Stage(controllers, external_metrics, pod_metrics)


@pytest.fixture(scope="module")
def played(stage: Stage, module_namespaces: tuple[str, str]) -> dict[str, Life]:
    """Play all scripts side by side."""
    return stage.play([*SCRIPTS, *POD_SCRIPTS], module_namespaces[0])


@pytest.mark.parametrize("script", [*SCRIPTS, *POD_SCRIPTS], ids=lambda script: script.name)
def test_replicas_are_the_real_ones_sync_by_sync(played, stage, module_namespaces, script):
    differs = difference(*played[script.name])
    if differs:
        # a busy machine may tear a sync apart for seconds: then once more, and alone
        again = stage.play([script], module_namespaces[1])
        second = difference(*again[script.name])
        assert not second, f"{differs}\n--- and again, alone:\n{second}"


def difference(run: Played, scales: list[tuple[float, int]]) -> str:
    """Say where no history of the model goes on as the real controller did; "" for nowhere."""
    assert len(run.syncs) >= LEAST
    script, replicas = run.script, run.script.replicas
    histories = {HpaState()}
    lived: list[str] = []
    for told in _told(run, scales):
        fitting: set[HpaState] = set()
        wanted: set[int] = set()
        floors = _floors(run, told.at, told.at + 1.2)
        for state, look in product(histories, _looks(run, told, replicas, floors)):
            desired, new = hpa_step(script.hpa, state, look)
            wanted.add(desired)
            if desired == told.after:
                fitting.add(new)
        lived.append(
            f"{told.at - run.began:.1f} s: {replicas} replicas, metric {told.value}, "
            f"floor {floors}, seen {set(told.seen)}: the real one went to {told.after}, "
            f"the model to {wanted}"
        )
        if not fitting:
            return "\n".join(lived)
        histories, replicas = _few(fitting), told.after
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One sync in order.

    Attributes
    ----------
    at, value, seen : as in `Sync`
    after : replicas afterwards
    wrote : when the API server got the write, None when there was none
    """

    at: float
    value: float | None
    seen: frozenset[Hashable]
    after: int
    wrote: float | None = None


def _looks(run: Played, told: Told, replicas: int, floors: set[int]) -> list[Look]:
    """Everything that this sync may have seen, and the stamps that it may have taken."""
    stamps = [told.at + later for later in LATER]
    if told.wrote is not None:
        stamps.append(told.wrote)
    looks = []
    for seen, now, floor in product(told.seen, stamps, floors):
        metrics, count = run.metrics_of(told.value, seen)
        count = replicas if count is None else count
        standing = Standing(spec=replicas, status=count, ready=count, now=now)
        looks.append(
            Look(standing=standing, metrics=metrics, floor=floor, ceiling=run.script.ceiling)
        )
    return looks


def _told(run: Played, scales: list[tuple[float, int]]) -> list[Told]:
    """Syncs in order.

    A write without a question before it is a sync that found the replicas outside their bounds.
    """
    told = []
    replicas = run.script.replicas
    left = list(scales)
    for sync, following in zip(run.syncs, [*run.syncs[1:], None], strict=True):
        until = float("inf") if following is None else following.at
        answer = Told(at=sync.at, value=sync.value, seen=frozenset(sync.seen), after=replicas)
        writes = []
        while left and left[0][0] < until:
            writes.append(left.pop(0))
        if writes and writes[0][0] < sync.at + ANSWERED:
            at, replicas = writes.pop(0)
            answer = replace(answer, after=replicas, wrote=at)
        told.append(answer)
        for at, count in writes:
            told.append(Told(at=at, value=None, seen=frozenset({None}), after=count, wrote=at))
            replicas = count
    return told


def _floors(run: Played, begin: float, end: float) -> set[int]:
    """Floors that a sync may have seen: its cache may be a second old, or it saw one set later."""
    sure = [floor for at, floor in run.floors if at <= begin - 1.0][-1]
    return {sure} | {floor for at, floor in run.floors if begin - 1.0 < at <= end}


def _few(states: set[HpaState]) -> set[HpaState]:
    """Bound how many histories are followed."""
    return set(sorted(states, key=repr)[:64])
