"""Three days in a minute: the real adapters and the real cycle against two small HTTP servers.

Only the clock, the servers and the service behind them are simulated. Foretide reads its history
over HTTP from something that speaks Prometheus' API and moves `minReplicas` by a guarded JSON
Patch in something that speaks Kubernetes' API; beside it, under the same traffic, run the same
HPA alone and the same HPA above fixed floors, which nobody moves.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autoscaler import tune
from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.adapters.telemetry.writer import RecordWriter
from autoscaler.config import Prometheus
from autoscaler.cycle import run_once
from autoscaler.interruption import interruption
from autoscaler.model import Floats, Knowledge, Memory, Outcome, Result
from autoscaler.ports import DemandSource, FloorWriter, Recorder, TargetReader
from autoscaler.sandbox.engine import Engine
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.lane import Counts, Lane
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.sandbox.story import COLD_START, HPA_TARGET, NAME, NAMESPACE, STEP, Story
from autoscaler.world.above import HpaAbove
from autoscaler.world.service import Snapshot, World
from autoscaler.world.starts import FixedStart

SYNCS = 4  # looks of the HPA in one step: its default period of 15 s
CAREFUL_TARGET = 0.7


@dataclass(slots=True)
class SteppedClock:
    """The demo's time, POSIX seconds, moved by nobody but the demo."""

    now: float

    def __call__(self) -> float:
        """POSIX seconds now."""
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPorts:
    """The four ports, real adapters all."""

    demand: DemandSource
    targets: TargetReader
    floors: FloorWriter
    records: Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What is to be seen while the demo runs."""

    now: float
    share: float
    demand: float
    floor: int
    ready: int
    need: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One change of the floor by the controller, with its reasons in words."""

    at: float
    before: int
    floor: int
    why: str


@dataclass(slots=True, kw_only=True)
class Told:
    """What the controller did, as far as it is worth telling; nothing here is counted in scores."""

    moves: list[Moved] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    learnt: list[Knowledge] = field(default_factory=list)
    doubts: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Result of a demo.

    Attributes
    ----------
    times, demand : shape (n,)
    runs : ours first; counted by the servers
    requests : HTTP requests that Prometheus answered, writes that the API server accepted from us
    """

    story: Story
    times: Floats
    demand: Floats
    runs: tuple[Counts, ...]
    told: Told
    requests: int
    whole: bool


def run_demo(
    story: Story,
    records: Path,
    *,
    seed: int = 0,
    progress: Callable[[Moment], None] = lambda _moment: None,
) -> Shown:
    """Run the demo; every decision is recorded in the file `records`.

    An interruption ends it early: what was run until then is returned, with `whole` False.
    """
    clock = SteppedClock(story.begins)
    with contextlib.ExitStack() as stack:
        prometheus = stack.enter_context(PrometheusServer(clock))
        cluster = stack.enter_context(KubernetesServer(clock=clock))
        engine = Engine(prometheus, NAMESPACE, NAME)
        engine.remember(story.start, story.values[: story.history], STEP)
        lanes = _lanes(story, cluster, seed)
        writer = RecordWriter(records, clock, daily=False, run="demo")
        stack.callback(writer.close)
        ports = _ports(prometheus, cluster, clock, writer, stack)
        told = Told()
        done = _days(story, clock, ports, lanes, engine, (writer, told, progress))
        runs = tuple(lane.counts(done) for lane in lanes)
    return Shown(
        story=story,
        times=story.begins + STEP * np.arange(done, dtype=np.float64),
        demand=story.values[story.history : story.history + done],
        runs=runs,
        told=told,
        requests=prometheus.asked,
        whole=done == story.steps,
    )


def _lanes(story: Story, server: KubernetesServer, seed: int) -> tuple[Lane, ...]:
    """Make the runs: ours, the HPA alone as it is and with more room, and a floor at P99."""
    least = story.policy.spec.floor.min or 1
    p99 = math.ceil(float(np.quantile(story.values[: story.history], 0.99)) / story.capacity)
    percent = f"{HPA_TARGET:.0%}"
    kinds = (
        (NAMESPACE, "Foretide + HPA", least, HPA_TARGET),
        ("hpa-alone", f"HPA alone at {percent}", least, HPA_TARGET),
        ("hpa-careful", f"HPA alone at {CAREFUL_TARGET:.0%}", least, CAREFUL_TARGET),
        ("fixed-p99", f"Fixed floor P99 ({p99})", p99, HPA_TARGET),
    )
    # it has run for long: as many replicas are warm as the HPA would keep
    warm = math.ceil(story.at(story.begins) / story.capacity / CAREFUL_TARGET)
    lanes = []
    for namespace, title, floor, target in kinds:
        world = World(
            demand=story.at,
            capacity=story.capacity,
            start=story.begins,
            floor=warm,
            ceiling=story.policy.spec.floor.max or 1000,
            above=HpaAbove(target),
            starts=FixedStart(COLD_START),
            wait=story.policy.spec.promise.wait,
            seed=seed,
        )
        world.floor = floor
        lanes.append(Lane(server, namespace, NAME, world, title=title))
    return tuple(lanes)


def _ports(
    prometheus: PrometheusServer,
    server: KubernetesServer,
    clock: SteppedClock,
    records: Recorder,
    stack: contextlib.ExitStack,
) -> DemoPorts:
    """Build the adapters as `foretide run` does, on the demo's addresses and clock."""
    cluster = connect(kubeconfig=server.kubeconfig())
    targets = KubernetesTargets(cluster, clock=clock)
    # a slow machine shall not change the story: the answer may take a minute
    where = Prometheus.model_validate({"url": prometheus.url, "timeout": "1m"})
    demand = PrometheusDemand(where, step=STEP)
    stack.callback(demand.close)
    return DemoPorts(
        demand=demand,
        targets=targets,
        floors=KubernetesFloors(cluster, may_write=lambda: True, written=targets.forget),
        records=records,
    )


def _days(
    story: Story,
    clock: SteppedClock,
    ports: DemoPorts,
    lanes: tuple[Lane, ...],
    engine: Engine,
    telling: tuple[RecordWriter, Told, Callable[[Moment], None]],
) -> int:
    """Run cycle after cycle until the end or an interruption; returns how many were done."""
    records, told, progress = telling
    policy = story.policy
    knowledge: Knowledge | None = None
    memory = Memory()
    done = 0
    with interruption() as interrupted:
        while done < story.steps and not interrupted.came:
            now = clock.now = story.begins + done * STEP
            if tune.due(policy, knowledge, now):
                history = ports.demand.read(policy, now)
                standing = tune.standing_of(knowledge, memory)
                knowledge = tune.tonight(policy, history, now, standing, period=STEP)
                records.learnt(policy, history, knowledge, STEP)
                told.learnt.append(knowledge)
            result, memory = run_once(policy, ports, knowledge, memory, now, period=STEP)
            _tell(told, result)
            snapshot, *_ = [lane.step(STEP, SYNCS) for lane in lanes]
            served = snapshot.ready * story.capacity
            engine.scrape(now + STEP, story.at(now), served, snapshot.backlog, STEP)
            done += 1
            progress(_moment(story, snapshot, done))
    return done


def _moment(story: Story, snapshot: Snapshot, done: int) -> Moment:
    """Tell what is to be seen after `done` steps."""
    return Moment(
        now=story.begins + (done - 1) * STEP,
        share=done / story.steps,
        demand=snapshot.demand,
        floor=snapshot.floor,
        ready=snapshot.ready,
        need=math.ceil(snapshot.demand / story.capacity),
    )


def _tell(told: Told, result: Result) -> None:
    """Keep what became of a cycle in words."""
    told.outcomes[result.outcome] = told.outcomes.get(result.outcome, 0) + 1
    decision = result.decision
    if decision is None:
        return
    told.doubts.update(doubt.code for doubt in decision.doubts)
    if result.outcome is Outcome.WRITTEN:
        why = "; ".join(reason.sentence for reason in decision.reasons)
        told.moves.append(
            Moved(at=decision.at, before=decision.present, floor=decision.floor, why=why)
        )
