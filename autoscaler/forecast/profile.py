"""Robust weekly profile: medians over days and over same weekdays, lightly smoothed.

The level of the day is not part of it: the calibrated correction by the last minutes and hours is
what damps the level (`forecast.response`). In reference/libraries.md (section 3) this was best or
near best in pinball loss at a hundredth of the cost of the models it was compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.base import Expectation
from autoscaler.forecast.days import Days
from autoscaler.forecast.shapes import first_known, median, smooth
from autoscaler.model import Floats

_SMOOTH = 300.0  # seconds to each side; single minutes are noise, and a steep rise stays steep


_DAYS, _WEEKS = 28, 5  # newest days that tell whether weekdays differ, newest such weekdays

_UNDECIDED = 0.02
"""Squared difference of the two medians, a day long, that speaks for their mean before any day has
told which of them it was nearer to."""


@dataclass(frozen=True, slots=True)
class WeeklyProfile:
    """The last week's median day, and the median same weekday of the last five weeks.

    Their mean, or more of the second as far as past days were nearer to it: an office is not half
    open on a Sunday. A day that is like another weekday is that weekday, here and there; one that
    is like a past date is that date and nothing else.
    """

    name: str = "profile"
    least: int = 2

    def prepare(self, days: Days) -> Expectation:
        """Expect a day like the median of those like it."""
        reach = round(_SMOOTH / days.step)
        told: dict[int, tuple[float, float]] = {}
        medians = _Medians(days)

        def expect(day: int, known: int) -> Floats:
            same = days.alike(day, known, _WEEKS, within=7 * _WEEKS)
            daily, weekly = medians.of(same, known)
            part = 1.0 if days.dated(day, same) else _part(days, known, told, medians)
            both = part * weekly + (1 - part) * daily
            return smooth(first_known(both, weekly, daily), reach)

        return expect


class _Medians:
    """Medians of the same rows are asked for by several days, and made once."""

    def __init__(self, days: Days) -> None:
        self._days = days
        self._made: dict[tuple[int, ...], Floats] = {}

    def of(self, same: list[int], known: int) -> tuple[Floats, Floats]:
        """Median day of the week before row `known`, and of the rows that are the same weekday."""
        daily = self._over(self._days.newest_week(known))
        return daily, self._over(same) if same else daily

    def _over(self, rows: list[int]) -> Floats:
        key = tuple(rows)
        if key not in self._made:
            self._made[key] = median(self._days.z[rows])
        return self._made[key]


def _part(days: Days, known: int, told: dict[int, tuple[float, float]], medians: _Medians) -> float:
    """Part of the weekday's median in what is expected, 0.5 to 1, by least squares on past days.

    Parameters
    ----------
    told : what each past row says of it, from rows before it alone; filled as rows are asked for
    """
    rows = range(max(7, known - _DAYS), known)
    for row in rows:
        if row not in told:
            same = days.alike(row, row, _WEEKS, within=7 * _WEEKS)
            daily, weekly = medians.of(same, row)
            apart = weekly - daily
            nearer = (days.z[row] - daily) * apart
            seen = ~np.isnan(nearer)
            told[row] = float(nearer[seen].sum()), float((apart[seen] ** 2).sum())
    doubt = _UNDECIDED * days.per_day
    nearer_sum, apart_sum = (sum(told[row][i] for row in rows) for i in (0, 1))
    return min(1.0, max(0.5, (nearer_sum + 0.5 * doubt) / (apart_sum + doubt)))


PROFILE = WeeklyProfile()


@dataclass(frozen=True, slots=True)
class Flat:
    """No shape at all: then only the last minutes speak. The model "no tide"."""

    name: str = "no-tide"
    least: int = 1

    def prepare(self, days: Days) -> Expectation:
        """Expect the same at any hour."""
        levels: dict[int, float] = {}

        def expect(day: int, known: int) -> Floats:  # noqa: ARG001  # any day is like any other
            if known not in levels:
                recent = days.z[days.newest_week(known)]
                levels[known] = float(np.median(recent[~np.isnan(recent)]))
            return np.full(days.per_day, levels[known])

        return expect


NO_TIDE = Flat()
