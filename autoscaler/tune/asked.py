"""What the calendar asked for on the days that are replayed: floors of windows, and holds.

Production obeys them whoever forecasts. A replay that did not know of them would pay a bold
candidate for replicas that stand anyway, and blame it for none that a hold kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from autoscaler import dates, plan
from autoscaler.forecast.clock import DAY, wall_seconds
from autoscaler.forecast.days import Days
from autoscaler.model import Ints
from autoscaler.policy import Spec
from autoscaler.schema import calendar as calendars
from autoscaler.schema import walltime


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """By slot of all days, flat.

    Attributes
    ----------
    floors : shape (n,), what must be ordered by then; None when no window asks for a floor
    holding : shape (n,), whether nothing is lowered; None when nothing holds
    per_day : slots of a day
    """

    floors: Ints | None
    holding: NDArray[np.bool_] | None
    per_day: int

    def _of(self, rows: NDArray[np.int64]) -> slice:
        return slice(int(rows[0]) * self.per_day, (int(rows[-1]) + 1) * self.per_day)

    def ordered(self, wanted: Ints, rows: NDArray[np.int64]) -> Ints:
        """Wanted floors of consecutive rows, shape (m, steps), raised to what is asked for."""
        return wanted if self.floors is None else np.maximum(wanted, self.floors[self._of(rows)])

    def held(self, floors: Ints, rows: NDArray[np.int64]) -> Ints:
        """Floors of consecutive rows, shape (m, steps), that do not fall while something holds."""
        if self.holding is None:
            return floors
        kept = floors.copy()
        for at in np.flatnonzero(self.holding[self._of(rows)]):
            if at:
                np.maximum(kept[:, at], kept[:, at - 1], out=kept[:, at])
        return kept


def asked_of(spec: Spec, days: Days, lead: int) -> Asked:
    """Lay the calendar of a policy over past days.

    Parameters
    ----------
    lead : steps before a floor that it is ordered
    """
    n = days.count * days.per_day
    zone = walltime.zone(days.zone)
    first = calendars.date_of(days.first)
    begins = datetime(first.year, first.month, first.day, tzinfo=zone)
    span = begins.timestamp(), (begins + timedelta(days=days.count)).timestamp()

    def slots(start: float, end: float) -> Iterator[slice]:
        low, high = (_slot(days, min(max(moment, span[0]), span[1])) for moment in (start, end))
        if low < high:
            yield slice(max(0, int(np.floor(low))), min(n, int(np.ceil(high))))

    floors: Ints = np.zeros(n, dtype=np.int64)
    for window in spec.recurring_windows(*span):
        for part in slots(window.start, window.end) if window.floor is not None else ():
            floors[part] = np.maximum(floors[part], window.floor or 0)
    holding = np.zeros(n, dtype=bool)
    for hold in dates.holds(spec, *span):
        for part in slots(hold.start, hold.end):
            holding[part] = True
    return Asked(
        floors=plan.largest_ahead(floors, lead) if floors.any() else None,
        holding=holding if holding.any() else None,
        per_day=days.per_day,
    )


def _slot(days: Days, moment: float) -> float:
    """Slot of a moment, counted from the first row's midnight by the clock."""
    wall = float(wall_seconds(moment, 1.0, 1, days.zone)[0])
    return round((wall - days.first * DAY) * days.per_day / DAY, 6)
