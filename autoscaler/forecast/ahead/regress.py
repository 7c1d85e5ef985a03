"""Two small regressions: a robust one drawn to a prior, and one that never goes negative."""

from __future__ import annotations

import numpy as np

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
    """Non-negative least squares by coordinate descent on the normal equations, shape (k,)."""
    scaled = x * weight
    gram, target = scaled @ x.T, scaled @ y
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-12))
    gram = gram / np.outer(scale, scale)
    target = target / scale
    gram[np.diag_indices_from(gram)] += 1e-6
    found = np.zeros(len(target))
    gradient = -target
    for _ in range(300):
        moved = 0.0
        for i in range(len(found)):
            new = max(0.0, found[i] - gradient[i] / gram[i, i])
            change = new - found[i]
            if change:
                gradient = gradient + gram[i] * change
                found[i] = new
                moved = max(moved, abs(change))
        if moved < 1e-7 * max(1.0, float(found.max())):
            break
    result: Floats = found / scale
    return result
