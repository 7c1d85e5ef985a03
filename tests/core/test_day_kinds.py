"""Days that are like others: as evidence and as what is forecast, in every weekly forecaster."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from autoscaler.demand import regular
from autoscaler.forecast import (
    ALL,
    FAST,
    INTERMITTENT,
    LAST_WEEK,
    NO_TIDE,
    PROFILE,
    YESTERDAY,
    TidalForecaster,
    kinds_of,
)
from autoscaler.forecast.ahead.tables import SEASON, filled, tables_of
from autoscaler.forecast.clock import wall_seconds
from autoscaler.forecast.foresee import checked
from autoscaler.forecast.kinds import PLAIN, Kinds
from autoscaler.forecast.tidal import days_of
from autoscaler.schema.calendar import WEEKDAYS, Calendar, between, date_of, number_of
from autoscaler.tune import learn
from tests.core.given import DAY, HOUR, NOW, history, policy, tide

MONDAY = NOW  # 2025-12-01
WEEKLY = [LAST_WEEK, PROFILE, *(pytest.param(s, marks=pytest.mark.slow) for s in ALL[len(FAST) :])]


def calm_sundays(days=28, until=MONDAY, calm=()):
    """30/s at noon on six days of the week, a third of that on Sundays and on the days given."""
    count = round(days * 1440)
    times = until - 60.0 * count + 60.0 * np.arange(count)
    day = times // DAY
    quiet = ((day + 3) % 7 == 6) | np.isin(day, [(MONDAY // DAY) + of for of in calm])
    tide_ = 18 - 12 * np.cos(2 * np.pi * (times % DAY) / DAY)
    return history(times, np.where(quiet, tide_ / 3, tide_), until)


def calendar(*days):
    return Calendar.model_validate({"days": [{"date": d, "like": like} for d, like in days]})


def kinds(*days):
    return kinds_of(between(calendar(*days), date(2025, 1, 1), date(2026, 12, 31)))


def at_noon(shape, given, known, days_on=0, until=MONDAY):
    series = regular(given, until)[0]
    fitted = TidalForecaster(shape=shape).fit(series, "UTC", (), known)
    steps = round((days_on * DAY + 13 * HOUR) / 60)
    return fitted.predict(series, steps, (0.5,)).at(0.5)[round((days_on * DAY + 12 * HOUR) / 60)]


@pytest.mark.parametrize("shape", WEEKLY, ids=lambda shape: shape.name)
def test_a_holiday_is_forecast_as_a_sunday_and_teaches_no_wednesday(shape):
    coming = kinds(("2025-12-03", "sunday"))
    plain = at_noon(shape, calm_sundays(), PLAIN, 2)
    assert plain > 22
    assert at_noon(shape, calm_sundays(), coming, 2) < 0.75 * plain
    # last Wednesday was a holiday: the next is a Wednesday all the same
    given = calm_sundays(calm=[-5])
    told = at_noon(shape, given, kinds(("2025-11-26", "sunday")), 2)
    np.testing.assert_allclose(told, plain, rtol=0.12)


def test_a_golden_week_does_not_teach_the_week_after_it():
    given = calm_sundays(calm=range(-8, 0))
    week = [(f"2025-11-{day}", "sunday") for day in range(23, 31)]
    assert at_noon(PROFILE, given, PLAIN) < 20
    np.testing.assert_allclose(at_noon(PROFILE, given, kinds(*week)), 30, rtol=0.1)


def test_a_swapped_saturday_is_the_weekday_it_is_swapped_for():
    given = calm_sundays()
    sunday = at_noon(PROFILE, given, PLAIN, 6)
    swapped = at_noon(PROFILE, given, kinds(("2025-12-07", "friday")), 6)
    assert swapped > 1.4 * sunday


@pytest.mark.parametrize("shape", [LAST_WEEK, PROFILE], ids=lambda shape: shape.name)
def test_a_day_like_a_past_date_is_forecast_from_it(shape):
    given = calm_sundays(calm=[-13])  # Tuesday, 18 November
    like = kinds(("2025-12-03", "2025-11-18"))
    np.testing.assert_allclose(at_noon(shape, given, like, 2), 10, rtol=0.3)
    # without that date in the history, its weekday counts
    unknown = kinds(("2025-12-03", "2025-06-03"))
    np.testing.assert_allclose(
        at_noon(shape, given, unknown, 2), at_noon(shape, given, PLAIN, 2), rtol=0.05
    )


def test_a_profile_leans_on_weekdays_as_far_as_they_differ():
    """Sundays at a third: their own median is expected, not half of it and half of the week's."""
    given = regular(calm_sundays(), MONDAY)[0]
    days = days_of(given, "UTC")
    noon, expect = 12 * 60, PROFILE.prepare(days)
    sunday = float(np.exp(expect(27, 27)[noon]) - days.shift)
    np.testing.assert_allclose(sunday, 10, rtol=0.05)
    noisy = days_of(regular(tide(28), NOW)[0], "UTC")  # week-ends at seven tenths, and noise
    apart = PROFILE.prepare(noisy)(26, 26) - np.median(noisy.z[19:26], axis=0)
    assert float(np.exp(apart[noon])) < 0.9
    # in the first week nothing is known of weekdays
    np.testing.assert_allclose(PROFILE.prepare(days)(6, 6)[noon], days.z[5, noon], rtol=0.05)


@pytest.mark.parametrize("shape", [YESTERDAY, NO_TIDE], ids=lambda shape: shape.name)
def test_an_odd_yesterday_is_taken_for_its_weekday(shape):
    given = calm_sundays(calm=[-4], until=MONDAY - 3 * DAY)  # asked about Friday, after it
    plain = at_noon(shape, calm_sundays(until=MONDAY - 3 * DAY), PLAIN, until=MONDAY - 3 * DAY)
    thursday = kinds(("2025-11-27", "sunday"))
    told = at_noon(shape, given, thursday, until=MONDAY - 3 * DAY)
    untold = at_noon(shape, given, PLAIN, until=MONDAY - 3 * DAY)
    assert abs(told - plain) < 0.5 * abs(untold - plain)


def test_yesterday_of_a_holiday_is_that_of_a_sunday():
    given = calm_sundays(calm=[-2])  # Saturdays are calm too, from now on
    coming = kinds(("2025-12-03", "sunday"), ("2025-11-29", "sunday"))
    days = days_of(regular(given, MONDAY)[0], "UTC", coming)
    wednesday = days.count + 2
    assert days.stand_in(wednesday) == 27  # the Sunday that has just been
    assert days.usual(26) == 19  # that Saturday was odd
    expected = YESTERDAY.prepare(days)(wednesday, days.count)
    np.testing.assert_array_equal(expected, days.z[19])


@lru_cache(maxsize=1)
def a_month():
    return days_of(regular(tide(30), NOW)[0], "UTC")


def test_the_second_day_off_is_like_the_first():
    """Forecast at its midnight: the day off before it is known whole, and the newest Sunday."""
    given = calm_sundays(calm=[-1])
    values = given.demand.values.copy()
    values[-1440:] /= 2  # calmer than any Sunday
    off = kinds(("2025-11-30", "sunday"), ("2025-12-01", "sunday"))
    told = at_noon(LAST_WEEK, history(given.demand.times, values), off)
    np.testing.assert_allclose(told, 5, rtol=0.2)


@examples(st.sets(st.integers(0, 34), max_size=12), st.integers(0, 6))
def test_stand_ins_are_ordinary_and_of_the_kind(odd, like):
    """Whatever days are odd: an ordinary one stands for itself, an odd one finds its like."""
    plain = a_month()
    days = replace(plain, kinds=Kinds(like=dict.fromkeys((plain.first + d for d in odd), like)))
    for row in range(days.count + 2):
        stand = days.stand_in(row)
        if row not in odd:
            assert stand == days.usual(row) == row
            continue
        assert stand < row or stand == row
        ordinary = [at for at in range(min(row, days.count)) if at not in odd]
        same = [at for at in ordinary if days.kind(at) == like]
        if same:
            assert stand == same[-1]
        weekday = [at for at in ordinary if (row - at) % 7 == 0]
        assert days.usual(row) == (weekday[-1] if weekday else row)


own_days = st.lists(
    st.tuples(st.integers(-27, 8), st.one_of(st.integers(0, 6), st.integers(1, 40))), max_size=8
)


def calendar_of(days):
    """Kinds of drawn days: each like a weekday (by its name) or like the day so many before it."""
    today = number_of(date(2025, 12, 1))
    like = {}
    for day, of in days:
        number = today + day
        text = WEEKDAYS[of] if of < 7 else str(date_of(number - of))
        like[str(date_of(number))] = text
    return kinds(*like.items())


@settings(max_examples=15)
@examples(own_days, st.sampled_from(["UTC", "Asia/Kolkata"]))
def test_whatever_a_calendar_says_a_forecast_stays_one(days, zone):
    known = calendar_of(days)
    series = regular(coarse(), NOW)[0]
    for shape in (YESTERDAY, LAST_WEEK, PROFILE, NO_TIDE):
        fitted = TidalForecaster(shape=shape).fit(series, zone, (), known)
        checked(fitted.predict(series, 9 * 288, (0.5, 0.9)))
    for name, table in tables_of(days_of(series, zone, known), 7).by_name.items():
        assert np.isfinite(table).all(), name


@settings(max_examples=40)
@examples(own_days, st.integers(2, 28))
def test_no_table_knows_a_later_day(days, row):
    """Whatever days are like: a row is made of rows before it."""
    whole = replace(days_of(regular(coarse(), NOW)[0], "UTC"), kinds=calendar_of(days))
    changed = whole.z.copy()
    changed[row:] += 1.0
    one, other = (tables_of(each, 7).by_name for each in (whole, replace(whole, z=changed)))
    for name, table in one.items():
        # the last windows of a day reach over midnight
        until = -7 if name.startswith("w_") else None
        np.testing.assert_array_equal(table[:row], other[name][:row], err_msg=name)
        np.testing.assert_array_equal(table[row, :until], other[name][row, :until], err_msg=name)


@lru_cache(maxsize=1)
def coarse():
    """Four weeks in steps of five minutes."""
    return tide(28, step=300.0)


def test_a_week_further_on_is_not_taken_for_the_holiday():
    """Fitted on a holiday, asked about the same weekday a week later."""
    given = calm_sundays(until=MONDAY + 10 * HOUR, calm=[0])
    known = kinds(("2025-12-01", "sunday"))
    assert at_noon(PROFILE, given, known, 6, until=MONDAY + 10 * HOUR) > 0  # seven days are drawn
    series = regular(given, MONDAY + 10 * HOUR)[0]
    fitted = TidalForecaster(shape=PROFILE).fit(series, "UTC", (), known)
    path = fitted.predict(series, round(7.2 * 1440), (0.5,)).at(0.5)
    assert path[2 * 60] < 14
    assert path[7 * 1440 + 2 * 60] > 22


def test_tables_of_the_distributions_ahead_know_kinds():
    given = regular(calm_sundays(calm=[-7]), MONDAY)[0]  # the last Monday was a holiday
    untold, past, coming = (
        tables_of(days_of(given, "UTC", known), 30).by_name
        for known in (
            PLAIN,
            kinds(("2025-11-24", "sunday")),
            kinds(("2025-11-24", "sunday"), ("2025-12-01", "sunday")),
        )
    )
    monday, noon = -2, 12 * 60
    for name in ("week_ago", "w_week_ago", "weekly", "w_weekly"):
        assert past[name][monday, noon] > untold[name][monday, noon] + 0.1
        assert coming[name][monday, noon] < past[name][monday, noon] - 0.4
    sunday, tuesday = -3, -1
    for name in ("daily", "exact", "yesterday", "w_daily", "w_yesterday", "w_high"):
        # a holiday has the Saturday before it that a Sunday has; Tuesday has an ordinary Monday
        np.testing.assert_array_equal(coming[name][monday], past[name][sunday])
        assert coming[name][tuesday, noon] > past[name][tuesday, noon] - 0.3
        assert (past[name][-9] >= untold[name][-9] - 1e-9).all()  # the day after that holiday
    assert coming[SEASON][monday, noon] < past[SEASON][monday, noon] - 0.4


def test_a_hole_is_filled_by_the_same_weekday_and_what_is_to_come_by_yesterday():
    """A Monday that was not read is not a Sunday."""
    values = calm_sundays().demand.values.copy()
    values[-7 * 1440 : -6 * 1440] = np.nan
    given = regular(history(calm_sundays().demand.times, values), MONDAY)[0]
    days = days_of(given, "UTC")
    np.testing.assert_array_equal(filled(days)[-7], days.z[-14])
    begun = days_of(regular(calm_sundays(until=MONDAY + HOUR), MONDAY + HOUR)[0], "UTC")
    np.testing.assert_array_equal(filled(begun)[-1, 60:], begun.z[-2, 60:])
    holiday = replace(begun, kinds=kinds(("2025-12-01", "friday")))
    np.testing.assert_array_equal(filled(holiday)[-1, 60:], begun.z[-4, 60:])


def test_of_one_week_alone_yesterday_comes_again_whole():
    """Two days of noise are no custom: what differs between them says nothing of today."""
    values = calm_sundays().demand.values[-10 * 1440 :]
    times = calm_sundays().demand.times[-10 * 1440 :]
    drawn = values * np.random.default_rng(2).lognormal(0.0, 0.3, size=len(values))
    tables = tables_of(days_of(regular(history(times, drawn), MONDAY)[0], "UTC"), 30).by_name
    assert (tables[SEASON] >= tables["w_yesterday"] - 1e-9).all()


def test_yesterday_comes_again_as_far_as_today_is_like_it():
    """On a Sunday no Saturday comes again; on a Monday Sunday does, and last Monday."""
    given = regular(calm_sundays(until=MONDAY - DAY), MONDAY - DAY)[0]
    tables = tables_of(days_of(given, "UTC"), 30).by_name
    sunday, monday, noon = -2, -1, 12 * 60
    assert tables["w_yesterday"][sunday, noon] > tables[SEASON][sunday, noon] + 0.3
    # the difference of the two days is smoothed, their edges are not
    np.testing.assert_allclose(tables[SEASON][sunday], tables["w_week_ago"][sunday], atol=0.15)
    np.testing.assert_array_equal(tables[SEASON][monday], tables["w_week_ago"][monday])


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_without_special_days_nothing_changes(zone):
    far = kinds(("2020-01-01", "sunday"), ("2019-05-01", "2019-04-30"))
    series = regular(tide(17), NOW)[0]
    by_day = series.values > np.median(series.values)
    batches = replace(series, values=np.where(by_day, series.values, 0.0))
    for shape in FAST:
        given = batches if shape is INTERMITTENT else series
        paths = [
            TidalForecaster(shape=shape)
            .fit(given, zone, (), known)
            .predict(given, 1440, (0.5, 0.9))
            .quantiles
            for known in (PLAIN, far)
        ]
        np.testing.assert_array_equal(*paths)


@pytest.mark.parametrize("far", [PLAIN, Kinds(like={-99_999: 3})])
def test_which_days_are_alike(far):
    days = days_of(regular(tide(40), NOW)[0], "UTC", far)
    last = days.count - 1
    assert days.alike(last, last, 5, within=35) == [last - 7 * i for i in range(1, 6)]
    assert days.alike(last + 3, days.count, 9, within=35) == [last + 3 - 7 * i for i in range(1, 6)]
    assert days.alike(3, 3, 5) == []
    assert days.alike(9, 9, 5) == [2]
    assert days.newest_week(12) == list(range(5, 12))
    assert days.newest_week(3) == [0, 1, 2]


def test_slots_follow_the_kind_of_the_wall_clock_day():
    known = kinds(("2025-12-03", "sunday"))
    wall = wall_seconds(NOW, 3600.0, 72, "Asia/Kolkata")
    slots = known.slots(wall, 3600.0, 24)
    day = np.floor(wall / DAY).astype(int)
    assert set(slots[day == number_of(date(2025, 12, 3))] // 24) == {6}
    assert set(slots[day == number_of(date(2025, 12, 2))] // 24) == {1}


def test_knowledge_knows_the_policys_calendar():
    use = {"use": "profile"}
    of = policy(calendar={"days": [{"date": "2025-12-01", "like": "sunday"}]}, forecast=use)
    given = calm_sundays(14)
    plain, told = (learn(each, given, NOW, shapes=FAST) for each in (policy(forecast=use), of))
    series = regular(given, NOW)[0]
    noon = [k.fitted.predict(series, 800, (0.5,)).at(0.5)[720] for k in (plain, told)]
    assert noon[1] < 0.8 * noon[0]
