"""Windows ahead, and gaps closed level by level, against their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.model import Memory, Need, Wanted
from autoscaler.plan import (
    follow,
    horizon,
    largest_ahead,
    largest_behind,
    make,
    path_of,
    within,
)

paths = st.lists(st.integers(0, 9), min_size=1, max_size=60).map(np.array)


@examples(paths, st.integers(0, 70))
def test_windows_agree_with_their_definition(values, reach):
    n = len(values)
    np.testing.assert_array_equal(
        largest_ahead(values, reach), [values[t : t + reach + 1].max() for t in range(n)]
    )
    np.testing.assert_array_equal(
        largest_behind(values, reach),
        [values[max(0, t - reach) : t + 1].max() for t in range(n)],
    )


def closed_level_by_level(present: int, need: np.ndarray, longest: int) -> np.ndarray:
    """For every level k, close the gaps of {need >= k} of at most `longest` steps.

    Before the first step stands what is present; after the last nothing is known.
    """
    n = len(need)
    floors = np.zeros(n, dtype=int)
    for k in range(1, max(int(need.max()), present) + 1):
        stands = need >= k
        last = -1 if present >= k else None  # step at which level k last stood
        for t in range(n):
            if stands[t]:
                if last is not None and t - last - 1 <= longest:
                    stands[last + 1 : t] = True
                last = t
        floors += stands
    return floors


@examples(st.integers(0, 12), paths, st.integers(0, 20))
def test_following_is_closing_the_gaps_of_every_level(present, need, longest):
    keep = largest_ahead(need, longest)
    # a gap is longer than the window by the step in which the need comes back
    np.testing.assert_array_equal(
        follow(present, need, keep), closed_level_by_level(present, need, longest)
    )


@examples(st.integers(0, 12), paths, paths)
def test_following_is_a_chain_of_clamps(present, order, keep):
    keep = np.resize(keep, len(order))
    floors, stands = [], present
    for must, may in zip(order, keep, strict=True):
        stands = max(must, min(stands, may))
        floors.append(stands)
    np.testing.assert_array_equal(follow(present, order, keep), floors)


@examples(st.integers(0, 12), paths, paths)
def test_several_paths_at_once_are_each_alone(present, order, keep):
    keep = np.resize(keep, len(order))
    both = follow(present, np.stack([order, order + 1]), keep)
    np.testing.assert_array_equal(both[0], follow(present, order, keep))
    np.testing.assert_array_equal(both[1], follow(present, order + 1, keep))


def need(order, keep=None, now=0):
    order = np.asarray(order)
    return Need(
        start=0.0, step=60.0, order=order, keep=order if keep is None else np.asarray(keep), now=now
    )


LEAD, BREAK_EVEN = 360.0, 1800.0
STEPS = horizon(LEAD, BREAK_EVEN, 60.0)


def test_the_horizon_reaches_a_break_even_beyond_the_lead():
    assert STEPS == 6 + 30 + 1


@pytest.mark.parametrize(("in_steps", "floor"), [(0, 9), (6, 9), (7, 2)])
def test_a_need_within_the_lead_is_ordered_now(in_steps, floor):
    ahead = np.full(STEPS, 2)
    ahead[in_steps] = 9
    assert make(2, need(ahead), LEAD, BREAK_EVEN).floor == floor


def test_what_comes_after_the_lead_is_ordered_a_lead_before_it():
    """Expected cost decides for what comes within the lead alone, not when later needs are met."""
    ahead = np.full(STEPS, 2)
    ahead[10:] = 9
    by_cost = replace(need(ahead), least=3, most=3)
    path = path_of(2, by_cost, LEAD, BREAK_EVEN)
    assert path[:6].tolist() == [3, 3, 3, 3, 9, 9]
    assert make(2, by_cost, LEAD, BREAK_EVEN).floor == 3


@pytest.mark.parametrize(("in_steps", "floor"), [(20, 9), (36, 9), (None, 2)])
def test_a_replica_that_stands_is_kept_if_the_median_needs_it_soon(in_steps, floor):
    ahead = np.full(STEPS, 2)
    if in_steps is not None:
        ahead[in_steps] = 9
    plan = make(9, need(np.full(STEPS, 2), ahead), LEAD, BREAK_EVEN)
    assert plan.floor == floor
    assert [reason.code for reason in plan.reasons] == (
        ["Forecast", "Kept"] if floor == 9 else ["Forecast"]
    )


def test_what_does_not_stand_is_not_started_for_the_median():
    ahead = np.full(STEPS, 2)
    ahead[20] = 9
    assert make(5, need(np.full(STEPS, 2), ahead), LEAD, BREAK_EVEN).floor == 5


def test_the_newest_demand_counts_even_if_the_forecast_is_below_it():
    plan = make(2, need(np.full(STEPS, 2), now=7), LEAD, BREAK_EVEN)
    assert plan.floor == 7
    assert "newest demand" in plan.reasons[0].sentence


def test_changes_are_the_path_to_come():
    ahead = np.full(STEPS, 2)
    ahead[16:] = 5
    plan = make(2, need(ahead), LEAD, BREAK_EVEN)
    assert plan.floor == 2
    assert [(change.at, change.floor) for change in plan.changes] == [(600.0, 5)]


@examples(paths, paths, st.integers(0, 12))
def test_the_floor_now_is_the_first_of_the_path(order, keep, present):
    of = need(order, np.resize(keep, len(order)))
    assert make(present, of, LEAD, BREAK_EVEN).floor == path_of(present, of, LEAD, BREAK_EVEN)[0]


def test_the_next_change_does_not_turn_with_the_noise_of_the_median():
    """One replica fewer for the median, ordered again five minutes later: it is drawn as kept."""
    ahead, median = np.full(STEPS, 5), np.full(STEPS, 4)
    ahead[10:14] = 4
    ahead[22:] = 8
    plan = make(5, need(ahead, median), LEAD, BREAK_EVEN)
    assert plan.floor == 5
    assert [(change.at, change.floor) for change in plan.changes] == [(960.0, 8)]


def test_the_next_change_knows_the_slow_release():
    memory = Memory(wanted=(Wanted(at=-120.0, floor=9), Wanted(at=-60.0, floor=6)))
    plan = make(9, need(np.full(STEPS, 2)), LEAD, BREAK_EVEN, after=600.0, memory=memory)
    assert plan.floor == 2
    found = [(change.at, change.floor) for change in plan.changes]
    assert found == [(540.0, 6), (600.0, 2)]


def test_the_next_change_is_none_that_the_slow_release_has_just_let_through():
    """Cycles run within a step: what was wanted 640 s ago ended 40 s before the step began."""
    memory = Memory(wanted=(Wanted(at=-640.0, floor=9), Wanted(at=-580.0, floor=2)))
    plan = make(9, need(np.full(STEPS, 2)), LEAD, BREAK_EVEN, after=600.0, memory=memory)
    assert (plan.floor, plan.changes) == (2, ())


def test_changes_stay_within_the_bounds_of_the_floor():
    """A fall below the minimum never comes, and of a rise only what the maximum lets stand."""
    of = need(np.r_[np.full(15, 5), np.full(STEPS - 15, 9)], np.full(STEPS, 2))
    plan = make(5, of, LEAD, BREAK_EVEN)
    told = [(change.at, change.floor) for change in plan.changes]
    assert told == [(540.0, 9)]
    for least, most, left in ((1, 20, told), (6, 8, [(540.0, 8)]), (9, 20, []), (9, 7, [])):
        floor = min(max(plan.floor, least), most)
        found = within(plan, floor, least, most)
        assert [(change.at, change.floor) for change in found.changes] == left
    assert within(None, 5, 1, 9) is None


@examples(paths, paths, st.integers(0, 12), st.integers(0, 3))
def test_a_higher_order_quantile_never_gives_a_lower_path(order, keep, present, more):
    keep = np.resize(keep, len(order))
    low = path_of(present, need(order, keep), 180.0, 600.0)
    high = path_of(present, need(order + more, keep), 180.0, 600.0)
    assert (high >= low).all()
