"""The days and windows that a policy believes in, as a month on a terminal, tables, and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from autoscaler.cli.options import in_zone
from autoscaler.cli.understood import effect_of, ramp_of
from autoscaler.policy import TidePolicy
from autoscaler.report import Table
from autoscaler.schema import calendar as calendars
from autoscaler.schema import walltime
from autoscaler.schema.calendar import WEEKDAYS, SpecialDay
from autoscaler.schema.events import Event
from autoscaler.schema.recurring import Recurring, RecurringWindow

OFF, WORKED, DATED, EVENT, HOLD = "o", "w", "=", "*", "!"
LEGEND = (
    f"{OFF} like a Saturday or Sunday   {WORKED} like a working day   {DATED} like a past date   "
    f"{EVENT} event   {HOLD} hold"
)
_SATURDAY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """An event that touches the days shown, in POSIX seconds, its ramps included."""

    event: Event
    start: float
    end: float
    first: float
    last: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarAhead:
    """What a policy's calendar says about some days.

    Attributes
    ----------
    first, last : the days, both included, by the clock of the policy's zone
    special : days that are not like their weekday
    recurring : every time that a recurring window stands
    doubts : what is not published yet
    """

    policy: TidePolicy
    first: date
    last: date
    special: tuple[SpecialDay, ...]
    events: tuple[Dated, ...]
    recurring: tuple[RecurringWindow, ...]
    doubts: tuple[str, ...]

    @property
    def zone(self) -> str:
        """Zone of the policy."""
        return self.policy.spec.time_zone


def look_at(policy: TidePolicy, now: float, days: int) -> CalendarAhead:
    """Ask a policy's calendar about so many days from today on."""
    spec = policy.spec
    first = walltime.day_of(now, spec.time_zone)
    last = first + timedelta(days=days - 1)
    start, _ = walltime.moments(first, "00:00", spec.time_zone)
    _, end = walltime.moments(last, "24:00", spec.time_zone)
    ramped = {window.name: (window.first, window.last) for window in spec.event_windows}
    found = []
    for event in spec.events:
        span = event.window(spec.time_zone)
        whole = ramped.get(event.name, span)
        if whole[0] < end and whole[1] > start:
            found.append(
                Dated(event=event, start=span[0], end=span[1], first=whole[0], last=whole[1])
            )
    return CalendarAhead(
        policy=policy,
        first=first,
        last=last,
        special=calendars.between(spec.calendar, first, last),
        events=tuple(sorted(found, key=lambda dated: dated.first)),
        recurring=tuple(w for w in spec.recurring_windows(start, end) if w.start < end),
        doubts=calendars.doubts(spec.calendar, first, last),
    )


def picture_of(ahead: CalendarAhead) -> str:
    """Draw the weeks, a line each: the day of the month and signs of what is special about it."""
    signs = {calendars.date_of(day.day): _sign(day) for day in ahead.special}
    for dated in ahead.events:
        sign = HOLD if dated.event.hold else EVENT
        for day in _days(dated.first, dated.last, ahead):
            signs[day] = signs.get(day, "") + ("" if sign in signs.get(day, "") else sign)
    monday = ahead.first - timedelta(days=ahead.first.weekday())
    head = " " * 9 + "".join(f"{name[:2].title():<5}" for name in WEEKDAYS)
    lines = [head.rstrip()]
    while monday <= ahead.last:
        week = [monday + timedelta(days=i) for i in range(7)]
        shown = [day for day in week if ahead.first <= day <= ahead.last]
        begun = [day for day in shown if day.day == 1 or day == ahead.first]
        # three signs are all that a day can have
        cells = (
            f"{day.day:>2}{signs.get(day, ''):<3}" if day in shown else " " * 5 for day in week
        )
        month = f"{begun[-1]:%b %Y}" if begun else ""
        lines.append(f"{month:<8} {''.join(cells)}".rstrip())
        monday += timedelta(days=7)
    return "\n".join([*lines, "", LEGEND])


def _sign(day: SpecialDay) -> str:
    if day.example is not None:
        return DATED
    return OFF if day.like >= _SATURDAY else WORKED


def _days(start: float, end: float, ahead: CalendarAhead) -> Iterator[date]:
    """Yield the days shown that a window touches."""
    day = max(ahead.first, walltime.day_of(start, ahead.zone))
    # a window that ends at midnight does not touch the day that begins there
    last = min(ahead.last, walltime.day_of(end - 1e-3, ahead.zone))
    while day <= last:
        yield day
        day += timedelta(days=1)


def like_of(day: SpecialDay) -> str:
    """Say what a day is like: a weekday, or a date with the weekday that stands for it."""
    weekday = str(WEEKDAYS[day.like])
    if day.example is None:
        return weekday
    return f"{calendars.date_of(day.example)}, else {weekday}"


def tables_of(ahead: CalendarAhead) -> tuple[Table, ...]:
    """Days, events and recurring windows; only what there is."""
    days = tuple(
        (f"{calendars.date_of(day.day):%Y-%m-%d %a}", like_of(day), day.name, day.source)
        for day in ahead.special
    )
    events = tuple(
        (
            _moment(d.start, ahead.zone),
            _moment(d.end, ahead.zone),
            effect_of(d.event) + ramp_of(d.start - d.first, d.last - d.end),
            d.event.name,
        )
        for d in ahead.events
    )
    recurring = tuple(
        (
            window.when[0],
            ", ".join(day[:3] for day in window.days) if _some_days(window) else window.when[1],
            effect_of(window),
            window.name,
        )
        for window in ahead.policy.spec.recurring
    )
    made = (
        _table("Days that are not like their weekday", ("day", "is like", "name", "source"), days),
        _table("Events", ("from", "to", "what", "name"), events),
        _table("Every week", ("hours", "days", "what", "name"), recurring),
    )
    return tuple(table for table in made if table.rows)


def _some_days(window: Recurring) -> bool:
    """Whether it is on some days of the week."""
    return window.cron is None and len(window.days) < 7


def _table(title: str, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Table:
    return Table(title=title, columns=columns, rows=rows, sentences=(1, 2, 3))


def _moment(at: float, zone: str) -> str:
    return f"{in_zone(at, zone):%a %Y-%m-%d %H:%M}"


def document_of(ahead: CalendarAhead) -> dict[str, Any]:
    """Everything as one JSON document."""
    zone = ahead.zone
    return {
        "policy": ahead.policy.key,
        "timeZone": zone,
        "first": f"{ahead.first}",
        "last": f"{ahead.last}",
        "days": [_day_document(day) for day in ahead.special],
        "events": [
            {
                "name": dated.event.name,
                "effect": effect_of(dated.event),
                "start": _iso(dated.start, zone),
                "end": _iso(dated.end, zone),
                "first": _iso(dated.first, zone),
                "last": _iso(dated.last, zone),
            }
            for dated in ahead.events
        ],
        "recurring": [
            {**window._asdict(), "start": _iso(window.start, zone), "end": _iso(window.end, zone)}
            for window in ahead.recurring
        ],
        "doubts": list(ahead.doubts),
    }


def _day_document(day: SpecialDay) -> dict[str, Any]:
    """Write one day that is not like its weekday."""
    return {
        "date": f"{calendars.date_of(day.day)}",
        "weekday": str(WEEKDAYS[day.day % 7]),
        "like": str(WEEKDAYS[day.like]),
        "example": None if day.example is None else f"{calendars.date_of(day.example)}",
        "name": day.name,
        "source": day.source,
    }


def _iso(at: float, zone: str) -> str:
    return in_zone(at, zone).isoformat()
