"""Same time yesterday, same time last week: what every better forecaster has to beat."""

from __future__ import annotations

from dataclasses import dataclass

from autoscaler.forecast.base import Expectation
from autoscaler.forecast.days import Days
from autoscaler.forecast.kinds import WEEK
from autoscaler.forecast.shapes import first_known, median
from autoscaler.model import Floats


@dataclass(frozen=True, slots=True)
class SameTime:
    """The value at the same wall-clock time some days ago: a week ago, on a day that is like it.

    For an odd yesterday stands what its weekday is usually like, and before a day that is like a
    Sunday a Saturday. Where that is unknown, the newest known multiple of it, then the median of
    the days before.
    """

    name: str
    ago: int

    @property
    def least(self) -> int:
        """Rows of days needed before the first expectation."""
        return self.ago

    def prepare(self, days: Days) -> Expectation:
        """Look back a whole number of days."""

        def expect(day: int, known: int) -> Floats:
            if self.ago == WEEK:
                back = days.alike(day, known, 3)
            else:
                last = days.stand_in(day)
                back = [row for row in range(last - self.ago, -1, -self.ago) if row < known][:3]
                back = [days.usual(row) for row in back]
            rows = [days.z[row] for row in back]
            return first_known(*rows, median(days.z[max(0, known - 7) : known]))

        return expect


YESTERDAY = SameTime("yesterday", 1)
LAST_WEEK = SameTime("last-week", WEEK)
