"""A chart as text: for people who live in a terminal, and for logs where nothing else shows.

Colour only adds: every series also has a sign of its own, so that a pipe, a printer and a person
who sees no colour lose nothing. With `unicode=False` plain ASCII signs are used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from autoscaler.model import Floats, Ints
from autoscaler.report.axes import time_ticks, value_text, value_ticks
from autoscaler.report.shapes import Band, Chart, Line, Shape, Step, top, whole

_SGR = {
    "demand": "36",
    "forecast": "34",
    "need": "33",
    "floor": "1;32",
    "ready": "35",
    "late": "31",
    "reference": "90",
}
_CYCLE = ("1;32", "36", "33", "35", "34", "31")
_EIGHTHS = " ▁▂▃▄▅▆▇█"
# bit of each braille dot, by column and by row from the top
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_HEAVY, _LIGHT = "━┃┏┓┗┛", "─│┌┐└┘"  # flat, upright, then corners: ↑→ ↓, from below …


@dataclass(slots=True)
class _Grid:
    """Cells of the plot area, row 0 at the bottom."""

    columns: int
    rows: int
    signs: list[list[str]] = field(init=False)
    tones: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.signs = [[" "] * self.columns for _ in range(self.rows)]
        self.tones = [[""] * self.columns for _ in range(self.rows)]

    def put(self, row: int, column: int, sign: str, tone: str) -> None:
        self.signs[row][column] = sign
        self.tones[row][column] = tone

    def text(self, row: int, colour: bool) -> str:
        """One row, with runs of the same colour wrapped once."""
        out, current = [], ""
        for sign, tone in zip(self.signs[row], self.tones[row], strict=True):
            if colour and tone != current:
                out.append(f"\x1b[{tone or 0}m")
                current = tone
            out.append(sign)
        return "".join(out) + ("\x1b[0m" if current else "")


def terminal(
    chart: Chart, *, width: int = 80, height: int = 10, unicode: bool = True, colour: bool = False
) -> str:
    """Draw a chart as text.

    Parameters
    ----------
    width : columns of the terminal; nothing is wider (below 40 it is drawn for 40)
    height : rows of the plot area; title, time axis and legend come on top
    """
    width = max(width, 40)
    ticks = value_ticks(top(chart), max(2, height // 2), whole=whole(chart))
    largest = ticks[-1]
    labels = {round(t / largest * height): value_text(t) for t in ticks}
    margin = max(len(text) for text in labels.values()) + 1
    grid = _Grid(width - margin - 1, height)
    signs = [
        _draw(grid, chart, shape, index, largest, unicode)
        for index, shape in sorted(enumerate(chart.series), key=lambda item: _depth(item[1]))
    ]
    _mark_now(grid, chart, unicode)
    bar, corner = ("│", "┤") if unicode else ("|", "+")
    lines = [f"{chart.title} [{chart.unit}]"]
    for row in reversed(range(height)):
        label = labels.get(row + 1, "")
        lines.append(f"{label:>{margin}}{corner if label else bar}{grid.text(row, colour)}")
    lines += _time_axis(chart, grid.columns, margin, labels[0], unicode)
    lines += _legend(signs, chart.zone, width, colour)
    return "\n".join(line.rstrip() for line in lines)


def _depth(shape: Shape) -> int:
    """Draw areas first and staircases last, so that they stay visible."""
    if isinstance(shape, Band):
        return 1
    if isinstance(shape, Step):
        return 0 if shape.fill else 3
    return 2


def _draw(
    grid: _Grid, chart: Chart, shape: Shape, index: int, largest: float, unicode: bool
) -> tuple[int, str, str, str]:
    """Draw one series; returns (index, sign, tone, label) for the legend."""
    tone = _SGR.get(shape.tone or "", _CYCLE[index % len(_CYCLE)])
    scale = grid.rows / largest
    if isinstance(shape, Band):
        sign = "░" if unicode else ":"
        low, _ = _buckets(chart.times, shape.lower * scale, grid.columns)
        _, high = _buckets(chart.times, shape.upper * scale, grid.columns)
        _draw_band(grid, low, high, sign, tone)
    elif isinstance(shape, Line):
        sign = "⠒" if unicode else "*"
        _draw_line(grid, chart.times, shape.values * scale, tone, unicode)
    elif shape.fill:
        sign = "█" if unicode else "#"
        _draw_area(
            grid, _buckets(chart.times, shape.values * scale, grid.columns)[1], tone, unicode
        )
    else:
        first = _first_staircase(chart) is shape
        pieces = (_HEAVY if first else _LIGHT) if unicode else ("=|++++" if first else "-|++++")
        sign = pieces[0]
        levels = _buckets(chart.times, shape.values * scale, grid.columns)[1]
        _draw_steps(grid, levels, pieces, tone)
    return index, sign, tone, shape.label


def _first_staircase(chart: Chart) -> Step | None:
    """Find the staircase that is drawn heavy."""
    return next((s for s in chart.series if isinstance(s, Step) and not s.fill), None)


def _buckets(times: Floats, values: Floats, columns: int) -> tuple[Floats, Floats]:
    """Least and largest value of each column, shape (columns,); NaN where nothing is known.

    A column without a point of its own repeats the one before: the grid is coarser than it.
    """
    edges = np.linspace(times[0], times[-1], columns + 1)
    where = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, columns - 1)
    least = np.full(columns, np.inf)
    most = np.full(columns, -np.inf)
    known = np.isfinite(values)
    np.minimum.at(least, where[known], values[known])
    np.maximum.at(most, where[known], values[known])
    seen = np.zeros(columns, dtype=bool)
    seen[where] = True
    source = np.maximum.accumulate(np.where(seen, np.arange(columns), 0))
    least, most = least[source], most[source]
    return np.where(np.isfinite(least), least, np.nan), np.where(np.isfinite(most), most, np.nan)


def _row(level: float, rows: int) -> int:
    """Row in which a level in [0, rows] is drawn: the one that it reaches into."""
    return min(rows - 1, max(0, math.ceil(level - 1e-9) - 1))


def _draw_band(grid: _Grid, low: Floats, high: Floats, sign: str, tone: str) -> None:
    for column, (least, most) in enumerate(zip(low, high, strict=True)):
        if math.isfinite(least) and math.isfinite(most):
            for row in range(_row(least, grid.rows), _row(most, grid.rows) + 1):
                grid.put(row, column, sign, tone)


def _draw_area(grid: _Grid, levels: Floats, tone: str, unicode: bool) -> None:
    for column, level in enumerate(levels):
        if not math.isfinite(level):
            continue
        whole = min(int(level), grid.rows)
        for row in range(whole):
            grid.put(row, column, "█" if unicode else "#", tone)
        part = round((level - whole) * 8) if whole < grid.rows else 0
        if part:
            sign = _EIGHTHS[part] if unicode else ("#" if part >= 4 else ".")
            grid.put(whole, column, sign, tone)


def _draw_line(grid: _Grid, times: Floats, values: Floats, tone: str, unicode: bool) -> None:
    """Draw a curve, joined from point to point: braille dots (2 × 4 a cell), or one star a cell."""
    fine, tall = (2, 4) if unicode else (1, 1)
    low, high = _buckets(times, values * tall, grid.columns * fine)
    dots: dict[tuple[int, int], int] = {}
    before: tuple[int, int] | None = None
    for x, (least, most) in enumerate(zip(low, high, strict=True)):
        if not math.isfinite(least):
            before = None
            continue
        bottom, upper = _row(least, grid.rows * tall), _row(most, grid.rows * tall)
        start, end = bottom, upper
        if before is not None:  # reach over to the column before
            start, end = min(bottom, before[1] + 1), max(upper, before[0] - 1)
        for y in range(start, end + 1):
            cell = (y // tall, x // fine)
            bit = _DOTS[x % 2][3 - y % 4] if unicode else 0
            dots[cell] = dots.get(cell, 0) | bit
        before = (bottom, upper)
    for (row, column), bits in dots.items():
        grid.put(row, column, chr(0x2800 + bits) if unicode else "*", tone)


def _draw_steps(grid: _Grid, levels: Floats, pieces: str, tone: str) -> None:
    """Draw a staircase of box-drawing signs."""
    flat, upright, from_low, to_low, to_high, from_high = (
        pieces[0],
        pieces[1],
        pieces[2],
        pieces[3],
        pieces[4],
        pieces[5],
    )
    rows: Ints = np.array([_row(v, grid.rows) if math.isfinite(v) else -1 for v in levels])
    before = -1
    for column, row in enumerate(rows.tolist()):
        if row < 0:
            before = -1
            continue
        if before in (-1, row):
            grid.put(row, column, flat, tone)
        else:
            rising = row > before
            low, high = min(row, before), max(row, before)
            for between in range(low + 1, high):
                grid.put(between, column, upright, tone)
            grid.put(before, column, from_high if rising else to_low, tone)
            grid.put(row, column, from_low if rising else to_high, tone)
        before = row


def _mark_now(grid: _Grid, chart: Chart, unicode: bool) -> None:
    """Mark the present with an upright line wherever nothing else is drawn."""
    span = chart.times[-1] - chart.times[0]
    if chart.now is None or not chart.times[0] <= chart.now <= chart.times[-1]:
        return
    column = min(grid.columns - 1, int((chart.now - chart.times[0]) / span * grid.columns))
    for row in range(grid.rows):
        if grid.signs[row][column] == " ":
            grid.put(row, column, "┊" if unicode else ":", _SGR["reference"])
    for offset, sign in enumerate("now"):
        x = column + 1 + offset
        if x < grid.columns and grid.signs[-1][x] == " ":
            grid.put(grid.rows - 1, x, sign, _SGR["reference"])


def _time_axis(chart: Chart, columns: int, margin: int, zero: str, unicode: bool) -> list[str]:
    """Axis line with its ticks, and the local times below."""
    flat, tick, corner = ("─", "┬", "┼") if unicode else ("-", "+", "+")
    line = [flat] * columns
    names = [" "] * (columns + margin + 1)
    start, end = float(chart.times[0]), float(chart.times[-1])
    free = 0
    for at, text in time_ticks(start, end, chart.zone, max(2, columns // 9)):
        column = min(columns - 1, int((at - start) / (end - start) * columns))
        line[column] = tick
        left = max(0, min(len(names) - len(text), margin + 1 + column - len(text) // 2))
        if left >= free:
            names[left : left + len(text)] = text
            free = left + len(text) + 1
    return [f"{zero:>{margin}}{corner}{''.join(line)}", "".join(names)]


def _legend(
    signs: list[tuple[int, str, str, str]], zone: str, width: int, colour: bool
) -> list[str]:
    """Sign and name of every series in their given order, wrapped to the width."""
    lines, line, used = [], "", 0
    entries = [(sign, tone, label) for _, sign, tone, label in sorted(signs)]
    for sign, tone, label in [*entries, ("", "", f"(times: {zone})")]:
        length = len(label) + (2 if sign else 0)
        if used and used + 3 + length > width:
            lines.append(line)
            line, used = "", 0
        painted = f"\x1b[{tone}m{sign}\x1b[0m" if colour and sign else sign
        line += ("   " if used else "") + (f"{painted} {label}" if sign else label)
        used += (3 if used else 0) + length
    return [*lines, line]
