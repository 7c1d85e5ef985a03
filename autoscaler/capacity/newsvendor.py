"""How many replicas a distribution of demand pays for: the newsvendor.

A replica costs its time whether it is used or not; demand above what stands waits. With a price
`cover` for a replica's load that finds none, the best number is

    argmin over k of k + cover x (0.6 E[load > k at the lead] + 0.1 E[load > k in the window])

where a load above k replicas counts whole: part of a flash covered buys nothing, what matters is
how much load meets a backlog. The second term orders a little early what is soon needed anyway.
Searched over all k, since the cost is not convex. A larger `cover` never gives a smaller k.
"""

from __future__ import annotations

import numpy as np

from autoscaler.model import Ahead, Floats, Ints

LEAD_SHARE, WINDOW_SHARE = 0.6, 0.1
PATIENCE = 1.04
"""A load up to this times what stands is served within the promised wait."""

KEEP = 9.0
"""Times `cover` at which a standing replica is let go, where a start is worth half an hour of it:
what was started once is not started again for a whim."""

MOST = 4096
"""Replicas up to which all numbers are searched."""


def uncovered(loads: Floats, weights: Floats, capacity: float, most: int) -> Floats:
    """Expect how much load, in replicas, lies in loads above k, for k = 0 ... most.

    Parameters
    ----------
    loads : shape (n, m), demand per second
    weights : shape (m,), probability of each load

    Returns
    -------
    shape (n, most + 1)
    """
    n = len(loads)
    exact = loads / capacity
    needed = np.minimum(np.ceil(exact / PATIENCE - 1e-9).astype(np.int64), most + 1)
    at = np.arange(n)[:, None] * (most + 2) + needed
    found = np.bincount(at.ravel(), weights=(exact * weights).ravel(), minlength=n * (most + 2))
    beyond: Floats = np.cumsum(found.reshape(n, most + 2)[:, ::-1], axis=1)
    return beyond[:, ::-1][:, 1:]


def worth(above: Floats, cover: float) -> Ints:
    """Cheapest number of replicas for each row of `uncovered`, shape (n,)."""
    cost = np.arange(above.shape[1]) + cover * above
    best: Ints = np.argmin(cost, axis=1)
    return best


def keeping(break_even: float) -> float:
    """Say at how many times `cover` a standing replica is let go: what a start is worth decides.

    Where a start costs nothing, a replica goes at the price at which it would not be ordered. What
    that brings where it is not half an hour: docs/decisions/0004.

    Parameters
    ----------
    break_even : `release.breakEven`, seconds
    """
    return 1.0 + (KEEP - 1.0) * break_even / 1800.0


def least_and_most(
    ahead: Ahead, capacity: float, cover: float, keep: float = KEEP
) -> tuple[int, int]:
    """Say what must stand now, and up to what a standing replica is kept (`keep` x `cover`)."""
    largest = max(float(ahead.lead[-1]), float(ahead.window[-1]))
    most = min(int(np.ceil(largest / capacity)) + 1, MOST)
    above = LEAD_SHARE * uncovered(ahead.lead[None, :], ahead.weights, capacity, most)
    above += WINDOW_SHARE * uncovered(ahead.window[None, :], ahead.weights, capacity, most)
    least, kept = int(worth(above, cover)[0]), int(worth(above, keep * cover)[0])
    if not np.isnan(ahead.ago):
        before = int(np.ceil(min(ahead.ago / capacity, 1e6) - 1e-6))
        least = max(least, min(kept, before))
    return least, max(least, kept)
