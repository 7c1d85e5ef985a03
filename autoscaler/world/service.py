"""A simulated service: demand comes, pods start cold, a backlog stands, an autoscaler acts above.

The rules are those of `replay`, one step at a time and pod by pod, so that an API server can be
put around it: the demo and the tests read pods and counters, the simulator's scenarios bend it
(starts that take long or fail, a GPU pool that is full, clients that give up). With fixed starts
and the plain HPA it gives exactly what `replay` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from autoscaler.world.queue import Arrived, PatientQueue, Queue
from autoscaler.world.starts import FixedStart, Starts


class Above(Protocol):
    """The autoscaler above the floor, with whatever it must remember."""

    def desire(self, seen: Seen) -> int:
        """Replicas that it wants now; the world clamps them to floor and ceiling."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What an autoscaler above can see at one moment.

    Attributes
    ----------
    now : POSIX seconds
    total, ready : replicas ordered, replicas that serve
    observed : demand per second of the step before plus the backlog's share
    capacity : demand per second of one replica
    floor, ceiling : its bounds
    """

    now: float
    total: int
    ready: int
    observed: float
    capacity: float
    floor: int
    ceiling: int


@dataclass(slots=True, kw_only=True)
class Pod:
    """One replica. `due` is when it serves, infinite when it never will."""

    name: str
    created: float
    due: float
    phases: dict[str, float] = field(default_factory=dict)

    def ready(self, now: float) -> bool:
        """Whether it serves at `now`."""
        return self.due <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Totals since the world began, counted by the world and by nobody else."""

    seconds: float = 0.0
    replica_seconds: float = 0.0
    started: int = 0
    requests: float = 0.0
    late: float = 0.0
    lost: float = 0.0
    worst_wait: float = 0.0

    @property
    def late_fraction(self) -> float:
        """Late or lost share of all requests; 0 before any arrived."""
        return (self.late + self.lost) / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The world just after a step that began at `now`.

    Attributes
    ----------
    demand : per second, what arrived in the step
    total, ready : replicas ordered and serving in it
    desired : what floor and autoscaler asked for, before the pool's limit
    backlog : demand that waits at its end
    wait : seconds that the backlog is worth, infinite with nothing ready
    late : whether the step's requests are late
    lost : demand that gave up in the step
    """

    now: float
    demand: float
    floor: int
    desired: int
    total: int
    ready: int
    backlog: float
    wait: float
    late: bool
    lost: float = 0.0


class World:
    """One simulated service, stepped by its owner's clock.

    Parameters
    ----------
    demand : demand per second at a moment in POSIX seconds (mean over the step that starts there)
    capacity : demand per second that one ready pod carries
    start : POSIX seconds at which it begins
    floor, ceiling : at the beginning; both may be moved at any time
    above : the autoscaler above the floor, or None
    starts : how long a cold start takes; default 300 s each
    queue : what becomes of demand that is not served at once; default: it waits
    pool : how many replicas the GPUs allow at a moment; None is without limit
    wait : the promised wait in seconds
    seed : of everything that is drawn
    """

    def __init__(  # noqa: PLR0913 - a world is its switches; all are keywords
        self,
        *,
        demand: Callable[[float], float],
        capacity: float,
        start: float,
        floor: int = 1,
        ceiling: int = 1_000_000,
        above: Above | None = None,
        starts: Starts | None = None,
        queue: Queue | None = None,
        pool: Callable[[float], int] | None = None,
        wait: float = 5.0,
        seed: int = 0,
    ) -> None:
        self.demand, self.capacity, self.wait = demand, capacity, wait
        self.now, self.floor, self.ceiling = start, floor, ceiling
        self.above, self.pool = above, pool
        self.starts: Starts = starts or FixedStart(300.0)
        self.queue: Queue = queue or PatientQueue()
        self.counted = Counted()
        self.pods: list[Pod] = []
        self._rng = np.random.default_rng(seed)
        self._names = 0
        self._observed = demand(start)
        first = self._desired(self._view())
        self.pods = [self._pod(warm=True) for _ in range(self._allowed(first))]
        self.desired = first

    @property
    def total(self) -> int:
        """Replicas ordered."""
        return len(self.pods)

    @property
    def ready(self) -> int:
        """Replicas that serve now."""
        return sum(pod.ready(self.now) for pod in self.pods)

    @property
    def backlog(self) -> float:
        """Demand that waits, in the unit of demand (requests)."""
        return self.queue.backlog

    def step(self, dt: float, floor: int | None = None, *, sync: bool = True) -> Snapshot:
        """Let `dt` seconds pass: bounds and autoscaler first, then pods, then demand.

        Parameters
        ----------
        dt : seconds, > 0
        floor : the floor that stands from now on; None leaves it
        sync : whether the autoscaler above looks in this step (its period may be longer)
        """
        if floor is not None:
            self.floor = floor
        if sync or self.total < self.floor:
            self.desired = self._desired(self._view())
        self._order(self._allowed(self.desired))
        ready, now, demand = self.ready, self.now, self.demand(self.now)
        arrived = self.queue.step(demand, ready * self.capacity, dt)
        snapshot = self._snapshot(demand, ready, arrived)
        self._observed = demand + self.queue.backlog / dt
        self._count(snapshot, arrived, dt)
        self.now = now + dt
        return snapshot

    def _view(self) -> Seen:
        """Collect what the autoscaler above can see."""
        return Seen(
            now=self.now,
            total=max(self.total, 1),
            ready=self.ready,
            observed=self._observed,
            capacity=self.capacity,
            floor=self.floor,
            ceiling=self.ceiling,
        )

    def _desired(self, seen: Seen) -> int:
        """Clamp what the autoscaler wants, or the floor alone, to the bounds."""
        wanted = self.above.desire(seen) if self.above else 1
        return min(max(wanted, self.floor, 1), self.ceiling)

    def _allowed(self, desired: int) -> int:
        """How many of the desired replicas the pool holds."""
        return desired if self.pool is None else max(0, min(desired, self.pool(self.now)))

    def _order(self, total: int) -> None:
        """Start or remove pods; pending ones go first, the latest due first of all."""
        missing = total - len(self.pods)
        if missing > 0:
            started = [self._pod(warm=False, together=missing) for _ in range(missing)]
            self.pods += started
            self.counted = _more(self.counted, started=missing)
        elif missing < 0:
            ranked = sorted(self.pods, key=lambda pod: (max(pod.due, self.now), pod.created))
            kept = {id(pod) for pod in ranked[:total]}
            self.pods = [pod for pod in self.pods if id(pod) in kept]

    def _pod(self, *, warm: bool, together: int = 1) -> Pod:
        """Make a pod, warm at the beginning of the world, cold afterwards."""
        self._names += 1
        phases = {} if warm else self.starts.draw(self._rng, together)
        due = self.now + sum(phases.values())
        return Pod(name=f"pod-{self._names:05d}", created=self.now, due=due, phases=phases)

    def _snapshot(self, demand: float, ready: int, arrived: Arrived) -> Snapshot:
        """Tell how the step went."""
        served = ready * self.capacity
        backlog = arrived.backlog
        wait = backlog / served if served else (float("inf") if backlog else 0.0)
        late = demand > 0 and backlog > self.wait * served * (1 + 1e-9)
        return Snapshot(
            now=self.now,
            demand=demand,
            floor=self.floor,
            desired=self.desired,
            total=self.total,
            ready=ready,
            backlog=backlog,
            wait=wait,
            late=late,
            lost=arrived.lost,
        )

    def _count(self, snapshot: Snapshot, arrived: Arrived, dt: float) -> None:
        """Add a step to the totals."""
        came = snapshot.demand * dt
        wait = snapshot.wait if np.isfinite(snapshot.wait) else 0.0
        before = self.counted
        self.counted = _more(
            before,
            seconds=dt,
            replica_seconds=snapshot.total * dt,
            requests=came,
            late=max(0.0, came - arrived.lost) if snapshot.late else 0.0,
            lost=arrived.lost,
            worst_wait=max(0.0, wait - before.worst_wait),
        )


def _more(counted: Counted, **added: float) -> Counted:
    """Add to counters."""
    fields = {name: getattr(counted, name) for name in Counted.__dataclass_fields__}
    return Counted(**{name: value + added.get(name, 0) for name, value in fields.items()})
