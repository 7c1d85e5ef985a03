"""The plain world that every run is scored in, and the account of one run in it.

The rules stand in `autoscaler.replay`; here is where history ends, where the run starts and where
the evaluation begins: history is the first 7 days when the grid is longer than 14 days, else 5;
the run starts there, the evaluation two days later, and goes to the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from autoscaler.errors import TraceError
from autoscaler.model import Floats, Ints
from autoscaler.reactive.plain import PlainHpa
from autoscaler.replay import (
    Replayed,
    Service,
    clairvoyant,
    cost_of,
    late_fraction,
    need_of,
    replay,
    score_of,
)

DAY = 86400.0


class Full(Protocol):
    """Plays floors under the HPA of a manifest."""

    def __call__(self, world: PlainWorld, floors: Ints, /) -> Replayed:
        """Replay floors of the run, shape (n - start,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainWorld:
    """Demand on a grid, the service under it, and which part is history, run and evaluation.

    Attributes
    ----------
    demand : shape (n,), per second
    service : capacity, cold start, promise, prices
    start : step at which the run starts; what is before is history
    measured : step at which the evaluation starts, >= start
    target : the HPA's target above every floor that is not meant to stand alone, None for no HPA
    advised : whether ours stands under the target that its own advice names when the run starts
    begins : POSIX seconds of step 0
    full : plays floors under a full `autoscaling/v2` HPA instead of the plain one
    """

    demand: Floats
    service: Service
    start: int
    measured: int
    target: float | None = 0.7
    advised: bool = False
    begins: float = 0.0
    full: Full | None = None

    @property
    def day(self) -> int:
        """Steps of a day."""
        return round(DAY / self.service.step)

    @property
    def run_demand(self) -> Floats:
        """Demand from `start` on."""
        return self.demand[self.start :]

    def above(self, floors: Ints, target: float | None) -> Replayed:
        """Replay floors of the run, shape (n - start,), with an HPA of that target above.

        A full HPA, when the world has one, stands in its place (with its own target).
        """
        if self.full is not None and target is not None:
            return self.full(self, floors)
        hpa = PlainHpa(target=target) if target is not None else None
        return replay(self.run_demand, floors, self.service, hpa)

    def best(self) -> Replayed:
        """Replay the clairvoyant."""
        return replay(
            self.run_demand, clairvoyant(self.demand, self.service)[self.start :], self.service
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What one run cost and who waited, over the evaluation.

    Attributes
    ----------
    score, cost_ratio : against the clairvoyant; both infinite when that costs nothing
    late_fraction : late share of all requests; of the worst hour and day by itself
    worst_wait_seconds : what the longest backlog was worth; infinite when nothing served it
    short_seconds : time with fewer ready replicas than the need
    evaluated_hours : length of the evaluation
    """

    score: float
    cost_ratio: float
    late_fraction: float
    worst_hour_late_fraction: float
    worst_day_late_fraction: float
    worst_wait_seconds: float
    replica_hours: float
    replicas_started: int
    changes_per_day: float
    short_seconds: float
    evaluated_hours: float

    def cost(self, service: Service) -> float:
        """Replica-seconds and what the starts were worth."""
        return self.replica_hours * 3600 + self.replicas_started * service.start_cost


def plain_world(  # long: a third of it is the contract of its parameters
    demand: Floats,
    *,
    replicas_at_p99: float = 20.0,
    capacity: float | None = None,
    cold_start: float = 300.0,
    step: float = 60.0,
    target: float | None = 0.7,
    begins: float = 0.0,
) -> PlainWorld:
    """Lay the plain world over a grid: whole days only, the first 60 at most.

    Longer than most functions because each argument needs its line.

    Parameters
    ----------
    demand : shape (n,), per second, on steps of `step`
    replicas_at_p99 : sets the capacity of one replica from the grid, unless `capacity` is given
    cold_start : seconds; rounded up to whole steps
    target : of the HPA above everyone, None for no HPA
    begins : POSIX seconds of the first step

    Raises
    ------
    TraceError
        The grid is too short to leave two days of settling and one of evaluation, or is all zero.
    """
    day = round(DAY / step)
    days = min(len(demand) // day, 60)
    history = 7 if days > 14 else 5
    if days < history + 3:
        raise TraceError(
            f"{math.floor(100 * len(demand) / day) / 100:g} days of traffic; "
            f"at least {history + 3} whole days are needed: {history} of history, 2 to settle, 1 "
            "to be evaluated"
        )
    demand = demand[: days * day]
    if capacity is None:
        capacity = float(np.percentile(demand, 99)) / replicas_at_p99
    if not capacity > 0:
        raise TraceError("the P99 of the traffic is 0: no capacity can be taken from it")
    service = Service(capacity=capacity, cold=steps_of(cold_start, step), step=step)
    start = history * day
    return PlainWorld(
        demand=demand,
        service=service,
        start=start,
        measured=start + 2 * day,
        target=target,
        begins=begins,
    )


def steps_of(seconds: float, step: float) -> int:
    """Whole steps that cover so many seconds."""
    return math.ceil(seconds / step - 1e-9)


def account(world: PlainWorld, run: Replayed, reference: float) -> Account:
    """Account for a run (from `start` on) over the evaluation.

    Parameters
    ----------
    run : arrays of shape (1, n - start)
    reference : the clairvoyant's cost over the evaluation, from `reference_cost`
    """
    service, settle = world.service, world.measured - world.start
    run = run.since(settle)
    demand = world.demand[world.measured :]
    late = float(late_fraction(run, demand)[0])
    cost = cost_of(run, service)
    ready = run.ready[0]
    days = len(demand) * service.step / DAY
    with np.errstate(divide="ignore", invalid="ignore"):
        waits = np.where(run.backlog[0] > 0, run.backlog[0] / (ready * service.capacity), 0.0)
    changes = int(np.count_nonzero(np.diff(run.total[0], prepend=run.before[:1])))
    return Account(
        score=float(score_of(cost, reference, np.asarray([late]), service.price)[0]),
        cost_ratio=float(cost[0] / reference),
        late_fraction=late,
        worst_hour_late_fraction=_worst(run, demand, world.day // 24),
        worst_day_late_fraction=_worst(run, demand, world.day),
        worst_wait_seconds=float(waits.max(initial=0.0)),
        replica_hours=float(run.total.sum() * service.step / 3600),
        replicas_started=int(run.started.sum()),
        changes_per_day=changes / days,
        evaluated_hours=len(demand) * service.step / 3600,
        short_seconds=float(np.count_nonzero(ready < need_of(demand, service)) * service.step),
    )


def reference_cost(world: PlainWorld) -> float:
    """Cost of the clairvoyant over the evaluation, replica-seconds."""
    run = world.best().since(world.measured - world.start)
    return float(cost_of(run, world.service)[0])


def _worst(run: Replayed, demand: Floats, steps: int) -> float:
    """Largest late share among stretches of that many steps."""
    count = len(demand) // steps
    if not count:
        return float(late_fraction(run, demand)[0])
    arrived = demand[: count * steps].reshape(count, steps)
    late = np.where(run.late[0, : count * steps].reshape(count, steps), arrived, 0.0).sum(axis=1)
    everything = arrived.sum(axis=1)
    return float((late / np.where(everything > 0, everything, 1.0)).max())
