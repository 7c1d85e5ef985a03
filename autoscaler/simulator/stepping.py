"""The plain world step by step, for peers whose wish depends on the replicas that they have."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autoscaler.replay import Replayed, replay
from autoscaler.simulator.plain import PlainWorld


@dataclass(frozen=True, slots=True)
class Moment:
    """What a controller sees at a step.

    Attributes
    ----------
    step : in the world's demand; it may look at demand before it only
    observed : demand per second of the step before, plus the backlog's share
    total, ready : replicas ordered, and serving, in the step before
    """

    step: int
    observed: float
    total: int
    ready: int


def played(world: PlainWorld, wish: Callable[[Moment], int]) -> Replayed:
    """Play a controller from `world.start` on: `wish` gives the replicas of each step.

    The rules are those of `replay`, which gives the account in the end, so that both agree.
    """
    service = world.service
    demand = world.run_demand.tolist()
    first = first_of(world)
    recent = deque([first] * (service.cold + 1), maxlen=service.cold + 1)
    waiting, seen = 0.0, demand[0]
    totals = np.empty(len(demand), dtype=np.int64)
    for step, now in enumerate(demand):
        moment = Moment(
            step=world.start + step,
            observed=seen + waiting / service.step,
            total=recent[-1],
            ready=min(recent),
        )
        total = max(1, wish(moment))
        recent.append(total)
        totals[step] = total
        waiting = max(0.0, waiting + (now - min(recent) * service.capacity) * service.step)
        seen = now
    return _accounted(world, totals, first)


def first_of(world: PlainWorld) -> int:
    """Replicas that stood before the run: those that its first demand asks for."""
    target = world.target or 0.7
    return max(1, wish_of(float(world.run_demand[0]) / (world.service.capacity * target)))


def _accounted(world: PlainWorld, totals: np.ndarray, first: int) -> Replayed:
    """Replay the totals as floors, preceded by the replicas that stood before the first step."""
    lead = world.service.cold + 1
    floors = np.concatenate([np.full(lead, first, dtype=np.int64), totals])
    demand = np.concatenate([np.zeros(lead), world.run_demand])
    return replay(demand, floors, world.service).since(lead)


def wish_of(ideal: float) -> int:
    """Whole replicas for an ideal number; a billionth is let go, as everywhere."""
    return math.ceil(ideal - 1e-9)


class Bounds:
    """The plain HPA's tolerance, window and limit, for wishes made one by one.

    With the behaviour of PHPA (up 100 % or 4 pods a minute, largest of 300 s down) these are the
    same numbers.
    """

    def __init__(self, window: int = 6, tolerance: float = 0.1) -> None:
        self._recent: deque[int] = deque(maxlen=window)
        self._tolerance = tolerance

    def calm(self, ideal: float, total: int) -> int:
        """Replicas for an ideal number, `total` while that is within the tolerance."""
        near = abs(ideal - total) <= self._tolerance * total + 1e-9
        return total if near else wish_of(ideal)

    def bounded(self, wish: int, total: int) -> int:
        """Bound a wish: down only to the window's largest, up to max(2 total, total + 4)."""
        if not self._recent:
            self._recent.extend([wish] * (self._recent.maxlen or 1))
        self._recent.append(wish)
        limit = max(2 * total, total + 4)
        return min(max(wish, min(total, max(self._recent))), limit)
