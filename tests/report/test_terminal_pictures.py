"""A terminal picture fits its width, needs no colour, and tells the truth at the edges."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from autoscaler.report import Chart, Line, Step, terminal
from tests.report.making import HOUR, START, demand_chart, replica_chart

CASES = [(80, True), (80, False), (132, True), (40, False), (20, True)]


@pytest.mark.parametrize(("width", "unicode"), CASES)
def test_no_line_is_wider_than_the_terminal(width: int, unicode: bool) -> None:
    for chart in (demand_chart(), replica_chart()):
        lines = terminal(chart, width=width, unicode=unicode).splitlines()
        assert max(len(line) for line in lines[1:]) <= max(width, 40)


def test_ascii_is_ascii_but_for_the_labels() -> None:
    chart = replica_chart()
    assert terminal(chart, unicode=False).isascii()


def test_colour_only_adds() -> None:
    for chart in (demand_chart(), replica_chart()):
        plain = terminal(chart)
        coloured = terminal(chart, colour=True)
        assert "\x1b[" not in plain
        assert "\x1b[" in coloured
        bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        assert [line.rstrip() for line in bare.splitlines()] == plain.splitlines()


def test_every_series_and_the_zone_stand_in_the_legend() -> None:
    text = terminal(replica_chart())
    for label in ("need", "floor", "Asia/Shanghai"):
        assert label in text.splitlines()[-1]
    assert "[replicas]" in text.splitlines()[0]


def test_the_axis_shows_local_times() -> None:
    # the chart starts at 00:00 UTC, which is 08:00 in Shanghai, and runs for 24 hours
    axis = terminal(demand_chart(), width=100).splitlines()[-2]
    assert "12:00" in axis
    assert "Wed 2 Dec" in axis
    in_utc = terminal(demand_chart(zone="UTC"), width=100).splitlines()[-2]
    assert "Tue 1 Dec" in in_utc


def test_a_level_is_drawn_at_its_height() -> None:
    times = START + np.arange(4) * HOUR
    chart = Chart(
        title="t",
        unit="u",
        times=times,
        series=(Step(label="s", values=np.array([5.0, 5.0, 10.0, 10.0])),),
    )
    lines = terminal(chart, height=10, unicode=False).splitlines()
    rows = {line.split("+")[0].split("|")[0].strip(): line for line in lines[1:11]}
    assert "=" in rows["10"]
    assert "=" in lines[6]  # the fifth row from the bottom reaches up to 5
    assert lines[6].index("=") < rows["10"].index("=")


def test_gaps_are_gaps() -> None:
    times = START + np.arange(100) * 60.0
    values = np.full(100, 4.0)
    values[40:60] = np.nan
    chart = Chart(title="t", unit="u", times=times, series=(Line(label="x", values=values),))
    row = next(
        line for line in terminal(chart, width=110, unicode=False).splitlines() if "**" in line
    )
    body = row[row.index("*") :]
    gap = re.search(r"\*( +)\*", body)
    assert gap is not None
    assert 18 <= len(gap.group(1)) <= 22


def test_nothing_known_still_draws_axes() -> None:
    chart = demand_chart()
    empty = replace(chart, series=(Line(label="demand", values=np.full(len(chart.times), np.nan)),))
    assert "demand" in terminal(empty)
