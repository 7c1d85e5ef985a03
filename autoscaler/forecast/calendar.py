"""Calendar events: what is known to come changes the forecast, and teaches no ordinary day."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from autoscaler.forecast.under_way import GROWS, NONE, compared, ratio_of
from autoscaler.model import Ahead, Code, Floats, Forecast, Mark, Reason, Series
from autoscaler.schema.durations import format_duration
from autoscaler.schema.events import EventWindow

_HALF = 0.5
_NEAR = 3600.0  # seconds: what is decided now is for that

Learnt = Mapping[str, tuple[float, ...]]
"""Demand against an ordinary day along past events, by their name (`Knowledge.events`)."""


def ordinary(series: Series, events: tuple[EventWindow, ...]) -> Series:
    """Give the series with event steps unknown, so that they teach nothing about other days.

    The same series when no event touches it. A recurring window is a part of ordinary weeks.
    """
    touched = [e for e in events if e.first < series.end and e.last > series.start]
    touched = [event for event in touched if not event.recurring]
    if not touched or not len(series):
        return series
    values, marks = series.values.copy(), series.marks.copy()
    for event in touched:
        first = max(0, int(np.floor((event.first - series.start) / series.step)))
        last = int(np.ceil((event.last - series.start) / series.step))
        values[first:last] = np.nan
        marks[first:last] |= np.uint8(Mark.MISSING)
    return replace(series, values=values, marks=marks)


def levelled(series: Series, events: tuple[EventWindow, ...]) -> Series:
    """Give the series without what recurring factors made of its last hours.

    While such a window lasts, demand is divided by its factor: the level would have it in it once
    more; so it is in those that led up to it without a break, as one that lasts day and night ends
    and begins at midnight. After it, and where the factor takes more than half of demand away
    (against next to nothing everything is huge), its minutes are unknown as those of any event.
    """
    recurring = [e for e in events if e.recurring and e.factor != 1 and e.start <= series.end]
    touched = [e for e in recurring if e.start < series.end and e.end > series.start]
    if not touched or not len(series):
        return series
    lasting = _lasting(recurring, series.end)
    values, marks = series.values.copy(), series.marks.copy()
    for event in touched:
        first = max(0, math.floor((event.start - series.start) / series.step))
        last = math.ceil((event.end - series.start) / series.step)
        if event in lasting and event.factor >= _HALF:
            values[first : math.floor((event.end - series.start) / series.step)] /= event.factor
        else:
            values[first:last] = np.nan
            marks[first:last] |= np.uint8(Mark.MISSING)
    return replace(series, values=values, marks=marks)


def _lasting(recurring: list[EventWindow], now: float) -> list[EventWindow]:
    """Windows that last at a moment, and those that led up to them without a break."""
    found = [event for event in recurring if event.end > now]
    for event in sorted(recurring, key=lambda event: -event.end):
        if event not in found and any(event.end == later.start for later in found):
            found.append(event)
    return found


def raised(
    forecast: Forecast,
    events: tuple[EventWindow, ...],
    learnt: Learnt | None = None,
    series: Series | None = None,
    lead: float = 0.0,
) -> tuple[Forecast, tuple[Reason, ...]]:
    """Change the forecast inside the windows of events.

    Factors of overlapping events multiply; where events say what demand is, the largest of them
    counts, whatever the factors. A step that an event only touches counts as inside. That replicas
    stand *before* an event is the plan's doing: it orders a lead time ahead.

    Parameters
    ----------
    series : what came so far, by which a factor that is under way is corrected
    lead : seconds from a decision until what it orders is Ready at the latest
    """
    steps = forecast.quantiles.shape[1]
    end = forecast.start + steps * forecast.step
    coming = [event for event in events if event.first < end and event.last > forecast.start]
    if not coming:
        return forecast, ()
    times: Floats = forecast.start + forecast.step * np.arange(steps, dtype=np.float64)
    factors, absolute = _effects(coming, learnt, times, forecast.step)
    corrected: tuple[Reason, ...] = ()
    if series is not None and not any(share[0] > 0 for share, _ in absolute):
        factors, corrected = _corrected(forecast, coming, learnt, factors, series)
    changed = replace(forecast, quantiles=_towards(forecast.quantiles * factors, absolute))
    if forecast.ahead is not None:
        moved = _raised_ahead(
            forecast.ahead, factors, absolute, forecast.step, changed.at(0.5), lead
        )
        changed = replace(changed, ahead=moved)
    reasons = tuple(_reason(event, forecast, changed, learnt) for event in coming)
    return changed, (*reasons, *corrected)


def _effects(
    events: list[EventWindow],
    learnt: Learnt | None,
    times: Floats,
    step: float,
    *,
    whole: bool = True,
) -> tuple[Floats, list[tuple[Floats, float]]]:
    """Give the product of factors at each time, and shares of what demand is said to be.

    Parameters
    ----------
    whole : learnt factors are no lower than those of the part in which a time lies
    """
    factors, absolute = np.ones(len(times)), []
    for event in events:
        path = None if learnt is None else learnt.get(event.like)
        if path is not None:
            factors *= _along(event, path, times, step, whole=whole)
        elif event.demand is not None:
            absolute.append((_share(event, times, step), event.demand))
        else:
            factors *= 1 + (event.factor - 1) * _share(event, times, step)
    return factors, absolute


def _corrected(
    forecast: Forecast,
    coming: list[EventWindow],
    learnt: Learnt | None,
    factors: Floats,
    series: Series,
) -> tuple[Floats, tuple[Reason, ...]]:
    """Correct the factors of what is under way by what came since it began."""
    now, step = forecast.start, forecast.step
    running = [event for event in coming if event.start <= now < event.end]
    if not running:
        return factors, ()
    begun = max(event.start for event in running)
    # of the same minutes as what came: a path that falls steeply was higher then than it is now
    back: Floats = now - step * np.arange(1, compared(now - begun, step) + 1, dtype=np.float64)
    before, _ = _effects(coming, learnt, back, step, whole=False)
    expected = float(forecast.at(0.5)[0] * before.mean())
    ratio = ratio_of(series, begun, expected)
    if abs(ratio - 1) < 0.01:
        return factors, ()
    times: Floats = now + step * np.arange(len(factors), dtype=np.float64)
    inside = np.max([_share(event, times, step) for event in running], axis=0)
    names = ", ".join(event.name for event in running)
    recurring = all(event.recurring for event in running)
    reason = Reason(
        code=Code.RECURRING if recurring else Code.EVENT,
        sentence=f"{names}: its first minutes do not bear out {expected:.4g}: "
        f"taken x {ratio:.3g} while it lasts",
        numbers={"expected": expected, "ratio": ratio},
    )
    moved = factors * (1 + (ratio - 1) * inside)
    if ratio > 1:
        # against a minute of which next to nothing was expected everything is huge
        near = float(forecast.at(0.5)[: math.ceil(_NEAR / step)].max())
        moved = np.maximum(factors, np.minimum(moved, GROWS * ratio * expected / max(near, NONE)))
    return moved, (reason,)


def _share(event: EventWindow, times: Floats, step: float) -> Floats:
    """How much of an event each step has: 0 outside, 1 inside, the most of a step on a ramp."""
    share = ((times + step > event.start) & (times < event.end)).astype(np.float64)
    if event.before:
        rising = np.clip((times + step - event.first) / event.before, 0.0, 1.0)
        share = np.maximum(share, np.where(times < event.end, rising, 0.0))
    if event.after:
        falling = np.clip((event.last - times) / event.after, 0.0, 1.0)
        share = np.maximum(share, np.where(times + step > event.start, falling, 0.0))
    return share


def _along(
    event: EventWindow, path: tuple[float, ...], times: Floats, step: float, *, whole: bool
) -> Floats:
    """Factors of a learnt path, stretched to the event; 1 outside.

    `whole`: a line between two parts would cut into a jump that lay between them, and everybody
    who came in its first minutes would wait. Else it is what is most likely.
    """
    inside = (times + step > event.first) & (times < event.last)
    at = (times + step / 2 - event.first) / (event.last - event.first) * len(path) - 0.5
    known = np.asarray(path)
    factor = np.interp(at, np.arange(len(path)), known)
    if whole:
        part = np.clip(np.floor(at + 0.5), 0, len(path) - 1).astype(np.int64)
        factor = np.maximum(factor, known[part])
    factors: Floats = np.where(inside, factor, 1.0)
    return factors


def _towards(paths: Floats, absolute: list[tuple[Floats, float]]) -> Floats:
    """Move paths towards what events say that demand is, by their shares; the largest counts."""
    if not absolute:
        return paths
    told = [
        np.where(share > 0, (1 - share) * paths + share * demand, -np.inf)
        for share, demand in absolute
    ]
    most: Floats = np.max(told, axis=0)
    return np.where(np.isfinite(most), most, paths)


def _raised_ahead(
    ahead: Ahead,
    factors: Floats,
    absolute: list[tuple[Floats, float]],
    step: float,
    median: Floats,
    lead_time: float,
) -> Ahead:
    """Change the distributions; a window is changed as if its peak met the event's.

    A rise whose moment is known is ordered its whole lead time ahead, with the cycle that may pass
    until the next decision: demand that jumps does not wait for a step of the grid. One that begins
    beyond that is in `coming`, for which what stands is kept.
    """
    at = min(round(ahead.after / step), len(factors) - 1)
    last = min(max(at, math.ceil(lead_time / step - 1e-9)), len(factors) - 1)
    until = min(round(ahead.until / step), len(factors) - 1) + 1
    near = float(factors[: last + 1].max())
    peak = min(float(factors[:until].max()), max(near, 1.0))
    window, ago = ahead.window * peak, ahead.ago * peak
    served = [
        _towards(
            ahead.lead * factors[i],
            [(np.full(len(ahead.lead), share[i]), told) for share, told in absolute],
        )
        for i in range(at, last + 1)
    ]
    lead: Floats = np.max(served, axis=0)
    if absolute:
        # what demand is said to be raises a window with its largest share, lowers with its least
        ends = [
            (np.full(len(window), part), told)
            for share, told in absolute
            for part in (share[: last + 1].max(), share[:until].min())
        ]
        kept = any(share[:until].min() == 0 for share, _ in absolute)
        moved = _towards(window, ends)
        window = np.maximum(moved, window) if kept else moved
        ago = ago if kept else float("nan")
    return replace(ahead, lead=lead, window=window, ago=ago, coming=float(median[:until].max()))


def _reason(
    event: EventWindow, plain: Forecast, changed: Forecast, learnt: Learnt | None
) -> Reason:
    """Say what an event does, and what it comes to where it does most."""
    times = plain.start + plain.step * np.arange(plain.quantiles.shape[1])
    inside = np.flatnonzero((times + plain.step > event.first) & (times < event.last))
    before, after = plain.at(0.5)[inside], changed.at(0.5)[inside]
    most = int(np.argmax(np.abs(after - before)))
    numbers = {
        "start": event.start,
        "end": event.end,
        "without": float(before[most]),
        "with": float(after[most]),
    }
    path = None if learnt is None else learnt.get(event.like)
    if path is not None:
        numbers["factor"] = max(path)
        what = f"demand as in {event.like}, up to x {max(path):.3g}"
    elif event.demand is not None:
        numbers["demand"] = event.demand
        what = f"demand is {event.demand:g}"
    else:
        numbers["factor"] = event.factor
        what = f"demand x {event.factor:g}"
    if event.like and path is None:
        what += f" as written for it, since {event.like} is not known from the history"
    now = plain.start
    when = (
        f"in {_minutes(event.first - now)}"
        if event.first > now
        else f"for {_minutes(event.last - now)} more"
    )
    kind = "recurring " if event.recurring else "event "
    return Reason(
        code=Code.RECURRING if event.recurring else Code.EVENT,
        sentence=f"{kind}{event.name}: {what} {when}: {after[most]:.4g}/s instead of "
        f"{before[most]:.4g}/s",
        numbers=numbers,
    )


def _minutes(seconds: float) -> str:
    """Write a span to the minute: days ahead are no thousand minutes."""
    return format_duration(round(seconds / 60) * 60) if seconds >= 30 else "less than a minute"
