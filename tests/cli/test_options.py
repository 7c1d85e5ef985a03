"""Times and durations as flags: with a zone, with a unit, or refused in words."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.cli.options import DURATION, TIME, duration_text, print_json
from autoscaler.schema.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-30T08:00+08:00", 1_795_996_800.0),
        ("2026-11-30T00:00Z", 1_795_996_800.0),
        ("2026-11-30T00:00:30.5+00:00", 1_795_996_830.5),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert TIME.convert(text, None, None) == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-11-30T08:00", "2026-11-30T08:00Z for UTC"),
        ("tomorrow", "is not a time"),
        ("2026-02-30T08:00Z", "is not a time that exists: day is out of range for month"),
    ],
)
def test_times_that_would_be_guesses_are_refused(text: str, said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        TIME.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "seconds"), [("24h", 86400.0), ("1h30m", 5400.0), ("7d", 604800.0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["24", "1.5h", "h", "", "-5m"])
def test_durations_without_a_unit_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        DURATION.convert(text, None, None)


@given(st.integers(1, 10**7))
def test_a_written_duration_is_read_back_nearly(seconds: int) -> None:
    back = parse_duration(duration_text(seconds))
    assert abs(back - seconds) <= seconds * 0.05


def test_json_has_no_numbers_that_json_does_not_have() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        print_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": (True, None)})
    assert json.loads(out.getvalue()) == {"a": None, "b": [None, 1.5], "c": [True, None]}
