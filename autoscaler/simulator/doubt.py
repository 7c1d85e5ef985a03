"""How sure a score is, and what spending more or less would have done.

Intervals come from a bootstrap over days (`replay.doubt`). The frontier sweeps a margin on the
floors, so that nobody wins by overspending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autoscaler.model import Ints
from autoscaler.replay import Replayed, doubt
from autoscaler.replay.doubt import Daily, Intervals
from autoscaler.simulator.peers import scaled
from autoscaler.simulator.plain import PlainWorld, account

MARGINS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)


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
    price = world.service.price
    return doubt.intervals(daily(world, run), daily(world, best), price, seed=seed)


def daily(world: PlainWorld, run: Replayed) -> Daily:
    """Account for each whole day of the evaluation."""
    run, demand = run.since(world.measured - world.start), world.demand[world.measured :]
    return doubt.daily(run, demand, world.service, world.day)[0]


def frontier(
    world: PlainWorld, floors: Ints, target: float | None, reference: float
) -> Sequence[Point]:
    """Score floors times each margin, under the same HPA."""
    points = []
    for margin in MARGINS:
        scored = account(world, world.above(scaled(floors, margin), target), reference)
        points.append(
            Point(
                margin=margin,
                cost_ratio=scored.cost_ratio,
                late_fraction=scored.late_fraction,
                score=scored.score,
            )
        )
    return points
