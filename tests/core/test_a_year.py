"""A year of history is fitted on its newest months: seasons move on, and a night stays short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.demand import regular
from autoscaler.forecast import AUTOREG
from autoscaler.forecast.ahead import fit_models, predict_strip, reach_of, strip_of, tables_of
from autoscaler.forecast.ahead.tables import filled
from autoscaler.forecast.tidal import days_of
from tests.core.given import NOW, tide

STEP = 600.0
MONTHS = 120  # days


@pytest.fixture(scope="module")
def days():
    return days_of(regular(tide(MONTHS, step=STEP), NOW)[0], "UTC")


def test_of_a_long_past_the_newest_twelve_weeks_are_fitted(days):
    reach = reach_of(300.0, 15.0, 1800.0, STEP)
    tables = tables_of(days, reach.window)
    known, old = days.count * days.per_day, days.count - 84
    forgotten = replace(
        tables,
        z=np.where(np.arange(days.count)[:, None] < old, np.nan, tables.z),
        by_name={
            name: np.where(np.arange(len(rows))[:, None] < old, np.nan, rows)
            for name, rows in tables.by_name.items()
        },
    )
    strip, slots = strip_of(tables, slice(days.count - 2, days.count), reach.lead)
    for model, same in zip(
        fit_models(tables, known, reach.aims(days)),
        fit_models(forgotten, known, reach.aims(days)),
        strict=True,
    ):
        assert model.clocks.shape == (2, days.count + 2, days.per_day)
        z = predict_strip(model, strip, slots)
        assert np.isfinite(z).all()
        np.testing.assert_array_equal(z, predict_strip(same, strip, slots))
    oldest = np.arange(days.count)[:, None] == old
    other = fit_models(replace(tables, z=np.where(oldest, 9.0, tables.z)), known, reach.aims(days))
    assert not np.array_equal(model.tails, other[-1].tails)


@pytest.mark.slow  # imports statsmodels
def test_of_a_long_past_autoreg_draws_the_newest_five_weeks(days):
    row = days.count
    usual = AUTOREG.prepare(days)(row, row)
    at = np.arange(days.count)[:, None]
    forgotten = replace(days, z=np.where(at < row - 35, 9.0, days.z))
    np.testing.assert_array_equal(AUTOREG.prepare(forgotten)(row, row), usual)
    raised = replace(days, z=np.where(at == row - 35, 9.0, days.z))
    assert not np.array_equal(AUTOREG.prepare(raised)(row, row), usual)


@examples(
    st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=4, max_size=12),
)
def test_the_two_highest_of_a_week_are_its_two_highest(rows):
    z = np.array(rows, dtype=float)
    given = replace(days_of(regular(tide(3, step=43_200.0), NOW)[0], "UTC"), z=z, now=2)
    assert not np.isnan(filled(given)).any()
    tables = tables_of(replace(given, first=0), 1).by_name
    highest = np.array([[max(row)] * 2 for row in rows])  # both slots are within the reach
    for d in range(2, len(rows) + 1):
        newest = np.sort(highest[max(0, d - 7) : d], axis=0)
        np.testing.assert_array_equal(tables["high"][d], newest[-1])
        np.testing.assert_array_equal(tables["second"][d], newest[-2])
