"""Cron expressions, as far as they say when windows begin: read once, asked by day.

Five fields as in a CronJob: minute, hour, day of the month, month, weekday. Nothing is scheduled by
them: which windows stand is computed from the moment that is asked about, like all of a calendar.
As in every cron, a day matches by its date *or* its weekday where both are given.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

FORM = "five fields as in a CronJob (minute hour day month weekday), such as 0 8 * * 1-5"
MOST_A_DAY = 24

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"^(?:\*|([0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?)(?:/([0-9]{1,2}))?$")


class Cron(NamedTuple):
    """What the fields allow; weekdays are numbered from Monday as everywhere in here."""

    clocks: tuple[str, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    by_date: bool
    by_weekday: bool

    def begins(self, day: date, weekday: int) -> tuple[str, ...]:
        """Clock times of a day at which it begins; `weekday` is the one that the day is like."""
        if day.month not in self.months:
            return ()
        dated, named = day.day in self.days, weekday in self.weekdays
        both = self.by_date and self.by_weekday
        return self.clocks if (dated or named if both else dated and named) else ()


@lru_cache(maxsize=1024)
def read(text: str) -> Cron:
    """Take an expression apart.

    Raises
    ------
    ValueError
        It is none, matches no day, or begins more often than once an hour on average.
    """
    fields = text.lower().split()
    if len(fields) != 5:
        raise ValueError(f'found "{text[:80]}", {len(fields)} fields; {FORM}')
    minutes = _field(fields[0], 0, 59, "minute")
    hours = _field(fields[1], 0, 23, "hour")
    days = _field(fields[2], 1, 31, "day of the month")
    months = _field(fields[3], 1, 12, "month", _MONTHS, 1)
    weekdays = _field(fields[4], 0, 7, "weekday", _DAYS)
    clocks = tuple(f"{hour:02}:{minute:02}" for hour in sorted(hours) for minute in sorted(minutes))
    if len(clocks) > MOST_A_DAY:
        raise ValueError(
            f'found "{text[:80]}", which begins {len(clocks)} times a day; at most {MOST_A_DAY}'
        )
    by_date, by_weekday = (not field.startswith("*") for field in (fields[2], fields[4]))
    if by_date and not by_weekday and min(days) > max(_LONGEST[month] for month in months):
        raise ValueError(f'found "{text[:80]}", a day that no month has; {FORM}')
    return Cron(
        clocks=clocks,
        days=frozenset(days),
        months=frozenset(months),
        weekdays=frozenset((day + 6) % 7 for day in weekdays),
        by_date=by_date,
        by_weekday=by_weekday,
    )


_LONGEST = dict(zip(range(1, 13), (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), strict=True))


def _field(
    text: str, least: int, most: int, what: str, names: tuple[str, ...] = (), first: int = 0
) -> set[int]:
    """Numbers that one field allows."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.match(part)
        if match is None:
            raise ValueError(f'found "{part}" as {what}; {FORM}')
        one, other, every = match.groups()
        low = least if one is None else _number(one, names, first)
        high = most if one is None or (every and not other) else _number(other or one, names, first)
        step = int(every or 1)
        if not least <= low <= high <= most or step < 1:
            raise ValueError(f'found "{part}" as {what}; {least} to {most}, the smaller one first')
        found.update(range(low, high + 1, step))
    return found


def _number(text: str, names: tuple[str, ...], first: int) -> int:
    """Read a number or a name of three letters; what is neither lies outside of all bounds."""
    if text in names:
        return names.index(text) + first
    return int(text) if text.isdigit() else -1
