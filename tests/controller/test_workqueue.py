"""Due times: once each, to one worker at a time, by the period's slots however the clock jumps."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.controller.clock import offset_of, until_slot
from autoscaler.controller.workqueue import BASE, LIMIT, WorkQueue


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def queue(hands: Hands) -> WorkQueue:
    return WorkQueue(hands)


def test_nothing_is_handed_out_before_it_is_due(queue: WorkQueue, hands: Hands) -> None:
    queue.put("a", 10.0)
    assert queue.take(timeout=0) is None
    hands.at += 10.0
    assert queue.take(timeout=0) == "a"


def test_earliest_first_and_each_once(queue: WorkQueue, hands: Hands) -> None:
    queue.put("late", 5.0)
    queue.put("early", 1.0)
    queue.put("late", 2.0)  # sooner counts
    queue.put("early", 9.0)  # later does not
    hands.at += 10.0
    assert [queue.take(timeout=0) for _ in range(3)] == ["early", "late", None]


def test_a_key_in_hand_is_not_handed_out_but_what_is_asked_meanwhile_is_kept(
    queue: WorkQueue,
) -> None:
    queue.put("a")
    assert queue.take(timeout=0) == "a"
    queue.put("a")
    queue.put("b")
    assert queue.take(timeout=0) == "b"
    assert queue.take(timeout=0) is None
    queue.done("a")
    assert queue.take(timeout=0) == "a"


def test_a_retry_waits_twice_as_long_each_time_and_never_beyond_the_slot(
    queue: WorkQueue, hands: Hands
) -> None:
    waits = []
    for _ in range(8):
        queue.retry("a", within=1000.0)
        began = hands.at
        while queue.take(timeout=0) is None:
            hands.at += BASE / 2
        waits.append(hands.at - began)
        queue.done("a")
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, LIMIT, LIMIT, LIMIT]
    queue.succeeded("a")
    queue.retry("a", within=0.5)
    hands.at += 0.5
    assert queue.take(timeout=0) == "a"


def test_what_is_forgotten_is_not_handed_out(queue: WorkQueue) -> None:
    queue.put("a")
    queue.forget("a")
    assert queue.take(timeout=0) is None


def test_waiting_workers_are_woken_by_work_and_by_the_end() -> None:
    queue = WorkQueue()
    found: list[str | None] = []

    def work() -> None:
        while (key := queue.take()) is not None:
            found.append(key)
            queue.done(key)
        found.append(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for name in "abc":
        queue.put(name, 0.01)
    while len(found) < 3:
        threads[0].join(0.01)
    queue.close()
    for thread in threads:
        thread.join()
    assert sorted(found[:3]) == ["a", "b", "c"]
    assert found[3:] == [None] * 3
    queue.put("late")
    assert queue.take(timeout=0) is None


@given(
    st.text(min_size=1),
    st.floats(0, 4e9, allow_nan=False),
    st.sampled_from([1.0, 15.0, 60.0, 300.0]),
)
def test_the_next_slot_is_within_a_period(key: str, now: float, period: float) -> None:
    wait = until_slot(key, now, period)
    assert 0 < wait <= period
    assert 0 <= offset_of(key, period) < period


def test_slots_of_a_fleet_are_spread_evenly() -> None:
    offsets = [offset_of(f"llm/service-{i}", 60.0) for i in range(200)]
    per_ten_seconds = [sum(1 for o in offsets if low <= o < low + 10) for low in range(0, 60, 10)]
    assert max(per_ten_seconds) < 60
