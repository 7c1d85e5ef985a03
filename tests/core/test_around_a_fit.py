"""What a knowledge keeps of its tables is all that a decision looks at."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.demand import regular
from autoscaler.forecast import PROFILE, TidalForecaster
from autoscaler.forecast.ahead import TideAhead, fit_model, reach_of, tables_of
from autoscaler.forecast.ahead.around import Around, by_clock
from autoscaler.forecast.ahead.tables import NAMES
from autoscaler.forecast.kinds import PLAIN, Kinds
from autoscaler.forecast.tidal import days_of
from autoscaler.schema.calendar import number_of
from tests.core.given import DAY, HOUR, NOW, knowing_ahead, tide


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
@pytest.mark.parametrize("weekday", [None, "sunday"])
def test_decisions_see_what_tables_of_all_days_say(zone, weekday):
    """Of two weeks less than three days are kept, and it makes no difference until they end."""
    until = NOW + 3.4 * HOUR
    likes = {} if weekday is None else {"like": {int(NOW // DAY) + 4: 6}}
    days = days_of(regular(tide(14, until), until)[0], zone, Kinds(**likes))
    reach = reach_of(300.0, 15.0, 1800.0, 60.0)
    tables = tables_of(days, reach.window)
    kept = TideAhead.of(knowing_ahead().fitted.tidal, days, tables, reach)
    kept = replace(kept, tidal=replace(kept.tidal, zone=zone))
    known = (days.count - 1) * days.per_day + days.now
    models = [fit_model(tables, known, aim) for aim in reach.aims(days)]
    point, window = (
        replace(model, clocks=model.clocks.reshape(2, -1).astype(np.float32)) for model in models
    )
    rows = [tables.by_name[name].ravel() for name in NAMES]
    assert len(kept.tables.values) < 75 * 60 * len(rows)
    whole = replace(
        kept,
        point=point,
        window=window,
        first=days.first * days.per_day,
        tables=Around(
            values=np.concatenate(rows).astype(np.float32),
            starts=len(rows[0]) * np.arange(len(rows))[:, None],
            lengths=np.full((len(rows), 1), len(rows[0])),
            shortest=len(rows[0]),
            per_day=days.per_day,
        ),
    )
    for age in (0.0, 0.5, 7.0, 23.9, 47.0, 68.0):
        series = regular(tide(14, until + age * HOUR), until + age * HOUR)[0]
        ours, theirs = (of.predict(series, 7, (0.5,)).ahead for of in (kept, whole))
        np.testing.assert_array_equal(ours.lead, theirs.lead)
        np.testing.assert_array_equal(ours.window, theirs.window)
        assert ours.ago == theirs.ago


@examples(
    st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3),
    st.integers(-9, 20),
)
def test_a_day_that_repeats_is_kept_once(days, slot):
    rows = [np.repeat(values, 2).astype(float) for values in days]  # four days of two slots
    kept = Around.of(rows, 2)
    longest = [1 + max((i for i in range(1, 4) if v[i] != v[i - 1]), default=0) for v in days]
    assert kept.lengths.ravel().tolist() == [2 * count for count in longest]
    at = min(max(slot, slot % 2), 6 + slot % 2)
    expected = np.array([[row[at]] for row in rows])
    np.testing.assert_array_equal(kept.at(np.array([slot])), expected)


def test_what_lies_outside_is_the_nearest_day_by_the_clock():
    slots = np.array([-25, -1, 0, 30, 59, 60, 107, 1000])
    found = by_clock(slots, 60, 24)
    assert found.tolist() == [23, 23, 0, 30, 59, 36, 59, 40]


def test_what_is_over_is_forgotten_and_what_comes_is_like_what_it_was():
    today = number_of(date(2025, 12, 1))
    thursday, tuesday = today - 18, today - 20
    known = Kinds(
        like={today - 11: 7, today - 1: 7, today + 1: 8, today + 23: 6},
        examples=((thursday, 3), (tuesday, 1)),
    )
    coming = known.coming(today)
    assert coming.like == {today - 1: 3, today + 1: 7, today + 23: 6}
    assert coming.examples == ((tuesday, 1),)
    assert PLAIN.coming(today) == PLAIN
    series = regular(tide(14, NOW + HOUR), NOW + HOUR)[0]
    fitted = TidalForecaster(shape=PROFILE).fit(series, "UTC", (), known)
    assert fitted.kinds == coming
    assert len(fitted.week) == 8 * 1440
