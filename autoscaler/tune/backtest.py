"""What the chosen forecaster would have said on past days, and how good that was.

Strictly out of sample: corrections, quantiles and regressions are learnt on the days before those
that are judged; each day is expected from the days before it. The horizons are the lead, on what
replicas are ordered on, an hour and a day.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from autoscaler.capacity import ACTUATION
from autoscaler.fallback import usual_of
from autoscaler.forecast import Drawn
from autoscaler.forecast.accuracy import DAY, HOUR, UPPER, accuracy_of, reaching, relative_loss
from autoscaler.forecast.ahead import (
    MASSES,
    Reach,
    Tables,
    TideAhead,
    fit_model,
    predict_strip,
    strip_of,
)
from autoscaler.forecast.base import LEVELS
from autoscaler.forecast.days import Days
from autoscaler.forecast.response import Misses, Response, learn_response, looked_up
from autoscaler.forecast.width import HOURS
from autoscaler.model import Accuracy, Floats, Ints, Knowledge, Usual
from autoscaler.policy import TidePolicy

JUDGED_DAYS = 7
"""Newest whole days that are judged."""

_MIDDLE, _HIGH = LEVELS.index(0.5), LEVELS.index(UPPER)
_MASS = [reaching(MASSES, level) for level in (0.5, UPPER)]


def measured(
    known: Knowledge,
    policy: TidePolicy,
    days: Days,
    misses: tuple[Misses, Misses],
    tables: Tables | None,
) -> Knowledge:
    """Add to what was learnt how good its forecasts are, and within which range they miss.

    Parameters
    ----------
    misses : of the tidal forecaster for what a decision looks at, and of the one that draws the day
    tables : of the distributions ahead, where they decide the moment
    """
    spec, fitted = policy.spec, known.fitted
    ahead, lead = None, round((spec.cold_start_seconds + ACTUATION) / days.step)
    if isinstance(fitted, TideAhead) and tables is not None:
        ahead, lead = (tables, fitted.reach), fitted.reach.lead
    near = _Tide.of(misses[0], days)
    far = near if misses[1] is misses[0] else _Tide.of(misses[1], days)
    if near is None or far is None:
        return known
    reach = fitted.reach if isinstance(fitted, Drawn) else 0

    def tide(steps: int) -> _Tide:
        return near if steps < reach else far

    found = _backtest(days, lead, spec.capacity.per_replica, ahead, tide)
    return known if found is None else replace(known, accuracy=found[0], usual=found[1])


def _backtest(
    days: Days,
    lead: int,
    capacity: float,
    ahead: tuple[Tables, Reach] | None,
    tide: Callable[[int], _Tide],
) -> tuple[tuple[Accuracy, ...], Usual] | None:
    """Judge a forecaster on whole days; None when nothing is known of the steps a lead ahead.

    Parameters
    ----------
    tide : says who forecasts so many steps ahead
    """
    demand = _demand(days, days.z.ravel())
    found, losses = [], np.empty(0)
    for steps in dict.fromkeys((lead, round(HOUR / days.step), round(DAY / days.step))):
        by = tide(steps)
        origins = (by.judged[:, None] * days.per_day + np.arange(days.per_day)).ravel()
        if steps == lead and ahead is not None:
            z = _by_ahead(days, *ahead, by.judged)
        else:
            z = by.expected(steps)
        median, upper = _demand(days, z)
        came = _at(demand, origins + steps)
        naive = {
            "last-value": _at(demand, origins - 1),
            "yesterday": _at(demand, origins + steps - days.per_day),
            "last-week": _at(demand, origins + steps - 7 * days.per_day),
        }
        found.append(accuracy_of(steps * days.step, came, median, upper, naive))
        if steps == lead:
            losses = relative_loss(came, median, upper, capacity)
    if np.isnan(losses).all():
        return None
    return tuple(each for each in found if each is not None), usual_of(losses, days.step)


def _demand(days: Days, z: Floats) -> Floats:
    """Demand per second of a logarithm, same shape."""
    demand: Floats = np.maximum(np.exp(np.minimum(z, 600.0)) - days.shift, 0.0)
    return demand


def _at(demand: Floats, index: Ints) -> Floats:
    """Demand at slots counted from the first day; NaN where that is outside of what is known."""
    inside = (index >= 0) & (index < len(demand))
    values: Floats = np.where(inside, demand[np.clip(index, 0, len(demand) - 1)], np.nan)
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tide:
    """A tidal forecaster as it was before the days that are judged.

    Attributes
    ----------
    at : shape (d,), which of the rows of `misses` are judged
    """

    misses: Misses
    at: Ints
    response: Response

    @classmethod
    def of(cls, misses: Misses, days: Days) -> Self | None:
        """Learn corrections and quantiles before the newest whole days; None without one."""
        whole = days.count if days.now == days.per_day else days.count - 1
        usable = int(np.searchsorted(misses.rows, whole))
        first = max(usable - JUDGED_DAYS, (usable + 1) // 2, 1)
        if usable <= first:
            return None
        response = learn_response(misses, np.arange(first), days.step)
        return cls(misses=misses, at=np.arange(first, usable), response=response)

    @property
    def judged(self) -> Ints:
        """Rows of the days that are judged."""
        return self.misses.rows[self.at]

    def expected(self, steps: int) -> Floats:
        """Give median and upper quantile of z so many steps after every slot, shape (2, n)."""
        misses, rows = self.misses, self.at
        per_day = misses.recent.shape[2]
        slot = np.arange(per_day) + steps
        _, expected = looked_up(misses.expected, rows[:, None], slot, per_day)
        recent = misses.recent[:, rows].reshape(len(misses.recent), -1)
        lead = np.array([float(steps)])
        z = expected.ravel() + self.response.correction(recent, lead)[0]
        at = np.tile(slot % per_day, len(rows))
        wide = self.response.widths(z[None], at, recent, lead)[0]
        spread = self.response.spreads(np.arange(HOURS), np.full(HOURS, lead[0]))
        both: Floats = z + wide * spread[at * HOURS // per_day][:, [_MIDDLE, _HIGH]].T
        return both


def _by_ahead(days: Days, tables: Tables, reach: Reach, rows: Ints) -> Floats:
    """Median and upper quantile of z a lead after every slot of the rows, shape (2, n)."""
    aim, _ = reach.aims(days)
    first = int(rows[0])
    model = fit_model(tables, first * days.per_day, aim)
    # a day before them warms up what looks back
    strip, slots = strip_of(tables, slice(first - 1, int(rows[-1]) + 1), reach.lead)
    z = predict_strip(model, strip, slots)[days.per_day : -1]
    return z[:, _MASS].T
