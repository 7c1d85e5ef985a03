"""How long a cold start takes, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Starts(Protocol):
    """Draws the phases of one cold start."""

    def draw(self, rng: np.random.Generator, together: int) -> dict[str, float]:
        """Seconds of each phase; infinite when the pod never becomes Ready.

        Parameters
        ----------
        together : how many start at the same moment and share what there is to share
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedStart:
    """Every start takes the same time."""

    seconds: float

    def draw(self, rng: np.random.Generator, together: int) -> dict[str, float]:  # noqa: ARG002 - a fixed start draws nothing
        """Give the one duration."""
        return {"start": self.seconds}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasedStart:
    """A mixture by phase: a warm node with cached weights, or one that lacks node, image, weights.

    Each phase is lognormal, given by median and 95th percentile in seconds. The defaults are our
    judgement from published figures of 8–32 B models (docs: cold starts).

    Attributes
    ----------
    new_node : probability that node and image come first
    cached : probability that a warm node holds the weights already
    failing : probability that the pod never becomes Ready
    shared : how many starts the store feeds at full speed; more share its bandwidth
    """

    new_node: float = 0.2
    cached: float = 0.5
    failing: float = 0.0
    shared: float = 8.0
    node: tuple[float, float] = (180.0, 480.0)
    image: tuple[float, float] = (120.0, 360.0)
    weights: tuple[float, float] = (90.0, 240.0)
    warm_up: tuple[float, float] = (60.0, 120.0)

    def draw(self, rng: np.random.Generator, together: int) -> dict[str, float]:
        """Draw the phases of one start."""
        phases: dict[str, float] = {}
        fresh = rng.random() < self.new_node
        cached = not fresh and rng.random() < self.cached
        crowd = max(1.0, together / self.shared)
        if fresh:
            phases["node"] = _lognormal(rng, *self.node)
            phases["image"] = _lognormal(rng, *self.image) * crowd
        if not cached:
            phases["weights"] = _lognormal(rng, *self.weights) * crowd
        phases["warm_up"] = _lognormal(rng, *self.warm_up)
        if rng.random() < self.failing:
            phases["warm_up"] = float("inf")
        return phases


def _lognormal(rng: np.random.Generator, median: float, p95: float) -> float:
    """Draw from the lognormal with that median and 95th percentile (z = 1.6449)."""
    sigma = np.log(p95 / median) / 1.6448536
    return float(median * np.exp(sigma * rng.standard_normal()))
