"""What is known about single steps: bridged gaps, outages, lower bounds.

Marked steps are holes or lower bounds for everything after this stage, never evidence of calm.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats, Mark, Samples

BRIDGED = 600.0
"""Longest gap in seconds that is bridged by a straight line; longer ones stay unknown."""

NOTHING = 0.01
"""Share of the mean demand up to which a step counts as nothing."""

BUSY = 0.3
"""An outage starts from a stretch that never fell below this share of its own median."""

BEFORE = 1800.0
"""Seconds before a fall that must have been busy."""

LONGEST_OUTAGE = 6 * 3600.0
"""After so many seconds a fall to nothing is taken as the truth from its first step on: else it
would hold for ever, or what is gone would be the last that is known."""

LONGEST_PAST = 3 * 86_400.0
"""In hindsight a fall of up to so many seconds was an outage, if it came out of busy hours and went
back to them, and neither the week before nor the one after has the like: demand had not gone, as is
known now. Else zeros of a day and a half in a month would teach those weekdays."""

COMMON = 0.05
"""With more than this share of steps at nothing, nothing is usual for the service."""


def short_gaps_filled(
    values: Floats, marks: NDArray[np.uint8], step: float
) -> tuple[Floats, NDArray[np.bool_] | None]:
    """Bridge short gaps by a line and mark what is missing and what is bridged.

    Returns
    -------
    values : the same array when nothing was missing, else a copy
    known : shape (n,), whether a step was read (before bridging); None when all were
    """
    if not len(values) or not np.isnan(values.min()):
        return values, None
    unknown = np.isnan(values)
    starts, stops = runs(unknown)
    lengths = stops - starts
    filled = values.copy()
    # the first step is known by construction; a gap that reaches the end has no far side
    short = (lengths * step <= max(BRIDGED, step)) & (starts > 0) & (stops < len(values))
    bridged = np.zeros(len(values), dtype=bool)
    for start, stop in zip(starts[short], stops[short], strict=True):
        bridged[start:stop] = True
    where = np.flatnonzero(bridged)
    known = ~unknown
    filled[where] = np.interp(where, np.flatnonzero(known), values[known])
    marks[unknown & ~bridged] |= np.uint8(Mark.MISSING)
    marks[bridged] |= np.uint8(Mark.FILLED)
    return filled, known


def mark_outages(values: Floats, marks: NDArray[np.uint8], step: float) -> None:
    """Mark sudden, unexplained falls to nothing inside busy stretches.

    Explained are falls of a service that often stands at nothing, and those that happened at the
    same time a day or a week before. Recovery is not waited for: while such a fall lasts it is
    marked too, until `LONGEST_OUTAGE`; then none of it is, and once it is over all of it.
    """
    n = len(values)
    if n < 2:
        return
    mean = float(values.mean())  # NaN spreads into it
    if math.isnan(mean):
        mean = float(np.nanmean(values))
    limit = NOTHING * mean
    # one pass tells the usual case; NaN compares false
    if not mean > 0 or not (low := values <= limit).any():
        return
    if low.sum() - COMMON * n > LONGEST_PAST / step:
        return
    low = _without_past(values, low, marks, step, mean)
    if low.sum() > COMMON * n:
        return
    day, most = (round(seconds / step) for seconds in (86_400.0, LONGEST_OUTAGE))
    for start, stop in zip(*runs(low), strict=True):
        if stop - start > most or any(start >= ago and low[start - ago] for ago in (day, 7 * day)):
            continue
        lead = _known(values, start - _sides(step), start)
        if len(lead) < 2 or lead[-1] <= 10 * limit:
            continue
        lead = np.sort(lead)  # its median without the price of `np.median`, a decision's half
        middle = (lead[(len(lead) - 1) // 2] + lead[len(lead) // 2]) / 2
        if lead[0] <= limit or lead[0] < BUSY * middle:
            continue
        marks[start:stop] |= np.uint8(Mark.OUTAGE)


def _without_past(
    values: Floats, low: NDArray[np.bool_], marks: NDArray[np.uint8], step: float, mean: float
) -> NDArray[np.bool_]:
    """Mark long falls that are over, and give the low steps without them: they make no custom."""
    starts, stops = runs(low)
    least, most = (LONGEST_OUTAGE / step, LONGEST_PAST / step)
    long = np.flatnonzero((stops - starts > least) & (stops - starts <= most) & (stops < len(low)))
    if not len(long):
        return low
    week, beside = round(7 * 86_400.0 / step), _sides(step)
    rest = low.copy()
    for start, stop in zip(starts[long], stops[long], strict=True):
        others = [
            low[start + by : stop + by]
            for by in (-week, week)
            if start + by >= 0 and stop + by <= len(low)
        ]
        sides = (_known(values, start - beside, start), _known(values, stop, stop + beside))
        if not others or any(2 * other.sum() > len(other) for other in others):
            continue
        # a lone request is no return: who left for good would be expected back for a day
        if all(len(side) > beside / 2 and np.median(side) >= BUSY * mean for side in sides):
            marks[start:stop] |= np.uint8(Mark.OUTAGE)
            rest[start:stop] = False
    return rest


def _sides(step: float) -> int:
    """Count the steps beside a fall that say whether it came out of busy hours, and went back."""
    return max(2, round(BEFORE / step))


def _known(values: Floats, first: int, stop: int) -> Floats:
    """Known values of some steps, as far as there are such."""
    part = values[max(0, first) : stop]
    return part[~np.isnan(part)]


def mark_saturated(
    saturated: Samples, demand: Samples, marks: NDArray[np.uint8], first: int, step: float
) -> None:
    """Mark the steps in which the source says that demand is only a lower bound."""
    if saturated.times is demand.times and len(saturated) >= len(marks) > 0:
        flags = saturated.values[: len(marks)] > 0
        if saturated.times[0] == first * step and not flags.any():
            return
    usable = np.isfinite(saturated.times) & (saturated.values > 0)
    at = np.floor(saturated.times[usable] / step + 1e-9) - first
    at = at[(at >= 0) & (at < len(marks))].astype(np.int64)
    marks[at] |= np.uint8(Mark.SATURATED)


def runs(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Start and stop (exclusive) of every run of True."""
    edges = np.diff(flags.astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
