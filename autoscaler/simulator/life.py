"""The fuller world: production and peers live in it step by step, with what goes wrong.

The plain world can be replayed from floors alone. Here pods start in phases or never, a GPU pool
is shared, clients give up, metrics and API go away; so the world is stepped, and production meets
all of it through the ports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from autoscaler.model import Ints, Memory, Outcome
from autoscaler.policy import TidePolicy
from autoscaler.reactive import PlainHpa
from autoscaler.replay import Replayed
from autoscaler.simulator.faults import FaultyDemand, Stretch, WorldTarget, within
from autoscaler.simulator.peers import Floored, Peer, Wish, Writing
from autoscaler.simulator.plain import PlainWorld, account
from autoscaler.simulator.ports import NoRecords, RecordedDemand, SimulatedPorts
from autoscaler.simulator.production import Pilot, Track
from autoscaler.simulator.runs import Run, settings_for
from autoscaler.simulator.stepping import Moment, first_of
from autoscaler.world.above import PlainAbove
from autoscaler.world.queue import ImpatientQueue
from autoscaler.world.service import Above, Seen, Snapshot, World
from autoscaler.world.starts import FixedStart, PhasedStart


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """What the fuller world has beyond the plain one; all times POSIX seconds.

    Attributes
    ----------
    starts : cold starts by phase instead of a fixed one
    pool : how many replicas the GPUs allow, by stretch; outside it is without limit
    patience, retry : clients give up after so many seconds, and a share of them comes back
    metrics_away, metrics_gaps, metrics_wrong, metrics_delay, metrics_scrape : what Prometheus does
    api_away, conflicts, reverts : what the API server and the target's owner do
    restarts : moments at which the controller loses memory and knowledge
    clock : stretches in which the controller's clock is off by `amount` seconds
    """

    starts: PhasedStart | None = None
    pool: Sequence[Stretch] = ()
    patience: float | None = None
    retry: float = 0.0
    metrics_away: Sequence[Stretch] = ()
    metrics_gaps: Sequence[Stretch] = ()
    metrics_wrong: Sequence[Stretch] = ()
    metrics_delay: float = 0.0
    metrics_scrape: float = 0.0
    api_away: Sequence[Stretch] = ()
    conflicts: float = 0.0
    reverts: Sequence[Stretch] = ()
    restarts: Sequence[float] = ()
    clock: Sequence[Stretch] = ()


@dataclass(slots=True, kw_only=True)
class Lived:
    """A life in the fuller world, and what production did there.

    Attributes
    ----------
    lowered_in_doubt : moments at which a floor was lowered while metrics were away
    lowered_after_restart : moments at which one was lowered within `release.after` of a restart
    writes : floors written in the run
    """

    run: Run
    lowered_in_doubt: list[float] = field(default_factory=list)
    lowered_after_restart: list[float] = field(default_factory=list)
    writes: int = 0


def live_ours(
    plain: PlainWorld,
    policy: TidePolicy,
    troubles: Troubles,
    reference: float,
    *,
    seed: int,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Lived:
    """Let production live in the fuller world (long: it wires every trouble to its place)."""
    above = _hpa(plain.target)
    world = world_of(plain, troubles, above, floor=policy.spec.floor.min or 1, seed=seed)
    source = RecordedDemand(plain.demand, plain.begins, plain.service.step)
    demand = FaultyDemand(
        source,
        lambda: world.now,
        away=troubles.metrics_away,
        scrape=troubles.metrics_scrape,
        delay=troubles.metrics_delay,
        gaps=troubles.metrics_gaps,
        wrong=troubles.metrics_wrong,
    )
    target = WorldTarget(
        world,
        lambda: world.now,
        away=troubles.api_away,
        reverts=troubles.reverts,
        conflicts=troubles.conflicts,
        rng=np.random.default_rng([seed, 1]),
    )
    ports = SimulatedPorts(demand=demand, targets=target, floors=target, records=NoRecords())
    pilot = Pilot(policy, ports, period=plain.service.step)
    life = _Life(plain, pilot, policy, troubles)
    snapshots: list[Snapshot] = []
    for step in range(len(plain.run_demand)):
        snapshots.append(life.step(world, step))
        if step % 60 == 0:
            progress(step, len(plain.run_demand))
    run = _run("foretide", plain, snapshots, reference)
    track = life.track
    run = replace(
        run,
        floors=track.floors,
        expected=np.stack([track.median, track.upper]),
        changes=tuple(track.changes),
    )
    return Lived(
        run=run,
        lowered_in_doubt=life.in_doubt,
        lowered_after_restart=life.after_restart,
        writes=target.writes,
    )


class _Life:
    """Production's side of a life, one step at a time."""

    def __init__(
        self, plain: PlainWorld, pilot: Pilot, policy: TidePolicy, troubles: Troubles
    ) -> None:
        self._plain, self._pilot, self._policy = plain, pilot, policy
        self._troubles = troubles
        self._restarts = sorted(troubles.restarts)
        self._restarted = float("-inf")
        self.track = Track.of(len(plain.run_demand))
        self.in_doubt: list[float] = []
        self.after_restart: list[float] = []

    def step(self, world: World, step: int) -> Snapshot:
        """One cycle of the controller, then the world goes on."""
        now = world.now
        if self._restarts and now >= self._restarts[0]:
            self._restarted = self._restarts.pop(0)
            self._pilot.memory, self._pilot.knowledge = Memory(), None
        skew = sum(s.amount for s in self._troubles.clock if s.holds(now))
        result = self._pilot.tick(now + skew)
        self.track.floors[step] = world.floor
        if result.decision is not None:
            self.track.note(step, result.decision, self._pilot.level, world.floor)
            if result.outcome is Outcome.WRITTEN and world.floor < result.decision.present:
                self._lowered(now)
        return world.step(self._plain.service.step)

    def _lowered(self, now: float) -> None:
        """Remember a floor that was lowered when it must not be."""
        if within(self._troubles.metrics_away, now):
            self.in_doubt.append(now)
        if now - self._restarted < self._policy.spec.release.after:
            self.after_restart.append(now)


def live_peer(
    plain: PlainWorld, peer: Peer, troubles: Troubles, reference: float, *, seed: int
) -> Run:
    """Let a peer live in the same world.

    What it knows comes from the true demand: it is spared the metrics and the API that Foretide is
    not spared, but not the pods, the GPUs and the clients.
    """
    settings = settings_for(plain, peer)
    floors = None
    if isinstance(peer, Floored):
        floors = peer.floors(plain, settings)
        above = _hpa(settings.get("target"))
        world = world_of(plain, troubles, above, floor=int(floors[0]), seed=seed)
        snapshots = [world.step(plain.service.step, int(floor)) for floor in floors]
    elif isinstance(peer, Writing):
        snapshots = _written(plain, peer.wish(plain, settings), troubles, seed)
    else:
        raise TypeError(f"{peer.name}: a peer chooses floors or writes replicas")
    run = _run(peer.name, plain, snapshots, reference)
    return replace(run, settings=settings, floors=floors)


def _hpa(target: float | None) -> Above | None:
    """Give the plain HPA of a target, or nothing."""
    return None if target is None else PlainAbove(PlainHpa(target=target))


def _written(plain: PlainWorld, wish: Wish, troubles: Troubles, seed: int) -> list[Snapshot]:
    """Step a world in which replicas are written as somebody wishes."""
    above = _Wishes(wish, plain)
    world = world_of(plain, troubles, above, floor=1, seed=seed)
    snapshots = []
    for _ in range(len(plain.run_demand)):
        snapshots.append(world.step(plain.service.step))
        above.ready = snapshots[-1].ready
    return snapshots


class _Wishes:
    """Wishes as the world's autoscaler: asked once a step, after what stood before the run.

    Attributes
    ----------
    ready : replicas that served in the step before
    """

    def __init__(self, wish: Wish, plain: PlainWorld) -> None:
        self._wish, self._first, self._next = wish, first_of(plain), plain.start
        self._begun = False
        self.ready = self._first

    def desire(self, seen: Seen) -> int:
        """Ask for the replicas of this step."""
        if not self._begun:  # the world asks once before its first step
            self._begun = True
            return self._first
        moment = Moment(step=self._next, observed=seen.observed, total=seen.total, ready=self.ready)
        self._next += 1
        return self._wish(moment)


def world_of(
    plain: PlainWorld, troubles: Troubles, above: Above | None, *, floor: int, seed: int
) -> World:
    """Build the fuller world at the start of the run."""
    service = plain.service
    demand, begins, step = plain.demand, plain.begins, service.step
    last = len(demand) - 1

    def demand_at(now: float) -> float:
        return float(demand[min(int((now - begins) / step + 1e-9), last)])

    def pool(now: float) -> int:
        limits = [int(s.amount) for s in troubles.pool if s.holds(now)]
        return min(limits, default=1_000_000)

    patient = troubles.patience is None
    return World(
        demand=demand_at,
        capacity=service.capacity,
        start=begins + plain.start * step,
        floor=floor,
        ceiling=service.ceiling or 1_000_000,
        above=above,
        starts=troubles.starts or FixedStart(service.cold * step),
        queue=None
        if patient
        else ImpatientQueue(patience=troubles.patience or 0.0, retry=troubles.retry),
        pool=pool if troubles.pool else None,
        wait=service.wait,
        seed=seed,
    )


def _run(name: str, plain: PlainWorld, snapshots: Sequence[Snapshot], reference: float) -> Run:
    """Account for a life; what gave up counts as late."""
    replayed = Replayed(
        total=_row(snapshots, lambda s: s.total),
        ready=_row(snapshots, lambda s: s.ready),
        backlog=np.asarray([[s.backlog for s in snapshots]]),
        late=np.asarray([[s.late or s.lost > 0 for s in snapshots]]),
        before=np.asarray([snapshots[0].total]),
    )
    settle = plain.measured - plain.start
    found = account(plain, replayed, reference)
    step = plain.service.step
    came = sum(s.demand * step for s in snapshots[settle:])
    late = sum(
        min(s.demand * step if s.late else s.lost, s.demand * step) for s in snapshots[settle:]
    )
    share = late / came if came else 0.0
    score = found.cost_ratio * (1 + 100 * plain.service.price * share)
    return Run(
        name=name,
        settings={},
        replayed=replayed,
        account=replace(found, late_fraction=share, score=score),
        cpu_seconds=0.0,
    )


def _row(snapshots: Sequence[Snapshot], of: Callable[[Snapshot], int]) -> Ints:
    """Collect one number of every step, shape (1, n)."""
    return np.asarray([[of(snapshot) for snapshot in snapshots]], dtype=np.int64)
