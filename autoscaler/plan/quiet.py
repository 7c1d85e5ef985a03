"""Whether nothing at all is needed: the one case in which no replica needs to stand.

A floor of 0 is not one replica less. Whoever comes then waits for a whole cold start, so it takes
more than a forecast that rounds to nothing: demand was none for as long as a start is worth, that
is known and not merely unseen, and the upper quantile sees none within a lead time.
"""

from __future__ import annotations

import numpy as np

from autoscaler.model import Ints, Need, Series
from autoscaler.plan.floors import steps_ahead
from autoscaler.plan.paths import largest_ahead


def quiet(series: Series | None, need: Need | None, lead: float, break_even: float) -> bool | None:
    """Whether nothing was needed for a break-even, nor is within a lead time; None is unknown."""
    if series is None or need is None:
        return None
    ahead = steps_ahead(lead, need.step)
    if need.now or need.recent or need.order[: ahead + 1].any():
        return False
    tail = max(1, steps_ahead(break_even, series.step))
    known = len(series) >= tail and not np.isnan(series.values[-tail:]).any()
    # a filled gap, a lower bound, a fall to nothing in the middle of the day: none of them is none
    return True if known and not series.marks[-tail:].any() else None


def woken(floors: Ints, need: Need, lead: float) -> Ints:
    """Floors with at least one replica wherever any is needed within a lead time, same shape."""
    stirs = largest_ahead(need.order, steps_ahead(lead, need.step)) > 0
    one: Ints = np.maximum(floors, stirs.astype(np.int64))
    return one
