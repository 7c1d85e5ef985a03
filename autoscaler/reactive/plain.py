"""The *plain HPA*: the HPA reduced to what a one-minute world can tell apart.

The replay, the score and the selection of forecasters use it, on many timelines at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainHpa:
    """The plain HPA's settings.

    Attributes
    ----------
    target : share of a replica's capacity that it aims at, > 0: one for all timelines, or one for
        each, shape (m,)
    tolerance : no move while |ratio - 1| is at most this
    window : steps, this one included, whose largest wish bounds a move down
    """

    target: float | Floats = 0.7
    tolerance: float = 0.1
    window: int = 6

    def of(self, lanes: NDArray[np.int64]) -> PlainHpa:
        """Give the settings above the timelines of those lanes (indices, which may repeat)."""
        if not isinstance(self.target, np.ndarray):
            return self
        return replace(self, target=self.target[lanes])


def plain_wanted(observed: Floats, total: Ints, capacity: float, hpa: PlainHpa) -> Ints:
    """Replicas that the metric alone asks for, per timeline.

    ratio = observed / (total * capacity) / target; total when |ratio - 1| is within the
    tolerance, else ceil(total * ratio). A billionth of a replica is let go, so that rounding does
    not turn exactly k replicas into k + 1.

    Parameters
    ----------
    observed : demand per second of the step before, plus the backlog's share
    total : replicas ordered now, >= 1
    capacity : demand per second of one replica
    """
    ideal = observed / (capacity * hpa.target)
    within = np.abs(ideal - total) <= hpa.tolerance * total + 1e-9
    return np.where(within, total, np.ceil(ideal - 1e-9)).astype(np.int64)


def plain_bounded(wanted: Ints, largest: Ints, total: Ints) -> Ints:
    """Bound the wish: down to no less than `largest`, up to max(2 total, total + 4) a step."""
    limit = np.maximum(2 * total, total + 4)
    bounded: Ints = np.minimum(np.maximum(wanted, np.minimum(total, largest)), limit)
    return bounded
