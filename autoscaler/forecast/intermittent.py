"""Intermittent demand: nothing for most of the day, then a lot, by the clock: a nightly batch.

A median or a mean of days is no help there. It is nothing where the batch came on four nights of
ten, and a slope where it starts three minutes early or late, and an edge that comes a minute too
early for the forecast finds no replica at all. So the two questions are asked apart, as Croston's
method and its successors do for spare parts (Croston 1972; Teunter, Syntetos and Babai 2011): how
likely is demand at this time of the day, and how much is it when there is some? Where it is likely
enough to be worth a start, a size that most batches keep within is expected, a few minutes to both
sides; else what is there when there is no batch. A night without its batch is believed after some
minutes, by the correction that all shapes share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.ahead.tables import forward_max
from autoscaler.forecast.base import Expectation, FitImpossible
from autoscaler.forecast.days import Days
from autoscaler.forecast.shapes import median
from autoscaler.model import Floats

BUSY = 0.25
"""Part of the scale's shift from which on there is demand: a tenth of the 99th percentile."""

_EDGE = 180.0  # seconds by which a batch may start earlier or end later than on any day before
_LIKELY = 0.2  # a start of half an hour's worth is cheaper than a fifth of a late beginning
_SIZE = 0.8  # quantile of the sizes seen
_DAYS, _WEEKS = 14, 4  # newest days and same weekdays that are evidence
_IDLE = 0.2  # of all known steps: a service that is hardly ever idle is not intermittent


@dataclass(frozen=True, slots=True)
class Intermittent:
    """Probability of demand by clock time, and its size when there is some."""

    name: str = "intermittent"
    least: int = 3

    def prepare(self, days: Days) -> Expectation:
        """Expect a batch when and as large as those before it.

        Raises
        ------
        FitImpossible
            The service is hardly ever idle.
        """
        busy = float(np.log(days.shift * (1 + BUSY)))
        known_z = days.z[~np.isnan(days.z)]
        if (idle := float((known_z <= busy).mean())) < _IDLE:
            raise FitImpossible(f"intermittent: idle only {idle:.0%} of the time")
        near = _around(days.z, max(1, round(_EDGE / days.step)))

        def expect(day: int, known: int) -> Floats:
            newest = list(range(max(0, known - _DAYS), known))
            same = days.alike(day, known, _WEEKS, within=7 * (_WEEKS + 1))
            # days like it speak as much as all others together
            often = _share(near[newest], busy)
            if same:
                often = (len(same) * _share(near[same], busy) + often) / (len(same) + 1)
            rows = sorted({*newest, *same})
            size = _quantile(np.where(near[rows] > busy, near[rows], np.nan), _SIZE)
            calm = median(np.where(days.z[rows] <= busy, days.z[rows], np.nan))
            calm = np.where(np.isnan(calm), size, calm)
            return np.where((often >= _LIKELY) & ~np.isnan(size), size, calm)

        return expect


INTERMITTENT = Intermittent()


def _around(z: Floats, reach: int) -> Floats:
    """Largest known value within +-reach slots, over midnight too; NaN where none is known."""
    flat = np.concatenate([np.full(reach, -np.inf), z.ravel(), np.full(reach, -np.inf)])
    flat[np.isnan(flat)] = -np.inf
    largest = forward_max(flat, 2 * reach)[: z.size].reshape(z.shape)
    return np.where(np.isneginf(largest), np.nan, largest)


def _share(rows: Floats, busy: float) -> Floats:
    """Share of the known rows with demand, by slot; 0 where nothing is known."""
    known = np.count_nonzero(~np.isnan(rows), axis=0)
    share: Floats = np.count_nonzero(rows > busy, axis=0) / np.maximum(known, 1)
    return share


def _quantile(rows: Floats, level: float) -> Floats:
    """Quantile of the known values over the first axis (the k-th of n, k = ceil(level n))."""
    known = np.count_nonzero(~np.isnan(rows), axis=0)
    at = np.clip(np.ceil(level * known).astype(np.int64) - 1, 0, len(rows) - 1)
    ordered = np.sort(rows, axis=0)  # NaN goes last
    found: Floats = np.take_along_axis(ordered, at[None, :], axis=0)[0]
    return found
