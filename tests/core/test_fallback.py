"""The safer side: taken when forecasts miss for long, never lower than they, left in time."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler import fallback
from autoscaler.decide import decide
from autoscaler.forecast import FAST
from autoscaler.model import (
    Ahead,
    Code,
    Forecast,
    Knowledge,
    Live,
    Memory,
    Need,
    Series,
    Usual,
)
from autoscaler.tune import learn
from tests.core.given import DAY, HOUR, MINUTE, NOW, history, policy, remembered, seen

SPEC = policy().spec
USUAL = Usual(loss=0.1, share=0.6)


class Fixed:
    """A fitted forecaster that is never asked."""

    name = "fixed"

    def predict(self, series, steps, levels):
        raise AssertionError("judged does not forecast")


KNOWN = Knowledge(fitted=Fixed(), order_level=0.95, fitted_at=NOW, usual=USUAL)


def series_of(values, end=NOW):
    values = np.asarray(values, dtype=float)
    return Series(
        start=end - MINUTE * len(values),
        step=MINUTE,
        values=values,
        marks=np.where(np.isnan(values), 1, 0).astype(np.uint8),
    )


def forecast_of(median, upper, start=NOW, steps=36):
    paths = np.stack([np.full(steps, median), np.full(steps, upper)])
    return Forecast(start=start, step=MINUTE, levels=(0.5, 0.99), quantiles=paths, by="fixed")


def need_of(order=3, keep=2, least=None, most=None, start=NOW, steps=36):
    return Need(
        start=start,
        step=MINUTE,
        order=np.full(steps, order),
        keep=np.full(steps, keep),
        now=1,
        least=least,
        most=most,
    )


def live_through(minutes, *, came, said=(9.0, 12.0), memory=None, known=KNOWN, since=NOW):
    """Memory after so many minutes in which `came(minute)` arrived and `said` was expected."""
    memory = Memory() if memory is None else memory
    values, reasons = np.full(120, 9.0), ()
    for minute in range(minutes):
        end = since + MINUTE * (minute + 1)
        values = np.append(values[1:], came(minute))
        memory, _, reasons = fallback.judged(
            memory, known, series_of(values, end), forecast_of(*said, start=end),
            need_of(start=end), SPEC,
        )  # fmt: skip
    return memory, reasons


class TestWhen:
    def test_a_handful_of_minutes_however_bad_is_not_enough(self):
        memory, _ = live_through(40, came=lambda minute: 1000.0 if minute > 10 else 9.0)
        assert memory.live.missed > 0.1
        assert memory.live.fallen is None

    def test_hours_of_misses_are_and_it_says_so_with_numbers(self):
        memory, reasons = live_through(150, came=lambda _: 60.0)
        assert memory.live.fallen is not None
        assert 60 * MINUTE < memory.live.fallen - NOW < 120 * MINUTE
        (reason,) = reasons
        assert reason.code is Code.FELL_BACK
        assert reason.numbers == {"missed": memory.live.missed, "usual": 0.6}

    def test_too_much_expected_is_a_miss_as_well(self):
        memory, _ = live_through(150, came=lambda _: 0.0)
        assert memory.live.fallen is not None

    def test_right_forecasts_are_believed_for_ever(self):
        memory, reasons = live_through(300, came=lambda minute: 9.0 + minute % 3)
        assert memory.live == replace(memory.live, missed=0.0, fallen=None)
        assert reasons == ()

    def test_what_is_not_known_teaches_nothing(self):
        memory, _ = live_through(200, came=lambda _: float("nan"))
        assert memory.live.missed == 0.0
        assert len(memory.live.expected) <= 7

    def test_it_returns_late_not_at_the_edge(self):
        """Out at 60 %, back at half of it: between the two all stays as it is."""
        fallen = Memory(live=Live(fit=NOW, missed=0.45, fallen=NOW - HOUR))
        up = Memory(live=Live(fit=NOW, missed=0.45))
        for memory, expected in ((fallen, NOW - HOUR), (up, None)):
            after, _ = live_through(1, came=lambda _: 9.0, memory=memory)
            assert after.live.fallen == expected
        after, reasons = live_through(1, came=lambda _: 9.0, memory=Memory(
            live=replace(fallen.live, missed=0.29)
        ))  # fmt: skip
        assert after.live.fallen is None
        assert reasons == ()

    def test_that_we_fell_is_known_until_the_next_fit(self):
        """So that the next night compares all candidates, though it may be over by then."""
        memory, _ = live_through(150, came=lambda _: 60.0)
        assert memory.live.fell
        memory = replace(memory, live=replace(memory.live, missed=0.0))
        memory, _ = live_through(1, came=lambda _: 9.0, memory=memory, since=NOW + 3 * HOUR)
        assert (memory.live.fallen, memory.live.fell) == (None, True)
        later = replace(KNOWN, fitted_at=NOW + 3 * HOUR)
        memory, _ = live_through(
            1, came=lambda _: 9.0, memory=memory, known=later, since=NOW + 4 * HOUR
        )
        assert not memory.live.fell

    def test_the_next_fit_begins_anew(self):
        fallen, _ = live_through(150, came=lambda _: 60.0)
        later = replace(KNOWN, fitted_at=NOW + 3 * HOUR)
        memory, reasons = live_through(
            1, came=lambda _: 60.0, memory=fallen, known=later, since=NOW + 3 * HOUR
        )
        assert memory.live.fallen is None
        assert memory.live.missed == 0.0
        assert reasons == ()

    @pytest.mark.parametrize("known", [None, replace(KNOWN, usual=None)])
    def test_without_a_backtest_there_is_no_range_to_leave(self, known):
        memory, reasons = live_through(150, came=lambda _: 60.0, known=known)
        assert memory == Memory()
        assert reasons == ()

    def test_the_distribution_that_orders_is_what_is_judged(self):
        weights = np.full(100, 0.01)
        ahead = Ahead(
            weights=weights, lead=np.linspace(1, 100, 100), window=np.full(100, 50.0),
            ago=float("nan"), after=300.0, until=2100.0,
        )  # fmt: skip
        forecast = replace(forecast_of(9.0, 12.0), ahead=ahead)
        memory, _, _ = fallback.judged(
            Memory(), KNOWN, series_of(np.full(60, 9.0)), forecast, need_of(), SPEC
        )
        (expected,) = memory.live.expected
        assert (expected.at, expected.median, expected.upper) == (NOW + 300.0, 50.0, 99.0)


demand = st.one_of(st.floats(0, 1e6), st.just(float("nan")))


class TestNeed:
    @examples(
        values=st.lists(demand, min_size=1, max_size=200),
        order=st.integers(0, 50),
        keep=st.integers(0, 50),
        least=st.one_of(st.none(), st.integers(0, 50)),
    )
    def test_it_is_never_lowered(self, values, order, keep, least):
        before = need_of(order, keep, least, None if least is None else least + 3)
        fallen = Memory(live=Live(fit=NOW, missed=0.9, fallen=NOW - HOUR))
        _, after, _ = fallback.judged(
            fallen, KNOWN, series_of(values), forecast_of(9.0, 12.0), before, SPEC
        )
        assert (after.order >= before.order).all()
        assert (after.keep >= before.keep).all()
        if least is not None:
            assert after.most >= after.least >= before.least
            assert after.most >= before.most

    def test_it_is_what_the_last_day_says_where_that_is_more(self):
        rising = np.r_[np.full(600, 9.0), np.tile(np.linspace(9, 90, 30), 28)]
        fallen = Memory(live=Live(fit=NOW, missed=0.9, fallen=NOW - HOUR))
        _, after, _ = fallback.judged(
            fallen, KNOWN, series_of(rising), forecast_of(9.0, 12.0), need_of(least=4, most=5), SPEC
        )
        assert after.order.max() > 20
        assert after.least > 4

    @examples(
        loss=st.lists(st.one_of(st.floats(0, 2), st.just(float("nan"))), min_size=1, max_size=400)
    )
    def test_the_range_is_a_share_that_can_be_left(self, loss):
        losses = np.array([*loss, 0.5])
        usual = fallback.usual_of(losses, MINUTE)
        assert fallback.SHARES[0] <= usual.share <= fallback.SHARES[1]
        assert fallback.LEAST <= usual.loss <= max(np.nanmax(losses), fallback.LEAST)


@lru_cache(maxsize=1)
def of_office_hours() -> Knowledge:
    return learn(policy(), office(0), NOW, shapes=FAST)


def office(minutes, shift=0.0):
    """Ten replicas' demand from nine to six, two at night; from `NOW` on so many hours shifted."""
    times = NOW - 14 * DAY + MINUTE * np.arange(14 * 1440 + minutes)
    clock = (times + np.where(times >= NOW, shift * HOUR, 0.0)) % DAY
    noise = np.random.default_rng(3).normal(0, 0.3, len(times))
    values = np.where((clock >= 9 * HOUR) & (clock < 18 * HOUR), 29.0, 5.0) + noise
    return history(times, values, NOW + MINUTE * minutes)


@pytest.mark.slow
def test_a_tide_that_comes_at_another_time_is_noticed_and_floors_only_rise_by_it():
    """Seven hours early, from two in the morning on: what was learnt for nine comes at two."""
    known = of_office_hours()
    assert known.usual is not None
    blind = replace(known, usual=None)
    memories = {True: remembered(3), False: remembered(3)}
    fell, more = [], 0
    for minute in range(60, 8 * 60, 4):
        now = NOW + MINUTE * minute
        plans = {}
        for watched, memory in memories.items():
            decision = decide(
                policy(), seen(office(minute, shift=7.0)), known if watched else blind, memory, now
            )
            memories[watched] = decision.memory
            plans[watched] = decision
        codes = [reason.code for reason in plans[True].reasons]
        fell.append(Code.FELL_BACK in codes)
        assert plans[True].plan.floor >= plans[False].plan.floor
        more += plans[True].plan.floor > plans[False].plan.floor
    first = 60 + 4 * fell.index(True)
    assert 2 * 60 < first < 5 * 60
    assert more > 0


def test_an_ordinary_day_is_judged_usual():
    known = of_office_hours()
    memory, missed = remembered(3), []
    for minute in range(0, 1440, 10):
        decision = decide(policy(), seen(office(minute)), known, memory, NOW + MINUTE * minute)
        memory = decision.memory
        missed.append(memory.live.missed)
    assert memory.live.fallen is None
    assert max(missed) < known.usual.share
