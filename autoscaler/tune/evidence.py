"""When a bolder candidate may take the place of the usual one: where it is cheaper beyond doubt.

A score is decided by rare flashes, and a few quiet days tell nothing of them; a tide that is calm
day by day can show that less would do (docs/decisions/0004).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from autoscaler.replay.doubt import Daily, ratios

SURE = 0.95
"""Share of the bootstrap draws of days in which it must be cheaper."""

ENOUGH = 10
"""Replayed days below which nothing is beyond doubt."""

CALM = 0.002
"""Largest part of its own requests that may have come late."""

AWAITED = 0.002
"""Part of a day's requests counted as late at the usual price, and `boldness` times that of the
other: what has not come in a fortnight may yet."""

SEED = 0
"""Of the draws of days: the same past gives the same choice."""


def beyond_doubt(usual: Daily, other: Daily, boldness: float, price: float) -> float:
    """Logarithm of how many times the score of `usual` that of `other` is at most.

    Infinite where that cannot be told: on few days, or where requests came late.

    Parameters
    ----------
    usual, other : accounts of the same days
    boldness : how many times as much load it leaves uncovered
    price : of lateness
    """
    if len(usual.cost) < ENOUGH or other.late.sum() > CALM * other.came.sum():
        return math.inf
    found = ratios(_awaiting(usual, 1.0), _awaiting(other, boldness), price, seed=SEED)
    return math.log(float(np.quantile(found, SURE)))


def _awaiting(of: Daily, boldness: float) -> Daily:
    """Add what may yet come late, spread over the days."""
    return replace(of, late=of.late + boldness * AWAITED * of.came / len(of.came))
