"""When a bolder candidate may take the place of the usual one: where what it saved is plain.

A score is decided by rare flashes, and a few quiet days tell nothing of them. But where days went
by on which next to nothing came late at a lower price of uncovered demand, its next days are like
those days more often than not: docs/decisions/0004.
"""

from __future__ import annotations

import math

import numpy as np

from autoscaler.replay import score_of
from autoscaler.replay.doubt import Daily

ENOUGH = 6
"""Replayed days below which nothing speaks for a lower price."""

BLIND = 10
"""The same for a quantile, which does not see how much demand lies beyond it."""

CALM = 0.001
"""Largest part of its own requests that may have come late."""

WORTHWHILE = 0.02
"""Part of the score that it must save: what has not come on these days may yet."""


def saved(usual: Daily, other: Daily, price: float, enough: int = ENOUGH) -> float:
    """Logarithm of how many times the score of `usual` that of `other` was, and what it must save.

    Below 0 where it is better. Infinite where that cannot be told: on few days, or where requests
    came late.

    Parameters
    ----------
    usual, other : accounts of the same days
    price : of lateness
    enough : days below which nothing can be told
    """
    if len(usual.cost) < enough or other.late.sum() > CALM * other.came.sum():
        return math.inf
    mine, theirs = (_score(of, price) for of in (usual, other))
    return math.log(theirs / mine) + WORTHWHILE


def _score(of: Daily, price: float) -> float:
    """Score against a clairvoyant that costs 1: it cancels out."""
    late = of.late.sum() / max(float(of.came.sum()), 1e-300)
    return float(score_of(np.array([of.cost.sum()]), 1.0, np.array([late]), price)[0])
