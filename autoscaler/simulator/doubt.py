"""How sure a score is, and what spending more or less would have done.

Intervals come from a block bootstrap over days: days are drawn with replacement, and cost, the
clairvoyant's cost, late and all requests of the same days are summed anew. The frontier sweeps a
margin on the floors, so that nobody wins by overspending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats, Ints
from autoscaler.replay import Replayed, by_day
from autoscaler.simulator.plain import PlainWorld, account

DRAWS = 2000
MARGINS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """95 % interval of a number."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """95 % intervals of what a run is judged by."""

    score: Interval
    cost_ratio: Interval
    late_fraction: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One margin of a frontier."""

    margin: float
    cost_ratio: float
    late_fraction: float
    score: float


def intervals(world: PlainWorld, run: Replayed, best: Replayed, *, seed: int) -> Intervals | None:
    """Bootstrap a run against the clairvoyant; None with fewer than two whole days.

    Parameters
    ----------
    run, best : from `world.start` on, shape (1, n - start)
    seed : of the draws
    """
    cost, late, came = daily(world, run)
    reference, _, _ = daily(world, best)
    days = len(cost)
    if days < 2:
        return None
    drawn = np.random.default_rng(seed).integers(days, size=(DRAWS, days))
    ratio = cost[drawn].sum(axis=1) / reference[drawn].sum(axis=1)
    arrived = came[drawn].sum(axis=1)
    share = np.divide(late[drawn].sum(axis=1), arrived, out=np.zeros(DRAWS), where=arrived > 0)
    score = ratio * (1 + 100 * world.service.price * share)
    return Intervals(
        score=_interval(score), cost_ratio=_interval(ratio), late_fraction=_interval(share)
    )


def daily(world: PlainWorld, run: Replayed) -> tuple[Floats, Floats, Floats]:
    """Cost, late and all requests of each whole day of the evaluation, shape (days,) each."""
    service, day = world.service, world.day
    run = run.since(world.measured - world.start)
    demand = world.demand[world.measured :]
    held = by_day(run.total * service.step + run.started * service.start_cost, day)[0]
    late = by_day(np.where(run.late, demand, 0.0), day)[0]
    came = by_day(demand[None, :], day)[0]
    return held.astype(np.float64), late.astype(np.float64), came.astype(np.float64)


def frontier(
    world: PlainWorld, floors: Ints, target: float | None, reference: float
) -> Sequence[Point]:
    """Score floors times each margin, under the same HPA."""
    points = []
    for margin in MARGINS:
        swept = np.ceil(floors * margin - 1e-9).astype(np.int64)
        scored = account(world, world.above(swept, target), reference)
        points.append(
            Point(
                margin=margin,
                cost_ratio=scored.cost_ratio,
                late_fraction=scored.late_fraction,
                score=scored.score,
            )
        )
    return points


def _interval(values: Floats) -> Interval:
    """Give the 2.5 % and 97.5 % quantiles."""
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(low=float(low), high=float(high))
