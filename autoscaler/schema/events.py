"""Known, one-off rises and falls of demand: how a person writes them, and when they are.

A policy's events are in wall time and its decisions in POSIX seconds; the way from one to the
other, and everything that can be wrong on it, stands here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from pydantic_core import InitErrorDetails

from autoscaler.schema import effects, walltime
from autoscaler.schema.fields import Allowed, DurationIn, Model, Number, refusal

EFFECTS = ("factor", "demand", "like", "hold")


class EventWindow(NamedTuple):
    """A window in POSIX seconds in which demand is not as usual.

    Attributes
    ----------
    factor : what demand in [start, end) is multiplied by
    demand : what it is instead, per second; then `factor` counts for nothing
    like : name of the past event that it is like, once that was learnt from; "" for none
    before, after : seconds in which it comes, before `start`, and goes, after `end`
    recurring : it belongs to ordinary weeks, so that these teach it
    """

    name: str
    start: float
    end: float
    factor: float = 1.0
    demand: float | None = None
    like: str = ""
    before: float = 0.0
    after: float = 0.0
    recurring: bool = False

    @property
    def first(self) -> float:
        """When demand begins to be unusual, POSIX seconds."""
        return self.start - self.before

    @property
    def last(self) -> float:
        """When demand is usual again, POSIX seconds."""
        return self.end + self.after


class HoldWindow(NamedTuple):
    """A window in POSIX seconds in which nothing is lowered."""

    name: str
    start: float
    end: float


class Ramp(Model):
    """How an event comes and goes."""

    before: Annotated[float, DurationIn("0s", "7d")] = 0.0
    """How long before `start` demand begins to move, along a line. Left out: at once."""
    after: Annotated[float, DurationIn("0s", "7d")] = 0.0
    """How long after `end` demand takes to be as usual, along a line. Left out: at once."""


class Event(Model):
    """A known, one-off rise or fall of demand, or a time in which nothing is lowered.

    Exactly one of `factor`, `demand`, `like`, `hold` says what it does.
    """

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=r"\S")]
    """What people call it; unique within the policy. It stands in the reasons of decisions."""
    start: Annotated[str, Allowed(walltime.FORM), Field(max_length=40, pattern=walltime.PATTERN)]
    """First moment, as `2026-11-10T20:00`: in `timeZone` unless it has an offset. In an hour that
    the clocks repeat, the earlier one."""
    end: Annotated[str, Allowed(walltime.FORM), Field(max_length=40, pattern=walltime.PATTERN)]
    """Moment after the last, written like `start`. In an hour that the clocks repeat, the later
    one."""
    factor: Annotated[Number, Field(gt=0, le=1000, allow_inf_nan=False)] | None = None
    """What the forecast demand is multiplied by while the event lasts: 3 is thrice the usual."""
    demand: Annotated[Number, Field(ge=0, le=1e12, allow_inf_nan=False)] | None = None
    """What demand is while the event lasts, in the unit of `capacity.perReplica`, whatever the
    forecast says. Replicas are ordered for just that, and for the newest demand if it is more."""
    like: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """Name of an earlier event of this policy that it is like: how demand stood against an
    ordinary day is learnt from that one, as long as `demand.history` reaches back to it. Where it
    does not, what is written there counts."""
    hold: bool = False
    """`true`: nothing is lowered while it lasts, whatever demand does. It changes no forecast."""
    ramp: Ramp = Ramp()
    """How it comes and goes. With `like` and left out: as that one."""

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
    """Resolve all events that say something about demand, once."""
    by_name = {event.name: event for event in events}
    return tuple(_window(e, by_name, time_zone) for e in events if not e.hold)


@lru_cache(maxsize=1024)
def holds(events: tuple[Event, ...], time_zone: str) -> tuple[HoldWindow, ...]:
    """Resolve all events in which nothing is lowered, once."""
    return tuple(HoldWindow(e.name, *e.window(time_zone)) for e in events if e.hold)


def _window(event: Event, by_name: dict[str, Event], time_zone: str) -> EventWindow:
    """Resolve an event; one that is like another takes what is written there, to fall back on."""
    root = event
    while root.like is not None:  # each is like an earlier one, so this comes to an end
        root = by_name[root.like]
    own = event.ramp.before or event.ramp.after or event.like is None
    ramp = event.ramp if own else by_name[str(event.like)].ramp
    start, end = event.window(time_zone)
    return EventWindow(
        name=event.name,
        start=start,
        end=end,
        factor=1.0 if root.factor is None else root.factor,
        demand=root.demand,
        like=event.like or "",
        before=ramp.before,
        after=ramp.after,
    )


def problems_of(given: Any, time_zone: str) -> list[InitErrorDetails]:
    """Everything that is wrong between the fields of events, each with its place.

    `given` is as it was written, or already events; what is of a wrong type is left to pydantic.
    """
    problems: list[InitErrorDetails] = []
    raws = raw_of(given, Event)
    starts: dict[str, float | None] = {}
    for at, raw in enumerate(raws):
        problems += named_once(at, raw, starts, "event")
        found, start = _time_problems(at, raw, time_zone)
        problems += found
        problems += effects.problems_of(at, raw, EFFECTS, "an event")
        problems += _ramp_problems(at, raw)
        starts.setdefault(str(raw.get("name")), start)
    for at, raw in enumerate(raws):
        problems += _like_problems(at, raw, starts, raws)
    return problems


def raw_of(given: Any, model: type[Model]) -> list[dict[str, Any]]:
    """Entries of a list as mappings, however they were given; {} for what is none."""
    entries = given if isinstance(given, list | tuple) else ()
    return [
        each if isinstance(each, dict) else dict(each) if isinstance(each, model) else {}
        for each in entries
    ]


def named_once(
    at: int, raw: dict[str, Any], names: Iterable[str], what: str
) -> list[InitErrorDetails]:
    """Refuse a name that was there before."""
    name = raw.get("name")
    if not isinstance(name, str) or name not in names:
        return []
    error = refusal(f'found "{name}" a second time', f"each {what} has its own name")
    return [InitErrorDetails(type=error, loc=(at, "name"), input=name)]


def _ramp_problems(at: int, raw: dict[str, Any]) -> list[InitErrorDetails]:
    """Refuse a ramp of what changes no demand: it would be accepted and ignored."""
    ramp = raw.get("ramp")
    spans = dict(ramp) if isinstance(ramp, dict | Ramp) else {}
    # a default that was written back is none
    if raw.get("hold") is not True or all(span in (0.0, "0s") for span in spans.values()):
        return []
    error = refusal("found ramp beside hold", "a hold has start and end alone: nothing is ramped")
    return [InitErrorDetails(type=error, loc=(at, "ramp"), input=ramp)]


def _like_problems(
    at: int, raw: dict[str, Any], starts: dict[str, float | None], raws: list[dict[str, Any]]
) -> list[InitErrorDetails]:
    """Refuse to be like what is not there, what holds, and what is not earlier."""
    like = raw.get("like")
    if not isinstance(like, str):
        return []
    allowed = "the name of an earlier event of this policy that says something about demand"
    other = next((each for each in raws if each.get("name") == like), None)
    start, own = starts.get(like), starts.get(str(raw.get("name")))
    if other is not None and not other.get("hold"):
        if start is None or own is None:
            return []  # its times have an error of their own
        if start < own:
            return []
    error = refusal(f'found "{like}"', allowed)
    return [InitErrorDetails(type=error, loc=(at, "like"), input=like)]


def _time_problems(
    at: int, raw: dict[str, Any], time_zone: str
) -> tuple[list[InitErrorDetails], float | None]:
    """Check the start and end of one event; also its start, where it is one."""
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
    return problems, bounds.get("start")
