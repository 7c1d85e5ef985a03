"""Timelines whose replicas, backlog, cost and score are worked out by hand."""

import numpy as np
import pytest

from autoscaler.reactive import PlainHpa
from autoscaler.replay import (
    Service,
    clairvoyant,
    close_gaps,
    cost_of,
    late_fraction,
    need_of,
    replay,
    replicas_for,
    score_of,
)

UNIT = Service(capacity=1.0, cold=2, step=60.0, wait=5.0, start_cost=120.0)


def test_a_step_that_nobody_foresaw():
    """1 /s, then 3 /s from step 4 on; the floor follows at step 4 and is ready at step 6."""
    demand = np.array([1.0] * 4 + [3.0] * 6)
    floors = np.array([1] * 4 + [3] * 6)
    run = replay(demand, floors, UNIT)
    assert run.total[0].tolist() == [1, 1, 1, 1, 3, 3, 3, 3, 3, 3]
    assert run.ready[0].tolist() == [1, 1, 1, 1, 1, 1, 3, 3, 3, 3]
    # two steps short of 2 /s for 60 s each, then exactly enough: the backlog stays
    assert run.backlog[0].tolist() == [0, 0, 0, 0, 120, 240, 240, 240, 240, 240]
    assert run.late[0].tolist() == [False] * 4 + [True] * 6
    # 22 replica-steps of 60 s, and 2 starts at 120
    assert cost_of(run, UNIT)[0] == (4 * 1 + 6 * 3) * 60 + 2 * 120
    assert late_fraction(run, demand)[0] == pytest.approx(18 / 22)


def test_promise_of_five_seconds():
    """A backlog worth exactly 5 s of the ready replicas is on time, one above is late."""
    service = Service(capacity=1.0, cold=0)
    on_time = replay(np.array([1 + 5 / 60, 1.0]), np.array([1, 1]), service)
    assert on_time.backlog[0].tolist() == pytest.approx([5.0, 5.0])
    assert not on_time.late.any()
    late = replay(np.array([1 + 5.01 / 60, 1.0]), np.array([1, 1]), service)
    assert late.late.all()


def test_removal_takes_the_newest_pending_first():
    """3 ordered at step 1, 1 let go at step 2: the two others keep their time."""
    run = replay(np.ones(6), np.array([1, 4, 3, 3, 3, 3]), UNIT)
    assert run.ready[0].tolist() == [1, 1, 1, 3, 3, 3]
    # ready ones go at once, and what comes back is cold again
    run = replay(np.ones(7), np.array([3, 3, 1, 3, 3, 3, 3]), UNIT)
    assert run.ready[0].tolist() == [3, 3, 1, 1, 1, 3, 3]


def test_square_wave_of_the_clairvoyant():
    """Need 1 and 3 by turns of 10; cold 2, so 3 is ordered 3 steps ahead; gaps of 2 are closed.

    Down for 10 steps, less the 3 of the next rise: a gap of 7 steps stays open. Per period:
    13 steps at 3, 7 at 1, two starts.
    """
    demand = np.tile(np.repeat([3.0, 1.0], 10), 4)
    floors = clairvoyant(demand, UNIT)
    assert floors[:40].tolist() == ([3] * 10 + [1] * 7 + [3] * 3) * 2
    run = replay(demand, floors, UNIT)
    assert not run.late.any()
    assert run.started.sum() == 2 * 3
    assert cost_of(run, UNIT)[0] == (3 * 13 + 1 * 7) * 60 * 3 + (3 * 10 + 1 * 10) * 60 + 6 * 120


def test_a_start_that_costs_more_than_the_gap_is_not_made():
    kept = Service(capacity=1.0, cold=2, start_cost=7 * 60.0)
    demand = np.tile(np.repeat([3.0, 1.0], 10), 4)
    floors = clairvoyant(demand, kept)
    assert floors[:70].tolist() == [3] * 70
    assert floors[70:].tolist() == [1] * 10  # the last valley has no other bank


def test_ramp():
    """Need climbs by one every 4 steps; ordered cold + 1 steps early, nothing is ever late."""
    demand = np.repeat(np.arange(1.0, 11.0), 4)
    run = replay(demand, clairvoyant(demand, UNIT), UNIT)
    assert run.total[0, :12].tolist() == [1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4]
    assert not run.late.any()


def test_score():
    assert score_of(np.array([3.0]), 2.0, np.array([0.01]))[0] == pytest.approx(3.0)
    assert score_of(np.array([2.0]), 2.0, np.array([0.01]), 4.0)[0] == pytest.approx(5.0)


def test_need_at_whole_replicas_is_not_one_more():
    capacity = 0.1 + 0.2
    service = Service(capacity=capacity)
    assert need_of(np.array([0.0, 0.9, 0.3 * 7, 2.2]), service).tolist() == [1, 3, 7, 8]
    assert replicas_for(0.0, capacity) == 0


def test_gaps_are_closed_level_by_level():
    floor = np.array([3, 1, 1, 3, 0, 2, 0, 0, 0, 3])
    assert close_gaps(floor, 2).tolist() == [3, 3, 3, 3, 2, 2, 0, 0, 0, 3]
    assert close_gaps(floor, 3).tolist() == [3, 3, 3, 3, 2, 2, 2, 2, 2, 3]
    assert close_gaps(floor, 0).tolist() == floor.tolist()


def test_plain_hpa_by_hand():
    """Target 0.5, capacity 1: 4 /s asks for 8; from 2 replicas at most 6, then 8.

    Step 0 knows its own demand (it settles there); the rise at step 1 is seen at step 2.
    """
    demand = np.array([1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0])
    service = Service(capacity=1.0, cold=1)
    run = replay(demand, np.ones(8, dtype=np.int64), service, PlainHpa(target=0.5))
    assert run.total[0, :3].tolist() == [2, 2, 6]
    # 2 short of 4 /s in steps 1 and 2: backlog 120, then 240; that too is asked for
    assert run.backlog[0, :3].tolist() == [0, 120, 240]
    assert run.total[0, 3] == min(2 * 6, 16)  # (4 + 240 / 60) / 0.5
    assert run.ready[0, :5].tolist() == [2, 2, 2, 6, 12]


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="do not agree"):
        replay(np.ones(3), np.ones(4, dtype=np.int64), UNIT)
    with pytest.raises(ValueError, match="finite"):
        replay(np.array([1.0, np.nan]), np.ones(2, dtype=np.int64), UNIT)
