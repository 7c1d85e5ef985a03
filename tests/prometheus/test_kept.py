"""History that is kept grows into what a fresh read would give, at a bounded price."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.adapters.prometheus.breaker import Breaker, Pass
from autoscaler.adapters.prometheus.kept import AGAIN, CHUNK, Answered, Kept

STEP = 60.0
START = 1_700_000_040.0 - 1_700_000_040.0 % STEP


def answer(low: float, high: float, missing: set[int], warnings: tuple[str, ...] = ()) -> Answered:
    """What a source has between two times: each time's own number, but for some minutes."""
    times = np.arange(low, high + 1, STEP)
    minutes = ((times - START) / STEP).round().astype(int)
    there = np.array([minute not in missing for minute in minutes.tolist()], bool)
    return Answered((({}, times[there], minutes[there].astype(float)),), warnings)


def fill(kept: Kept, missing: set[int], *, warnings: tuple[str, ...] = ()) -> list[int]:
    """One cycle against that source; how many points each request asked for."""
    low, high = kept.tail()
    asked = [(low, high), *kept.older(before=low)]
    for one in asked:
        kept.put(*one, answer(*one, missing, warnings))
    return [round((high - low) / STEP) + 1 for low, high in asked]


@given(
    moves=st.lists(st.integers(0, 400), max_size=12),
    missing=st.sets(st.integers(-300, 3000), max_size=50),
    n=st.integers(2, 700),
)
def test_any_walk_of_the_clock_ends_with_what_a_fresh_read_gives(
    moves: list[int], missing: set[int], n: int
):
    kept = Kept("q", last=START, step=STEP, n=n)
    fill(kept, missing)
    for move in moves:
        kept.forward(kept.last + move * STEP)
        fill(kept, missing)
    fresh = Kept("q", last=kept.last, step=STEP, n=n)
    fill(fresh, missing)
    np.testing.assert_array_equal(kept.values, fresh.values)
    times, values = kept.until(kept.last)
    np.testing.assert_array_equal(values, ((times - START) / STEP).astype(np.float32))
    assert np.all(np.diff(times) > 0)


@given(n=st.integers(2, 60_000))
def test_no_request_asks_for_more_than_a_server_gives_and_none_for_a_point_twice(n: int):
    kept = Kept("q", last=START, step=STEP, n=n)
    low, high = kept.tail()
    asked = [(low, high)]
    kept.put(low, high, Answered(()))
    for one in kept.older(before=low):
        asked.append(one)
        kept.put(*one, Answered(()))
    points = np.concatenate([np.arange(low, high + 1, STEP) for low, high in asked])
    assert len(points) == len(np.unique(points)) == n
    assert max((high - low) / STEP + 1 for low, high in asked) <= CHUNK
    assert kept.whole


def test_a_steady_source_is_asked_for_six_points_a_cycle():
    kept = Kept("q", last=START, step=STEP, n=40_320)
    assert sum(fill(kept, set())) == 40_320
    for _ in range(30):
        kept.forward(kept.last + STEP)
        assert fill(kept, set()) == [6]


def test_a_source_that_stays_partial_is_asked_for_the_rest_now_and_then():
    kept = Kept("q", last=START, step=STEP, n=4000)
    fill(kept, set(), warnings=("partial",))
    asked = []
    for _ in range(round(AGAIN / STEP) * 3):
        kept.forward(kept.last + STEP)
        before = kept.tail()[0]
        older = kept.older(before)
        asked.append(len(older))
        fill_tail = kept.tail()
        kept.put(*fill_tail, answer(*fill_tail, set(), ("partial",)))
        for one in older:
            kept.put(*one, answer(*one, set(), ("partial",)))
        if older:
            kept.rest()
    assert sum(asked) == 3
    assert kept.said() == ("partial",)


def test_warnings_are_few_and_short():
    kept = Kept("q", last=START, step=STEP, n=10)
    for number in range(50):
        kept.note(f"{number} " + "x" * 1000)
    assert len(kept.said()) == 5
    assert max(map(len, kept.said())) == 300


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_after_a_failure_one_caller_tries_and_the_others_do_not():
    clock = Clock()
    breaker = Breaker(15.0, clock)
    assert breaker.enter() is Pass.GO
    breaker.failed("Timeout")
    assert {breaker.enter() for _ in range(10)} == {Pass.NO}
    clock.now += 15.0
    assert [breaker.enter() for _ in range(3)] == [Pass.TRY, Pass.NO, Pass.NO]
    clock.now += 15.0  # the one who tried never came back
    assert breaker.enter() is Pass.TRY
    breaker.answered()
    assert {breaker.enter() for _ in range(10)} == {Pass.GO}


def test_the_account_says_since_when_and_why():
    clock = Clock()
    breaker = Breaker(15.0, clock)
    breaker.failed("Timeout")
    clock.now += 40.0
    breaker.failed("Unreachable")
    clock.now += 5.0
    assert breaker.account() == "no answer for 45 s (Unreachable); tried again in 10 s"
