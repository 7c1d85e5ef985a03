"""What the calendar says of the last minutes: a recurring factor is not in their level, nor in that
after it, and a fall to nothing that was announced is none to be doubted."""

from __future__ import annotations

import numpy as np
import pytest

from autoscaler import dates
from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast.calendar import levelled
from autoscaler.model import Code
from autoscaler.schema.events import EventWindow
from tests.core.given import (
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

NOON = NOW + 12 * HOUR


def window(factor, start="10:00", end="13:00"):
    return policy(recurring=[{"name": "sale", "from": start, "to": end, "factor": factor}])


def with_factor(factor, now, start=10, end=13, came=None):
    """A tide whose demand is `came` (or the factor) times itself inside today's window."""
    given = tide(14, now)
    midnight = now // DAY * DAY
    times, values = given.demand.times, given.demand.values.copy()
    inside = (times >= midnight + start * HOUR) & (times < midnight + end * HOUR)
    values[inside] *= factor if came is None else came
    return history(times, values, now)


@pytest.fixture(scope="module", params=["a shape", "ahead"])
def known(request):
    return knowledge if request.param == "a shape" else knowing_ahead


def forecast_of(of, given, known, now):
    return decide(of, seen(given), known(until=NOW), remembered(5, now), now).forecast


@pytest.mark.parametrize("factor", [0.5, 0.7, 1.3, 3.0])
def test_inside_it_is_raised_once(known, factor):
    plain = forecast_of(policy(), tide(14, NOON), known, NOON)
    inside = forecast_of(window(factor), with_factor(factor, NOON), known, NOON)
    ratio = inside.at(0.5) / plain.at(0.5)
    np.testing.assert_allclose(ratio, factor, rtol=0.15)
    if inside.ahead is not None:
        median = len(inside.ahead.lead) // 2
        ratio = inside.ahead.lead[median] / plain.ahead.lead[median]
        np.testing.assert_allclose(ratio, factor, rtol=0.15)


@pytest.mark.parametrize("factor", [0.1, 0.5, 1.3, 3.0])
@pytest.mark.parametrize("minutes", [-5, 2])
def test_what_comes_after_it_is_what_would_have_come(known, factor, minutes):
    now = NOW + 13 * HOUR + 60.0 * minutes
    plain = forecast_of(policy(), tide(14, now), known, now)
    after = forecast_of(window(factor), with_factor(factor, now), known, now)
    beyond = slice(max(0, -minutes) + 1, None)
    ratio = after.at(0.5)[beyond] / plain.at(0.5)[beyond]
    np.testing.assert_allclose(ratio, 1.0, rtol=0.25)


def test_a_factor_that_takes_all_away_makes_nothing_huge(known):
    now = NOW + 12.9 * HOUR
    plain = forecast_of(policy(), tide(14, now), known, now)
    nothing_fell = forecast_of(window(0.001), with_factor(1.0, now), known, now)
    assert (nothing_fell.at(0.9) <= 1.3 * plain.at(0.9)).all()


class TestSeries:
    def series(self, factor, now=NOON):
        return regular(with_factor(factor, now), now)[0]

    def test_divided_while_it_lasts_and_unknown_after(self):
        given = self.series(3.0)
        sale = EventWindow("sale", NOON - 2 * HOUR, NOON + HOUR, 3.0, recurring=True)
        left = levelled(given, (sale,))
        np.testing.assert_allclose(left.values[-120:], given.values[-120:] / 3)
        np.testing.assert_array_equal(left.values[:-120], given.values[:-120])
        over = EventWindow("sale", NOON - 2 * HOUR, NOON - HOUR, 3.0, recurring=True)
        left = levelled(given, (over,))
        assert np.isnan(left.values[-120:-60]).all()
        np.testing.assert_array_equal(left.values[-60:], given.values[-60:])

    @pytest.mark.parametrize("minutes", [0, 10])
    def test_one_that_never_ends_is_divided_over_midnight(self, minutes):
        now = NOW + DAY + 60.0 * minutes
        given = regular(tide(14, now), now)[0]
        always = policy(recurring=[{"name": "x", "from": "00:00", "to": "00:00", "factor": 1.25}])
        left = levelled(given, dates.events(always.spec, now, 600.0))
        np.testing.assert_allclose(left.values[-300:], given.values[-300:] / 1.25)

    @pytest.mark.parametrize(
        ("day", "divided"),
        [({"from": "00:00", "to": "00:00"}, 1.25), ({"from": "22:00", "to": "00:30"}, 1.0)],
    )
    def test_windows_that_ended_before_the_history_begins_do_nothing(self, day, divided):
        now = NOW + DAY + 4 * HOUR
        given = regular(tide(3 / 24, now), now)[0]
        of = policy(recurring=[{"name": "x", **day, "factor": 1.25}]).spec
        left = levelled(given, dates.events(of, now, 600.0))
        np.testing.assert_allclose(left.values, given.values / divided)

    def test_what_ended_beside_one_that_lasts_stays_unknown(self):
        given = self.series(1.0)
        day = EventWindow("day", NOON - 4 * HOUR, NOON + HOUR, 2.0, recurring=True)
        peak = EventWindow("peak", NOON - 3 * HOUR, NOON - 2 * HOUR, 3.0, recurring=True)
        left = levelled(given, (day, peak))
        assert np.isnan(left.values[-180:-120]).all()
        np.testing.assert_allclose(left.values[-120:], given.values[-120:] / 2)

    @pytest.mark.parametrize(
        "event",
        [
            EventWindow("one-off", NOON - HOUR, NOON + HOUR, 3.0),
            EventWindow("none", NOON - HOUR, NOON + HOUR, 1.0, recurring=True),
            EventWindow("to come", NOON + HOUR, NOON + 2 * HOUR, 3.0, recurring=True),
        ],
        ids=lambda event: event.name,
    )
    def test_the_same_without_any(self, event):
        given = self.series(1.0)
        assert levelled(given, (event,)) is given

    def test_windows_of_the_hours_before_are_looked_at(self):
        of = window(3.0).spec
        assert len(dates.events(of, NOW + 14 * HOUR, 600.0)) == 1
        assert dates.events(of, NOW + 19 * HOUR, 600.0) == ()


class TestAnnouncedNothing:
    """Demand fell to nothing half an hour ago, at noon."""

    now = NOON + 0.5 * HOUR

    def decision(self, minutes=0.0, **spec):
        now = self.now + 60.0 * minutes
        fallen = with_factor(0.0, now, start=12, end=15)
        of = policy(floor={"min": 1}, **spec)
        return decide(of, seen(fallen, 12), knowledge(), remembered(2, now), now)

    def event(self, **effect):
        times = {"start": "2025-12-01T12:00", "end": "2025-12-01T14:00"}
        return [{"name": "maintenance", **times, **effect}]

    def test_nobody_said_so(self):
        decision = self.decision()
        assert Code.HISTORY_STALE in {doubt.code for doubt in decision.doubts}
        assert decision.floor >= 12

    @pytest.mark.parametrize("effect", [{"demand": 0}, {"demand": 0.2}, {"factor": 0.05}])
    def test_an_event_says_so(self, effect):
        decision = self.decision(events=self.event(**effect))
        assert decision.doubts == ()
        assert decision.floor <= 2

    def test_a_window_says_so(self):
        window = {"name": "closed", "from": "12:00", "to": "14:00", "factor": 0.01}
        assert self.decision(recurring=[window]).floor <= 2

    @pytest.mark.parametrize("effect", [{"demand": 6}, {"factor": 0.5}, {"hold": True}])
    def test_other_events_do_not(self, effect):
        assert self.decision(events=self.event(**effect)).floor >= 12

    def test_not_beyond_its_end(self):
        decision = self.decision(95.0, events=self.event(demand=0))
        assert Code.HISTORY_STALE in {doubt.code for doubt in decision.doubts}
        assert decision.floor >= 12
