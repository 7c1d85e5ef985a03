"""The arithmetic of floor paths: windows that look ahead, and what is kept between two needs.

Kept is decided per replica level: for every level k, a gap in which k replicas are not ordered is
closed when it is shorter than the break-even. Written level by level that costs levels x steps;
the same path is a chain of clamps,

    floor[t] = max(order[t], min(floor[t - 1], keep[t])),

where keep[t] is the largest need that comes back within the break-even from t on. A chain of clamps
is a clamp, so all steps of a path of weeks are had in log2(n) passes over it; the hour of a single
decision is sooner walked along.
"""

from __future__ import annotations

import numpy as np

from autoscaler.model import Ints


def largest_ahead(values: Ints, ahead: int) -> Ints:
    """Largest of [t, t + ahead] for every t, along the last axis; past the end nothing is known."""
    n = values.shape[-1]
    best = values.copy()
    span = 1  # best holds the maximum over the next `span` steps
    while span < min(ahead + 1, n):
        shift = min(span, ahead + 1 - span)
        best[..., :-shift] = np.maximum(best[..., :-shift], best[..., shift:])
        span += shift
    return best


def largest_behind(values: Ints, behind: int) -> Ints:
    """Largest of [t - behind, t] for every t, along the last axis."""
    mirrored: Ints = largest_ahead(values[..., ::-1], behind)[..., ::-1]
    return mirrored


def follow(present: Ints | int, order: Ints, keep: Ints) -> Ints:
    """Floors that order what must be ordered and keep what is needed again soon enough.

    Parameters
    ----------
    present : floor before the first step, scalar or shape (m,)
    order : shape (n,) or (m, n), what must stand at t
    keep : shape (n,) or (m, n), up to which a replica that stands is kept at t

    Returns
    -------
    shape of `order`
    """
    if order.ndim == 1:
        return _walked(int(present), order, keep)  # a scalar, as documented
    # row by row, since a path of weeks fits into the processor's cache and all of them do not
    paths = zip(
        np.broadcast_to(present, len(order)), order, np.broadcast_to(keep, order.shape), strict=True
    )
    return np.stack([_clamped(*path) for path in paths])


def _clamped(present: Ints, order: Ints, keep: Ints) -> Ints:
    """Compose the clamps of a single path, twice as many steps with each pass."""
    low, high = order.copy(), np.maximum(order, keep)
    n, span = len(order), 1
    while span < n:
        # the later clamp applied to the ends of the earlier one
        later_low, later_high = low[span:], high[span:]
        new_low = np.minimum(np.maximum(low[:-span], later_low), later_high)
        new_high = np.minimum(np.maximum(high[:-span], later_low), later_high)
        low[span:], high[span:] = new_low, new_high
        if (new_low == new_high).all():
            break  # whatever stood before, it is forgotten by now
        span *= 2
    floors: Ints = np.minimum(np.maximum(present, low), high)
    return floors


def _walked(present: int, order: Ints, keep: Ints) -> Ints:
    """Walk a single path."""
    floor, floors = present, []
    for least, most in zip(order.tolist(), keep.tolist(), strict=True):
        floor = max(least, min(floor, most))
        floors.append(floor)
    return np.asarray(floors, dtype=np.int64)
