"""An event under way is corrected by its own first minutes; one to come is ordered in time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.capacity import ACTUATION
from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast import raised
from autoscaler.forecast.under_way import FARTHEST, ratio_of
from autoscaler.model import Ahead, Code, Forecast, Samples
from autoscaler.schema.events import EventWindow
from tests.core.given import HOUR, NOW, flat, knowing_ahead, policy, remembered, seen, tide

FACTOR = 3.0


def came(times_usual, minutes, usual=10.0):
    """Demand that was usual, and since some minutes times that."""
    given = flat(usual, days=1)
    values = given.demand.values.copy()
    values[len(values) - minutes :] *= times_usual
    return regular(replace(given, demand=Samples(times=given.demand.times, values=values)), NOW)[0]


def followed(times_usual, minutes, **more):
    """Median at once and after the event, which began some minutes ago and lasts an hour more."""
    paths = np.full((2, 90), 10.0) * np.array([[1.0], [2.0]])
    plain = Forecast(start=NOW, step=60.0, levels=(0.5, 0.9), quantiles=paths, by="x")
    given = {"factor": FACTOR, **more}
    event = EventWindow("sale", NOW - 60.0 * minutes, NOW + HOUR, **given)
    changed, reasons = raised(plain, (event,), {}, came(times_usual, minutes))
    path = changed.at(0.5)
    return path[0], path[70], reasons


def test_what_comes_as_expected_changes_nothing():
    now, after, reasons = followed(FACTOR, 30)
    assert (now, after) == (30.0, 10.0)
    assert len(reasons) == 1


def test_more_is_believed_within_a_quarter_of_an_hour():
    assert followed(6.0, 15)[0] == pytest.approx(60.0)
    assert 30 < followed(6.0, 7)[0] < 60


def test_less_is_believed_slower():
    found = [followed(1.0, minutes)[0] for minutes in (5, 15, 30, 60, 120)]
    assert found == sorted(found, reverse=True)
    assert found[1] > 20
    assert found[-2:] == pytest.approx([10.0, 10.0])


def test_it_is_said_and_ends_with_the_event():
    _, after, reasons = followed(1.0, 60)
    assert after == 10.0
    assert reasons[-1].code is Code.EVENT
    assert reasons[-1].numbers["ratio"] == pytest.approx(1 / 3)
    assert "sale" in reasons[-1].sentence


@pytest.mark.parametrize("gone", [100, 115, 130, 145, 160, 200])
def test_what_comes_along_a_steep_path_changes_nothing(gone):
    """Of the last minutes the same minutes of the path are expected, not where it is by now."""
    path = (4.0, 4.0, 0.5, 0.5)
    event = EventWindow("sale", NOW - 60.0 * gone, NOW + 60.0 * (240 - gone), like="spring")
    plain = Forecast(
        start=NOW, step=60.0, levels=(0.5, 0.9), quantiles=np.full((2, 60), 10.0), by="x"
    )
    given = flat(10.0, days=1)
    values = given.demand.values.copy()
    at = (np.arange(gone) + 0.5) / 60 - 0.5  # in parts of an hour, from the middle of the first
    values[len(values) - gone :] *= np.interp(at, np.arange(4), path)
    series = regular(replace(given, demand=Samples(times=given.demand.times, values=values)), NOW)[
        0
    ]
    _, reasons = raised(plain, (event,), {"spring": path}, series)
    assert len(reasons) == 1


def test_a_minute_of_which_nothing_was_expected_does_not_raise_the_rest():
    """An outage yesterday at this time: the forecast has its dip, and the event goes on as told."""
    median = np.full(90, 10.0)
    median[:5] = 0.5
    plain = Forecast(
        start=NOW, step=60.0, levels=(0.5, 0.9), quantiles=np.stack([median, 2 * median]), by="x"
    )
    event = EventWindow("sale", NOW - HOUR, NOW + HOUR, FACTOR)
    path = raised(plain, (event,), {}, came(FACTOR, 60))[0].at(0.5)
    assert (path[5:60] <= 30.0 + 1e-9).all()
    assert (path[60:] == 10.0).all()


@pytest.mark.parametrize("minutes", [0, 2, 4])
def test_the_very_first_minutes_say_nothing(minutes):
    assert followed(1.0, minutes)[0] == 30.0


def test_what_demand_is_said_to_be_stays():
    assert followed(1.0, 60, demand=50.0)[0] == 50.0


def test_a_recurring_factor_is_not_counted_twice():
    now, _, reasons = followed(1.0, 60, recurring=True)
    assert now == pytest.approx(10.0)
    assert reasons[-1].code is Code.RECURRING


def test_unknown_minutes_are_not_less():
    series = came(1.0, 60)
    values = series.values.copy()
    values[-15:] = np.nan
    assert ratio_of(replace(series, values=values), NOW - HOUR, 30.0) == 1.0
    values[-15:] = 0.0  # zeros are
    assert ratio_of(replace(series, values=values), NOW - HOUR, 30.0) == pytest.approx(1 / FARTHEST)


@examples(st.floats(0, 1e9), st.integers(0, 300), st.floats(0, 1e9))
def test_a_ratio_stays_within_its_bounds(level, minutes, expected):
    series = came(level, minutes)
    found = ratio_of(series, NOW - 60.0 * minutes, expected)
    assert 1 / FARTHEST <= found <= FARTHEST


class TestARiseWhoseMomentIsKnown:
    """The window ahead reaches half an hour beyond the lead; an event there is not ordered yet."""

    def ahead(self, first, lead=0.0, **more):
        load = np.array([5.0, 10.0, 20.0])
        known = Ahead(
            weights=np.full(3, 1 / 3), lead=load, window=load, ago=10.0, after=300.0, until=2100.0
        )
        paths = np.full((2, 60), 10.0) * np.array([[1.0], [2.0]])
        plain = Forecast(
            start=NOW, step=60.0, levels=(0.5, 0.9), quantiles=paths, by="x", ahead=known
        )
        event = EventWindow("sale", NOW + 60.0 * first, NOW + 2 * HOUR, **more)
        return raised(plain, (event,), lead=lead)[0].ahead

    def test_beyond_the_lead_it_is_only_kept_for(self):
        for more in ({"factor": 3.0}, {"demand": 30.0}):
            found = self.ahead(20, **more)
            np.testing.assert_array_equal(found.window, [5, 10, 20])
            np.testing.assert_array_equal(found.lead, [5, 10, 20])
            assert found.coming == 30.0

    def test_within_the_lead_it_is_ordered(self):
        np.testing.assert_array_equal(self.ahead(4, factor=3.0).window, [15, 30, 60])
        np.testing.assert_array_equal(self.ahead(4, demand=30.0).window, [30, 30, 30])

    @pytest.mark.parametrize("minutes", [6, 7])
    def test_the_lead_is_that_of_the_plan(self, minutes):
        """A cycle may pass and the autoscaler's sync too: 6 min 15 s for a start of 5 min."""
        for more in ({"factor": 3.0}, {"demand": 30.0}):
            assert self.ahead(minutes, **more).lead[1] == 10
            assert self.ahead(minutes, lead=375.0, **more).lead[1] == 30
            assert self.ahead(8, lead=375.0, **more).lead[1] == 10

    def test_what_it_takes_away_is_not_taken_sooner(self):
        for more in ({"factor": 0.1}, {"demand": 1.0}):
            assert self.ahead(6, lead=375.0, **more).lead[1] == 10
            assert self.ahead(5, lead=375.0, **more).lead[1] == pytest.approx(1)

    @pytest.mark.parametrize("second", [0.0, 20.0, 59.0])
    @pytest.mark.parametrize("more", [{"factor": 3}, {"demand": 60}])
    def test_in_one_step_and_ready_before_it_begins_whenever_cycles_run(self, second, more):
        start = NOW + 3 * HOUR + 1200.0
        when = {"start": "2025-12-01T03:20", "end": "2025-12-01T06:00"}
        sale = policy(events=[{"name": "sale", **when, **more}])
        floors, floor = [], 3
        for minute in range(-12, 0):
            now = start + 60.0 * minute + second
            decision = decide(
                sale, seen(tide(14, now), floor), knowing_ahead(), remembered(floor, now), now
            )
            floor = decision.floor
            floors.append((now, floor))
        usual, wanted = floors[0][1], floors[-1][1]
        assert wanted > 2 * usual
        (ordered, first), *_ = [(now, floor) for now, floor in floors if floor > usual + 1]
        assert first >= wanted - 1
        assert ordered + ACTUATION + 300.0 <= start

    def test_beyond_the_window_it_is_nothing(self):
        assert self.ahead(40, factor=3.0).coming == 10.0

    def test_a_decision_keeps_and_does_not_order(self):
        sale = policy(
            events=[
                {
                    "name": "sale",
                    "start": "2025-12-01T03:20",
                    "end": "2025-12-01T06:00",
                    "factor": 3,
                }
            ]
        )
        now = NOW + 3 * HOUR
        floors = {}
        for of in (policy(), sale):
            for present in (3, 12):
                given = seen(tide(14, now), present)
                decision = decide(of, given, knowing_ahead(), remembered(present, now), now)
                floors[of is sale, present] = decision.plan.floor
        assert floors[True, 3] == floors[False, 3]
        assert floors[True, 12] > floors[False, 12]
