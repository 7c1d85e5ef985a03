"""A series as a table of wall-clock days, in the scale in which forecasts are made.

The scale is z = log(y + shift): tides multiply, and the shift (a part of the usual peak) keeps
small loads tame (reference/method.md, round 2). In a night with 23 hours a row has an hour that
nobody knows; in one with 25 the repeated hour's values are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.forecast.clock import DAY, wall_seconds
from autoscaler.forecast.kinds import PLAIN, WEEK, Kinds
from autoscaler.model import Floats, Mark, Series

SHIFT = 0.4
"""Part of the 99th percentile added before the logarithm."""

_DISTRUSTED = np.uint8(Mark.MISSING | Mark.REFUSED | Mark.OUTAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Demand by wall-clock day and slot.

    Attributes
    ----------
    z : shape (days, per_day), log(demand + shift); NaN = unknown; the last row may be unfinished
    first : number of the first day, 0 modulo 7 is a Monday
    now : slots of the last row that lie before the end of the series
    shift : demand per second
    peak : largest demand that was seen
    kinds : what days are like
    """

    z: Floats
    first: int
    now: int
    step: float
    shift: float
    peak: float
    zone: str
    kinds: Kinds = PLAIN

    @property
    def per_day(self) -> int:
        """Slots in a day."""
        return int(self.z.shape[1])

    @property
    def count(self) -> int:
        """Rows, the unfinished last one included."""
        return len(self.z)

    def kind(self, row: int) -> int:
        """Kind of a row's day; rows past the last are days to come."""
        return self.kinds.at(self.first + row)

    def alike(self, row: int, known: int, most: int, within: int | None = None) -> list[int]:
        """Newest rows before `known` and `row` whose days are like that of `row`, newest first.

        Parameters
        ----------
        most : how many at most
        within : how many rows before `row` at most; None for as far back as there is
        """
        kind, stop = self.kind(row), min(row, known)
        since = 0 if within is None else max(0, row - within)
        if not self.kinds.like:
            newest = row - WEEK * max(1, -(-(row - stop + 1) // WEEK))
            return list(range(newest, since - 1, -WEEK))[:most]
        for wanted in dict.fromkeys((kind, self.kinds.weekday(kind))):
            rows = (
                before
                for before in range(stop - 1, (0 if wanted >= WEEK else since) - 1, -1)
                if self.kinds.shows(self.first + before, wanted)
            )
            found = [found for found, _ in zip(rows, range(most), strict=False)]
            if found:
                return found
        return []

    def dated(self, row: int, alike: list[int]) -> bool:
        """Whether the day of `row` is like a past date, and that is among the rows like it."""
        kind = self.kind(row)
        return kind >= WEEK and any(self.kinds.shows(self.first + each, kind) for each in alike)

    def odd(self, row: int) -> bool:
        """Whether a row's day is not like its own weekday."""
        return self.first + row in self.kinds.like

    def usual(self, row: int) -> int:
        """Row that stands for a past one as a day before others: the newest ordinary such weekday.

        The row itself when it is ordinary, or when nothing else is known.
        """
        if not self.odd(row):
            return row
        return next((at for at in range(row - WEEK, -1, -WEEK) if not self.odd(at)), row)

    def stand_in(self, row: int) -> int:
        """Row whose days before it are what a row expects to have before it.

        Of a holiday on a Wednesday that is like a Sunday it is the last Sunday: before that was a
        Saturday. The row itself when it is ordinary, or when nothing else is known.
        """
        if not self.odd(row):
            return row
        same = self.alike(row, min(row, self.count), self.count)
        return next((at for at in same if not self.odd(at)), same[0] if same else row)

    def newest_week(self, known: int) -> list[int]:
        """Newest row of each weekday before `known`, oldest first: a week without odd days."""
        if not self.kinds.like:
            return list(range(max(0, known - WEEK), known))
        found: dict[int, int] = {}
        for row in range(known - 1, max(-1, known - 5 * WEEK), -1):
            if self.kind(row) < WEEK:
                found.setdefault(self.kind(row), row)
        return sorted(found.values()) or list(range(max(0, known - WEEK), known))


def trusted(series: Series) -> Floats:
    """Values with holes where they are not evidence, shape (n,)."""
    if not series.marks.any():
        return series.values
    return np.where(series.marks & _DISTRUSTED, np.nan, series.values)


def by_day(series: Series, zone: str, kinds: Kinds = PLAIN) -> Days:
    """Arrange a series by wall-clock day; it must hold at least one known value."""
    values = trusted(series)
    wall = wall_seconds(series.start, series.step, len(series), zone)
    per_day = max(1, round(DAY / series.step))
    day = np.floor(wall / DAY).astype(np.int64)
    slot = np.minimum(((wall - day * DAY) / series.step).astype(np.int64), per_day - 1)
    first, now = int(day[0]), int(slot[-1]) + 1
    count = int(day[-1]) - first + 1
    known = values[~np.isnan(values)]
    peak = float(known.max())
    shift = SHIFT * float(np.quantile(known, 0.99)) or 1.0
    return Days(
        z=_table(np.log(values + shift), (day - first) * per_day + slot, count, per_day),
        first=first,
        now=now,
        step=series.step,
        shift=shift,
        peak=peak,
        zone=zone,
        kinds=kinds,
    )


def _table(z: Floats, index: NDArray[np.int64], count: int, per_day: int) -> Floats:
    """Rows of days; values that share a slot are averaged."""
    table = np.full(count * per_day, np.nan)
    table[index] = z
    repeated = np.bincount(index, minlength=len(table)) > 1
    if repeated.any():
        known = ~np.isnan(z)
        total = np.bincount(index[known], weights=z[known], minlength=len(table))
        number = np.bincount(index[known], minlength=len(table))
        mean = np.divide(total, number, out=np.full(len(table), np.nan), where=number > 0)
        table[repeated] = mean[repeated]
    return table.reshape(count, per_day)
