"""How wide a corrected forecast is at a moment: its errors lie wider at some hours than at others.

A scale of the errors, learnt lead by lead from past ones, tells an hour that is usually missed by
much, minutes that lie off the shape or jump about, and a small load from their opposites. So all
hours can lend each other their tails: an error over its scale says much the same at any of them,
and the upper quantile of an hour does not hang on the handful of days on which it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from autoscaler.forecast.base import LEVELS
from autoscaler.forecast.shapes import smooth
from autoscaler.model import Floats, Ints

HOURS = 12
"""Kinds of hour: two-hour parts of the day."""

FEATURES = 8
"""What tells how wide errors are: one, usual misses, how low the load, unrest."""

_AROUND = 1800.0  # seconds to each side over which the usual miss at a clock time is a mean
_STEPS = 40  # of a regression
_LEAST = 0.2  # of the mean |error|: no scale is smaller
_TINY = 1e-12
_NONE = 1e-6  # of a scale: a rounding, and no error
_BLOCK = 32  # errors whose weights are summed at once
_KERNEL = 2.0  # hours: how far off hours lend their tails
_EVERYWHERE = 0.1  # weight of those that are far off
_LEVELS = np.asarray(LEVELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """What tells how wide errors are.

    Attributes
    ----------
    usual : shape (per_day,), float16, usual |miss| at each slot of the day
    others : shape (d, per_day), the same of all other days than one
    top : largest z that was expected
    """

    usual: NDArray[np.float16]
    others: Floats
    top: float

    @classmethod
    def of(cls, missed: Floats, expected: Floats, step: float) -> Self:
        """Learn from misses and expected z of whole days, shape (d, per_day) each."""
        size = np.abs(missed)
        known = ~np.isnan(size)
        mean = float(size[known].mean()) if known.any() else 0.0
        near = smooth(np.where(known, size, mean), round(_AROUND / step))
        days, total = len(near), near.sum(axis=0)
        others = (total - near) / (days - 1) if days > 1 else np.full(near.shape, mean)
        seen = expected[~np.isnan(expected)]
        return cls(
            usual=(total / max(days, 1)).astype(np.float16),
            others=others,
            top=float(seen.max(initial=-np.inf)),
        )


def features(usual: Floats, below: Floats, recent: Floats) -> Floats:
    """Tell what may widen errors, all >= 0, shape (8, n).

    Parameters
    ----------
    usual : usual |miss| at the clock time that is forecast, shape (n,)
    below : how far z lies below the largest that was expected, shape (n,)
    recent : mean misses of the last minutes, hour and three hours, shape (3, n)
    """
    return np.concatenate([[np.ones(len(usual)), usual, below], unrest(recent)])


def unrest(recent: Floats) -> Floats:
    """How far the last minutes lie off the shape, and how they jump, shape (5, ...)."""
    minutes, hour, hours = recent
    return np.abs([minutes, hour, hours, minutes - hour, hour - hours])


def unit_quantiles(errors: Floats, kinds: Ints) -> Floats:
    """Quantiles `LEVELS` of errors over their scale around each kind of hour, (HOURS, levels).

    Weighted split conformal prediction: hours lend each other their errors, the nearer the more;
    of n errors the smallest whose weight with those below it reaches p (n + 1) / n of all.
    """
    n = len(errors)
    if not n:
        return np.zeros((HOURS, len(LEVELS)))
    order = np.argsort(errors)
    blocks = -(-n // _BLOCK)
    of = np.full(blocks * _BLOCK, HOURS)  # what fills the last block weighs nothing
    of[:n] = kinds[order]
    cell = np.repeat(np.arange(blocks) * (HOURS + 1), _BLOCK) + of
    counts = np.bincount(cell, minlength=blocks * (HOURS + 1)).reshape(blocks, HOURS + 1)
    sums = np.zeros((blocks + 1, HOURS))
    np.cumsum(counts @ _LENT.T, axis=0, out=sums[1:])
    wanted = _LEVELS[:, None] * sums[-1] * (1 + 1 / n) - 1e-9  # (levels, HOURS)
    # a running sum of all weights is looked up: first in which block, then where in it
    block = np.minimum((sums[1:, None] < wanted).sum(axis=0), blocks - 1)
    inside = _LENT[np.arange(HOURS)[:, None], of.reshape(blocks, _BLOCK)[block]]
    reached = sums[block, np.arange(HOURS)][..., None] + np.cumsum(inside, axis=-1)
    at = block * _BLOCK + (reached < wanted[..., None]).sum(axis=-1)
    return _own_side(errors[order][np.minimum(at, n - 1)].T, errors, kinds)


def _own_side(lent: Floats, errors: Floats, kinds: Ints) -> Floats:
    """Keep quantiles of an hour in which often nothing is missed on the side on which its own lie.

    Where so much of its own errors is none that a quantile is, it stays none: by day there is
    noise, but at night nobody comes, and whoever lets the last replica go must know that.
    """
    none = np.abs(errors) <= _NONE
    if not none.any():
        return lent
    count, below, idle = (
        np.bincount(kinds[of], minlength=HOURS)[:, None]
        for of in (slice(None), errors < -_NONE, none)
    )
    rank = np.minimum(np.ceil((count + 1) * _LEVELS), count)
    sided = np.where(rank <= below, np.minimum(lent, 0.0), np.maximum(lent, 0.0))
    sided[(rank > below) & (rank <= below + idle)] = 0.0
    kept: Floats = np.where(idle > 0, sided, lent)
    return kept


def _lent() -> Floats:
    """Weight of the errors of each kind of hour around each, and of none, (HOURS, HOURS + 1)."""
    kinds = np.arange(HOURS)
    apart = np.abs((kinds[:, None] - kinds + HOURS // 2) % HOURS - HOURS // 2) * 24.0 / HOURS
    lent = np.exp(-0.5 * (apart / _KERNEL) ** 2) + _EVERYWHERE
    return np.column_stack([lent, np.zeros(HOURS)])


_LENT = _lent()


def scales_of(grams: Floats, targets: Floats) -> Floats:
    """Weights >= 0 of what tells how wide errors are, by least squares on |errors|, shape (k, 8).

    Multiplicative updates (Lee and Seung 2001) of all leads at once, from as much of each feature
    as would explain all: what no error speaks against stays, and forty steps are a tenth of the
    time of exact ones at the same loss.

    Parameters
    ----------
    grams : features times features, shape (k, 8, 8)
    targets : features times |errors|, shape (k, 8)
    """
    # the first feature is one: its products are the sums
    sums = grams[:, :, 0]
    weights = np.divide(targets[:, :1], sums, out=np.zeros_like(sums), where=sums > _TINY)
    weights /= FEATURES
    for _ in range(_STEPS):
        told = (grams @ weights[..., None])[..., 0]
        weights *= np.divide(targets, told, out=np.ones_like(told), where=told > _TINY)
    return weights


def bounded(weights: Floats, told: Floats, size: Floats) -> tuple[float, float, Floats]:
    """Least and most scale at one lead, and that of each error, shape (n,).

    Parameters
    ----------
    told : `features`, shape (8, n)
    size : |errors|, shape (n,)
    """
    if not len(size):
        return 1.0, 1.0, size
    least = _LEAST * float(size.mean()) + _TINY
    scale = np.maximum(weights @ told, least)
    return least, float(scale.max()), scale
