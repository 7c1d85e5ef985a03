"""Wall time for whole grids: people come by the clock on their wall, so the tide follows it.

One call of the time zone per day of the grid, plus a bisection where the offset changed, instead
of one per step.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats
from autoscaler.schema import walltime

DAY = 86_400.0
_MONDAY = 3 * DAY  # 1970-01-01 was a Thursday: so much later a week began


def wall_seconds(start: float, step: float, count: int, zone_name: str) -> Floats:
    """Wall-clock seconds of `count` steps, shape (count,), counted so that 0 is a Monday, 00:00.

    Parameters
    ----------
    start : POSIX seconds of the first step
    step : seconds
    zone_name : IANA time zone
    """
    times: Floats = start + step * np.arange(count, dtype=np.float64)
    if count == 0:
        return times
    zone = walltime.zone(zone_name)
    probes = np.append(np.arange(times[0], times[-1], DAY), times[-1])
    offsets = [_offset(t, zone) for t in probes]
    wall = times + (offsets[0] + _MONDAY)
    for i in range(1, len(probes)):
        if offsets[i] != offsets[i - 1]:
            change = _change(probes[i - 1], probes[i], zone)
            wall[np.searchsorted(times, change) :] += offsets[i] - offsets[i - 1]
    return wall


def _offset(t: float, zone: tzinfo) -> float:
    """Seconds that the wall clock is ahead of UTC."""
    offset = datetime.fromtimestamp(t, zone).utcoffset()
    return offset.total_seconds() if offset is not None else 0.0


def _change(low: float, high: float, zone: tzinfo) -> float:
    """First whole second in (low, high] with the offset of `high`; there is one change between."""
    late = _offset(high, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if middle <= low:
            break
        if _offset(middle, zone) == late:
            high = middle
        else:
            low = middle
    return float(np.ceil(high))


def slots_of(wall: Floats, step: float, per_day: int) -> NDArray[np.int64]:
    """Slot of the week of wall-clock seconds: weekday * per_day + slot of the day."""
    day, within = np.divmod(wall, DAY)
    slot = np.minimum((within / step).astype(np.int64), per_day - 1)
    index: NDArray[np.int64] = (day.astype(np.int64) % 7) * per_day + slot
    return index
