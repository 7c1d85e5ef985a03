"""Seasonality follows the clock on the wall, through both DST nights, leap days and week 53."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.forecast.clock import DAY, slots_of, wall_seconds

ZONES = ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
         "Asia/Kathmandu", "Africa/Casablanca"]  # fmt: skip


def posix(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


def plainly(t: float, zone: str) -> float:
    """Wall seconds since a Monday, one call of the library per moment."""
    local = datetime.fromtimestamp(t, ZoneInfo(zone))
    return local.replace(tzinfo=UTC).timestamp() + 3 * DAY


@examples(
    st.sampled_from(ZONES),
    st.integers(int(posix(2019, 12, 28)) // 60, int(posix(2028, 3, 2)) // 60),
    st.integers(1, 3000),
)
def test_the_whole_grid_agrees_with_one_call_per_step(zone, minute, count):
    wall = wall_seconds(minute * 60.0, 60.0, count, zone)
    for i in {0, 1, count // 3, count // 2, count - 2, count - 1} & set(range(count)):
        assert wall[i] == plainly(minute * 60.0 + 60.0 * i, zone)


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        # spring: 01:59 is followed by 03:00; autumn: 02:59 by 02:00 again
        (posix(2026, 3, 29, 0, 0), {0: "01:00", 59: "01:59", 60: "03:00", 120: "04:00"}),
        (posix(2026, 10, 25, 0, 0), {0: "02:00", 59: "02:59", 60: "02:00", 120: "03:00"}),
    ],
)
def test_both_dst_nights_in_berlin(start, shown):
    wall = wall_seconds(start, 60.0, 200, "Europe/Berlin")
    found = {i: f"{int(wall[i] % DAY) // 3600:02d}:{int(wall[i] % 3600) // 60:02d}" for i in shown}
    assert found == shown


@pytest.mark.parametrize(
    ("day", "weekday"),
    [
        ((2024, 2, 29), 3),  # a leap day is a Thursday like others
        ((2024, 3, 1), 4),
        ((2026, 12, 31), 3),  # in week 53 of 2026
        ((2027, 1, 3), 6),  # still week 53: no week is skipped or started anew
        ((2027, 1, 4), 0),
    ],
)
def test_weekdays_go_on_over_leap_days_and_week_53(day, weekday):
    slot = slots_of(wall_seconds(posix(*day), 60.0, 1, "UTC"), 60.0, 1440)[0]
    assert slot == weekday * 1440


def test_slots_are_of_the_week():
    wall = wall_seconds(posix(2026, 6, 1, 0, 0), 60.0, 7 * 1440, "UTC")  # a Monday
    np.testing.assert_array_equal(slots_of(wall, 60.0, 1440), np.arange(7 * 1440))
