"""Fewer points that look the same: the smallest and largest value of every bucket are kept.

Averages would hide the very peaks that a capacity picture is about.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autoscaler.model import Floats, Ints
from autoscaler.report.shapes import Band, Chart, Shape


def thin(chart: Chart, most: int) -> Chart:
    """Chart with at most `most` points a series (unchanged when it has no more)."""
    n = len(chart.times)
    if n <= most:
        return chart
    edges = np.linspace(0, n, max(1, most // 2) + 1).astype(np.int64)
    first, sizes = edges[:-1], np.diff(edges)
    # one row of indices a bucket; the shorter buckets repeat their last point
    members = np.minimum(first[:, None] + np.arange(sizes.max()), edges[1:, None] - 1)
    times = np.column_stack((chart.times[first], chart.times[first + sizes // 2])).ravel()
    return replace(
        chart, times=times, series=tuple(_thin_shape(shape, members) for shape in chart.series)
    )


def _thin_shape(shape: Shape, members: Ints) -> Shape:
    """Thin the arrays of one shape in the same buckets."""
    if isinstance(shape, Band):
        least, most = _extremes(shape.lower, members)[0], _extremes(shape.upper, members)[1]
        return replace(shape, lower=_finite(np.repeat(least, 2)), upper=_finite(np.repeat(most, 2)))
    least, most, first_low = _extremes(shape.values, members)
    pairs = np.column_stack((np.where(first_low, least, most), np.where(first_low, most, least)))
    return replace(shape, values=_finite(pairs.ravel()))


def _extremes(values: Floats, members: Ints) -> tuple[Floats, Floats, Floats]:
    """Least and most of each bucket, and whether the least comes first; NaN is neither."""
    block = values[members]
    unknown = ~np.isfinite(block)
    low, high = np.where(unknown, np.inf, block), np.where(unknown, -np.inf, block)
    return low.min(axis=1), high.max(axis=1), low.argmin(axis=1) <= high.argmax(axis=1)


def _finite(values: Floats) -> Floats:
    """Infinity, which stands for an empty bucket, back to NaN."""
    return np.where(np.isfinite(values), values, np.nan)
