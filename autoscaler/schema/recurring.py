"""Windows that come back: weekdays and hours, or a cron, by the clock of the policy's zone.

Which of them stand is computed from the moment that is asked about, each time anew: there is no
job that could be missed, and nothing to remember.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field, field_validator
from pydantic_core import InitErrorDetails

from autoscaler.schema import calendar as calendars
from autoscaler.schema import cron as crons
from autoscaler.schema import effects, walltime
from autoscaler.schema.calendar import WEEKDAYS, Calendar, Weekday
from autoscaler.schema.durations import format_duration
from autoscaler.schema.events import named_once, raw_of
from autoscaler.schema.fields import Allowed, Count, DurationIn, Model, Number, refusal

EFFECTS = ("floor", "factor", "hold")
_FROM = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
_TO = r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"
_DAY = 86_400.0
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
    """A window that comes back.

    When: on `days` `from` … `to`, or by `cron` for a `duration`. Exactly one of `floor`, `factor`,
    `hold` says what it does.
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
    cron: Annotated[str, Allowed(crons.FORM), Field(min_length=9, max_length=120)] | None = None
    """In place of `days`, `from`, `to`: when it begins, as in a CronJob (`0 8 * * 1-5`), by the
    clock of `timeZone`. A weekday counts as in `days`: a public holiday is a Sunday. For days of
    the month and the like; at most 24 times a day."""
    duration: Annotated[float, DurationIn("1m", "7d")] | None = None
    """How long it lasts from each time that `cron` names."""
    floor: Count | None = None
    """Fewest replicas that stand, Ready, while it lasts: ordered a lead time before. `floor.max`
    and the target's ceiling still bound them."""
    factor: Annotated[Number, Field(gt=0, le=1000, allow_inf_nan=False)] | None = None
    """What the forecast demand is multiplied by while it lasts. The forecast knows the usual week
    already: 1.2 is a fifth *more than usual at that hour*."""
    hold: bool = False
    """`true`: nothing is lowered while it lasts, whatever demand does."""

    @field_validator("cron", mode="after")
    @classmethod
    def _is_a_cron(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                crons.read(text)
            except ValueError as error:
                raise refusal(*str(error).split("; ", 1)) from error
        return text

    @property
    def when(self) -> tuple[str, str]:
        """Say hours and days as people do."""
        if self.cron is not None:
            return f"for {format_duration(self.duration or 0.0)}", f"cron {self.cron}"
        every = "every day" if len(self.days) == 7 else ", ".join(self.days)
        return f"{self.from_} to {self.to}", every

    def begun(self, day: date, weekday: str, zone: str) -> Iterator[tuple[float, float]]:
        """Give starts and ends of windows that begin on a day by the clock, in POSIX seconds."""
        if self.cron is not None:
            for clock in crons.read(self.cron).begins(day, WEEKDAYS.index(weekday)):
                first, last = walltime.moments(day, clock, zone)
                yield first, last + (self.duration or 0.0)
        elif weekday in self.days:
            over = self.to <= self.from_
            start, _ = walltime.moments(day, self.from_, zone)
            _, end = walltime.moments(day + timedelta(days=over), self.to, zone)
            yield start, end


@lru_cache(maxsize=4096)
def _on(
    recurring: tuple[Recurring, ...], calendar: Calendar, zone: str, number: int
) -> tuple[RecurringWindow, ...]:
    """Windows that begin on one wall-clock day."""
    day = calendars.date_of(number)
    weekday = WEEKDAYS[calendars.weekday_like(calendar, day)]
    return tuple(
        RecurringWindow(each.name, start, end, each.floor, each.factor, each.hold)
        for each in recurring
        for start, end in each.begun(day, weekday, zone)
    )


def windows(
    recurring: tuple[Recurring, ...], calendar: Calendar, zone: str, span: tuple[float, float]
) -> tuple[RecurringWindow, ...]:
    """Windows that touch [start, end] in POSIX seconds, in order of their start."""
    if not recurring:
        return ()
    longest = max((each.duration or 0.0) for each in recurring)
    back = 1 + math.ceil(longest / _DAY)  # days on which a window that still stands may have begun
    first = calendars.number_of(walltime.day_of(span[0], zone)) - back
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
        problems += _when_problems(at, raw)
        if "days" in raw and not raw["days"]:
            error = refusal("found no day", "weekdays, or leave the key out for all of them")
            problems.append(InitErrorDetails(type=error, loc=(at, "days"), input=raw["days"]))
        problems += _days_twice(at, raw.get("days"))
    return problems


def _days_twice(at: int, days: Any) -> list[InitErrorDetails]:
    """Refuse a weekday that is named twice: another one was meant."""
    if not isinstance(days, list | tuple):
        return []
    return [
        InitErrorDetails(
            type=refusal(f'found "{day}" a second time', "each weekday once"),
            loc=(at, "days", index),
            input=day,
        )
        for index, day in enumerate(days)
        if isinstance(day, str) and day in days[:index]
    ]


def _when_problems(at: int, raw: dict[str, Any]) -> list[InitErrorDetails]:
    """Refuse two ways to say when, and half of one; defaults that were written back are none."""
    cron, lasts = raw.get("cron"), raw.get("duration")
    if (cron is None) != (lasts is None):
        only = "cron" if lasts is None else "duration"
        error = refusal(f"found only {only}", "cron and duration together, or days, from, to")
        return [InitErrorDetails(type=error, loc=(at, only), input=raw[only])]
    given = [
        key
        for key, usual in (("days", list(WEEKDAYS)), ("from", "00:00"), ("to", "24:00"))
        if cron is not None and key in raw and _listed(raw[key]) != usual
    ]
    if not given:
        return []
    error = refusal(f"found cron beside {', '.join(given)}", "one way to say when")
    return [InitErrorDetails(type=error, loc=(at, "cron"), input=cron)]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
