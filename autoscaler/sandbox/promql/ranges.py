"""What the samples of one series say at every asked time: look-back and range functions.

All times at once, by binary search; a loop over 40,320 times would take seconds a query. The rules
are Prometheus 3's: windows are open on the left, markers of staleness end a series for the
look-back and are invisible to ranges, `rate` extrapolates to the window's edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats
from autoscaler.sandbox.promql.store import Series, stale

LOOK_BACK = 300.0
"""Seconds that an instant selector looks back for a sample."""

Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


def instant(series: Series, at: Floats) -> tuple[Floats, Bools, Floats]:
    """Value, whether there is one, and time of the newest sample not older than the look-back."""
    last = np.searchsorted(series.times, at, "right") - 1
    safe = np.maximum(last, 0)
    values, times = series.values[safe], series.times[safe]
    present = (last >= 0) & (times > at - LOOK_BACK) & ~stale(values)
    return values, present, times


def over_time(name: str, series: Series, at: Floats, window: float) -> tuple[Floats, Bools]:
    """Fold the samples in (at - window, at] by a range function."""
    kept = ~stale(series.values)
    times, values = series.times[kept], series.values[kept]
    if len(times) == 0:
        return np.zeros(len(at)), np.zeros(len(at), bool)
    first = np.searchsorted(times, at - window, "right")
    last = np.searchsorted(times, at, "right") - 1
    present = last >= first
    first, last = np.where(present, first, 0), np.where(present, last, 0)
    if name in {"rate", "increase", "delta"}:
        return _extrapolated(name, times, values, (first, last, present), at, window)
    return _folded(name, values, first, last), present


def _folded(name: str, values: Floats, first: Ints, last: Ints) -> Floats:
    count = (last - first + 1).astype(float)
    if name == "last_over_time":
        return values[last]
    if name == "count_over_time":
        return count
    if name in {"sum_over_time", "avg_over_time"}:
        total = np.concatenate(([0.0], np.cumsum(values)))
        sums: Floats = total[last + 1] - total[first]
        return sums / count if name == "avg_over_time" else sums
    fold = np.fmax if name == "max_over_time" else np.fmin
    # reduceat folds [first, last] at even places; the odd ones between are thrown away
    padded = np.append(values, np.nan)
    pairs = np.column_stack((first, last + 1)).ravel()
    folded: Floats = fold.reduceat(padded, pairs)[::2]
    return folded


def _extrapolated(
    name: str,
    times: Floats,
    values: Floats,
    found: tuple[Ints, Ints, Bools],
    at: Floats,
    window: float,
) -> tuple[Floats, Bools]:
    """Prometheus' `extrapolatedRate` (promql/functions.go), for all times at once."""
    first, last, present = found
    present = present & (last > first)
    counter = name != "delta"
    level = values
    if counter:
        drops = np.concatenate(([0.0], np.where(np.diff(values) < 0, values[:-1], 0.0)))
        level = values + np.cumsum(drops)
    change = level[last] - level[first]
    sampled = times[last] - times[first]
    between = np.divide(sampled, last - first, out=np.ones_like(sampled), where=last > first)
    to_start = times[first] - (at - window)
    to_end = at - times[last]
    to_start = np.where(to_start >= 1.1 * between, between / 2, to_start)
    if counter:
        steep = np.divide(change, sampled, out=np.zeros_like(sampled), where=sampled > 0)
        to_zero = np.divide(
            values[first], steep, out=np.full_like(sampled, np.inf), where=steep > 0
        )
        to_start = np.minimum(to_start, to_zero)
    to_end = np.where(to_end >= 1.1 * between, between / 2, to_end)
    grown = (sampled + to_start + to_end) / np.where(sampled > 0, sampled, 1.0)
    result = change * grown
    return (result / window if name == "rate" else result), present
