"""How sure a score is: a bootstrap over days.

Days are drawn with replacement, and cost, the clairvoyant's cost, late and all requests of the same
days are summed anew. Days and not steps, since what happens within a day hangs together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from autoscaler.model import Floats
from autoscaler.replay.run import Replayed
from autoscaler.replay.score import by_day, score_of
from autoscaler.replay.service import Service

DRAWS = 2000

SEED = 0
"""Of the draws on which a choice stands: the same past gives the same choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """95 % interval of a number."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """95 % intervals of what a run is judged by."""

    score: Interval
    cost_ratio: Interval
    late_fraction: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily:
    """What each whole day of one run came to, shape (days,) each.

    Attributes
    ----------
    cost : replica-seconds, starts included
    late, came : late and all requests
    """

    cost: Floats
    late: Floats
    came: Floats


def daily(run: Replayed, demand: Floats, service: Service, day: int) -> tuple[Daily, ...]:
    """Account for each timeline by whole days of `day` steps; a partial last one is left out."""
    held = by_day(run.total * service.step + run.started * service.start_cost, day)
    late = by_day(np.where(run.late, demand, 0.0), day)
    came = by_day(demand[None, :], day)[0].astype(np.float64)
    return tuple(
        Daily(cost=cost.astype(np.float64), late=waited.astype(np.float64), came=came)
        for cost, waited in zip(held, late, strict=True)
    )


def intervals(run: Daily, best: Daily, price: float, *, seed: int) -> Intervals | None:
    """Bootstrap a run against the clairvoyant; None with fewer than two days.

    Parameters
    ----------
    seed : of the draws
    """
    days = len(run.cost)
    if days < 2:
        return None
    ratio, share, score = _drawn(run, best, price, seed)
    return Intervals(
        score=interval_of(score),
        cost_ratio=interval_of(ratio),
        late_fraction=interval_of(share),
    )


def ratios(one: Daily, other: Daily, price: float, *, seed: int) -> Floats:
    """Bootstrap how many times the score of `one` the score of `other` is, shape (draws,).

    The same days for both, so that what happened to both says nothing. Empty with fewer than two
    days.
    """
    if len(one.cost) < 2:
        return np.empty(0)
    same = Daily(cost=np.ones(len(one.cost)), late=one.late, came=one.came)  # it cancels out
    mine, theirs = (_drawn(run, same, price, seed)[2] for run in (one, other))
    return np.divide(theirs, mine, out=np.ones(DRAWS), where=(mine > 0) & (theirs > 0))


def _drawn(run: Daily, best: Daily, price: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """Cost ratio, late share and score of each draw of days; the same days for the same seed."""
    often = _draws(len(run.cost), seed)
    ratio = (often @ run.cost) / (often @ best.cost)
    arrived = often @ run.came
    share = np.divide(often @ run.late, arrived, out=np.zeros(DRAWS), where=arrived > 0)
    return ratio, share, score_of(ratio, 1.0, share, price)


@lru_cache(maxsize=8)
def _draws(days: int, seed: int) -> Floats:
    """How often each day is in each draw, shape (draws, days)."""
    drawn = np.random.default_rng(seed).integers(days, size=(DRAWS, days))
    at = drawn + days * np.arange(DRAWS)[:, None]
    often = np.bincount(at.ravel(), minlength=DRAWS * days).reshape(DRAWS, days)
    return often.astype(np.float64)


def interval_of(values: Floats) -> Interval:
    """Give the 2.5 % and 97.5 % quantiles."""
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(low=float(low), high=float(high))
