"""Samples become a regular grid: what is missing stays unknown, what is doubtful is marked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as examples

from autoscaler.decide import decide
from autoscaler.demand import highest, newest, regular
from autoscaler.model import Code, Mark, Samples
from tests.core.given import (
    DAY,
    HOUR,
    NOW,
    flat,
    history,
    hostile,
    knowledge,
    policy,
    remembered,
    seen,
    tide,
)


def codes(doubts):
    return [doubt.code for doubt in doubts]


def test_a_plain_history_is_used_as_it_is():
    given = tide(3)
    series, doubts = regular(given, NOW)
    assert doubts == ()
    assert series.start == NOW - 3 * DAY
    assert series.end == NOW
    np.testing.assert_array_equal(series.values, given.demand.values)
    assert not series.marks.any()


def test_the_fast_path_and_the_slow_one_agree():
    given = tide(2)
    shuffled = np.random.default_rng(0).permutation(len(given.demand))
    slow = history(given.demand.times[shuffled], given.demand.values[shuffled])
    fast_series, fast_doubts = regular(given, NOW)
    slow_series, slow_doubts = regular(slow, NOW)
    assert fast_series.start == slow_series.start
    np.testing.assert_array_equal(fast_series.values, slow_series.values)
    assert fast_doubts == slow_doubts


@pytest.mark.parametrize("seconds", [0.5, 30.0, 59.9])
def test_an_unfinished_step_is_not_used(seconds):
    times = NOW - 600.0 + 60.0 * np.arange(11)  # the last one starts at NOW
    series, _ = regular(history(times, np.arange(11.0)), NOW + seconds)
    assert series.end == NOW
    assert series.values[-1] == 9.0


def test_a_step_is_used_as_soon_as_it_is_finished():
    times = NOW - 600.0 + 60.0 * np.arange(11)
    series, _ = regular(history(times, np.arange(11.0)), NOW + 60.0)
    assert series.end == NOW + 60.0
    assert series.values[-1] == 10.0


def test_several_samples_of_a_step_are_averaged_and_order_does_not_matter():
    times = [NOW - 30.0, NOW - 120.0, NOW - 60.0, NOW - 100.0, NOW - 120.0]
    series, _ = regular(history(times, [5.0, 1.0, 7.0, 4.0, 4.0]), NOW)
    np.testing.assert_array_equal(series.values, [3.0, 6.0])


def test_null_is_not_zero_and_a_short_gap_is_bridged_and_said():
    values = np.array([10.0, np.nan, np.nan, 16.0, 16.0])
    series, _ = regular(history(NOW - 300.0 + 60.0 * np.arange(5), values), NOW)
    np.testing.assert_allclose(series.values, [10.0, 12.0, 14.0, 16.0, 16.0])
    assert list(series.marks) == [0, Mark.FILLED, Mark.FILLED, 0, 0]


def test_a_long_gap_and_one_that_reaches_the_present_stay_unknown():
    given = flat(10.0, days=1)
    values = given.demand.values.copy()
    values[200:230] = np.nan
    values[-4:] = np.nan
    series, _ = regular(history(given.demand.times, values), NOW)
    assert np.isnan(series.values[200:230]).all()
    assert np.isnan(series.values[-4:]).all()
    assert (series.marks[200:230] == Mark.MISSING).all()
    assert newest(series) == highest(series, 1800.0) == 10.0


def test_what_cannot_be_demand_is_refused_and_counted():
    values = np.array([10.0, -1.0, np.inf, 10.0, 10.0])
    series, doubts = regular(history(NOW - 300.0 + 60.0 * np.arange(5), values), NOW)
    refused = next(doubt for doubt in doubts if doubt.code is Code.SAMPLES_REFUSED)
    assert refused.numbers == {"refused": 2, "samples": 5}
    assert (series.marks[1:3] & Mark.REFUSED).all()
    np.testing.assert_allclose(series.values, 10.0)  # bridged, not 0 and not -1


def test_samples_from_the_future_are_refused_and_not_used():
    given = history([NOW - 120.0, NOW - 60.0, NOW + 600.0], [1.0, 2.0, 99.0])
    series, doubts = regular(given, NOW)
    np.testing.assert_array_equal(series.values, [1.0, 2.0])
    assert Code.SAMPLES_REFUSED in codes(doubts)


def test_an_absurd_old_timestamp_costs_no_memory():
    series, _ = regular(history([0.0, NOW - 120.0, NOW - 60.0], [1.0, 2.0, 3.0]), NOW)
    assert len(series) == 2


@pytest.mark.parametrize(("minutes", "doubted"), [(0, False), (4, False), (6, True), (600, True)])
def test_stale_when_the_newest_known_step_is_old(minutes, doubted):
    given = flat(10.0, days=2)
    kept = len(given.demand) - minutes
    _, doubts = regular(history(given.demand.times[:kept], given.demand.values[:kept]), NOW)
    assert (Code.HISTORY_STALE in codes(doubts)) is doubted


def test_short_empty_gappy_partial_several():
    assert codes(regular(history([], []), NOW)[1]) == [Code.HISTORY_EMPTY]
    assert Code.HISTORY_EMPTY in codes(regular(history([NOW - 60.0], [np.nan]), NOW)[1])
    one, doubts = regular(history([NOW - 60.0], [4.0]), NOW)
    assert len(one) == 1
    assert codes(doubts) == [Code.HISTORY_SHORT]
    given = flat(10.0, days=2)
    hole = given.demand.values.copy()
    hole[-400:-100] = np.nan
    assert Code.HISTORY_GAPPY in codes(regular(history(given.demand.times, hole), NOW)[1])
    several = history(given.demand.times, given.demand.values, series=2, warnings=("partial",))
    assert codes(regular(several, NOW)[1]) == [Code.HISTORY_PARTIAL, Code.SEVERAL_SERIES]


class TestGaps:
    """A hole is a doubt while a forecast would have to look into it, and is over after that."""

    def doubted(self, holes, days=14):
        given = flat(10.0, days=days)
        values = given.demand.values.copy()
        for start, stop in holes:
            values[start:stop] = np.nan
        return Code.HISTORY_GAPPY in codes(regular(history(given.demand.times, values), NOW)[1])

    @pytest.mark.parametrize(
        ("ago", "doubted"), [(10, True), (60, True), (160, True), (180, False), (600, False)]
    )
    def test_a_long_hole_is_over_once_three_hours_were_read(self, ago, doubted):
        assert self.doubted([(-ago - 37 * 60, -ago)]) is doubted

    def test_one_that_spoils_the_last_hours_alone_is_none_as_the_day_is_known(self):
        assert not self.doubted([(-100, -40)])

    @pytest.mark.parametrize("share", [0.15, 0.5])
    def test_a_source_that_misses_steps_all_the_time_stays_one(self, share):
        given = flat(10.0, days=14)
        lost = np.random.default_rng(1).random(len(given.demand)) < share
        times, values = given.demand.times[~lost], given.demand.values[~lost]
        assert Code.HISTORY_GAPPY in codes(regular(history(times, values), NOW)[1])

    def test_half_of_all_must_be_known_whatever_the_last_hours_say(self):
        assert self.doubted([(1, -200)], days=2)

    def test_nothing_is_lowered_inside_and_it_goes_on_after(self):
        given = tide(14)
        values = given.demand.values.copy()
        for ago, lowered in ((60, False), (200, True)):
            holed = values.copy()
            holed[-ago - 37 * 60 : -ago] = np.nan
            seen_now = seen(history(given.demand.times, holed), 20)
            # what was wanted in the last hours is known: they were decided, in doubt
            of = policy(floor={"min": 1})
            decision = decide(of, seen_now, knowledge(), remembered(5), NOW)
            assert (decision.floor < 20) is lowered


class TestOutages:
    def fall(self, start, stop, days=3):
        given = tide(days)
        values = given.demand.values.copy()
        values[start:stop] = 0.0
        return history(given.demand.times, values)

    def test_a_sudden_fall_to_nothing_is_marked_until_it_recovers(self):
        series, doubts = regular(self.fall(-1000, -940), NOW)
        assert (series.marks[-1000:-940] == Mark.OUTAGE).all()
        assert not series.marks[-940:].any()
        assert doubts == ()

    def test_while_it_lasts_it_is_a_doubt(self):
        series, doubts = regular(self.fall(-6, None), NOW)
        assert (series.marks[-6:] == Mark.OUTAGE).all()
        assert codes(doubts) == [Code.HISTORY_STALE]

    @pytest.mark.parametrize(("minutes", "marked"), [(359, 359), (361, 0)])
    def test_after_six_hours_it_is_taken_as_the_truth_from_its_first_step(self, minutes, marked):
        """Else what a tenant that left last asked for would be the last that is known of it."""
        series, doubts = regular(self.fall(-minutes, None, days=14), NOW)
        assert np.count_nonzero(series.marks == Mark.OUTAGE) == marked
        assert bool(doubts) == bool(marked)

    @pytest.mark.parametrize(("hours", "marked"), [(37, True), (70, True), (74, False)])
    def test_a_long_one_that_is_over_was_an_outage_as_a_whole(self, hours, marked):
        """37 hours are more than a twentieth of four weeks, and make no custom of nothing."""
        start = -9 * 1440 + 600  # of a morning
        series, doubts = regular(self.fall(start, start + 60 * hours, days=28), NOW)
        assert (series.marks[start : start + 60 * hours] == Mark.OUTAGE).all() == marked
        assert not series.marks[: start - 1].any()
        assert not series.marks[start + 60 * hours :].any()
        assert doubts == ()

    def test_who_left_and_asks_now_and_then_is_gone(self):
        """A request between two nothings is no return: a tenant was expected back for a day."""
        given = self.fall(-1440, None, days=28)
        values = given.demand.values.copy()
        values[-480] = values[-2000] * 0.1
        series, _ = regular(history(given.demand.times, values), NOW)
        assert not series.marks[-1440:].any()

    def test_nor_needs_a_long_one_to_fall_within_a_minute(self):
        given = self.fall(-8000, -8000 + 37 * 60, days=28)
        values = given.demand.values.copy()
        values[-8010:-8000:2] = 0.0
        series, _ = regular(history(given.demand.times, values), NOW)
        assert (series.marks[-8000 : -8000 + 37 * 60] == Mark.OUTAGE).all()

    @pytest.mark.parametrize("weeks", [1, 2, 4])
    def test_what_is_closed_every_week_end_is_no_outage(self, weeks):
        given = tide(7 * weeks)
        values = given.demand.values.copy()
        values[np.isin((given.demand.times // DAY + 3) % 7, [5, 6])] = 0.0  # ends on a Monday, 0:00
        for cut in (60, 600, 3000):  # ten hours of a Sunday gone, and on the Friday before
            part = history(given.demand.times[:-cut], values[:-cut], NOW - 60.0 * cut)
            series, _ = regular(part, NOW - 60.0 * cut)
            lasting = series.values == 0
            assert not series.marks[lasting].any()

    def test_a_fall_that_happens_every_day_is_no_outage(self):
        given = tide(10)
        values = given.demand.values.copy()
        values[(given.demand.times % DAY) < HOUR / 2] = 0.0
        series, doubts = regular(history(given.demand.times, values), NOW)
        assert not series.marks[1440 * 2 :].any()
        assert doubts == ()


class TestSaturation:
    def test_flags_mark_steps_and_recent_ones_are_a_doubt(self):
        given = flat(10.0, days=2)
        flags = np.zeros(len(given.demand))
        flags[-3:-1] = 1
        marked = history(
            given.demand.times,
            given.demand.values,
            saturated=Samples(times=given.demand.times, values=flags),
        )
        series, doubts = regular(marked, NOW)
        assert list(np.flatnonzero(series.marks & Mark.SATURATED)) == [2877, 2878]
        assert codes(doubts) == [Code.SATURATED]

    def test_old_flags_are_no_doubt(self):
        given = flat(10.0, days=2)
        flags = Samples(times=np.array([NOW - HOUR]), values=np.array([1.0]))
        series, doubts = regular(
            history(given.demand.times, given.demand.values, saturated=flags), NOW
        )
        assert np.count_nonzero(series.marks & Mark.SATURATED) == 1
        assert doubts == ()


@examples(hostile())
def test_whatever_comes_the_grid_is_regular_and_honest(given):
    series, doubts = regular(given, NOW)
    assert series.end == NOW or len(series) == 0
    assert series.start % series.step == 0
    unknown = np.isnan(series.values)
    assert np.isfinite(series.values[~unknown]).all()
    assert (series.values[~unknown] >= 0).all()
    assert ((series.marks[unknown] & (Mark.MISSING | Mark.REFUSED)) != 0).all()
    assert not (series.marks[~unknown] & Mark.MISSING).any()
    assert (len(series) == 0) == (Code.HISTORY_EMPTY in codes(doubts))
    for doubt in doubts:
        assert doubt.sentence
