"""Recorded traffic: one documented file format, and the regular grid that a world runs on.

A traffic file is CSV (gzip allowed) with a header. `t` is seconds, or `timestamp` is a time; the
other columns are values of that slot: totals per slot, unless the header says `_per_second` at
the end of a column's name. A row that is not there is a hole, a zero is a zero. Bad rows are told
by line number and counted, never dropped silently.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autoscaler.errors import TraceError
from autoscaler.model import Floats

# in order of preference when a file has several and none is asked for
COLUMNS = (
    *("value", "requests", "messages", "mentions", "passengers", "bits", "cpu", "calls"),
    *("page_views", "demand_mw", "demand_mwh", "rentals", "vehicles", "crossings", "pedestrians"),
    *("actual_departures", "cpu_usage", "cpu_percent", "generative_qps_sum", "avg_cpu"),
)
# when traffic begins that says no date: a Monday, 00:00 UTC
UNDATED = 1_704_067_200.0
_LONG_AGO = 1e9  # seconds of `t` that nobody counts from a first row: they are dates
_DATED = (
    "`t` counts seconds and dates nothing: the first row is put on Mon 1 Jan 2024 00:00 UTC; name "
    "the column `timestamp` to have its dates, by which events and weekdays are found"
)
_NO_DATE = ("out of range", "must be in")  # of a month, a day, an hour: there is no such date
LONGEST_HOLE, _SLOTS = 600.0, 3  # seconds, and slots, that a missing row may be bridged over
Within = Literal["linear", "hold"]
Per = Literal["slot", "second"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a traffic file says.

    Attributes
    ----------
    times : shape (n,), seconds from the first row, increasing
    values : shape (n,), demand per second over the slot that starts there
    column : name of the column that was read
    slot : seconds of one slot (the commonest distance of rows)
    start : POSIX seconds of the first row, or None when no column says them for sure: a `timestamp`
        does, beside `t` only when it names its zone
    refused : what was wrong with rows that were not used, by line number
    note : what else a reader of the file should know
    """

    times: Floats
    values: Floats
    column: str
    slot: float
    start: float | None = None
    refused: tuple[str, ...] = ()
    note: str = ""

    def remarks(self, most: int) -> tuple[str, ...]:
        """Say what is wrong with rows: the first `most` that were not used, and how many."""
        said = refusals(self.refused, most)
        if below := int(np.count_nonzero(self.values < 0)):
            one = below == 1
            said.append(
                f"{below} {'value is' if one else 'values are'} below zero and "
                f"{'counts' if one else 'count'} as 0"
            )
        return (*said, *([self.note] if self.note else []))


def refusals(refused: tuple[str, ...], most: int) -> list[str]:
    """Say what was wrong with rows that were not used: of the first `most`, and how many."""
    rows = "1 row was" if len(refused) == 1 else f"{len(refused)} rows were"
    return [*refused[:most], *([f"{rows} not used"] if refused else [])]


def read_traffic(path: Path, column: str | None = None, per: Per | None = None) -> Traffic:
    """Read a traffic file.

    Parameters
    ----------
    path : a CSV file, compressed when it ends in .gz
    column : the value column; without it the first known name, or the only one that there is
    per : whether values are totals per slot (default) or per second

    Raises
    ------
    TraceError
        No header, no time, no such column, no usable row, times that go backwards.
    """
    with _opened(path) as lines:
        rows = csv.reader(lines)
        try:
            header = [name.strip() for name in next(rows)]
        except StopIteration:
            raise TraceError(
                f"{path}: empty; a header line with `t` or `timestamp` is needed"
            ) from None
        clock = _clock_column(path, header)
        name = _value_column(path, header, column)
        try:
            times, values, refused, first = _numbers(rows, header.index(clock), header.index(name))
        except csv.Error as error:
            raise TraceError(f"{path}:{rows.line_num}: no CSV: {error}") from error
    if len(times) < 2:
        raise TraceError(
            f"{path}: {len(times)} usable rows in column {name}; 2 are needed" + _few(refused)
        )
    if clock == "timestamp":
        start: float | None = times[0]
    else:
        start = _zoned(first, header)
    return _traffic(times, values, refused, name, per, start)


def beginning(traffic: Traffic, step: float = 60.0) -> float:
    """POSIX seconds of the grid's first step: the step in which the first row lies.

    A file that has only `t` begins on Monday, 1 January 2024, 00:00 UTC.
    """
    return UNDATED if traffic.start is None else traffic.start // step * step


def grid(traffic: Traffic, step: float = 60.0, within: Within = "linear") -> Floats:
    """Demand per second on a regular grid from the first row to the last, shape (n,).

    Parameters
    ----------
    step : seconds
    within : `linear` draws a straight line between rows (it betrays the next slot); `hold` gives
        each step its slot's value, and bridges a missing row by the last one

    Negative values count as 0.
    """
    at = np.arange(math.floor(traffic.times[-1] / step + 1e-9) + 1) * step
    values = np.maximum(traffic.values, 0.0)
    if within == "linear":
        line: Floats = np.interp(at, traffic.times, values)
        return line
    held: Floats = values[np.searchsorted(traffic.times, at, side="right") - 1]
    return held


def unread(traffic: Traffic, step: float = 60.0) -> NDArray[np.bool_]:
    """Tell which steps of the grid lie in holes that are too long to be bridged, shape (n,).

    A row or two that are missing are bridged by `grid`; beyond three slots (and ten minutes) nobody
    knows what arrived from the end of the last row's slot on.
    """
    at = np.arange(math.floor(traffic.times[-1] / step + 1e-9) + 1) * step
    last = np.searchsorted(traffic.times, at, side="right") - 1
    apart = np.append(np.diff(traffic.times), traffic.slot)[last]
    hole = apart > max(LONGEST_HOLE, _SLOTS * traffic.slot)
    lost: NDArray[np.bool_] = hole & (at >= traffic.times[last] + traffic.slot)
    return lost


def _opened(path: Path) -> io.TextIOBase:
    """Open plain or compressed text."""
    try:
        if path.suffix == ".gz":
            return io.StringIO(gzip.decompress(path.read_bytes()).decode("utf-8-sig"))
        return io.StringIO(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise TraceError(f"{path}: cannot be read as text: {error}") from error


def _clock_column(path: Path, header: list[str]) -> str:
    """Prefer `t`, which has no zone to be wrong about and no clock that changes."""
    for name in ("t", "timestamp"):
        if name in header:
            return name
    raise TraceError(f"{path}: no column `t` or `timestamp`; found {', '.join(header)}")


def _value_column(path: Path, header: list[str], column: str | None) -> str:
    """Take the asked column, the first known, or the only one."""
    others = [name for name in header if name not in {"t", "timestamp"}]
    if column is not None:
        if column in others:
            return column
        raise TraceError(f"{path}: no column {column!r}; found {', '.join(others)}")
    for name in COLUMNS:
        if name in others:
            return name
    if len(others) == 1:
        return others[0]
    raise TraceError(f"{path}: which column is the demand? choose one of {', '.join(others)}")


def _numbers(
    rows: Iterator[list[str]], clock: int, value: int
) -> tuple[list[float], list[float], list[str], list[str]]:
    """Parse rows; what cannot be used is told by line number. Last: the first row that is used."""
    first: list[str] = []
    times: list[float] = []
    values: list[float] = []
    refused: list[str] = []
    for line, row in enumerate(rows, start=2):
        try:
            at, number = _instant(row[clock]), float(row[value])
        except (ValueError, IndexError) as error:
            if row:
                said = f"line {line}: {','.join(row)[:60]!r} has no time and number"
                none = any(words in str(error) for words in _NO_DATE)
                refused.append(f"{said} ({error})" if none else said)
            continue
        if not math.isfinite(number) or not math.isfinite(at):
            refused.append(f"line {line}: {number} is not a finite number")
        elif times and at <= times[-1]:
            refused.append(f"line {line}: time does not increase")
        else:
            first = first or row
            times.append(at)
            values.append(number)
    return times, values, refused, first


def _instant(text: str) -> float:
    """Seconds of `t`, or POSIX seconds of a timestamp (without a zone it is read as UTC)."""
    try:
        return float(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _zoned(row: list[str], header: list[str]) -> float | None:
    """POSIX seconds of a row's timestamp, where there is one that names its zone."""
    try:
        moment = datetime.fromisoformat(row[header.index("timestamp")])
    except (ValueError, IndexError):
        return None
    return moment.timestamp() if moment.tzinfo else None


def _traffic(
    times: list[float],
    values: list[float],
    refused: list[str],
    name: str,
    per: Per | None,
    start: float | None,
) -> Traffic:
    """Make times relative and values per second."""
    at = np.asarray(times)
    gaps = np.diff(at)
    distances, counts = np.unique(gaps, return_counts=True)
    slot = float(distances[np.argmax(counts)])
    if per is None:
        per = "second" if name.endswith("_per_second") else "slot"
    return Traffic(
        times=at - at[0],
        values=np.asarray(values) / (slot if per == "slot" else 1.0),
        column=name,
        slot=slot,
        start=start,
        refused=tuple(refused),
        note=_DATED if start is None and times[0] >= _LONG_AGO else "",
    )


def _few(refused: list[str]) -> str:
    """Append the first refusals to a message."""
    return "; " + "; ".join(refused[:3]) if refused else ""
