"""What a policy was understood to say, defaults included: `check` shows it to whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from autoscaler.cli.options import in_zone
from autoscaler.policy import TidePolicy
from autoscaler.schema import words
from autoscaler.schema.durations import format_duration
from autoscaler.schema.events import Event
from autoscaler.schema.fields import DurationIn
from autoscaler.schema.recurring import Recurring


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """One field as it counts.

    Attributes
    ----------
    name : path in the document, without `spec.`
    value : as it would be written, or what stands for a field that was left out
    given : whether it was written in the document
    """

    name: str
    value: str
    given: bool


# what counts where a field without a default was left out
_LEFT_OUT = {
    "floor.min": "the minReplicas found on the target",
    "floor.max": "the target's ceiling",
    "floor.raiseLimit": "no limit",
}


def understood(policy: TidePolicy) -> tuple[Understood, ...]:
    """Every field of a policy that counts, in the order of the schema; events in moments."""
    found = _fields(policy.spec, (), seen=policy.spec.demand.waits)
    rows = (row for row in found if row.name not in _IN_WORDS)
    return (*rows, *_events(policy), *_days(policy), *_recurring(policy))


# lists whose entries are told one by one
_IN_WORDS = frozenset({"events", "calendar.days", "recurring"})


def _fields(
    section: BaseModel, path: tuple[str, ...], given: bool = True, *, seen: bool
) -> Iterator[Understood]:
    """Walk the sections; a section that was left out has only defaults.

    Parameters
    ----------
    seen : whether what waits can be read
    """
    for key, field in words.keys_of(type(section)).items():
        attribute = next(n for n, f in type(section).model_fields.items() if f is field)
        value = getattr(section, attribute)
        written = given and attribute in section.model_fields_set
        name = ".".join((*path, key))
        if isinstance(value, BaseModel):
            yield from _fields(value, (*path, key), written, seen=seen)
            continue
        if value is None and name not in _LEFT_OUT:
            continue  # the other one of preset and query
        if name == "coldStart.duration" and not written and section.model_fields_set:
            continue  # the quantiles stand in its place
        if name == "promise.drain" and not seen:
            continue  # nothing says what waits
        marks = words.bare(field.annotation, tuple(field.metadata))[1]
        shown = _LEFT_OUT[name] if value is None else _written(value, marks)
        if shown:
            yield Understood(name=name, value=shown, given=written and value is not None)


def _written(value: Any, marks: tuple[Any, ...]) -> str:
    """Write a value as in the document; "" for an empty list or mapping."""
    if any(isinstance(mark, DurationIn) for mark in marks):
        return format_duration(value)
    if isinstance(value, dict):
        return ", ".join(f'{name}="{text}"' for name, text in value.items())
    if isinstance(value, tuple):
        return str(len(value) or "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _events(policy: TidePolicy) -> Iterator[Understood]:
    """Tell when each event is, in the policy's zone, and how long the clocks make it."""
    zone = policy.spec.time_zone
    for at, event in enumerate(policy.spec.events):
        begin, close = event.window(zone)
        start, end = (in_zone(when, zone) for when in (begin, close))
        value = (
            f"{event.name}: {effect_of(event)} from {start:%a %Y-%m-%d %H:%M %z} "
            f"to {end:%a %Y-%m-%d %H:%M %z}, {format_duration(close - begin)}"
            f"{ramp_of(event.ramp.before, event.ramp.after)}"
        )
        yield Understood(name=f"events[{at}]", value=value, given=True)


def ramp_of(before: float, after: float) -> str:
    """Say how an event comes and goes, both in seconds; "" when at once."""
    shown = [
        f"{format_duration(seconds)} {side}"
        for seconds, side in ((before, "before"), (after, "after"))
        if seconds
    ]
    return f", ramp {' and '.join(shown)}" if shown else ""


def effect_of(window: Event | Recurring) -> str:
    """Say what a window does."""
    if window.hold:
        return "nothing is lowered"
    if window.factor is not None:
        return f"× {window.factor:g}"
    if isinstance(window, Recurring):
        return f"at least {window.floor}"
    return f"as {window.like}" if window.like else f"demand {window.demand:g}"


def _days(policy: TidePolicy) -> Iterator[Understood]:
    """Tell the operator's own days; `foretide calendar` shows those of the country too."""
    for at, day in enumerate(policy.spec.calendar.days):
        value = f"{day.date} is like {day.like}"
        yield Understood(name=f"calendar.days[{at}]", value=value, given=True)


def _recurring(policy: TidePolicy) -> Iterator[Understood]:
    """Tell the windows of a week, and where the policy's own bound is in the way of one."""
    most = policy.spec.floor.max
    for at, window in enumerate(policy.spec.recurring):
        hours, days = window.when
        value = f"{window.name}: {effect_of(window)}, {days}, {hours}"
        if most is not None and (window.floor or 0) > most:
            value += f"; but floor.max is {most}, so no more than that"
        yield Understood(name=f"recurring[{at}]", value=value, given=True)
