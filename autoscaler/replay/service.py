"""What a replay must know of a service, and the closed forms of its replicas and backlog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from autoscaler.model import Floats, Ints

Numbers = TypeVar("Numbers", Ints, Floats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a replay must know of a service.

    Attributes
    ----------
    capacity : demand per second that one ready replica carries, > 0
    cold : steps from ordering a replica until it serves
    step : seconds
    wait : promised wait in seconds; a longer backlog makes requests late
    start_cost : replica-seconds that one start is worth (`release.breakEven`)
    price : `price.perPercentLate`: replica-hours, relative, that one per cent late is worth
    ceiling : most replicas that can be ordered (`maxReplicas`)
    """

    capacity: float
    cold: int = 5
    step: float = 60.0
    wait: float = 5.0
    start_cost: float = 1800.0
    price: float = 1.0
    ceiling: int | None = None


def bounded(total: Ints, service: Service) -> Ints:
    """At least one replica, at most the ceiling."""
    total = np.maximum(total, 1)
    return total if service.ceiling is None else np.minimum(total, service.ceiling)


def ready_of(total: Numbers, cold: int) -> Numbers:
    """Ready replicas of ordered ones, shape (m, n): the sliding minimum over [t - cold, t].

    Before the first step everything counts as ordered for long.
    """
    n = total.shape[1]
    ready = total.copy()
    span = 1  # ready holds the minimum over the last `span` steps
    while span < cold + 1:
        shift = min(span, cold + 1 - span)
        if shift < n:
            np.minimum(ready[:, shift:], ready[:, :-shift].copy(), out=ready[:, shift:])
        span += shift
    return ready


def backlog_of(demand: Floats, ready: Ints, service: Service) -> Floats:
    """Backlog at the end of each step, shape (m, n): Lindley's recursion in closed form.

    W_t = S_t - min(0, min_{s<=t} S_s) with S the running sum of what each step adds; what is
    left of rounding (relative 1e-12 of the sum) is cut to 0.
    """
    drift = (demand - ready * service.capacity) * service.step
    total = np.cumsum(drift, axis=1)
    lowest = np.minimum(np.minimum.accumulate(total, axis=1), 0.0)
    backlog = total - lowest
    backlog[backlog <= 1e-12 * np.abs(lowest)] = 0.0
    return backlog
