"""Production in the plain world: the controller's own cycle and fits, on a stepped clock.

`cycle.run_once` runs every period, `tune.tonight` whenever `tune.due` says so, exactly as in the
controller, except that a fit takes no time here. There is no other branch: what differs from a
cluster is behind the ports.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from autoscaler import tune
from autoscaler.cycle import run_once
from autoscaler.errors import HistoryUnavailable
from autoscaler.forecast import ALL, Shape
from autoscaler.interruption import interruption
from autoscaler.model import Decision, Floats, History, Ints, Knowledge, Memory, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Ports
from autoscaler.simulator.plain import PlainWorld, account
from autoscaler.simulator.ports import (
    Learning,
    NoRecords,
    PlainTarget,
    RecordedDemand,
    SimulatedPorts,
    learning_of,
)
from autoscaler.simulator.runs import Run
from autoscaler.tune.advice import TARGETS

Learnt = Callable[[TidePolicy, History, Knowledge, float], None]


class Pilot:
    """One policy under production code on whichever clock its owner turns.

    Parameters
    ----------
    policy, ports : as the controller has them
    period : seconds between two cycles
    learnt : told of every fit (a recorder that must know what knowledge came from)
    shapes : candidates of a fit, as in `tune.learn`

    Attributes
    ----------
    memory, knowledge : what a restart of the controller loses; set them to lose them
    """

    def __init__(
        self,
        policy: TidePolicy,
        ports: Ports,
        *,
        period: float = 60.0,
        learnt: Learnt | None = None,
        shapes: tuple[Shape, ...] = ALL,
    ) -> None:
        self.policy, self.ports, self.period, self.shapes = policy, ports, period, shapes
        self.memory = Memory()
        self.knowledge: Knowledge | None = None
        self.learnings: list[Learning] = []
        self._learnt = learnt

    @property
    def level(self) -> float:
        """Quantile on which replicas are ordered."""
        if self.knowledge is not None:
            return self.knowledge.order_level
        return self.policy.spec.price.level

    def tick(self, now: float) -> Result:
        """Fit when a fit is due, then run one cycle."""
        if tune.due(self.policy, self.knowledge, now):
            self._learn(now)
        result, self.memory = run_once(
            self.policy, self.ports, self.knowledge, self.memory, now, period=self.period
        )
        return result

    def _learn(self, now: float) -> None:
        """Fit on what the demand source shows now; without a history what was known stays."""
        try:
            history = self.ports.demand.read(self.policy, now)
        except HistoryUnavailable:
            return
        began = time.process_time()
        standing = tune.standing_of(self.knowledge, self.memory)
        self.knowledge = tune.tonight(
            self.policy, history, now, standing, period=self.period, shapes=self.shapes
        )
        self.learnings.append(learning_of(self.knowledge, time.process_time() - began))
        if self._learnt is not None:
            self._learnt(self.policy, history, self.knowledge, self.period)


@dataclass(slots=True, kw_only=True)
class Track:
    """What is kept of decisions: numbers by step, and the reasons of every change.

    Attributes
    ----------
    floors : shape (n,), the floor that stood after each step's decision
    median, upper : shape (n,), demand that was expected for each step when replicas for it had to
        be ordered (one lead time before); NaN where nothing was expected
    changes : step and reasons of every change of the floor
    """

    floors: Ints
    median: Floats
    upper: Floats
    changes: list[tuple[int, str]] = field(default_factory=list)

    @staticmethod
    def of(steps: int) -> Track:
        """Give an empty track."""
        return Track(
            floors=np.ones(steps, dtype=np.int64),
            median=np.full(steps, np.nan),
            upper=np.full(steps, np.nan),
        )

    def note(self, step: int, decision: Decision, level: float, floor: int) -> None:
        """Keep one decision and the floor that stands after it."""
        self.floors[step] = floor
        forecast, plan = decision.forecast, decision.plan
        if forecast is not None and plan is not None:
            lead = round(plan.lead / forecast.step)
            if 0 <= lead < forecast.quantiles.shape[1] and step + lead < len(self.median):
                self.median[step + lead] = forecast.at(0.5)[lead]
                self.upper[step + lead] = forecast.at(level)[lead]
        if floor != decision.present:
            why = "; ".join(reason.sentence for reason in decision.reasons)
            self.changes.append((step, f"floor {decision.present} → {floor}: {why}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A run of production: its track, its fits, and what they cost.

    Attributes
    ----------
    steps : how many steps were flown; fewer than the world has when somebody interrupted
    """

    track: Track
    learnings: list[Learning]
    cpu_seconds: float
    steps: int


def default_policy(world: PlainWorld) -> TidePolicy:
    """Policy with nothing set but what it must have, for a world."""
    seconds = world.service.cold * world.service.step
    return TidePolicy.model_validate(
        {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": "simulated", "namespace": "default"},
            "spec": {
                "mode": "Act",
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": "simulated",
                },
                "demand": {"query": "recorded_demand"},
                "capacity": {"perReplica": world.service.capacity},
                "coldStart": {"duration": f"{round(seconds)}s"},
                "floor": {"min": 1},
            },
        }
    )


def fly(
    world: PlainWorld,
    policy: TidePolicy,
    *,
    ports: Ports | None = None,
    learnt: Learnt | None = None,
    progress: Callable[[int, int], None] | None = None,
    shapes: tuple[Shape, ...] = ALL,
) -> Flight:
    """Run production from `world.start` to the end and keep its track.

    Parameters
    ----------
    ports : others than recorded demand and a plain target with the policy's own bounds
    progress : told (steps done, steps in all) now and then
    shapes : candidates of a fit, as in `tune.learn`

    Ctrl-C ends it early with what was flown.
    """
    began = time.process_time()
    target = PlainTarget(floor=policy.spec.floor.min or 1)
    if ports is None:
        demand = RecordedDemand(world.demand, world.begins, world.service.step)
        ports = SimulatedPorts(demand=demand, targets=target, floors=target, records=NoRecords())
    pilot = Pilot(policy, ports, period=world.service.step, learnt=learnt, shapes=shapes)
    steps, done = len(world.run_demand), 0
    track = Track.of(steps)
    with interruption() as interrupted:
        while done < steps and not interrupted.came:
            _one(world, pilot, track, done)
            if progress is not None and done % 60 == 0:
                progress(done + 1, steps)
            done += 1
    return Flight(
        track=track,
        learnings=pilot.learnings,
        cpu_seconds=time.process_time() - began,
        steps=done,
    )


def _one(world: PlainWorld, pilot: Pilot, track: Track, step: int) -> None:
    """Fly one step of the run."""
    now = world.begins + (world.start + step) * world.service.step
    decision = pilot.tick(now).decision
    floor = pilot.ports.targets.observe(pilot.policy).floor
    track.floors[step] = floor
    if decision is not None:
        track.note(step, decision, pilot.level, floor)


def target_above(world: PlainWorld, flight: Flight) -> float | None:
    """Target of the HPA above ours: the world's, or what was advised before the first step.

    Whoever sets it then knows nothing of the run; it stays for all of it.
    """
    if world.target is None or world.full is not None or not world.advised:
        return world.target
    started = world.begins + world.start * world.service.step
    known = (fit.target for fit in flight.learnings if fit.at <= started)
    return next((target for target in known if target is not None), max(TARGETS))


def run_of(world: PlainWorld, flight: Flight, reference: float) -> Run:
    """Account for a flight as one of the runs, named `foretide`."""
    track, target = flight.track, target_above(world, flight)
    replayed = world.above(track.floors, target)
    return Run(
        name="foretide",
        settings={} if target is None else {"target": target},
        replayed=replayed,
        account=account(world, replayed, reference),
        cpu_seconds=flight.cpu_seconds,
        floors=track.floors,
        expected=np.stack([track.median, track.upper]),
        changes=tuple(track.changes),
    )
