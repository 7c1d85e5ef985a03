"""One question put to the simulator: this policy on this traffic, against these peers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from autoscaler.adapters.telemetry.writer import NoMeter, RecordWriter
from autoscaler.errors import InputError
from autoscaler.interruption import Interrupted, interruption
from autoscaler.model import Floats, History, Knowledge, Mode
from autoscaler.policy import TidePolicy
from autoscaler.replay.doubt import Intervals
from autoscaler.simulator.doubt import Point, frontier, intervals
from autoscaler.simulator.hpa_file import Manifest
from autoscaler.simulator.peers import Peer
from autoscaler.simulator.plain import PlainWorld, plain_world
from autoscaler.simulator.ports import PlainTarget, RecordedDemand, SimulatedPorts
from autoscaler.simulator.production import Flight, fly, run_of
from autoscaler.simulator.runs import Run, best_run, play_all
from autoscaler.simulator.side_by_side import side_by_side
from autoscaler.world.traffic import Traffic, Within, beginning, grid

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """How the plain world is laid over the traffic.

    Attributes
    ----------
    replicas_at_p99 : sets the capacity from the traffic instead of the policy's
    cold_start : seconds, of the world, and of the policy unless that says its own
    since, until : seconds from the first row; the evaluation begins not before, and all ends there
    target : of the plain HPA above everyone, None for none
    advised : above ours it has the target of our own advice instead
    manifest : a full HPA in its place
    """

    replicas_at_p99: float | None = None
    cold_start: float | None = None
    step: float = 60.0
    within: Within = "linear"
    target: float | None = 0.7
    advised: bool = False
    manifest: Manifest | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The answer.

    Attributes
    ----------
    policy : as played
    best : the clairvoyant
    runs : ours first, then the peers
    intervals : of each run by name; None where there are too few days
    frontiers : of each run that has a floor, when they were asked for
    flight : ours, with its fits; None when there was none
    partial : whether somebody interrupted it
    unwritten : decision records that the disk refused
    """

    policy: TidePolicy
    world: PlainWorld
    best: Run
    runs: Sequence[Run]
    intervals: dict[str, Intervals | None]
    frontiers: dict[str, Sequence[Point]] = field(default_factory=dict)
    flight: Flight | None = None
    partial: bool = False
    unwritten: int = 0


def lay(policy: TidePolicy, traffic: Traffic, switches: Switches) -> tuple[TidePolicy, PlainWorld]:
    """Lay the world over the traffic, and make the policy one that acts in it.

    A policy in Observe is played as Act: the question is what it would have done.

    Raises
    ------
    TraceError, InputError
    """
    demand = grid(traffic, switches.step, switches.within)
    spec = policy.spec
    own_start = "cold_start" in spec.model_fields_set
    cold = switches.cold_start if switches.cold_start is not None else spec.cold_start_seconds
    world = plain_world(
        _until(demand, switches),
        replicas_at_p99=switches.replicas_at_p99 or 20.0,
        capacity=None if switches.replicas_at_p99 else spec.capacity.per_replica,
        cold_start=cold,
        step=switches.step,
        target=switches.target,
        begins=beginning(traffic, switches.step),
    )
    service = replace(
        world.service,
        wait=spec.promise.wait,
        start_cost=spec.release.break_even,
        price=spec.price.per_percent_late,
    )
    world = replace(world, service=service, full=switches.manifest, advised=switches.advised)
    world = _since(world, switches)
    update: dict[str, object] = {
        "capacity": spec.capacity.model_copy(update={"per_replica": service.capacity})
    }
    if not own_start:
        update["cold_start"] = spec.cold_start.model_copy(update={"duration": cold})
    if spec.mode is Mode.OBSERVE:
        update["mode"] = Mode.ACT
    return policy.model_copy(update={"spec": spec.model_copy(update=update)}), world


# long: a line for each part of the question and of the answer
def simulate(  # noqa: PLR0913 - every part of the question is one argument, all keywords
    policy: TidePolicy,
    world: PlainWorld,
    against: Sequence[Peer],
    *,
    tuned: bool = False,
    swept: bool = False,
    seed: int = 0,
    jobs: int = 1,
    records: Path | None = None,
    progress: Progress = lambda _what, _share: None,
) -> Simulated:
    """Play ours and the peers; an interrupt ends it with what is there.

    Longer than most functions because its arguments need their lines. Whoever writes the answer
    calls it within an `interruption` of his own: one that comes late is then heard there.

    Parameters
    ----------
    tuned : each peer also tuned in hindsight
    swept : a cost–lateness curve of every run that has a floor
    seed : of the bootstrap
    jobs : processes for the peers
    records : file for the decision records
    progress : told what is running and which share of it is done

    Raises
    ------
    Interrupted
        Nothing of the evaluation was reached.
    """
    lost = _Lost()
    with interruption() as noted:
        flight = _fly(policy, world, records, lost, progress)
        partial = flight.steps < len(world.run_demand)
        if partial:
            world = _cut(world, flight.steps)
            flight = _cut_flight(flight)
        best = best_run(world)
        reference = best.account.cost(world.service)
        runs = [run_of(world, flight, reference)]
        played = _Peers(world=world, reference=reference, tuned=tuned, halted=lambda: noted.came)
        try:
            for run in () if partial else played.together(against, jobs):
                runs.append(run)
                progress(run.name, len(runs) / (1 + len(against) * (1 + tuned)))
        except Interrupted:
            partial = True  # whoever was played to the end is told
        partial |= swept and noted.came
        frontiers = _frontiers(world, runs, reference) if swept and not partial else {}
    return Simulated(
        policy=policy,
        world=world,
        best=best,
        runs=runs,
        intervals={
            run.name: intervals(world, run.replayed, best.replayed, seed=seed) for run in runs
        },
        frontiers=frontiers,
        flight=flight,
        partial=partial,
        unwritten=lost.count,
    )


def _frontiers(
    world: PlainWorld, runs: Sequence[Run], reference: float
) -> dict[str, Sequence[Point]]:
    """Sweep a margin on every run that has a floor; the HPA alone stands on one of 1."""
    return {
        run.name: frontier(world, run.floors, run.settings.get("target"), reference)
        for run in runs
        if run.floors is not None and run.floors.max() > 1
    }


class _Lost(NoMeter):
    """Counts records that the disk refused."""

    def __init__(self) -> None:
        self.count = 0

    def dropped(self) -> None:
        """One record was lost."""
        self.count += 1


def _fly(
    policy: TidePolicy, world: PlainWorld, records: Path | None, lost: _Lost, progress: Progress
) -> Flight:
    """Fly ours, with decision records when a file is given."""

    def told(done: int, of: int) -> None:
        progress("foretide", done / of)

    if records is None:
        return fly(world, policy, progress=told)
    target = PlainTarget(floor=policy.spec.floor.min or 1)
    demand = RecordedDemand(world.demand, world.begins, world.service.step)
    records.unlink(missing_ok=True)
    # no cycle here is without a decision, so the writer never needs a clock of its own
    writer = RecordWriter(records, lambda: world.begins, daily=False, run="simulation", meter=lost)

    def learnt(policy: TidePolicy, history: History, known: Knowledge, period: float) -> None:
        writer.learnt(policy, history, known, period)

    ports = SimulatedPorts(demand=demand, targets=target, floors=target, records=writer)
    with contextlib.closing(writer):
        return fly(world, policy, ports=ports, learnt=learnt, progress=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Peers:
    """How peers are played, and who says that it is enough."""

    world: PlainWorld
    reference: float
    tuned: bool
    halted: Callable[[], bool]

    def together(self, against: Sequence[Peer], jobs: int) -> Iterator[Run]:
        """Play them, several at once when asked, and give each as soon as it is there."""
        if jobs <= 1 or len(against) < 2:
            yield from play_all(
                self.world, against, self.reference, tuned=self.tuned, halted=self.halted
            )
            return
        given = [(self.world, peer, self.reference, self.tuned) for peer in against]
        for runs in side_by_side(_all, given, jobs, self.halted):
            yield from runs


def _all(world: PlainWorld, peer: Peer, reference: float, tuned: bool) -> list[Run]:
    """Play a peer, with all its runs as a list that a process can hand back."""
    return list(play_all(world, [peer], reference, tuned=tuned))


def _until(demand: Floats, switches: Switches) -> Floats:
    """End the grid where the question does."""
    if switches.until is None:
        return demand
    return demand[: max(0, round(switches.until / switches.step))]


def _since(world: PlainWorld, switches: Switches) -> PlainWorld:
    """Begin the evaluation where the question does, not before the world allows."""
    if switches.since is None:
        return world
    step = world.service.step
    measured = round(switches.since / step)
    if not world.start <= measured < len(world.demand):
        first, last = world.start * step / 86400, len(world.demand) * step / 86400
        found = f"{switches.since / 86400:g} days"
        raise InputError(
            f"--from: found {found} after the first row; allowed {first:g} to {last:g}"
        )
    return replace(world, measured=measured)


def _cut(world: PlainWorld, steps: int) -> PlainWorld:
    """End the world where the flight did.

    Raises
    ------
    Interrupted
        Nothing of the evaluation was reached: there is no partial result.
    """
    end = world.start + steps
    if end <= world.measured + 1:
        raise Interrupted
    return replace(world, demand=world.demand[:end])


def _cut_flight(flight: Flight) -> Flight:
    """Forget the steps that were not flown."""
    track = replace(
        flight.track,
        floors=flight.track.floors[: flight.steps],
        median=flight.track.median[: flight.steps],
        upper=np.asarray(flight.track.upper[: flight.steps]),
    )
    return replace(flight, track=track)
