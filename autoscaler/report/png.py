"""A report's charts as one PNG, for chats, tickets and slides.

Drawn with matplotlib's object interface: no global state, no window system. matplotlib takes a
second to import, so it is imported only when a picture is written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.report.axes import time_ticks, value_text, value_ticks
from autoscaler.report.shapes import Band, Chart, Report, Shape, Step, top, whole
from autoscaler.report.thin import thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 6_000  # more than twice the pixels across
_INK, _SOFT, _LINE = "#16212c", "#5a6773", "#d9e0e6"
_TONES = {
    "demand": "#2b5fb8",
    "forecast": "#6a93d8",
    "need": "#c08a1e",
    "floor": "#00796b",
    "ready": "#7b4bb3",
    "late": "#c0392b",
    "reference": "#7d8891",
}
_CYCLE = (
    *("#00796b", "#c2570c", "#7b4bb3", "#2b5fb8"),
    *("#a8326f", "#5d7a1f", "#8a5a2b", "#4b5a68"),
)


def write_png(report: Report, path: Path) -> None:
    """Write the charts of the report under each other to `path` (1600 pixels wide)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 takes a second
    from matplotlib.figure import Figure  # noqa: PLC0415 takes a second

    rows = max(1, len(report.charts))
    figure = Figure(figsize=(10.66, 0.9 + 2.9 * rows), dpi=150, facecolor="white")
    groups = list(dict.fromkeys(s.group for c in report.charts for s in c.series if s.group))
    for index, chart in enumerate(report.charts):
        axes = figure.add_subplot(rows, 1, index + 1)
        _draw(axes, thin(chart, _MOST_POINTS), groups)
    figure.suptitle(report.title, x=0.015, ha="left", fontsize=13, color=_INK, weight="bold")
    figure.tight_layout(rect=(0, 0, 1, 1), h_pad=1.6)
    # no creation time or version inside: the same report gives the same bytes
    FigureCanvasAgg(figure)  # the figure remembers it
    figure.savefig(path, format="png", metadata={"Software": None})


def _draw(axes: Axes, chart: Chart, groups: list[str]) -> None:
    """Draw one panel: what is shown from the start, on an axis that fits it."""
    colours = [_colour(shape, index, groups) for index, shape in enumerate(chart.series)]
    shown = [pair for pair in zip(chart.series, colours, strict=True) if pair[0].shown]
    for shape, colour in reversed(shown):  # the first named on top
        _draw_shape(axes, chart, shape, colour, len(groups) > 1)
    chart = replace(chart, series=tuple(shape for shape, _ in shown))
    if chart.now is not None:
        axes.axvline(chart.now, color=_SOFT, linewidth=0.9, linestyle=(0, (4, 4)))
    start, end = float(chart.times[0]), float(chart.times[-1])
    ticks = time_ticks(start, end, chart.zone, 10)
    axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks])
    axes.set_xlim(start, end)
    values = value_ticks(top(chart), 6, whole=whole(chart))
    axes.set_yticks(values, [value_text(value) for value in values])
    axes.set_ylim(0, max(values[-1], 1e-12))
    axes.set_title(chart.title, loc="left", fontsize=10.5, color=_INK)
    axes.set_ylabel(chart.unit, fontsize=9, color=_SOFT)
    axes.set_xlabel(f"time in {chart.zone}", fontsize=8, color=_SOFT, loc="right", labelpad=2)
    axes.tick_params(colors=_SOFT, labelsize=8.5, length=3)
    axes.grid(color=_LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_LINE)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1],
        labels[::-1],
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=6,
        fontsize=8,
        frameon=False,
        labelcolor=_INK,
        borderaxespad=0.2,
    )


def _draw_shape(axes: Axes, chart: Chart, shape: Shape, colour: str, several: bool) -> None:
    """Draw one series into the panel."""
    own = shape.group and several and shape.label != shape.group
    label = f"{shape.group}: {shape.label}" if own else shape.label
    if isinstance(shape, Band):
        axes.fill_between(
            chart.times,
            shape.lower,
            shape.upper,
            color=colour,
            alpha=0.25,
            linewidth=0,
            label=label,
        )
    elif isinstance(shape, Step) and shape.fill:
        axes.fill_between(
            chart.times,
            np.zeros(len(chart.times)),
            shape.values,
            step="post",
            color=colour,
            alpha=0.3,
            linewidth=0,
            label=label,
        )
    elif isinstance(shape, Step):
        axes.step(chart.times, shape.values, where="post", color=colour, linewidth=1.5, label=label)
    else:
        axes.plot(chart.times, shape.values, color=colour, linewidth=1.1, label=label)


def _colour(shape: Shape, index: int, groups: list[str]) -> str:
    """Colour of the role, else of the group, else of the place."""
    if shape.tone:
        return _TONES.get(shape.tone, _TONES["reference"])
    place = groups.index(shape.group) if shape.group else index
    return _CYCLE[place % len(_CYCLE)]
