"""Public holidays and swapped working days of a country, from the `holidays` package.

The package takes a third of a second to import, so that it is imported when a policy names a
country, and not before. What leaves here is plain data, looked up once a year and country.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from importlib import metadata
from typing import NamedTuple

SOURCE = "holidays"
SUNDAY = 6
_SUBSTITUTED = re.compile(r"substituted from ([0-9]{2})/([0-9]{2})/([0-9]{4})")
_BEFORE = 3  # years that must all have had swapped days before their absence is worth a word


class Published(NamedTuple):
    """A day that is not like its own weekday: `like` is 0 for Monday … 6 for Sunday."""

    day: date
    like: int
    name: str


def problem_of(country: str, subdivision: str | None) -> tuple[str, str, str] | None:
    """Say what is wrong: what was found, what is allowed, the nearest; None if nothing is."""
    import holidays  # noqa: PLC0415  # only for a policy that names a country

    from autoscaler.schema.problems import nearest  # noqa: PLC0415  # only for an error

    known = holidays.list_supported_countries(include_aliases=False)
    if country not in known:
        near = nearest(country, sorted(known))
        return f'found "{country}"', "a country whose holidays are known, as CN or DE", near
    parts = sorted(known[country])
    if subdivision is None or subdivision in parts:
        return None
    allowed = f"one of {', '.join(parts)}" if parts else f"{country} has no parts with own holidays"
    return f'found "{subdivision}"', allowed, nearest(subdivision, parts)


@lru_cache(maxsize=256)
def days_of(country: str, subdivision: str | None, year: int) -> tuple[Published, ...]:
    """Days of a year that are not like their weekday, in order.

    A public holiday is like a Sunday, or like the first day of the weekend where Sunday is a
    working day. A swapped working day is like the weekday that was given for it.
    """
    found = _look_up(country, subdivision, year)
    weekend: set[int] = set(found.weekend)
    rest = SUNDAY if SUNDAY in weekend or not weekend else min(weekend)
    off = {day: name for day, name in found.items() if day.year == year}
    given_for: dict[date, date] = {}
    for day, name in off.items():
        match = _SUBSTITUTED.search(name)
        if match:
            month, number, of = (int(part) for part in match.groups())
            given_for[date(of, month, number)] = day
    published = [Published(day, rest, name) for day, name in off.items()]
    for day in found.weekend_workdays:
        if day.year == year:
            # where the source does not say for which day, a Friday is what most swaps are for
            freed = given_for.get(day)
            like = 4 if freed is None else freed.weekday()
            name = "swapped working day" + ("" if freed is None else f", {freed} is off for it")
            published.append(Published(day, like, name))
    return tuple(sorted(published))


def doubt_of(country: str, year: int, *, swaps: bool) -> str:
    """Sentence about what is not published yet for a year; "" when nothing seems to be missing.

    `swaps` is whether swapped working days are looked for.
    """
    if not days_of(country, None, year):
        return f"{_version()} knows no holidays of {country} in {year}"
    if not swaps:
        return ""
    swapped = [_swapped(country, each) for each in range(year - _BEFORE, year + 1)]
    if all(swapped[:-1]) and not swapped[-1]:
        return (
            f"{_version()} knows no swapped working days of {country} in {year}, and there were "
            "some in each of the three years before: they are probably not published yet"
        )
    return ""


@lru_cache(maxsize=256)
def _swapped(country: str, year: int) -> int:
    return sum(day.year == year for day in _look_up(country, None, year).weekend_workdays)


def _look_up(country: str, subdivision: str | None, year: int):  # type: ignore[no-untyped-def]  # its type costs the import
    """Ask the package, in English where it speaks it."""
    import holidays  # noqa: PLC0415  # only for a policy that names a country

    plain = holidays.country_holidays(country, subdiv=subdivision, years=year)
    if "en_US" not in plain.supported_languages:
        return plain
    return holidays.country_holidays(country, subdiv=subdivision, years=year, language="en_US")


def _version() -> str:
    return f"holidays {metadata.version('holidays')}"
