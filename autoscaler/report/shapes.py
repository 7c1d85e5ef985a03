"""What a picture is made of: plain arrays with labels, so that plan, demo and simulator share one.

A `Chart` is one panel with one unit and one time axis; a `Report` is a page of charts and tables.
Nothing here draws: `terminal`, `png` and `html` do, from the same shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What every series of a chart has. Use `Line`, `Step` or `Band`.

    Attributes
    ----------
    label : what the legend says; the unit is the chart's
    group : runs or roles that the HTML report switches on and off together, in every chart
    tone : role that fixes the colour (`demand forecast need floor ready late reference`);
        None takes the colour of the group
    shown : whether the HTML report starts with it switched on
    """

    label: str
    group: str = ""
    tone: str | None = None
    shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Curve):
    """A curve through points, shape (n,); NaN is a gap."""

    values: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Curve):
    """A staircase: `values[i]` holds from `times[i]` until the next, shape (n,); NaN is a gap.

    Attributes
    ----------
    fill : whether the area below is filled (one per chart, the thing to be covered)
    """

    values: Floats
    fill: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Band(Curve):
    """The area between two curves, shape (n,) each, such as P50 to P95."""

    lower: Floats
    upper: Floats


Shape = Line | Step | Band


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that happened at a moment (POSIX seconds), and why; shown when hovered over."""

    at: float
    text: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One panel.

    Attributes
    ----------
    times : shape (n,), POSIX seconds, increasing
    unit : of every value, as in `requests/s`
    zone : IANA time zone in which the times are shown
    now : moment marked as the present, or None
    """

    title: str
    unit: str
    times: Floats
    series: tuple[Shape, ...]
    notes: tuple[Note, ...] = ()
    zone: str = "UTC"
    now: float | None = None

    def __post_init__(self) -> None:
        n = len(self.times)
        if n < 2 or not bool(np.all(np.diff(self.times) > 0)):
            raise ValueError(f"chart {self.title!r} needs at least two increasing times, found {n}")
        for shape in self.series:
            for values in arrays(shape):
                if len(values) != n:
                    raise ValueError(
                        f"chart {self.title!r}, {shape.label!r}: {len(values)} values, {n} times"
                    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of texts; the first column is left-aligned, the others right-aligned.

    Attributes
    ----------
    sentences : indices of columns that hold sentences: left-aligned, wrapped
    strong : index of the row to be set in bold, or None
    note : one line under the table, such as how the numbers were counted
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    sentences: tuple[int, ...] = ()
    strong: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page.

    Attributes
    ----------
    lead : the answer in one or two sentences
    advice : label and text pairs shown right below it: what to do
    facts : label and text pairs shown at the end (policy, traffic, seed, …)
    details : tables under the charts, such as a long list of changes
    footer : where it came from; no clock is read here, so that same input gives same bytes
    """

    title: str
    lead: str = ""
    advice: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    details: tuple[Table, ...] = ()
    footer: str = ""


def arrays(shape: Shape) -> tuple[Floats, ...]:
    """Arrays of a shape: one, or lower and upper of a band."""
    return (shape.lower, shape.upper) if isinstance(shape, Band) else (shape.values,)


def whole(chart: Chart) -> bool:
    """Whether every value is a whole number, so that ticks between them would mean nothing."""
    values = [v[np.isfinite(v)] for shape in chart.series for v in arrays(shape)]
    return all(bool(np.all(v == np.round(v))) for v in values)


def top(chart: Chart) -> float:
    """Largest finite value of a chart; 1.0 when there is none above zero."""
    largest = 0.0
    for shape in chart.series:
        for values in arrays(shape):
            finite = values[np.isfinite(values)]
            if len(finite):
                largest = max(largest, float(finite.max()))
    return largest if largest > 0 else 1.0
