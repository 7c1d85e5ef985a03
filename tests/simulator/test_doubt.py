"""Intervals and the frontier."""

import numpy as np
import pytest

from autoscaler.simulator.doubt import MARGINS, frontier, intervals
from autoscaler.simulator.plain import account, reference_cost


def test_days_that_are_all_alike_leave_no_doubt(world_of):
    demand = np.tile(np.r_[np.full(720, 2.5), np.full(720, 6.5)], 8)
    world = world_of(demand, 3)
    run = world.above(np.full(5 * 1440, 8), None)
    found = intervals(world, run, world.best(), seed=1)
    # the clairvoyant's last day has no rise to order ahead of: a little less than the others
    assert found.cost_ratio.high - found.cost_ratio.low < 0.01
    score = account(world, run, reference_cost(world)).score
    assert found.score.low <= score <= found.score.high
    assert found.late_fraction.low == found.late_fraction.high == 0.0


def test_one_bad_day_widens_the_interval_and_a_seed_fixes_it(world_of):
    demand = np.tile(np.r_[np.full(720, 2.5), np.full(720, 6.5)], 10)
    demand[6 * 1440 : 6 * 1440 + 60] = 20.0
    world = world_of(demand, 3)
    run = world.above(np.full(7 * 1440, 8), None)
    one, two = (intervals(world, run, world.best(), seed=5) for _ in range(2))
    assert one == two
    assert one.late_fraction.low == 0.0  # without that day
    assert one.late_fraction.high > 0.02


def test_a_single_day_has_no_interval(world_of):
    world = world_of(np.full(2 * 1440, 2.0), 1)
    assert intervals(world, world.above(np.full(1440, 2), None), world.best(), seed=0) is None


def test_frontier_costs_more_and_is_later_less(world_of):
    demand = np.tile(np.r_[np.full(720, 2.5), np.full(720, 6.5)], 4)
    world = world_of(demand, 1)
    floors = np.full(3 * 1440, 6)
    points = frontier(world, floors, None, reference_cost(world))
    assert [point.margin for point in points] == list(MARGINS)
    costs = [point.cost_ratio for point in points]
    late = [point.late_fraction for point in points]
    assert costs == sorted(costs)
    assert late == sorted(late, reverse=True)
    here = next(point for point in points if point.margin == 1.0)
    assert here.score == pytest.approx(
        account(world, world.above(floors, None), reference_cost(world)).score
    )
