"""The replayed choice for the distributions ahead: price of uncovered demand, and season.

Regressions are fitted a few times within the replayed days, on what was known before each; the
tables that they use tell of a day from days before it alone. So every floor that is judged here
could have been decided then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.capacity import replicas_for
from autoscaler.capacity.newsvendor import KEEP, LEAD_SHARE, WINDOW_SHARE, uncovered, worth
from autoscaler.forecast.ahead import (
    MASSES,
    Reach,
    Tables,
    fit_model,
    predict_strip,
    strip_of,
)
from autoscaler.forecast.ahead.fitted import SEASONS
from autoscaler.forecast.days import Days
from autoscaler.model import Floats, Ints
from autoscaler.tune.judge import Judge, Trial

COVERS = tuple(float(2.6 * 3 ** (i / 2)) for i in range(11))
"""Prices of uncovered demand that are tried."""

USUAL_COVER = 18.0
"""Price that a choice is drawn to."""

DRAW = 2.0
"""Days that speak for the usual price before any was replayed: on 27 recorded services one was less
good by 1.5 % (geometric mean), three no better."""

_BLOCKS = 3
_LEAST_DAYS = 3  # whole days before the first that is replayed
_GRID = 48  # numbers of replicas that are told apart in a replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the replay chose; `drawn`, logarithm of the score and its draw, is what is compared."""

    cover: float
    season: int
    score: float
    drawn: float


def choose(judge: Judge, days: Days, tables: Tables, reach: Reach, since: int) -> Chosen | None:
    """Replay every price and season on the whole days from row `since` on; None without any.

    Parameters
    ----------
    since : first row that may be replayed, so that others are compared on the same days
    """
    first = max(_LEAST_DAYS, since)
    rows = np.arange(first, judge.whole)
    if len(rows) < 1:
        return None
    least, most = _least_and_most(judge, days, tables, reach, rows)
    floors, found = [], []
    for season, name in SEASONS.items():
        if season and first < season:
            continue
        raised = least
        if name is not None:
            ago = np.exp(tables.by_name[name][rows].ravel()) - days.shift
            before = replicas_for(np.maximum(ago, 0.0), judge.service.capacity)
            raised = np.maximum(least, np.minimum(most, before))
        floors.append(judge.held(raised, np.maximum(raised, most)))
        found += [(cover, season) for cover in COVERS]
    trial = Trial(rows=rows, floors=np.concatenate(floors).reshape(len(found), len(rows), -1))
    scores = judge.scores(trial)
    draw = [DRAW * abs(np.log(cover / USUAL_COVER)) for cover, _ in found]
    drawn = np.log(scores) + np.array(draw) / len(rows)
    best = int(np.argmin(drawn))
    cover, season = found[best]
    return Chosen(cover=cover, season=season, score=float(scores[best]), drawn=float(drawn[best]))


def _least_and_most(
    judge: Judge, days: Days, tables: Tables, reach: Reach, rows: Ints
) -> tuple[Ints, Ints]:
    """For every price: what must stand, up to what is kept; each shape (prices, steps)."""
    per_day = days.per_day
    caps = judge.caps(rows)
    grain = max(1, int(np.ceil(caps.max() / judge.service.capacity / _GRID)))
    capacity = judge.service.capacity * grain
    most = int(np.ceil(caps.max() / capacity)) + 1
    least, kept = [], []
    for block in np.array_split(rows, min(_BLOCKS, len(rows))):
        above: Floats | float = 0.0
        # a day before the block warms up what looks back
        strip, slots = strip_of(tables, slice(int(block[0]) - 1, int(block[-1]) + 1), reach.lead)
        for aim, share in zip(reach.aims(days), (LEAD_SHARE, WINDOW_SHARE), strict=True):
            model = fit_model(tables, int(block[0]) * per_day, aim)
            z = predict_strip(model, strip, slots)[per_day:-1]
            cap = caps[block - rows[0]].ravel()[:, None]
            loads = np.clip(np.exp(np.minimum(z, 600.0)) - days.shift, 0.0, cap)
            above = above + share * uncovered(loads, MASSES, capacity, most)
        least.append(np.stack([worth(np.asarray(above), cover) for cover in COVERS]) * grain)
        kept.append(np.stack([worth(np.asarray(above), KEEP * cover) for cover in COVERS]) * grain)
    must, may = np.concatenate(least, axis=1), np.concatenate(kept, axis=1)
    now, recent = judge.seen(rows)
    return np.maximum(must, now), np.maximum(np.maximum(may, recent), must)
