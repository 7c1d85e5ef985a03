"""Fewer points that look the same: the smallest and largest value of every bucket are kept.

Averages would hide the very peaks that a capacity picture is about.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autoscaler.model import Floats
from autoscaler.report.shapes import Band, Chart, Shape


def thin(chart: Chart, most: int) -> Chart:
    """Chart with at most `most` points a series (unchanged when it has no more)."""
    n = len(chart.times)
    if n <= most:
        return chart
    size = -(-2 * n // most)
    size = max(size, 2)
    buckets = n // size
    edge = buckets * size
    times = chart.times[:edge].reshape(buckets, size)
    pairs = np.column_stack((times[:, 0], times[:, size // 2])).ravel()
    rest = chart.times[edge:]
    return replace(
        chart,
        times=np.concatenate((pairs, rest)),
        series=tuple(_thin_shape(shape, buckets, size) for shape in chart.series),
    )


def _thin_shape(shape: Shape, buckets: int, size: int) -> Shape:
    """Thin the arrays of one shape in the same buckets."""
    if isinstance(shape, Band):
        return replace(
            shape,
            lower=_extremes(shape.lower, buckets, size)[0],
            upper=_extremes(shape.upper, buckets, size)[1],
        )
    return replace(shape, values=_in_order(shape.values, buckets, size))


def _filled(values: Floats, buckets: int, size: int) -> tuple[Floats, Floats]:
    """Reshape to (buckets, size), with NaN replaced so that it never is the least or the most."""
    block = values[: buckets * size].reshape(buckets, size)
    bad = ~np.isfinite(block)
    return np.where(bad, np.inf, block), np.where(bad, -np.inf, block)


def _extremes(values: Floats, buckets: int, size: int) -> tuple[Floats, Floats]:
    """Least and most of each bucket, both twice, with the rest of the array behind."""
    low, high = _filled(values, buckets, size)
    rest = values[buckets * size :]
    least = _finite(np.repeat(low.min(axis=1), 2))
    most = _finite(np.repeat(high.max(axis=1), 2))
    return np.concatenate((least, rest)), np.concatenate((most, rest))


def _in_order(values: Floats, buckets: int, size: int) -> Floats:
    """Least and most of each bucket in the order in which they occur, with the rest behind."""
    low, high = _filled(values, buckets, size)
    least, most = low.min(axis=1), high.max(axis=1)
    first_low = low.argmin(axis=1) <= high.argmax(axis=1)
    pairs = np.column_stack(
        (np.where(first_low, least, most), np.where(first_low, most, least))
    ).ravel()
    return np.concatenate((_finite(pairs), values[buckets * size :]))


def _finite(values: Floats) -> Floats:
    """Infinity, which stands for an empty bucket, back to NaN."""
    return np.where(np.isfinite(values), values, np.nan)
