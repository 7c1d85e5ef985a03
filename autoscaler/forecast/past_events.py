"""What past events were like, for those that are like them.

How demand stood against what an ordinary such day would have brought (the robust weekly profile of
the days before), along the event from the start of its ramp to the end of the other: a path of
factors. A path rather than one number, since a sale has its evening and its night.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autoscaler.forecast.clock import DAY, wall_seconds
from autoscaler.forecast.days import Days, trusted
from autoscaler.forecast.profile import PROFILE
from autoscaler.model import Floats, Series
from autoscaler.schema.events import EventWindow

_PART = 900.0  # seconds: a quarter of an hour has demand enough to be divided
_PARTS = 96
_KNOWN = 0.5  # of the parts; with less, what is written for the event counts
_ASIDE = 2  # parts to each side of one that say what it would have been without a dip
_MOST = 1000.0  # as a factor may be written


def learn_events(
    series: Series, days: Days, events: tuple[EventWindow, ...]
) -> dict[str, tuple[float, ...]]:
    """Learn from every past event that another is like, by name; none that is not over or known.

    Parameters
    ----------
    series : with the events in it
    days : of the same series with the events unknown
    """
    wanted = {event.like for event in events}
    return {
        event.name: path
        for event in events
        if event.name in wanted
        for path in _path(series, days, event)
    }


def _path(series: Series, days: Days, event: EventWindow) -> Iterator[tuple[float, ...]]:
    """Yield the path of factors, or nothing when too little is known."""
    if event.first < series.start or event.last > series.end:
        return
    first = int((event.first - series.start) // series.step)
    last = int(np.ceil((event.last - series.start) / series.step))
    demand = trusted(series)[first:last]
    usual = _usual(series, days, first, last)
    if usual is None:
        return
    parts = int(np.clip((event.last - event.first) // _PART, 1, _PARTS))
    part = np.minimum(np.arange(last - first) * parts // (last - first), parts - 1)
    known = ~(np.isnan(demand) | np.isnan(usual))
    came = np.bincount(part[known], weights=demand[known], minlength=parts)
    expected = np.bincount(part[known], weights=usual[known], minlength=parts)
    # against next to nothing everything is huge: there the peak of the whole is the measure
    sound = expected > 1e-3 * expected.max(initial=0.0)
    if sound.sum() < _KNOWN * parts:
        return
    at = np.flatnonzero(sound)
    factors = _whole(np.interp(np.arange(parts), at, came[at] / expected[at]))
    yield tuple(float(factor) for factor in np.clip(factors, 0.0, _MOST))


def _whole(path: Floats) -> Floats:
    """Fill dips of up to two parts: half an hour in which nothing arrived is not what it was like.

    Peaks stay: they may be what the event was.
    """
    if len(path) < 2 * _ASIDE + 1:
        return path
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(path, _ASIDE, mode="reflect"), 2 * _ASIDE + 1
    )
    whole: Floats = np.maximum(path, np.median(around, axis=1))
    return whole


def _usual(series: Series, days: Days, first: int, last: int) -> Floats | None:
    """Demand that days like these would have brought, shape (last - first,); None if unknown."""
    start = series.start + first * series.step
    wall = wall_seconds(start, series.step, last - first, days.zone)
    row = np.floor(wall / DAY).astype(np.int64) - days.first
    slot = np.minimum(((wall % DAY) / days.step).astype(np.int64), days.per_day - 1)
    known = int(row[0])
    if known < PROFILE.least:
        return None
    expect = PROFILE.prepare(days)
    z = np.stack([expect(int(each), known) for each in range(known, int(row[-1]) + 1)])
    usual: Floats = np.maximum(np.exp(z[row - known, slot]) - days.shift, 0.0)
    return usual
