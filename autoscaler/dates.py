"""What a policy's calendar says about a moment, in the numbers of the stages.

Everything is computed from the moment that is asked about: no clock, no memory, no job. So a cycle
that is late, or the first after an hour without any, decides as if none had been missed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np

from autoscaler.model import Code, Ints, Need, Reason
from autoscaler.policy import Spec
from autoscaler.schema import calendar as calendars
from autoscaler.schema import walltime
from autoscaler.schema.calendar import WEEKDAYS
from autoscaler.schema.events import EventWindow, HoldWindow

LOOK_BACK = 5 * 3600.0
"""Seconds before a moment whose demand says at what level it stands."""


def events(spec: Spec, start: float, seconds: float) -> tuple[EventWindow, ...]:
    """One-off events, all of them, and recurring factors that touch the seconds from `start`.

    And those of the hours before it, in which demand was another's.
    """
    return (
        *spec.event_windows,
        *(
            EventWindow(window.name, window.start, window.end, window.factor, recurring=True)
            for window in spec.recurring_windows(start - LOOK_BACK, start + seconds)
            if window.factor is not None
        ),
    )


NEXT_TO_NOTHING = 0.1
"""Part of demand, or of a replica, up to which an event says that nothing comes."""


def calm(spec: Spec, now: float) -> bool:
    """Whether an event or a window says that next to nothing comes now, as in a maintenance."""
    under_way = (event for event in events(spec, now, 0.0) if event.start <= now < event.end)
    little = NEXT_TO_NOTHING * spec.capacity.per_replica
    return any(
        event.factor <= NEXT_TO_NOTHING if event.demand is None else event.demand <= little
        for event in under_way
    )


def least(spec: Spec, need: Need) -> Ints | None:
    """Fewest replicas that recurring windows ask for in each step of a need; None for none.

    A step that a window only touches counts as inside.
    """
    start, step, steps = need.start, need.step, len(need.order)
    end = start + steps * step
    asking = [w for w in spec.recurring_windows(start, end) if w.floor is not None]
    if not asking:
        return None
    floors = np.zeros(steps, dtype=np.int64)
    for window in asking:
        first = max(0, int(np.floor((window.start - start) / step)))
        last = int(np.ceil((window.end - start) / step))
        floors[first:last] = np.maximum(floors[first:last], window.floor or 0)
    return floors


def at_least(spec: Spec, floor: int, now: float, lead: float) -> tuple[int, tuple[Reason, ...]]:
    """Raise a floor to what recurring windows ask for from now until a lead time ahead.

    Returns
    -------
    floor : at least as high
    reasons : the window that asks for most, also when no more than that is wanted anyway
    """
    near = spec.recurring_windows(now, now + lead)
    asking = [window for window in near if window.floor is not None]
    if not asking:
        return floor, ()
    most = max(asking, key=lambda window: window.floor or 0)
    asked = most.floor or 0
    zone = spec.time_zone
    said = f"at least {asked} from {_clock(most.start, zone)} to {_clock(most.end, zone)}"
    reason = Reason(
        code=Code.RECURRING,
        sentence=f"{most.name}: {said}"
        + (f", {floor} without it" if asked > floor else f"; {floor} are wanted anyway"),
        numbers={"floor": asked, "without": floor, "start": most.start, "end": most.end},
    )
    return max(floor, asked), (reason,)


def holds(spec: Spec, start: float, end: float) -> tuple[HoldWindow, ...]:
    """Windows that touch [start, end] in which nothing is lowered, one-off and recurring."""
    recurring: Iterable[HoldWindow] = (
        HoldWindow(window.name, window.start, window.end)
        for window in spec.recurring_windows(start, end)
        if window.hold
    )
    return tuple(
        window
        for window in (*spec.hold_windows, *recurring)
        if window.start <= end and window.end > start
    )


def held(spec: Spec, floors: Ints, start: float, step: float) -> Ints:
    """Floors that do not fall inside hold windows, same shape."""
    found = holds(spec, start, start + len(floors) * step)
    if not found:
        return floors
    times = start + step * np.arange(len(floors))
    holding = np.zeros(len(floors), dtype=bool)
    for window in found:
        holding |= (times >= window.start) & (times < window.end)
    result = floors.copy()
    for i in np.flatnonzero(holding):
        result[i] = max(result[i], result[i - 1]) if i else result[i]
    return result


def today(spec: Spec, now: float) -> tuple[Reason, ...]:
    """Say so when today is not like its own weekday."""
    reasons = []
    for day in spec.special_days(now, now):
        like = WEEKDAYS[day.like].title()
        if day.example is not None:
            like = f"{calendars.date_of(day.example)}, or a {like} where that is not known"
        else:
            like = f"a {like}"
        reasons.append(
            Reason(
                code=Code.DAY_LIKE,
                sentence=f"{calendars.date_of(day.day)} is like {like} ({day.name}; {day.source})",
                numbers={"weekday": day.day % 7, "like": day.like}
                | ({} if day.example is None else {"example": day.example}),
            )
        )
    return tuple(reasons)


def _clock(moment: float, zone: str) -> str:
    """Weekday, hour and minute in a zone."""
    return f"{datetime.fromtimestamp(moment, walltime.zone(zone)):%a %H:%M}"
