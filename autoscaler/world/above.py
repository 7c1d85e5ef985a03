"""Autoscalers above the floor, with their memory, as the world's `Above`."""

from __future__ import annotations

from collections import deque

import numpy as np

from autoscaler.reactive import (
    ExternalMetric,
    Hpa,
    HpaState,
    Look,
    PlainHpa,
    hpa_step,
    plain_bounded,
    plain_wanted,
)
from autoscaler.reactive.metrics import Standing
from autoscaler.world.service import Seen


class PlainAbove:
    """The plain HPA, one step a minute."""

    def __init__(self, hpa: PlainHpa | None = None) -> None:
        self.hpa = hpa or PlainHpa()
        self._wanted: deque[int] = deque(maxlen=self.hpa.window)

    def desire(self, seen: Seen) -> int:
        """Wish of this step, bounded by the window's largest and the step's limit."""
        if not self._wanted:  # the first look: as if this demand had stood for long
            first = int(np.ceil(seen.observed / (seen.capacity * self.hpa.target) - 1e-9))
            self._wanted.extend([first] * self.hpa.window)
            return first
        total = np.asarray([seen.total])
        wanted = plain_wanted(np.asarray([seen.observed]), total, seen.capacity, self.hpa)
        self._wanted.append(int(wanted[0]))
        return int(plain_bounded(wanted, np.asarray([max(self._wanted)]), total)[0])


class HpaAbove:
    """The full HPA on one External metric: demand and backlog over `target` of a replica's load.

    Parameters
    ----------
    target : share of a replica's capacity (AverageValue = target * capacity)
    hpa : windows, rates, tolerances; the API's defaults when left out

    Its memory is `state`; setting it to `HpaState()` is a restart of the controller manager.
    """

    def __init__(self, target: float = 0.7, hpa: Hpa | None = None) -> None:
        self.target, self.hpa, self.state = target, hpa or Hpa(), HpaState()

    def desire(self, seen: Seen) -> int:
        """One sync."""
        metric = ExternalMetric(value=seen.observed, target=self.target * seen.capacity)
        standing = Standing(spec=seen.total, status=seen.total, ready=seen.ready, now=seen.now)
        look = Look(standing=standing, metrics=(metric,), floor=seen.floor, ceiling=seen.ceiling)
        desired, self.state = hpa_step(self.hpa, self.state, look)
        return desired
