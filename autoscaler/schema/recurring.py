"""Windows that come back every week: weekdays and hours by the clock of the policy's zone.

Which of them stand is computed from the moment that is asked about, each time anew: there is no
job that could be missed, and nothing to remember.
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from pydantic_core import InitErrorDetails

from autoscaler.schema import calendar as calendars
from autoscaler.schema import effects, walltime
from autoscaler.schema.calendar import WEEKDAYS, Calendar, Weekday
from autoscaler.schema.events import named_once, raw_of
from autoscaler.schema.fields import Allowed, Count, Model, Number, refusal

EFFECTS = ("floor", "factor", "hold")
_FROM = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
_TO = r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"
_CLOCK = "a time of the day as 08:00, in quotes"


class RecurringWindow(NamedTuple):
    """One time that a recurring window stands, in POSIX seconds."""

    name: str
    start: float
    end: float
    floor: int | None
    factor: float | None
    hold: bool


class Recurring(Model):
    """A window that comes back every week.

    Exactly one of `floor`, `factor`, `hold` says what it does.
    """

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=r"\S")]
    """What people call it; unique among recurring windows. It stands in the reasons."""
    days: Annotated[tuple[Weekday, ...], Field(max_length=7)] = WEEKDAYS
    """Weekdays on which it begins. A day that `calendar` says is like another weekday counts as
    that: a public holiday is a Sunday. Left out: all."""
    from_: Annotated[str, Allowed(_CLOCK), Field(alias="from", pattern=_FROM, max_length=5)] = (
        "00:00"
    )
    """When it begins, by the clock of `timeZone`; where that repeats or skips an hour, so that the
    window is longest."""
    to: Annotated[str, Allowed(f"{_CLOCK}, to 24:00"), Field(pattern=_TO, max_length=5)] = "24:00"
    """When it ends, written like `from`. A time that is not after `from` is one of the next day:
    22:00 to 06:00 goes over midnight."""
    floor: Count | None = None
    """Fewest replicas that stand, Ready, while it lasts: ordered a lead time before. `floor.max`
    and the target's ceiling still bound them."""
    factor: Annotated[Number, Field(gt=0, le=1000, allow_inf_nan=False)] | None = None
    """What the forecast demand is multiplied by while it lasts. The forecast knows the usual week
    already: 1.2 is a fifth *more than usual at that hour*."""
    hold: bool = False
    """`true`: nothing is lowered while it lasts, whatever demand does."""


@lru_cache(maxsize=4096)
def _on(
    recurring: tuple[Recurring, ...], calendar: Calendar, zone: str, number: int
) -> tuple[RecurringWindow, ...]:
    """Windows that begin on one wall-clock day."""
    day = calendars.date_of(number)
    weekday = WEEKDAYS[calendars.weekday_like(calendar, day)]
    found = []
    for each in recurring:
        if weekday not in each.days:
            continue
        over = each.to <= each.from_
        start, _ = walltime.moments(day, each.from_, zone)
        _, end = walltime.moments(day + timedelta(days=over), each.to, zone)
        found.append(RecurringWindow(each.name, start, end, each.floor, each.factor, each.hold))
    return tuple(found)


def windows(
    recurring: tuple[Recurring, ...], calendar: Calendar, zone: str, span: tuple[float, float]
) -> tuple[RecurringWindow, ...]:
    """Windows that touch [start, end] in POSIX seconds, in order of their start."""
    if not recurring:
        return ()
    first = calendars.number_of(walltime.day_of(span[0], zone)) - 1
    last = calendars.number_of(walltime.day_of(span[1], zone))
    found = [
        window
        for number in range(first, last + 1)
        for window in _on(recurring, calendar, zone, number)
        if window.start <= span[1] and window.end > span[0]
    ]
    return tuple(sorted(found, key=lambda window: window.start))


def problems_of(given: Any) -> list[InitErrorDetails]:
    """Everything that is wrong between the fields of recurring windows, each with its place."""
    problems: list[InitErrorDetails] = []
    names: set[str] = set()
    for at, raw in enumerate(raw_of(given, Recurring)):
        problems += named_once(at, raw, names, "recurring window")
        problems += effects.problems_of(at, raw, EFFECTS, "a recurring window")
        names.add(str(raw.get("name")))
        if "days" in raw and not raw["days"]:
            error = refusal("found no day", "weekdays, or leave the key out for all of them")
            problems.append(InitErrorDetails(type=error, loc=(at, "days"), input=raw["days"]))
    return problems
