"""Nightly batches: expected on the clock, as large as they usually are, and not where none is."""

from __future__ import annotations

import numpy as np
import pytest

from autoscaler.forecast import (
    INTERMITTENT,
    LAST_WEEK,
    PROFILE,
    YESTERDAY,
    FitImpossible,
    TidalForecaster,
)
from autoscaler.forecast.days import by_day
from autoscaler.forecast.response import misses_of
from autoscaler.forecast.tidal import days_of
from autoscaler.model import Mark, Series
from autoscaler.tune import learn
from tests.core.given import NOW, history, policy

DAY = 1440
START = NOW - 14 * 86_400.0


def nights(*sizes, at=60, minutes=120, base=0.0):
    """A day for each size: so much from one o'clock on, for two hours."""
    values = np.full((len(sizes), DAY), base)
    for row, size in zip(values, sizes, strict=True):
        row[at : at + minutes] += size
    return values.ravel()


def series_of(values, start=START):
    marks = np.where(np.isnan(values), np.uint8(Mark.MISSING), np.uint8(0)).astype(np.uint8)
    return Series(start=start, step=60.0, values=values, marks=marks)


def expected(values, day=None, start=START):
    """What the day after `values` (or another) is expected to be, in demand per second."""
    days = days_of(series_of(values, start), "UTC")
    row = days.count if day is None else day
    return np.exp(INTERMITTENT.prepare(days)(row, days.count)) - days.shift


def test_a_batch_is_expected_on_the_clock_and_minutes_to_both_sides():
    path = expected(nights(*[40.0] * 8))
    assert path[60 - 3 : 180 + 3] == pytest.approx(40.0)
    assert path[: 60 - 3] == pytest.approx(0.0)
    assert path[180 + 3 :] == pytest.approx(0.0, abs=1e-9)


def test_a_batch_across_midnight_is_one():
    path = expected(nights(*[40.0] * 8, at=1440 - 1, minutes=1))
    assert path[-4:] == pytest.approx(40.0)
    assert path[:2] == pytest.approx(40.0)  # its last minute lies two minutes before


def test_sizes_are_a_high_quantile_of_those_seen():
    path = expected(nights(10.0, 20.0, 30.0, 40.0, 50.0, 10.0, 20.0, 30.0, 40.0, 50.0))
    assert path[100] == pytest.approx(40.0)


@pytest.mark.parametrize(("every", "comes"), [(1, True), (2, True), (14, False)])
def test_what_comes_often_enough_is_worth_a_start(every, comes):
    sizes = [40.0 if day % every == every - 1 else 0.0 for day in range(14)]
    assert bool(expected(nights(*sizes))[100] > 30.0) is comes


def test_weekends_without_a_batch_are_learnt():
    # 14 days from a Sunday on: NOW is one
    start = NOW - 21 * 86_400.0
    weekday = [int(start // 86_400 + 3 + day) % 7 for day in range(21)]
    values = nights(*[40.0 if number < 5 else 0.0 for number in weekday])
    days = days_of(series_of(values, start), "UTC")
    expect = INTERMITTENT.prepare(days)
    for ahead in range(7):
        path = np.exp(expect(days.count + ahead, days.count)) - days.shift
        comes = (weekday[0] + 21 + ahead) % 7 < 5
        assert bool(path[100] > 30.0) is comes


def test_what_runs_beside_a_batch_is_still_there_without_it():
    path = expected(nights(*[40.0] * 8, base=3.0))
    assert path[600] == pytest.approx(3.0)


def test_holes_are_no_demand_and_no_calm():
    values = nights(*[40.0] * 8)
    values[4 * DAY + 30 : 4 * DAY + 300] = np.nan
    assert np.isfinite(path := expected(values)).all()
    assert path[100] == pytest.approx(40.0)


def test_a_service_that_is_hardly_ever_idle_is_refused():
    with pytest.raises(FitImpossible, match="idle only"):
        expected(nights(*[40.0] * 8, base=30.0))


def test_only_days_before_are_looked_at():
    calm = nights(*[40.0] * 10)
    wild = calm.copy()
    wild[8 * DAY :] = np.random.default_rng(1).uniform(0, 40, 2 * DAY)
    paths = []
    for values in (calm, wild):
        days = by_day(series_of(values), "UTC")
        paths.append(INTERMITTENT.prepare(days)(8, 8))
    # the scale (its shift) is that of the whole series; the days are not
    shifts = [by_day(series_of(values), "UTC").shift for values in (calm, wild)]
    known = [np.exp(path) - shift for path, shift in zip(paths, shifts, strict=True)]
    assert known[0] == pytest.approx(known[1], abs=1e-6)


def test_it_misses_less_than_a_profile_where_sizes_and_nights_vary():
    random = np.random.default_rng(3)
    sizes = np.where(random.random(14) < 0.7, 40 * np.exp(random.normal(0, 0.3, 14)), 0.0)
    days = days_of(series_of(nights(*sizes)), "UTC")

    def late(shape):
        """How much of what came in the first five minutes was not expected."""
        misses = misses_of(shape, days, 0, 21)
        first = misses.missed[:, 60:65]
        return float(np.maximum(first, 0.0).sum() / len(misses.rows))

    assert late(INTERMITTENT) < 0.5 * min(late(shape) for shape in (PROFILE, YESTERDAY, LAST_WEEK))


def test_a_night_without_its_batch_is_believed_after_some_minutes():
    sizes = [40.0, 40.0, 0.0, 40.0, 40.0, 0.0, 40.0, 40.0, 0.0, 40.0, 40.0, 0.0, 40.0, 40.0]
    fitted = TidalForecaster(shape=INTERMITTENT).fit(series_of(nights(*sizes)), "UTC", ())
    idle = series_of(np.concatenate([nights(*sizes), np.zeros(90)]))
    before = series_of(np.concatenate([nights(*sizes), np.zeros(50)]))
    assert fitted.predict(before, 20, (0.5,)).at(0.5)[15] > 30.0
    assert fitted.predict(idle, 20, (0.5,)).at(0.5)[5] < 10.0


@pytest.mark.slow
def test_the_replay_chooses_it_for_a_nightly_batch():
    random = np.random.default_rng(1)
    sizes = 40 * np.exp(random.normal(0, 0.4, 18))
    values = nights(*sizes, minutes=240)
    given = history(NOW - 60.0 * len(values) + 60.0 * np.arange(len(values)), values / 2.0)
    known = learn(policy(), given, NOW)
    assert known.fitted.name == "intermittent"
