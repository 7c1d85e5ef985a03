"""The replayed choice for the distributions ahead: the price of uncovered demand.

Regressions are fitted a few times within the replayed days, on what was known before each; the
tables that they use tell of a day from days before it alone. So every floor that is judged here
could have been decided then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from autoscaler.capacity import replicas_for
from autoscaler.capacity.newsvendor import LEAD_SHARE, WINDOW_SHARE, keeping, uncovered, worth
from autoscaler.forecast.ahead import (
    MASSES,
    Reach,
    Tables,
    fit_models,
    predict_strip,
    strip_of,
)
from autoscaler.forecast.ahead.tables import SEASON
from autoscaler.forecast.days import Days
from autoscaler.model import Floats, Ints
from autoscaler.tune.judge import Judge, Trial

COVERS = tuple(float(2.6 * 3 ** (i / 2)) for i in range(11))
"""Prices of uncovered demand that are tried, at a price of lateness of 1."""

USUAL_COVER = 23.4
"""Price that a choice is drawn to, at a price of lateness of 1."""

DRAW = 8.0
"""Days that speak for the usual price before any was replayed: on 27 recorded services choosing a
price by fewer earned nothing, and on short histories it chose too little (decision 0004). A lower
price that plainly saved needs none (`evidence`)."""

_BLOCKS = 3
_LEAST_DAYS = 3  # whole days before the first that is replayed
_GRID = 48  # numbers of replicas that are told apart in a replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Every price, replayed on the same days.

    Attributes
    ----------
    covers : price of each, shape (m,)
    trial : floors of each
    scores : shape (m,)
    drawn : shape (m,), logarithm of the score and its draw: what is compared
    """

    covers: tuple[float, ...]
    trial: Trial
    scores: Floats
    drawn: Floats

    @property
    def usual(self) -> float:
        """Price that a choice is drawn to, or the nearest that was tried."""
        return self.covers[int(np.argmin(self.drawn - np.log(self.scores)))]

    def at(self, cover: float) -> int:
        """Where a price stands."""
        return self.covers.index(cover)


def covers_at(price: float) -> tuple[float, ...]:
    """Prices of uncovered demand that are tried at a price of lateness.

    The same ladder at every price, entered higher up: were it stretched instead, a little more
    for lateness could mean a rung that covers less.
    """
    rungs = round(2 * math.log(price, 3))
    return tuple(cover * 3 ** (rungs / 2) for cover in COVERS)


def try_all(
    judge: Judge,
    days: Days,
    tables: Tables,
    reach: Reach,
    since: int,
    covers: tuple[float, ...],
) -> Tried | None:
    """Replay every price on the whole days from row `since` on; None without any.

    Parameters
    ----------
    since : first row that may be replayed, so that others are compared on the same days
    covers : prices of uncovered demand
    """
    first = max(_LEAST_DAYS, since)
    rows = np.arange(first, judge.whole)
    if len(rows) < 1:
        return None
    least, most = _least_and_most(judge, days, tables, reach, rows, covers)
    ago = tables.by_name[SEASON][rows].ravel()
    before = replicas_for(np.maximum(np.exp(ago) - days.shift, 0.0), judge.service.capacity)
    raised = np.maximum(least, np.minimum(most, before))
    trial = judge.followed(rows, raised, np.maximum(raised, most))
    scores = judge.scores(trial)
    unusual = np.abs(np.log(np.array(covers) / (USUAL_COVER * judge.service.price)))
    drawn = np.log(scores) + DRAW * unusual / len(rows)
    return Tried(covers=covers, trial=trial, scores=scores, drawn=drawn)


def _least_and_most(
    judge: Judge, days: Days, tables: Tables, reach: Reach, rows: Ints, covers: tuple[float, ...]
) -> tuple[Ints, Ints]:
    """For every price: what must stand, up to what is kept; each shape (prices, steps)."""
    per_day = days.per_day
    caps = judge.caps(rows)
    grain = max(1, int(np.ceil(caps.max() / judge.service.capacity / _GRID)))
    capacity = judge.service.capacity * grain
    most = int(np.ceil(caps.max() / capacity)) + 1
    keep = keeping(judge.service.start_cost)
    least, kept = [], []
    for block in np.array_split(rows, min(_BLOCKS, len(rows))):
        above: Floats | float = 0.0
        # a day before the block warms up what looks back
        strip, slots = strip_of(tables, slice(int(block[0]) - 1, int(block[-1]) + 1), reach.lead)
        models = fit_models(tables, int(block[0]) * per_day, reach.aims(days))
        for model, share in zip(models, (LEAD_SHARE, WINDOW_SHARE), strict=True):
            z = predict_strip(model, strip, slots)[per_day:-1]
            cap = caps[block - rows[0]].ravel()[:, None]
            loads = np.clip(np.exp(np.minimum(z, 600.0)) - days.shift, 0.0, cap)
            above = above + share * uncovered(loads, MASSES, capacity, most)
        least.append(np.stack([worth(np.asarray(above), cover) for cover in covers]) * grain)
        kept.append(np.stack([worth(np.asarray(above), keep * cover) for cover in covers]) * grain)
    must, may = np.concatenate(least, axis=1), np.concatenate(kept, axis=1)
    now, recent = judge.seen(rows)
    return np.maximum(must, now), np.maximum(np.maximum(may, recent), must)
