"""From what a clock on the wall shows to POSIX seconds, and only if there is one answer.

Twice a year a wall clock lies: an hour happens twice, another never. A policy's events are written
in wall time, so each rule about those hours stands here, once.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?$"
"""The accepted form of a time, also for the generated schemas."""

FORM = "a time is written as 2026-11-10T20:00, with or without an offset such as +08:00 or Z"

_TIME = re.compile(PATTERN)
_FIRST, _LAST = 1970, 2199


def has_form(text: str) -> bool:
    """Whether the text looks like a time; it may still be none (30 February)."""
    return bool(_TIME.match(text)) and text.isascii() and not text.endswith("\n")


@lru_cache(maxsize=512)
def zone(name: str) -> ZoneInfo:
    """Time zone of that IANA name, independent of the machine.

    Raises
    ------
    ValueError
        There is none of that name.
    """
    # right/ counts leap seconds and localtime differs between machines: neither means one thing
    if name.startswith(("right/", "posix/", "/", ".")) or name in {"localtime", "posixrules"}:
        raise ValueError(f'found "{name}", which is no time zone')
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f'found "{name}", which is no time zone') from error


@lru_cache(maxsize=4096)
def posix(text: str, zone_name: str, *, later: bool = False) -> float:
    """POSIX seconds of a time; without an offset it is read in the zone.

    Parameters
    ----------
    text : str
        Such as `2026-11-10T20:00`, `2026-11-10T20:00:30+08:00`.
    zone_name : str
        IANA name, used when the text has no offset.
    later : bool
        Which of the two moments is meant when the clocks show it twice.

    Raises
    ------
    ValueError
        It is not a time, no such date exists, or the clocks skip it.
    """
    wall, offset = _parse(text)
    if offset is not None:
        return wall.replace(tzinfo=timezone(offset)).timestamp()
    local = wall.replace(tzinfo=zone(zone_name), fold=int(later))
    moment = local.astimezone(UTC)
    if moment.astimezone(local.tzinfo).replace(tzinfo=None) != wall:
        # fold 0 reads a skipped time with the offset before the change: that is the later moment
        after = local.replace(fold=0).astimezone(UTC).astimezone(local.tzinfo)
        raise ValueError(
            f'found "{text}", which the clocks of {zone_name} skip; '
            f"a time that they show, such as {after:%Y-%m-%dT%H:%M}, or one with an offset"
        )
    return moment.timestamp()


def _parse(text: str) -> tuple[datetime, timedelta | None]:
    """Naive wall time and its offset, if it has one."""
    if not has_form(text):
        raise ValueError(f'found "{text[:80]}"; {FORM}')
    body, offset = text, None
    if text.endswith("Z"):
        body, offset = text[:-1], timedelta()
    elif text[-6] in "+-":
        body = text[:-6]
        hours, minutes = int(text[-5:-3]), int(text[-2:])
        if hours > 14 or minutes > 59:
            raise ValueError(f'found "{text}", whose offset is beyond 14:00; {FORM}')
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if text[-6] == "-" else 1)
    if not _FIRST <= int(body[:4]) <= _LAST:
        raise ValueError(f'found "{text}"; a year in {_FIRST}–{_LAST}')
    try:
        return datetime(*(int(number) for number in re.findall(r"\d+", body))), offset  # type: ignore[arg-type]  # noqa: DTZ001  # five or six numbers by the pattern; naive on purpose
    except ValueError as error:
        raise ValueError(f'found "{text}"; a date and time that exist ({error})') from error


def moments(day: date, clock: str, zone_name: str) -> tuple[float, float]:
    """Earliest and latest POSIX seconds that a clock time of a day can mean.

    They differ in an hour that the clocks repeat; in one that they skip the change lies between.

    Parameters
    ----------
    day : by the clock of the zone
    clock : as `08:00`; `24:00` is the midnight that ends the day
    """
    hours, minutes = int(clock[:2]), int(clock[3:])
    wall = datetime(day.year, day.month, day.day) + timedelta(hours=hours, minutes=minutes)  # noqa: DTZ001  # wall time, on purpose
    found = [
        wall.replace(tzinfo=zone(zone_name), fold=fold).astimezone(UTC).timestamp()
        for fold in (0, 1)
    ]
    return min(found), max(found)


def day_of(moment: float, zone_name: str) -> date:
    """Date that the clocks of a zone show at POSIX seconds."""
    return datetime.fromtimestamp(moment, zone(zone_name)).date()
