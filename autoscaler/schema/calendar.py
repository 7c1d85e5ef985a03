"""Days that are not like their weekday: public holidays, swapped working days, company days.

A policy says them in dates; the core gets numbers: the wall-clock day (0 is a Monday, as in
`forecast.clock`) and the weekday, or the past day, that it is like.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import InitErrorDetails

from autoscaler.schema import published
from autoscaler.schema.fields import Allowed, Model, refusal

DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_EPOCH = date(1970, 1, 1).toordinal() - 3  # that Thursday is day 3, so that day 0 is a Monday
_DATE_FORM = "a date is written as 2026-10-01"


class Weekday(StrEnum):
    """Days of the week, in their order."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


WEEKDAYS = tuple(Weekday)
_LIKE = f"^({'|'.join(WEEKDAYS)}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})$"


class SpecialDay(NamedTuple):
    """A day that is not like its own weekday.

    Attributes
    ----------
    day : number of the wall-clock day, 0 is a Monday
    like : weekday that it is like, 0 Monday … 6 Sunday
    example : number of the past day that it is like; None when it is like a weekday
    source : `calendar.days` or the country that published it
    """

    day: int
    like: int
    example: int | None
    name: str
    source: str


class LikeDay(Model):
    """A day of the operator's own: it counts more than what a country says about it."""

    date: Annotated[str, Allowed(_DATE_FORM), Field(pattern=DATE)]
    """The day, as `2026-02-14`, by the clock of `timeZone`."""
    like: Annotated[
        str, Allowed(f"{' | '.join(WEEKDAYS)}, or a date as 2025-10-01"), Field(pattern=_LIKE)
    ]
    """What it is like: a weekday, or an earlier day. A working Saturday that is swapped for a
    Friday (调休) is like `friday`, a company holiday like `sunday`. An earlier day needs a history
    that reaches back to it (`demand.history`); without, its weekday counts."""


class Calendar(Model):
    """Days that are not like their weekday, as history and when they come."""

    country: (
        Annotated[
            str, Allowed("two letters of ISO 3166, as CN or DE"), Field(pattern=r"^[A-Z]{2}$")
        ]
        | None
    ) = None
    """Two letters of ISO 3166, as `CN`: its public holidays are like a Sunday (where Sunday is a
    working day, like the first day of the weekend), and its swapped working days like the weekday
    that was given for them. Left out: none."""
    subdivision: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """A part of the country with holidays of its own, as `BY` in `DE`. Left out: only days of the
    whole country."""
    days: Annotated[tuple[LikeDay, ...], Field(max_length=400)] = ()
    """Days of your own, and corrections of the country's: what is not published yet, what your
    users keep and the country does not."""

    @field_validator("country", mode="after")
    @classmethod
    def _is_known(cls, country: str | None) -> str | None:
        problem = None if country is None else published.problem_of(country, None)
        if problem is not None:
            raise refusal(*problem)
        return country

    @field_validator("subdivision", mode="after")
    @classmethod
    def _is_part(cls, part: str | None, info: ValidationInfo) -> str | None:
        if part is None or "country" not in info.data:  # that one has its own error
            return part
        country = info.data["country"]
        if country is None:
            raise refusal(f'found "{part}" without a country', "a part of calendar.country")
        problem = published.problem_of(country, part)
        if problem is not None:
            raise refusal(*problem)
        return part

    @field_validator("days", mode="after")
    @classmethod
    def _dates_exist(cls, days: tuple[LikeDay, ...]) -> tuple[LikeDay, ...]:
        problems: list[InitErrorDetails] = []
        seen: set[str] = set()

        def add(at: int, key: str, found: str, allowed: str) -> None:
            error = refusal(found, allowed)
            problems.append(InitErrorDetails(type=error, loc=(at, key), input=found))

        for at, day in enumerate(days):
            if day.date in seen:
                add(at, "date", f'found "{day.date}" a second time', "each day once")
            seen.add(day.date)
            wrong = [key for key in ("date", "like") if not _exists(getattr(day, key))]
            for key in wrong:
                add(at, key, f'found "{getattr(day, key)}"', "a date that exists, from 1970 on")
            if not wrong and day.like[0].isdigit() and day.like >= day.date:
                add(at, "like", f'found "{day.like}"', f"a day before {day.date}")
        if problems:
            raise ValidationError.from_exception_data("Calendar", problems)
        return days


def _exists(text: str) -> bool:
    """Whether a date exists; a weekday does."""
    try:
        return text in WEEKDAYS or 1970 <= date.fromisoformat(text).year <= 2199
    except ValueError:
        return False


def number_of(day: date) -> int:
    """Count a wall-clock day; 0 modulo 7 is a Monday."""
    return day.toordinal() - _EPOCH


def date_of(number: int) -> date:
    """Undo `number_of`."""
    return date.fromordinal(number + _EPOCH)


@lru_cache(maxsize=512)
def special_days(calendar: Calendar, year: int) -> tuple[SpecialDay, ...]:
    """All days of a year that are not like their weekday, in order; the operator's own win."""
    found: dict[int, SpecialDay] = {}
    if calendar.country is not None:
        part = f"-{calendar.subdivision}" if calendar.subdivision else ""
        source = f"{published.SOURCE} {calendar.country}{part}"
        for day, like, name in published.days_of(calendar.country, calendar.subdivision, year):
            found[number_of(day)] = SpecialDay(number_of(day), like, None, name, source)
    for own in calendar.days:
        day = date.fromisoformat(own.date)
        if day.year == year:
            like = weekday_like(calendar, day)
            dated = own.like not in WEEKDAYS
            example = number_of(date.fromisoformat(own.like)) if dated else None
            name = found[number_of(day)].name if number_of(day) in found else "own day"
            found[number_of(day)] = SpecialDay(number_of(day), like, example, name, "calendar.days")
    return tuple(found[number] for number in sorted(found))


def weekday_like(calendar: Calendar, day: date) -> int:
    """Weekday that a day is like, 0 Monday … 6 Sunday, through the days that it is like."""
    for own in calendar.days:
        if own.date == day.isoformat():
            if own.like in WEEKDAYS:
                return WEEKDAYS.index(Weekday(own.like))
            # a day is like one before it, so this comes to an end
            return weekday_like(calendar, date.fromisoformat(own.like))
    if calendar.country is not None:
        for told in published.days_of(calendar.country, calendar.subdivision, day.year):
            if told.day == day:
                return told.like
    return day.weekday()


def between(calendar: Calendar, first: date, last: date) -> tuple[SpecialDay, ...]:
    """Days from `first` to `last`, both included, that are not like their weekday."""
    if calendar.country is None and not calendar.days:
        return ()
    low, high = number_of(first), number_of(last)
    years = range(first.year, last.year + 1)
    return tuple(
        day for year in years for day in special_days(calendar, year) if low <= day.day <= high
    )


def doubts(calendar: Calendar, first: date, last: date) -> tuple[str, ...]:
    """Say what is not published yet for the years of a stretch of days.

    Swapped working days of a year that are among the operator's own days are known to them.
    """
    country = calendar.country
    if country is None:
        return ()
    own = {day for day in calendar.days if _works(day)}
    told = {date.fromisoformat(day.date).year for day in own}
    said = (
        published.doubt_of(country, year, swaps=year not in told)
        for year in range(first.year, last.year + 1)
    )
    return tuple(sentence for sentence in said if sentence)


def _works(day: LikeDay) -> bool:
    """Whether an own day makes a Saturday or Sunday a working day."""
    free = {Weekday.SATURDAY, Weekday.SUNDAY}
    weekday = WEEKDAYS[date.fromisoformat(day.date).weekday()]
    return weekday in free and day.like in WEEKDAYS and day.like not in free
