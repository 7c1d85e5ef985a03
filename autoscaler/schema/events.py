"""Known, one-off rises and falls of demand: how a person writes them, and when they are.

A policy's events are in wall time and its decisions in POSIX seconds; the way from one to the
other, and everything that can be wrong on it, stands here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from pydantic_core import InitErrorDetails

from autoscaler.schema import walltime
from autoscaler.schema.fields import Allowed, Model, Number, refusal


class EventWindow(NamedTuple):
    """An event in POSIX seconds: demand in [start, end) is multiplied by `factor`."""

    name: str
    start: float
    end: float
    factor: float


class Event(Model):
    """A known, one-off rise or fall of demand."""

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=r"\S")]
    """What people call it; unique within the policy. It stands in the reasons of decisions."""
    start: Annotated[str, Allowed(walltime.FORM), Field(max_length=40, pattern=walltime.PATTERN)]
    """First moment, as `2026-11-10T20:00`: in `timeZone` unless it has an offset. In an hour that
    the clocks repeat, the earlier one."""
    end: Annotated[str, Allowed(walltime.FORM), Field(max_length=40, pattern=walltime.PATTERN)]
    """Moment after the last, written like `start`. In an hour that the clocks repeat, the later
    one."""
    factor: Annotated[Number, Field(gt=0, le=1000, allow_inf_nan=False)]
    """What the forecast demand is multiplied by while the event lasts: 3 is thrice the usual."""

    def window(self, time_zone: str) -> tuple[float, float]:
        """Start and end in POSIX seconds; a repeated hour is read so that the event is longest.

        Raises
        ------
        ValueError
            One of them is no date, is skipped by the clocks, or the zone does not exist.
        """
        return walltime.posix(self.start, time_zone), walltime.posix(
            self.end, time_zone, later=True
        )


@lru_cache(maxsize=1024)
def windows(events: tuple[Event, ...], time_zone: str) -> tuple[EventWindow, ...]:
    """Resolve all events once."""
    return tuple(EventWindow(e.name, *e.window(time_zone), e.factor) for e in events)


def problems_of(given: Any, time_zone: str) -> list[InitErrorDetails]:
    """Everything that is wrong between the fields of events, each with its place.

    `given` is as it was written, or already events; what is of a wrong type is left to pydantic.
    """
    problems: list[InitErrorDetails] = []
    names: set[str] = set()
    for at, event in enumerate(given if isinstance(given, list | tuple) else ()):
        raw = event if isinstance(event, dict) else dict(event) if isinstance(event, Event) else {}
        name = raw.get("name")
        if isinstance(name, str) and name in names:
            error = refusal(f'found "{name}" a second time', "each event has its own name")
            problems.append(InitErrorDetails(type=error, loc=(at, "name"), input=name))
        names.add(str(name))
        problems += _time_problems(at, raw, time_zone)
    return problems


def _time_problems(at: int, raw: dict[str, Any], time_zone: str) -> list[InitErrorDetails]:
    """Check the start and end of one event."""
    problems: list[InitErrorDetails] = []
    bounds: dict[str, float] = {}
    for key in ("start", "end"):
        text = raw.get(key)
        if not isinstance(text, str) or not walltime.has_form(text):
            continue  # pydantic says so
        try:
            bounds[key] = walltime.posix(text, time_zone, later=key == "end")
        except ValueError as failure:
            error = refusal(*str(failure).split("; ", 1))
            problems.append(InitErrorDetails(type=error, loc=(at, key), input=text))
    if len(bounds) == 2 and bounds["end"] <= bounds["start"]:
        error = refusal(f'found "{raw["end"]}"', f'an end comes after its start "{raw["start"]}"')
        problems.append(InitErrorDetails(type=error, loc=(at, "end"), input=raw["end"]))
    return problems
