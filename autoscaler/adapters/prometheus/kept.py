"""History that stays in memory, on a grid, and what of it is still to be asked for.

Four weeks at 60 s are 40,320 points: asked for once, then only the new tail, overlapping a little
since the last samples may come late. What came with a warning, or not at all, is asked for again.
One float32 and one flag per step: 0.2 MB for four weeks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats

CHUNK = 10_080
"""Points of one request: a week at 60 s, below Prometheus' limit of 11,000."""

SMALLEST = 720
"""Points of one request below which it is not cut any smaller: half a day at 60 s."""

OVERLAP = 5
"""Newest steps that are read again each time: late samples, remote write."""

HOLES = 6 * 3600.0
"""Seconds back in which holes are asked for again; a write-ahead log holds hardly more."""

AGAIN = 600.0
"""Seconds between two times that a hole, or a chunk which failed, is asked for."""

NOTES, LONGEST = 5, 300
"""How many of a source's warnings are kept, and how many characters of each."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Series of an answer (labels, times, values), and what the server said beside it."""

    series: tuple[tuple[Mapping[str, str], Floats, Floats], ...]
    warnings: tuple[str, ...] = ()


class Kept:
    """Values at the times `first + i * step`, i < n.

    Parameters
    ----------
    text : the query that they answer
    last : newest time of the grid, POSIX seconds, a multiple of `step`
    step : seconds
    n : points
    """

    def __init__(self, text: str, *, last: float, step: float, n: int) -> None:
        self.text = text
        self.step = step
        self.last = last
        self.values: NDArray[np.float32] = np.full(n, np.nan, np.float32)
        self.answered: NDArray[np.bool_] = np.zeros(n, bool)
        self.series = 1
        self._chunk = CHUNK
        self._notes: dict[str, None] = {}
        self._again = -np.inf
        self._read_to: float | None = None

    @property
    def first(self) -> float:
        """Oldest time of the grid."""
        return self.last - (len(self.values) - 1) * self.step

    def forward(self, last: float) -> None:
        """Move the window so that it ends at `last`."""
        n = len(self.values)
        by = min(n, round((last - self.last) / self.step))
        if by <= 0:
            return
        for array, empty in ((self.values, np.nan), (self.answered, False)):
            array[: n - by] = array[by:].copy()
            array[n - by :] = empty
        self.last = last

    def tail(self) -> tuple[float, float]:
        """Newest range to ask for, first and last time: never more than one chunk."""
        n = len(self.values)
        known = self._index(self._read_to) + 1 - OVERLAP if self._read_to is not None else 0
        return self._times(min(max(0, known, n - self._chunk), n - 1), n - 1)

    def older(self, before: float) -> list[tuple[float, float]]:
        """Ranges before a time that are still to be asked for, newest first.

        Whatever never came whole, in chunks; else the holes of the last hours in one range. After
        `rest`, nothing for a while.
        """
        if self.last < self._again:
            return []
        end = self._index(before)
        missing = np.flatnonzero(~self.answered[:end])
        if len(missing) == 0:
            return self._holes(end) if self.whole else []
        ranges = []
        while len(missing):
            high = int(missing[-1])
            low = int(missing[missing > high - self._chunk][0])
            ranges.append(self._times(low, high))
            missing = missing[missing < low]
        return ranges

    def _holes(self, end: int) -> list[tuple[float, float]]:
        back = max(0, len(self.values) - round(HOLES / self.step))
        holes = back + np.flatnonzero(np.isnan(self.values[back:end]))
        self.rest()
        if len(holes) == 0:
            return []
        return [self._times(max(int(holes[0]), int(holes[-1]) - self._chunk + 1), int(holes[-1]))]

    def smaller(self) -> None:
        """Ask for less at once from now on: the server could not do as much."""
        self._chunk = max(SMALLEST, self._chunk // 3)

    def rest(self) -> None:
        """Ask for nothing old for a while."""
        self._again = self.last + AGAIN

    def put(self, low: float, high: float, answer: Answered) -> None:
        """Take the answer for [low, high]: the sum of its series at each step.

        A step at which only some of the series have a value counts those: instances come and go.
        What the source itself calls partial is kept, and asked for again.
        """
        i, j = self._index(low), self._index(high) + 1
        total = np.full(j - i, np.nan)
        for _, times, values in answer.series:
            at = np.rint((times - low) / self.step).astype(int)
            fits = (at >= 0) & (at < len(total)) & ~np.isnan(values)
            at, kept = at[fits], values[fits]
            total[at] = np.where(np.isnan(total[at]), 0.0, total[at]) + kept
        with np.errstate(over="ignore", invalid="ignore"):
            self.values[i:j] = total.astype(np.float32)
        self.answered[i:j] = not answer.warnings
        self._read_to = high if self._read_to is None else max(high, self._read_to)
        for text in answer.warnings:
            self.note(text)

    def note(self, text: str) -> None:
        """Remember why some of the history is not whole."""
        if len(self._notes) < NOTES:
            self._notes[text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."] = None

    def said(self) -> tuple[str, ...]:
        """Why some of the history is not whole; empty once all of it came."""
        if self.whole:
            self._notes.clear()
        return tuple(self._notes)

    @property
    def whole(self) -> bool:
        """Whether every step has been answered, by a value or by its absence."""
        return bool(self.answered.all())

    def until(self, last: float) -> tuple[Floats, Floats]:
        """Give times and values up to `last` of the steps that have one."""
        there = np.flatnonzero(~np.isnan(self.values))
        times: Floats = self.first + there.astype(np.float64) * self.step
        wanted = times <= last
        return times[wanted], self.values[there[wanted]].astype(np.float64)

    def _index(self, time: float) -> int:
        return round((time - self.first) / self.step)

    def _times(self, low: int, high: int) -> tuple[float, float]:
        return self.first + low * self.step, self.first + high * self.step
