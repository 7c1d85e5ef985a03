"""What past days say about a clock time: tables by wall-clock day, each row from earlier rows only.

A row past midnight may use the day before it up to the same clock time and no further, so that a
forecast made before midnight is fitted on what it would have known.

A day that is not like its weekday (a holiday, a swapped working day) is evidence for days like it
alone: before other days its weekday's newest ordinary row stands for it, and its own tables are
those of the newest ordinary day that it is like.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.days import Days
from autoscaler.model import Floats, Ints

_DECAY = 0.8  # weight of a day by its age; of a same weekday by its age in weeks
_SHARP_DECAY = 0.85
_WIDE, _NARROW, _HIGH = 600.0, 120.0, 420.0  # seconds to each side
_WEEK = 7

POINT = ("daily", "sharp", "exact", "weekly", "yesterday", "week_ago", "high", "second")
WINDOW = ("w_daily", "w_weekly", "w_yesterday", "w_week_ago", "w_high", "w_second")
SEASON = "w_season"
"""Windows of yesterday and a week ago: what may come again, though no distribution says so."""

NAMES = (*POINT, *WINDOW, SEASON)

OWN = ("daily", "sharp", "yesterday", "week_ago")
"""Tables against which the last minutes are held, at their own time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Tables by day.

    Attributes
    ----------
    z : shape (days, per_day), holes filled from earlier days
    by_name : each shape (days + 2, per_day); row d tells of day d from days before it
    """

    z: Floats
    by_name: dict[str, Floats]

    @property
    def per_day(self) -> int:
        """Slots in a day."""
        return int(self.z.shape[1])


def tables_of(days: Days, window: int) -> Tables:
    """Tables of every day there is and of the two to come; `window` in steps."""
    z = filled(days)
    count = len(z)
    before = np.arange(count + 2) - 1
    likes = [days.alike(d, count, 2) for d in range(count + 2)]
    alike = np.array([next(iter(rows), -1) for rows in likes])
    wide, narrow, high = (max(1, round(s / days.step)) for s in (_WIDE, _NARROW, _HIGH))
    windows = _windows(z, window)
    weekly = {
        "weekly": _faded(smoothed(z, wide), alike, _DECAY),
        "week_ago": _ago(z, alike),
        "w_weekly": _faded(windows, alike, _DECAY),
        "w_week_ago": _ago(windows, alike),
    }
    lower = _lower(weekly["w_weekly"], [len(rows) for rows in likes], wide)
    season = np.maximum(_ago(windows, before) + lower, weekly["w_week_ago"])
    usual = np.array([days.usual(d) for d in range(count)])
    odd = bool((usual != np.arange(count)).any())
    ordinary = z[usual] if odd else z
    windows = _windows(ordinary, window) if odd else windows
    first, second = _two_highest(centred_max(ordinary, high))
    w_first, w_second = _two_highest(windows)
    daily = {
        "daily": _faded(smoothed(ordinary, wide), before, _DECAY),
        "sharp": _faded(smoothed(ordinary, narrow), before, _SHARP_DECAY),
        "exact": _faded(ordinary, before, _SHARP_DECAY),
        "yesterday": _ago(ordinary, before),
        "high": first,
        "second": second,
        "w_daily": _faded(windows, before, _DECAY),
        "w_yesterday": _ago(windows, before),
        "w_high": w_first,
        "w_second": w_second,
    }
    stand = np.array([days.stand_in(d) for d in range(count + 2)])
    if (stand != np.arange(count + 2)).any():
        daily = {name: rows[stand] for name, rows in daily.items()}
    return Tables(z=z, by_name=daily | weekly | {SEASON: season})


def _windows(z: Floats, window: int) -> Floats:
    """Largest of each slot and the `window` after it, over midnight too, same shape."""
    flat = z.ravel()
    ahead = forward_max(np.concatenate([flat, np.full(window, flat[-1])]), window)
    return ahead[: len(flat)].reshape(z.shape)


def _lower(weekly: Floats, weeks: list[int], reach: int) -> Floats:
    """How much lower than the day before a day of the week usually is, by row; never above 0.

    On a Saturday a Friday comes again lower. One week is no custom: 0 with fewer than two.
    """
    result = np.zeros_like(weekly)
    result[1:] = np.minimum(smoothed(weekly[1:] - weekly[:-1], reach), 0.0)
    result[1:][np.minimum(weeks[1:], weeks[:-1]) < 2] = 0.0
    return result


def filled(days: Days) -> Floats:
    """Fill holes from the newest day like it at the same time, else from the day before it.

    In the first day, where neither is, by the last known value. What is still to come of today is
    first of all like yesterday, unless one of the two is like no day of its own.
    """
    if not np.isnan(days.z).any():
        return days.z
    z = days.z.copy()
    for d, row in enumerate(z):
        today = d == days.count - 1 and not (days.odd(d) or days.odd(d - 1))
        if today and d:
            row[days.now :] = z[d - 1, days.now :]
        for source in (*days.alike(d, d, 1), d - 1):
            holes = np.isnan(row)
            if source >= 0 and holes.any():
                row[holes] = z[source][holes]
        holes = np.isnan(row)
        if not holes.any():
            continue
        known = np.flatnonzero(~holes)
        if len(known):
            at = np.clip(np.searchsorted(known, np.arange(len(row)), "right") - 1, 0, None)
            row[:] = row[known[at]]
        else:
            row[:] = days.z[~np.isnan(days.z)][0]
    return z


def smoothed(z: Floats, reach: int) -> Floats:
    """Mean over +-reach slots within each row, cut at midnight, same shape."""
    m = z.shape[1]
    reach = min(reach, m)
    sums = np.zeros((len(z), m + 1 + 2 * reach))  # so many more slots, in which nothing is added
    np.cumsum(z, axis=1, out=sums[:, reach + 1 : reach + 1 + m])
    sums[:, reach + 1 + m :] = sums[:, reach + m, None]
    at = np.arange(m)
    mean: Floats = sums[:, 2 * reach + 1 :] - sums[:, :m]
    mean /= np.minimum(at + reach + 1, m) - np.maximum(at - reach, 0)
    return mean


def forward_max(values: Floats, ahead: int) -> Floats:
    """Largest of [t, t + ahead], along the last axis."""
    best = values.copy()
    n, span = values.shape[-1], 1
    while span < min(ahead + 1, n):
        shift = min(span, ahead + 1 - span)
        np.maximum(best[..., :-shift], best[..., shift:], out=best[..., :-shift])
        span += shift
    return best


def centred_max(z: Floats, reach: int) -> Floats:
    """Largest over +-reach slots within each row, same shape."""
    padded = np.concatenate(
        [np.full((len(z), reach), -np.inf), z, np.full((len(z), reach), -np.inf)], axis=1
    )
    return forward_max(padded, 2 * reach)[:, : z.shape[1]]


def _faded(z: Floats, sources: Ints, decay: float) -> Floats:
    """Mean of the rows from source to source, fading; -1 is none: the day before stands for it."""
    count = len(z)
    result = np.empty((count + 2, z.shape[1]))
    total, weight = np.zeros_like(result), np.zeros(count + 2)
    for d in range(count + 2):
        source = int(sources[d])
        if source < 0:
            result[d] = z[min(max(d - 1, 0), count - 1)]
            continue
        known = z[source] if source < count else result[source]
        total[d] = decay * total[source] + known
        weight[d] = decay * weight[source] + 1
        result[d] = total[d] / weight[d]
    return result


def _ago(z: Floats, sources: Ints) -> Floats:
    """Row of the source of each; the newest there is where that is not known."""
    count = len(z)
    at = np.minimum(sources, count - 1)
    newest = np.clip(np.arange(count + 2) - 1, 0, count - 1)
    rows = np.where(at < 0, newest, at)
    result: Floats = z[rows]
    return result


def _two_highest(z: Floats) -> tuple[Floats, Floats]:
    """Largest and second largest of the last seven rows before each."""
    count = len(z)
    first, second = (np.empty((count + 2, z.shape[1])) for _ in range(2))
    for d in range(count + 2):
        rows = z[max(0, d - _WEEK) : max(1, min(d, count))]
        if len(rows) < 2:
            rows = z[max(0, min(d, count) - 1) : max(1, min(d, count))]
            first[d] = second[d] = rows[-1]
            continue
        # row by row: a third of the time of `np.partition`
        np.maximum(rows[0], rows[1], out=first[d])
        np.minimum(rows[0], rows[1], out=second[d])
        for row in rows[2:]:
            np.maximum(second[d], np.minimum(first[d], row), out=second[d])
            np.maximum(first[d], row, out=first[d])
    return first, second
