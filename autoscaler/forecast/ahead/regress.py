"""Two small regressions: a robust one drawn to a prior, and one that never goes negative."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats

_PASSES = 3
_ROBUST = 1.4826  # median |error| of a normal error is 1/_ROBUST standard deviations
_LEAST_RIDGE = 0.01  # features may be the very same, and a past without noise is no promise
_CUT = 3.0  # standard deviations beyond which an error counts less


def huber_ridge(
    x: Floats, y: Floats, weight: Floats, prior: Floats, ridge: tuple[float, float]
) -> Floats:
    """Weights of features, shape (k,), for x of shape (k, n): Huber loss, drawn to `prior`.

    `ridge` is how strongly, times the variance of the errors, and at most: where little is
    noise, even small differences between features are evidence.
    """
    coefficients = prior
    error = y - prior @ x
    for _ in range(_PASSES):
        deviation = _ROBUST * float(np.median(np.abs(error))) + 1e-12
        used = weight * np.minimum(1.0, _CUT * deviation / np.maximum(np.abs(error), 1e-12))
        scaled = x * used
        gram = scaled @ x.T
        gram[np.diag_indices_from(gram)] += max(
            min(ridge[0] * deviation**2, ridge[1]), _LEAST_RIDGE
        )
        coefficients = prior + np.linalg.solve(gram, scaled @ (y - prior @ x))
        error = y - coefficients @ x
    return coefficients


def nonnegative(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Non-negative least squares on the normal equations, shape (k,).

    The active set method of Lawson and Hanson as Bro and de Jong (1997) do it: some 15 small
    systems, and no import of scipy's optimizers, which costs more than all of a night's fits.
    """
    scaled = x * weight
    gram, target = scaled @ x.T, scaled @ y
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-12))
    gram = gram / np.outer(scale, scale)
    target = target / scale
    gram[np.diag_indices_from(gram)] += 1e-6
    found = np.zeros(len(target))
    positive = np.zeros(len(target), dtype=bool)
    least = 1e-10 * max(1.0, float(np.abs(target).max()))
    for _ in range(3 * len(target)):
        gain = np.where(positive, -np.inf, target - gram @ found)
        best = int(np.argmax(gain))
        if gain[best] <= least:
            break
        positive[best] = True
        found = _within(gram, target, found, positive)
    result: Floats = found / scale
    return result


def _within(gram: Floats, target: Floats, found: Floats, positive: NDArray[np.bool_]) -> Floats:
    """Solve for what is `positive`, dropping from it, in place, what would turn negative."""
    while True:
        wanted = np.zeros(len(target))
        at = np.flatnonzero(positive)
        wanted[at] = np.linalg.solve(gram[np.ix_(at, at)], target[at])
        turned = at[wanted[at] <= 0]
        if not len(turned):
            return wanted
        part = float(np.min(found[turned] / (found[turned] - wanted[turned] + 1e-300)))
        found = np.maximum(found + part * (wanted - found), 0.0)
        positive[turned[found[turned] <= 1e-14]] = False
        if not positive.any():
            return np.zeros(len(target))
