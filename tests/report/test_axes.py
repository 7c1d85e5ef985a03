"""Ticks are round in value and in local time, also in the night when the clocks change."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.report.axes import local_time, time_ticks, value_text, value_ticks

BERLIN = ZoneInfo("Europe/Berlin")


@given(st.floats(1e-6, 1e12), st.integers(2, 20))
def test_value_ticks_cover_the_largest_and_are_few(largest: float, most: int) -> None:
    ticks = value_ticks(largest, most)
    assert ticks[0] == 0
    assert ticks[-1] >= largest * (1 - 1e-6)
    assert 2 <= len(ticks) <= most + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (3.25, "3.25"),
        (120.0, "120"),
        (9999.4, "9999"),
        (12_345.0, "12.3k"),
        (2.5e6, "2.5M"),
        (7e9, "7G"),
        (float("nan"), "–"),
    ],
)
def test_value_text(value: float, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    "midnight", [datetime(2026, 3, 29, tzinfo=BERLIN), datetime(2026, 10, 25, tzinfo=BERLIN)]
)
def test_ticks_stay_on_the_wall_clock_over_a_change_of_it(midnight: datetime) -> None:
    start = midnight.timestamp()
    ticks = time_ticks(start, start + 30 * 3600, "Europe/Berlin", 12)
    for at, text in ticks:
        wall = datetime.fromtimestamp(at, BERLIN)
        assert wall.minute == 0
        assert text in (f"{wall:%H:%M}", f"{wall:%a} {wall.day} {wall:%b}")
    times = [at for at, _ in ticks]
    assert times == sorted(set(times))
    assert 6 <= len(ticks) <= 13


def test_local_time_carries_its_offset() -> None:
    assert local_time(1_796_083_200.0, "Asia/Shanghai") == "Tue 1 Dec 08:00 +0800"
