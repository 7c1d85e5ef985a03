"""Events that multiply, that say what demand is, that are like a past one; their ramps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast import FAST, learn_events, ordinary, raised
from autoscaler.forecast.tidal import days_of
from autoscaler.model import Ahead, Code, Forecast
from autoscaler.schema.events import EventWindow
from autoscaler.tune import learn
from tests.core.given import (
    CAPACITY,
    DAY,
    HOUR,
    NOW,
    history,
    knowing_ahead,
    knowledge,
    policy,
    remembered,
    seen,
    tide,
)

STEPS = 60


def forecast(level=10.0, ahead=False):
    paths = np.full((3, STEPS), level) * np.array([[0.5], [1.0], [2.0]])
    load = level * np.array([0.5, 1.0, 2.0])
    known = Ahead(
        weights=np.full(3, 1 / 3),
        lead=load,
        window=load * 1.5,
        ago=level,
        after=600.0,
        until=1800.0,
    )
    return Forecast(
        start=NOW, step=60.0, levels=(0.1, 0.5, 0.9), quantiles=paths, by="x",
        ahead=known if ahead else None,
    )  # fmt: skip


def window(first, last, **more):
    return EventWindow("sale", NOW + 60.0 * first, NOW + 60.0 * last, **more)


def median_of(*events, learnt=None):
    return raised(forecast(), events, learnt)[0].at(0.5)


class TestDemand:
    def test_it_is_what_it_says_at_every_quantile_inside_and_nothing_outside(self):
        changed, (reason,) = raised(forecast(), (window(10, 20, demand=4.0),))
        np.testing.assert_array_equal(changed.quantiles[:, 10:20], 4.0)
        np.testing.assert_array_equal(changed.quantiles[:, :10], forecast().quantiles[:, :10])
        np.testing.assert_array_equal(changed.quantiles[:, 20:], forecast().quantiles[:, 20:])
        assert reason.numbers | {"demand": 4.0, "without": 10.0, "with": 4.0} == reason.numbers

    def test_of_several_the_largest_counts_whatever_the_factors(self):
        path = median_of(
            window(0, 30, demand=4.0), window(20, 40, demand=7.0), window(0, 60, factor=3.0)
        )
        assert [path[t] for t in (5, 25, 35, 45)] == [4.0, 7.0, 7.0, 30.0]

    def test_none_is_a_demand_too(self):
        assert (median_of(window(0, 60, demand=0.0)) == 0).all()

    def test_distributions_ahead_follow(self):
        plain = forecast(ahead=True)
        far, _ = raised(plain, (window(50, 60, demand=99.0),))
        np.testing.assert_array_equal(far.ahead.lead, plain.ahead.lead)
        np.testing.assert_array_equal(far.ahead.window, plain.ahead.window)
        soon, _ = raised(plain, (window(5, 15, demand=99.0),))
        np.testing.assert_array_equal(soon.ahead.lead, 99.0)
        np.testing.assert_array_equal(soon.ahead.window, 99.0)
        less, _ = raised(plain, (window(5, 15, demand=1.0),))
        np.testing.assert_array_equal(less.ahead.lead, 1.0)
        np.testing.assert_array_equal(less.ahead.window, plain.ahead.window)  # it ends before
        whole, _ = raised(plain, (window(0, 60, demand=1.0),))
        np.testing.assert_array_equal(whole.ahead.window, 1.0)
        assert np.isnan(whole.ahead.ago)

    @pytest.mark.parametrize("known", [knowledge, knowing_ahead])
    def test_a_decision_orders_for_it(self, known):
        of = policy(
            events=[
                {
                    "name": "load test",
                    "start": "2025-12-01T00:05",
                    "end": "2025-12-01T02:00",
                    "demand": 30 * CAPACITY,
                }
            ]
        )
        decision = decide(of, seen(tide(14)), known(), remembered(5), NOW)
        # on expected cost, a load of 1.04 times what stands is still served in time
        assert decision.plan.floor == (30 if known().cover is None else 29)
        assert [reason.code for reason in decision.calendar] == [Code.EVENT]


class TestRamps:
    def test_it_comes_and_goes_along_a_line(self):
        path = median_of(window(20, 30, factor=3.0, before=600.0, after=1200.0)) / 10
        assert (path[20:30] == 3).all()
        assert path[9] == 1
        np.testing.assert_allclose(path[10:20], 1 + 2 * np.arange(1, 11) / 10)
        np.testing.assert_allclose(path[30:50], 1 + 2 * np.arange(20, 0, -1) / 20)
        assert (path[50:] == 1).all()

    def test_so_does_a_demand(self):
        path = median_of(window(20, 30, demand=4.0, before=600.0))
        np.testing.assert_allclose(path[14], 10 + (4 - 10) * 0.5)

    def test_a_ramp_teaches_no_ordinary_day_either(self):
        series = regular(tide(2), NOW)[0]
        event = EventWindow("e", NOW - 5 * HOUR, NOW - 4 * HOUR, 2.0, before=HOUR, after=2 * HOUR)
        left = ordinary(series, (event,))
        unknown = np.isnan(left.values)
        assert unknown.sum() == 4 * 60
        assert left.start + 60.0 * np.flatnonzero(unknown)[0] == event.first


def with_sale(path, start=NOW - 3 * DAY, hours=6, days=21):
    """A tide with a sale in it: demand times `path` of the part of the sale that has gone by."""
    given = tide(days)
    values = given.demand.values.copy()
    inside = (given.demand.times >= start) & (given.demand.times < start + hours * HOUR)
    gone = (given.demand.times[inside] - start) / (hours * HOUR)
    values[inside] *= path(gone)
    return history(given.demand.times, values)


SALES = [
    {"name": "spring", "start": "2025-11-28T00:00", "end": "2025-11-28T06:00", "factor": 1.5},
    {"name": "winter", "start": "2025-12-01T00:00", "end": "2025-12-01T06:00", "like": "spring"},
]


class TestLike:
    def test_it_is_learnt_from_the_last_time(self):
        given = with_sale(lambda gone: np.where(gone < 0.5, 4.0, 2.0))
        known = learn(policy(events=SALES), given, NOW, shapes=FAST)
        path = np.array(known.events["spring"])
        assert list(known.events) == ["spring"]
        np.testing.assert_allclose(path[: len(path) // 2 - 1].mean(), 4, rtol=0.15)
        np.testing.assert_allclose(path[len(path) // 2 + 1 :].mean(), 2, rtol=0.15)

        of = policy(events=SALES)
        decision = decide(of, seen(given), known, remembered(5), NOW)
        plain = decide(policy(), seen(given), known, remembered(5), NOW)
        ratio = decision.forecast.at(0.5) / plain.forecast.at(0.5)
        np.testing.assert_allclose(ratio[5:], 4, rtol=0.25)
        (reason,) = decision.calendar
        assert "as in spring" in reason.sentence

    def test_half_an_hour_without_any_is_not_what_it_was_like(self):
        given = with_sale(lambda gone: np.where(np.abs(gone - 0.5) < 0.04, 0.0, 4.0))
        path = np.array(learn(policy(events=SALES), given, NOW, shapes=FAST).events["spring"])
        assert path.min() > 3
        # a peak as short may be the event itself
        given = with_sale(lambda gone: np.where(np.abs(gone - 0.5) < 0.04, 4.0, 1.0))
        path = np.array(learn(policy(events=SALES), given, NOW, shapes=FAST).events["spring"])
        assert path.max() > 3

    def test_stretched_to_its_own_length(self):
        learnt = {"spring": (4.0, 4.0, 2.0, 2.0)}
        path = median_of(window(0, 40, like="spring"), learnt=learnt) / 10
        np.testing.assert_allclose(path[[2, 37, 50]], [4, 2, 1])

    def test_a_jump_between_two_parts_is_whole_from_its_first_minute(self):
        path = median_of(window(0, 40, like="spring"), learnt={"spring": (1.0, 1.0, 3.0, 3.0)}) / 10
        assert (path[20:40] == 3).all()
        np.testing.assert_allclose(path[:15], 1)
        assert (np.diff(path[15:21]) >= 0).all()  # and comes along a line before it
        fall = median_of(window(0, 40, like="spring"), learnt={"spring": (3.0, 3.0, 1.0, 1.0)}) / 10
        assert (fall[:20] == 3).all()

    def test_what_is_not_known_counts_as_written(self):
        of = policy(events=SALES)
        short = tide(2)  # does not reach back to it
        known = learn(of, short, NOW, shapes=FAST)
        assert known.events == {}
        (reason,) = decide(of, seen(short), known, remembered(5), NOW).calendar
        assert reason.numbers["factor"] == 1.5
        assert "as written for it, since spring is not known" in reason.sentence

    def test_an_event_that_lasts_or_was_not_recorded_is_not_learnt(self):
        given = tide(21)
        series = regular(given, NOW)[0]
        lasting = EventWindow("a", NOW - HOUR, NOW + HOUR, 2.0)
        like = EventWindow("b", NOW + DAY, NOW + 2 * DAY, 2.0, like="a")
        assert (
            learn_events(series, days_of(ordinary(series, (lasting,)), "UTC"), (lasting, like))
            == {}
        )
        values = given.demand.values.copy()
        past = EventWindow("a", NOW - 2 * DAY, NOW - DAY, 2.0)
        values[(given.demand.times >= past.start) & (given.demand.times < past.end - 3 * HOUR)] = (
            np.nan
        )
        holed = regular(history(given.demand.times, values), NOW)[0]
        days = days_of(ordinary(holed, (past,)), "UTC")
        assert learn_events(holed, days, (past, like)) == {}

    @settings(max_examples=30)
    @examples(
        st.floats(0.3, 8.0), st.integers(0, 9 * 48), st.integers(2, 96),
        st.sampled_from(["UTC", "Asia/Kolkata", "America/St_Johns"]),
    )  # fmt: skip
    def test_whenever_it_was_its_factor_is_learnt(self, factor, begun, halves, zone):
        """Any half hour of the last ten days, an hour to two days long, over midnights too."""
        start = NOW - 12 * DAY + begun * HOUR / 2
        past = EventWindow("a", start, start + halves * HOUR / 2, 9.0)
        coming = EventWindow("b", NOW + DAY, NOW + 2 * DAY, 9.0, like="a")
        given = with_sale(lambda gone: factor, start, halves / 2, days=28)
        series = regular(given, NOW)[0]
        days = days_of(ordinary(series, (past, coming)), zone)
        path = np.array(learn_events(series, days, (past, coming))["a"])
        assert len(path) == min(96, 2 * halves)
        np.testing.assert_allclose(path.mean(), factor, rtol=0.15)
        np.testing.assert_allclose(path, factor, rtol=0.4)

    def test_nobody_is_like_it_so_nothing_is_learnt(self):
        known = learn(policy(events=SALES[:1]), with_sale(lambda gone: 4.0), NOW, shapes=FAST)
        assert known.events == {}


windows_ = st.builds(
    lambda start, length, before, after, what: EventWindow(
        "e", NOW + 60.0 * start, NOW + 60.0 * (start + length), before=before, after=after, **what
    ),
    st.floats(-50, 70),
    st.floats(0.1, 90),
    st.sampled_from([0.0, 600.0, 5000.0]),
    st.sampled_from([0.0, 600.0, 5000.0]),
    st.one_of(
        st.builds(lambda f: {"factor": f}, st.floats(0.01, 1000)),
        st.builds(lambda d: {"demand": d}, st.floats(0, 1e12)),
        st.just({"like": "x"}),
    ),
)


@examples(st.lists(windows_, max_size=4))
def test_whatever_events_do_a_forecast_stays_one(events):
    changed, reasons = raised(forecast(ahead=True), tuple(events), {"x": (1.0, 5.0, 0.0)})
    assert np.isfinite(changed.quantiles).all()
    assert (changed.quantiles >= 0).all()
    assert (np.diff(changed.quantiles, axis=0) >= -1e-9 * changed.quantiles[1:]).all()
    for load in (changed.ahead.lead, changed.ahead.window):
        assert np.isfinite(load).all()
        assert (np.diff(load) >= -1e-9 * load[1:]).all()
    for reason in reasons:
        assert all(np.isfinite(number) for number in reason.numbers.values())


def test_a_hold_changes_no_forecast_and_hides_no_history():
    of = policy(
        events=[{"name": "h", "start": "2025-11-30T00:00", "end": "2025-12-02T00:00", "hold": True}]
    )
    held, plain = (
        decide(each, seen(tide(14)), knowledge(), remembered(5), NOW) for each in (of, policy())
    )
    np.testing.assert_array_equal(held.forecast.quantiles, plain.forecast.quantiles)
    assert replace(held.need, order=plain.need.order, keep=plain.need.keep) == plain.need
