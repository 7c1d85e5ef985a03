"""AutoReg's week: calm weekdays have a day of their own, where weekdays differ beyond doubt."""

from __future__ import annotations

import numpy as np
import pytest

from autoscaler.forecast import AUTOREG
from autoscaler.forecast.autoreg import calm_of
from autoscaler.forecast.days import Days
from autoscaler.forecast.kinds import PLAIN, Kinds

STEP, PER_DAY = 900.0, 96
SHIFT = 0.4
CLOCK = 2 * np.pi * (np.arange(PER_DAY) + 0.5) / PER_DAY


def days_of(week, count, kinds=PLAIN, odd=(), growth=0.0, seed=1):
    """Days from a Monday on whose bell is as high as their weekday says; odd ones as a Sunday's."""
    rng = np.random.default_rng(seed)
    bell = np.clip(-np.cos(CLOCK), 0, None) ** 2
    rows = []
    for day in range(count):
        height = week[6] if day in odd else week[day % 7]
        demand = (0.1 + height * bell) * (1 + growth * day)
        rows.append(np.log(demand * (1 + 0.03 * rng.standard_normal(PER_DAY)) + SHIFT))
    return Days(
        z=np.array(rows), first=0, now=PER_DAY, step=STEP, shift=SHIFT, peak=1.2, zone="UTC",
        kinds=kinds,
    )  # fmt: skip


OFFICE = (1.0, 1.0, 1.0, 1.0, 1.0, 0.15, 0.1)
EVEN = (1.0,) * 7


def miss(days, row):
    """Mean miss of a row expected from the rows before it, of its mean."""
    expected = np.exp(AUTOREG.prepare(days)(row, row)) - SHIFT
    came = np.exp(days.z[row]) - SHIFT
    return np.abs(expected - came).mean() / came.mean()


@pytest.mark.parametrize(("row", "most"), [(12, 0.3), (13, 0.3), (27, 0.2), (31, 0.2)])
def test_a_quiet_week_end_is_expected_as_such(row, most):
    assert miss(days_of(OFFICE, row + 1), row) < most


def test_a_told_holiday_is_expected_as_a_sunday():
    told = Kinds(like={31: 6})
    assert miss(days_of(OFFICE, 32, told, odd=(31,)), 31) < 0.25
    assert miss(days_of(OFFICE, 33, told, odd=(31,)), 32) < 0.15  # and the day after is itself
    assert miss(days_of(OFFICE, 32, odd=(31,)), 31) > 1.0  # told by nobody, it is a Thursday


class TestCalm:
    def of(self, days):
        return calm_of(days.z, np.arange(days.count) % 7).tolist()

    def test_week_ends_of_an_office(self):
        assert self.of(days_of(OFFICE, 21)) == [5, 6]
        friday_off = (1.0, 1.0, 1.0, 1.0, 0.1, 0.15, 1.0)
        assert self.of(days_of(friday_off, 21)) == [4, 5]

    @pytest.mark.parametrize("count", [1, 3, 7, 8, 20])
    @pytest.mark.parametrize("growth", [0.0, 0.03])
    def test_none_where_weekdays_are_alike_or_grow(self, count, growth):
        assert self.of(days_of(EVEN, count, growth=growth)) == []

    def test_one_day_off_is_no_law(self):
        assert self.of(days_of(EVEN, 14, odd=())) == []
        one = days_of((*EVEN[:6], 0.1), 14, odd=())
        assert self.of(one) == [6]
        assert self.of(days_of((*EVEN[:6], 0.1), 12)) == []  # one Sunday so far

    def test_days_that_were_not_read_say_nothing(self):
        days = days_of(OFFICE, 21)
        days.z[8:11, : PER_DAY - 10] = np.nan
        assert self.of(days) == [5, 6]
        days.z[:] = np.nan
        assert self.of(days) == []
