"""Autoscalers above the floor, with their memory, as the world's `Above`."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from autoscaler.reactive import PlainHpa, plain_bounded, plain_wanted
from autoscaler.world.service import Seen


class PlainAbove:
    """The plain HPA, one step a minute."""

    def __init__(self, hpa: PlainHpa | None = None) -> None:
        self.hpa = hpa or PlainHpa()
        self._wanted: deque[int] = deque(maxlen=self.hpa.window)

    def desire(self, seen: Seen) -> int:
        """Wish of this step, bounded by the window's largest and the step's limit."""
        if not self._wanted:  # the first look: as if this demand had stood for long
            first = math.ceil(seen.observed / (seen.capacity * self.hpa.target) - 1e-9)
            self._wanted.extend([first] * self.hpa.window)
            return first
        total = np.asarray([seen.total])
        wanted = plain_wanted(np.asarray([seen.observed]), total, seen.capacity, self.hpa)
        self._wanted.append(int(wanted[0]))
        return int(plain_bounded(wanted, np.asarray([max(self._wanted)]), total)[0])
