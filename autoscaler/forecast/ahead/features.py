"""What is known at a moment about demand a lead ahead: the clock's tables and the last minutes.

The same function serves the nightly fit (a strip of four weeks, every minute an origin) and a
decision (a strip of some hours, the present being its last origin).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.ahead.tables import NAMES, POINT, WINDOW, forward_max
from autoscaler.model import Floats

WARM = 60
"""Minutes of a strip before its first complete origin: means go back that far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What is forecast, in whole steps.

    Attributes
    ----------
    lead : steps after an origin: demand of the step in which replicas ordered there begin to serve
    window : else the largest demand of [0, window] steps after it, None for the lead
    log_shift : logarithm of the shift, below which a load counts as small
    """

    lead: int
    window: int | None
    step: float
    log_shift: float

    @property
    def reach(self) -> int:
        """Steps after an origin at which the last of what is meant has come."""
        return self.lead if self.window is None else self.window

    @property
    def names(self) -> tuple[str, ...]:
        """Tables that tell of it."""
        return POINT if self.window is None else WINDOW

    def steps(self, minutes: float) -> int:
        """Whole steps of some minutes, at least one."""
        return max(1, round(minutes * 60 / self.step))


# minutes of finished misses that are averaged; lags in minutes at which misses recur
_FINISHED = (3, 15, 180)
_SAME_MINUTE = ((60, 120, 180), tuple(range(15, 121, 15)))

_AGREEING = 60
"""Minutes of finished misses to one side after which what they share is believed."""

# location: tables at the target, then these
_RECENT = (
    *("now", "dev5", "dev20", "dev60", "slope2", "slope5", "mean5", "mean20", "mean60"),
    *("since_sharp", "since_yesterday", "since_week_ago", "tide", "one"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Consecutive steps with the tables that belong to them.

    Attributes
    ----------
    z : shape (n,), no holes; origin t in 0 ... n knows z[:t]
    own : shape (len(OWN), n), tables at each step's own time
    tables : shape (len(NAMES), n + 1), tables at the time t + lead (window ones: at t)
    """

    z: Floats
    own: Floats
    tables: Floats

    def table(self, name: str) -> Floats:
        """One table at every origin, shape (n + 1,)."""
        row: Floats = self.tables[NAMES.index(name)]
        return row


def running(values: Floats) -> Floats:
    """Sum all steps before each origin, shape (n + 1,): what `before` takes means of."""
    sums = np.empty(len(values) + 1)
    sums[0] = 0.0
    np.cumsum(values, out=sums[1:])
    return sums


def before(sums: Floats, width: int) -> Floats:
    """Mean of the `width` steps before each origin, shape (n + 1,); of fewer at the start."""
    n = len(sums) - 1
    result = np.empty(n + 1)
    width = min(width, n)
    result[width:] = (sums[width:] - sums[: n + 1 - width]) / width
    if width > 1:
        result[1:width] = sums[1:width] / np.arange(1, width)
    result[0] = sums[1] if n else 0.0
    return result


def lagged(values: Floats, by: int) -> Floats:
    """Shift an array so many steps later, its start repeated."""
    by = min(by, len(values))
    return np.concatenate([np.full(by, values[0]), values[: len(values) - by]])


def recent_features(strip: Strip, aim: Aim) -> Floats:
    """Read the last minutes at every origin, the same for every aim, shape (12, n + 1)."""
    z, steps = strip.z, aim.steps
    since = z - strip.own
    sums, usual = running(z), running(since[0])
    now, two, five = (before(sums, width) for width in (1, steps(2), steps(5)))
    return np.array(
        [
            now,
            *(before(usual, steps(minutes)) for minutes in (5, 20, 60)),
            two - lagged(two, steps(2)),
            five - lagged(five, steps(5)),
            five,
            *(before(sums, steps(minutes)) for minutes in (20, 60)),
            *(before(running(change), 1) for change in since[1:]),
        ]
    )


def location_features(strip: Strip, aim: Aim, recent: Floats) -> Floats:
    """Features of the location, shape (k, n + 1)."""
    tables = [strip.table(name) for name in aim.names]
    tide = tables[0] - before(running(strip.own[0]), 1)
    # np.stack does the same three times slower
    return np.array([*tables, *recent, tide, np.ones(len(tide))])


def prior(aim: Aim) -> Floats:
    """Weights of the location before anything was learnt."""
    names = (*aim.names, *_RECENT)
    believed = {
        "daily": 0.4, "weekly": 0.4, "yesterday": 0.2,
        "w_daily": 0.4, "w_weekly": 0.4, "w_yesterday": 0.2,
        "dev5": 0.6, "dev60": 0.2,
    }  # fmt: skip
    return np.array([believed.get(name, 0.0) for name in names])


def shared(missed: Floats, noise: float, aim: Aim) -> Floats:
    """Say by how much all misses of the last hour missed to one side, at every origin.

    A tenant that left or came, a feed that moved: what lies outside all that weights were learnt on
    is missed by the same amount again and again. What each finished miss of the hour has at least,
    beyond the noise, is no chance. 0 where they lie to both sides, as they do on usual days.

    Parameters
    ----------
    missed : shape (n + 1,), what came less the location of each origin, 0 where that is not known
    noise : mean |missed| of the fit

    Returns
    -------
    shape (n + 1,)
    """
    span, width = aim.reach + 1, aim.steps(_AGREEING)
    finished = lagged(missed, span)
    finished[:span] = 0.0
    # a run of misses beyond the noise that is shorter than the hour shares nothing: the usual case
    calm = np.flatnonzero(np.abs(finished) <= noise)
    if max(int(np.diff(calm).max(initial=0)), len(finished) - int(calm[-1])) <= width:
        return np.zeros(len(finished))
    least = -forward_max(-finished[::-1], width - 1)[::-1]
    most = forward_max(finished[::-1], width - 1)[::-1]
    agreed: Floats = np.maximum(least - noise, 0.0) + np.minimum(most + noise, 0.0)
    return agreed


def scale_features(
    strip: Strip, errors: Floats, clocks: Floats, x: Floats, location: Floats, aim: Aim
) -> Floats:
    """Features of the scale, all >= 0, shape (k, n + 1).

    Parameters
    ----------
    errors : shape (n + 1,), |error| of the forecast made at each origin
    clocks : shape (2, n + 1), usual |error| by clock, wide and narrow, at every origin's target
    x : features of the location
    location : shape (n + 1,)
    """
    span = aim.reach + 1  # from an origin until its error is finished; younger ones are not known
    # at origin t: the newest error that is known then
    finished = running(lagged(errors, span))
    return np.stack(
        [
            np.ones(len(errors)),
            *clocks,
            *(before(finished, aim.steps(minutes))[1:] for minutes in _FINISHED),
            *_shape_of(strip, x, location, aim),
            *(
                np.mean([lagged(errors, max(span, aim.steps(m))) for m in lags], axis=0)
                for lags in _SAME_MINUTE
            ),
        ]
    )


def newest_scale_features(
    strip: Strip, errors: Floats, clocks: Floats, x: Floats, location: Floats, aim: Aim
) -> Floats:
    """Compute the last column of `scale_features` alone, shape (k,): a decision needs no more."""
    newest, span = len(errors) - 1, aim.reach + 1
    stop = max(1, newest - span + 1)  # before the strip began all was as at its beginning
    means = [_mean(errors[max(0, stop - aim.steps(m)) : stop]) for m in _FINISHED]
    back = [[max(0, newest - max(span, aim.steps(m))) for m in lags] for lags in _SAME_MINUTE]
    shape = _shape_of(strip, x, location, aim, slice(-1, None))
    return np.array(
        [
            1.0,
            *clocks[:, -1],
            *means,
            *(feature[0] for feature in shape),
            *(_mean(errors[at]) for at in back),
        ]
    )


def _mean(values: Floats) -> float:
    """Mean as `values.mean()` has it: ten of them are a fiftieth of a decision."""
    return float(np.add.reduce(values)) / len(values)


def _shape_of(
    strip: Strip, x: Floats, location: Floats, aim: Aim, at: slice = slice(None)
) -> tuple[Floats, ...]:
    """Features of the scale that are not misses: slopes, how odd days were, how small the load."""
    tables = len(aim.names)
    daily, high = ("daily", "high") if aim.window is None else ("w_daily", "w_high")
    usual = strip.table(daily)[at]
    shape = (
        np.abs(x[tables + 4, at]),
        np.abs(x[tables + 5, at]),
        np.maximum(strip.table(high)[at] - usual, 0.0),
        np.exp(np.minimum(aim.log_shift - location[at], 1.0)),
    )
    # a window that is usually higher than now has more to go
    return shape if aim.window is None else (*shape, np.abs(x[tables, at] - usual))
