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


@dataclass(frozen=True, slots=True)
class WeeklyProfile:
    """Mean of the last week's median day and the median same weekday of the last five weeks.

    A day that is like another weekday is that weekday, here and there; one that is like a past
    date is that date and nothing else.
    """

    name: str = "profile"
    least: int = 2

    def prepare(self, days: Days) -> Expectation:
        """Expect a day like the median of those like it."""
        reach = round(_SMOOTH / days.step)

        def expect(day: int, known: int) -> Floats:
            daily = median(days.z[days.newest_week(known)])
            same = days.alike(day, known, 5, within=35)
            weekly = median(days.z[same]) if same else daily
            both = weekly if days.dated(day, same) else (daily + weekly) / 2
            return smooth(first_known(both, weekly, daily), reach)

        return expect


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
                recent = days.z[max(0, known - 7) : known]
                levels[known] = float(np.median(recent[~np.isnan(recent)]))
            return np.full(days.per_day, levels[known])

        return expect


NO_TIDE = Flat()
