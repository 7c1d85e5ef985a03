"""An event under way is corrected by its own first minutes.

A factor is somebody's guess. Once the event runs, what comes says more: the ratio of what came in
the last minutes to what was expected of them, blended in as the event goes on. More than expected
is believed within a quarter of an hour, less within an hour: the spot on television may come later
than announced, and what stood is cheap to keep.
"""

from __future__ import annotations

import numpy as np

from autoscaler.forecast.days import trusted
from autoscaler.model import Series

LOOK_BACK = 900.0
"""Seconds whose mean is compared: one request more or less is no news."""

BELIEVED_MORE, BELIEVED_LESS = 900.0, 3600.0
"""Seconds of the event after which a ratio counts fully."""

LEAST = 300.0
"""Seconds of the event that must have passed, and of which most must be known."""

NONE = 1e-6
"""Demand per second that nothing can be measured against."""

FARTHEST = 10.0
"""Ratio beyond which it is not believed to be the event."""

GROWS = 1.5
"""Times what came, beyond which the rest of an event is not raised, unless it was announced."""


def compared(passed: float, step: float) -> int:
    """Count the newest steps of an event that are compared, so many seconds after it began."""
    return max(1, int(min(passed, LOOK_BACK) / step))


def ratio_of(series: Series, begun: float, expected: float) -> float:
    """Give the times by which an event under way is corrected; 1 while nothing is known of it.

    Parameters
    ----------
    series : demand with the event in it, up to now
    begun : POSIX seconds at which the event did
    expected : demand per second that was to be expected of those steps, the event included
    """
    passed = series.end - begun
    if passed < LEAST or expected < NONE:
        return 1.0
    values = trusted(series)[-compared(passed, series.step) :]
    known = values[~np.isnan(values)]
    if 2 * len(known) < len(values) or len(known) * series.step < LEAST / 2:
        return 1.0
    ratio = float(np.clip(known.mean() / expected, 1 / FARTHEST, FARTHEST))
    believed = passed / (BELIEVED_MORE if ratio > 1 else BELIEVED_LESS)
    return float(ratio ** min(1.0, believed))
