"""Every forecaster: what it promises, that its quantiles are calibrated, that it sees no future."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscaler.demand import regular
from autoscaler.forecast import (
    ALL,
    FAST,
    INTERMITTENT,
    NO_TIDE,
    PROFILE,
    YESTERDAY,
    FitImpossible,
    Recent,
    TidalForecaster,
)
from autoscaler.forecast.clock import wall_seconds
from autoscaler.forecast.response import Misses, learn_response
from autoscaler.forecast.shapes import median, smooth
from autoscaler.schema.events import EventWindow
from tests.core.given import DAY, HOUR, NOW, flat, history, tide

LEVELS = (0.1, 0.5, 0.9, 0.95, 0.99)


def series_of(given, until=NOW):
    return regular(given, until)[0]


def fit(shape, given, zone="UTC", events=(), until=NOW):
    return TidalForecaster(shape=shape).fit(series_of(given, until), zone, tuple(events))


@pytest.fixture(
    # statsmodels takes seconds to import; the intermittent one refuses tides: test_intermittent.py
    params=[
        *(s for s in FAST if s is not INTERMITTENT),
        *(pytest.param(s, marks=pytest.mark.slow) for s in ALL if s not in FAST),
    ],
    ids=lambda shape: shape.name,
    scope="module",
)
def shape(request):
    return request.param


@pytest.mark.parametrize("steps", [1, 38, 1440, 2000])
def test_quantiles_are_finite_ordered_and_not_negative(shape, steps):
    forecast = fit(shape, tide(14)).predict(series_of(tide(14)), steps, LEVELS)
    assert forecast.quantiles.shape == (len(LEVELS), steps)
    assert np.isfinite(forecast.quantiles).all()
    assert (forecast.quantiles >= 0).all()
    assert (np.diff(forecast.quantiles, axis=0) >= 0).all()
    assert forecast.start == NOW


def test_as_many_come_true_as_promised(shape):
    """Fitted on two weeks, asked every 20 minutes of the next day, five minutes ahead."""
    fitted = fit(shape, tide(14, NOW, seed=5), until=NOW)
    whole = series_of(tide(16, NOW + DAY, seed=5), NOW + DAY)
    # the same seed draws the same noise for the same count only: fit on what is evaluated later
    before = len(whole) - 1440
    known = replace(whole, values=whole.values[:before], marks=whole.marks[:before])
    fitted = TidalForecaster(shape=shape).fit(known, "UTC", ())
    under = {0.5: 0, 0.95: 0}
    origins = range(before, len(whole) - 6, 20)
    for n in origins:
        cut = replace(whole, values=whole.values[:n], marks=whole.marks[:n])
        forecast = fitted.predict(cut, 6, LEVELS)
        for level in under:
            under[level] += whole.values[n + 5] <= forecast.at(level)[5]
    assert 0.3 <= under[0.5] / len(origins) <= 0.7
    assert under[0.95] / len(origins) >= 0.85


def test_it_is_deterministic(shape):
    a, b = (fit(shape, tide(14)).predict(series_of(tide(14)), 38, LEVELS) for _ in range(2))
    np.testing.assert_array_equal(a.quantiles, b.quantiles)


@pytest.mark.parametrize("days", [0.01, 0.5, 1.2])
def test_too_little_history_is_said(days):
    given = tide(days)
    with pytest.raises(FitImpossible):
        fit(PROFILE, given)


def test_a_service_without_any_demand_is_forecast_to_have_none():
    for shape in FAST:
        forecast = fit(shape, flat(0.0, days=10)).predict(series_of(flat(0.0)), 38, LEVELS)
        np.testing.assert_allclose(forecast.quantiles, 0.0, atol=1e-12)


def restless_tide():
    """A tide whose level wanders within hours, so that the last minutes tell something."""
    given = tide(14)
    walk = np.zeros(len(given.demand))
    steps = np.random.default_rng(2).normal(0, 0.02, len(walk))
    for i in range(1, len(walk)):
        walk[i] = 0.99 * walk[i - 1] + steps[i]
    return history(given.demand.times, given.demand.values * np.exp(walk))


def test_the_last_minutes_correct_the_forecast(shape):
    given = restless_tide()
    fitted = fit(shape, given)
    high = given.demand.values.copy()
    high[-30:] *= 1.5
    usual = fitted.predict(series_of(given), 400, LEVELS).at(0.5)
    raised = fitted.predict(series_of(history(given.demand.times, high)), 400, LEVELS).at(0.5)
    assert raised[0] > usual[0] * 1.15
    assert raised[0] / usual[0] > raised[-1] / usual[-1] * 1.05  # and fade


def test_missing_last_minutes_are_no_zero(shape):
    given = tide(14)
    fitted = fit(shape, given)
    values = given.demand.values.copy()
    values[-30:] = np.nan
    blind = fitted.predict(series_of(history(given.demand.times, values)), 38, LEVELS).at(0.5)
    usual = fitted.predict(series_of(given), 38, LEVELS).at(0.5)
    np.testing.assert_allclose(blind, usual, rtol=0.35)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("changes", ["spring", "autumn"])
def test_a_tide_by_the_wall_clock_is_not_shifted_by_a_dst_night(zone, changes):
    """A step at 09:00 local every day; forecast the morning after the clocks changed."""
    midnight = {
        ("Europe/Berlin", "spring"): 1_774_738_800.0,  # 2026-03-29 00:00 CET
        ("Europe/Berlin", "autumn"): 1_792_879_200.0,  # 2026-10-25 00:00 CEST
        ("America/New_York", "spring"): 1_772_946_000.0,  # 2026-03-08 00:00 EST
        ("America/New_York", "autumn"): 1_793_505_600.0,  # 2026-11-01 00:00 EDT
    }[zone, changes]
    times = midnight - 15 * DAY + 60.0 * np.arange(17 * 1440)
    clock = wall_seconds(times[0], 60.0, len(times), zone) % DAY
    values = np.where((clock >= 9 * HOUR) & (clock < 18 * HOUR), 30.0, 6.0)
    fitted_until = midnight + HOUR  # fitted in the night, before the clocks change
    whole = series_of(history(times, values, times[-1]), times[-1])
    n = int((fitted_until - whole.start) / 60)
    known = replace(whole, values=whole.values[:n], marks=whole.marks[:n])
    forecast = TidalForecaster(shape=YESTERDAY).fit(known, zone, ()).predict(known, 1380, (0.5,))
    truth = whole.values[n : n + 1380]
    wrong = np.abs(forecast.at(0.5) - truth) > 3
    # an hour's shift would miss 60 minutes at nine and 60 at six
    assert wrong.sum() <= 15


def test_a_past_event_teaches_no_ordinary_day():
    given = tide(14)
    values = given.demand.values.copy()
    during = (given.demand.times >= NOW - DAY) & (given.demand.times < NOW - DAY + 6 * HOUR)
    values[during] *= 4
    with_event = history(given.demand.times, values)
    event = EventWindow("sale", NOW - DAY, NOW - DAY + 6 * HOUR, 4.0)
    usual = fit(YESTERDAY, given).predict(series_of(given), 300, (0.5,)).at(0.5)
    told = fit(YESTERDAY, with_event, events=[event]).predict(series_of(given), 300, (0.5,)).at(0.5)
    untold = fit(YESTERDAY, with_event).predict(series_of(given), 300, (0.5,)).at(0.5)
    assert told.mean() < usual.mean() * 1.3
    assert untold.mean() > usual.mean() * 1.5


def test_recent_knows_only_the_last_day():
    recent = Recent().predict(series_of(tide(3)), 60, LEVELS)
    assert np.isfinite(recent.quantiles).all()
    assert (np.diff(recent.quantiles, axis=0) >= 0).all()
    with pytest.raises(ValueError, match="no demand is known"):
        Recent().predict(series_of(tide(3, NOW - 2 * DAY)), 60, LEVELS)


def test_no_tide_is_a_forecaster_like_others():
    fitted = fit(NO_TIDE, tide(14))
    assert fitted.name == "no-tide"
    assert np.ptp(fitted.week) < 0.01  # the same at any hour


def test_small_helpers_leave_out_what_is_unknown():
    rows = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [8.0, 7.0, np.nan]])
    np.testing.assert_array_equal(median(rows), [3.0, 6.0, np.nan])
    np.testing.assert_allclose(smooth(np.array([0.0, 3.0, np.nan, 9.0]), 1), [4.0, 1.5, 6.0, 4.5])


@pytest.mark.parametrize("reach", [0, 4, 7, 8, 20, 48, 288, 1000])
def test_what_is_learnt_for_leads_that_are_asked_for_does_not_hang_on_further_ones(reach):
    rng, days, per_day = np.random.default_rng(3), 8, 288
    missed = rng.normal(0, 1, (days, per_day + 300))
    misses = Misses(
        rows=np.arange(days),
        expected=np.zeros_like(missed),
        missed=missed,
        recent=rng.normal(0, 1, (3, days, per_day)),
    )
    all_of_it = learn_response(misses, np.arange(days), 300.0)
    part = learn_response(misses, np.arange(days), 300.0, reach=reach)
    leads = np.arange(min(reach, 288) + 1.0)
    recent, slots = rng.normal(0, 1, 3), np.arange(len(leads)) % per_day
    for ours, other in zip(
        part.path(np.zeros(len(leads)), slots, recent),
        all_of_it.path(np.zeros(len(leads)), slots, recent),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, other)
    assert len(part.leads) < len(all_of_it.leads) or reach >= 144
