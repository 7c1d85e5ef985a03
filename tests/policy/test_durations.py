"""Durations in Prometheus' grammar, read and written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.schema.durations import SCHEMA_PATTERN, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0s", 0.0),
        ("30s", 30.0),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("28d", 2_419_200.0),
        ("1w", 604_800.0),
        ("1y", 31_536_000.0),
        ("1y2w3d4h5m6s7ms", 31_536_000 + 1_209_600 + 259_200 + 14_400 + 300 + 6.007),
        ("100ms", 0.1),
        ("90m", 5400.0),
        ("007m", 420.0),
    ],
)
def test_a_duration_is_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds, abs=1e-9)
    assert re.match(SCHEMA_PATTERN, text)


@pytest.mark.parametrize(
    "text",
    ["", "5", "5 m", " 5m", "5m ", "5m\n", "m", "-5m", "+5m", "1.5h", "1m1h", "1m1m", "5M", "5min",
     "٥m", "1e3s", "1" * 10 + "s", 5, 5.0, True, None, ["5m"]],
    ids=repr,
)  # fmt: skip
def test_anything_else_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="whole numbers with units in descending order"):
        parse_duration(text)


@given(st.integers(0, 10**14))
def test_writing_and_reading_give_the_same_to_the_millisecond(milliseconds: int) -> None:
    text = format_duration(milliseconds / 1000)
    assert round(parse_duration(text) * 1000) == milliseconds
    assert re.match(SCHEMA_PATTERN, text)


def test_a_negative_duration_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="negative"):
        format_duration(-1)
