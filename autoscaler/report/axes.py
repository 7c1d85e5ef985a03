"""Where an axis has its ticks and what they are called: round values, and round local times."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_TIME_STEPS = (
    *(m * _MINUTE for m in (1, 2, 5, 10, 15, 30)),
    *(h * _HOUR for h in (1, 2, 3, 4, 6, 12)),
    *(d * _DAY for d in (1, 2, 7, 14, 28, 91, 182, 364)),
)


def value_ticks(largest: float, most: int, *, whole: bool = False) -> list[float]:
    """Round values from 0 to just above `largest` (> 0), about `most`; or only `whole` numbers."""
    rough = largest / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    factors = (1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10)
    step = next(f * power for f in factors if f * power >= rough * (1 - 1e-9))
    if whole:
        step = max(1.0, step)
    count = math.ceil(largest / step - 1e-9)
    return [i * step for i in range(count + 1)]


def value_text(value: float) -> str:
    """Write a number for an axis or a table, to three digits, with k, M, G above 10,000."""
    if not math.isfinite(value):
        return "–"
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if unit == 'k' else limit):.3g}{unit}"
    if value == round(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


def time_ticks(start: float, end: float, zone: str, most: int) -> list[tuple[float, str]]:
    """Round local times in [start, end] with their labels, at most `most` of them.

    Ticks keep local wall time over a change of the clocks: after one they are still at 06:00.
    A tick at local midnight is called by its date.
    """
    span = max(end - start, 1.0)
    step = next((s for s in _TIME_STEPS if span / s <= most), _TIME_STEPS[-1])
    tz = ZoneInfo(zone)
    first = datetime.fromtimestamp(start, tz)
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    ticks: list[tuple[float, str]] = []
    wall = midnight
    while True:
        at = wall.replace(tzinfo=tz).timestamp()
        if at > end:
            return ticks
        if at >= start and (not ticks or at > ticks[-1][0]):
            ticks.append((at, _tick_text(wall, step)))
        wall += timedelta(seconds=step)


def _tick_text(wall: datetime, step: int) -> str:
    """Label of a tick: the time, or the date at midnight."""
    if step >= _DAY or (wall.hour == 0 and wall.minute == 0):
        return f"{wall:%a} {wall.day} {wall:%b}"
    return f"{wall:%H:%M}"


def utc_time(at: float) -> str:
    """Write a moment as documents have it: `2025-11-30T00:00:00Z`."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def local_time(at: float, zone: str, *, dated: bool = True) -> str:
    """Write a moment as people of its zone read it: `Mon 30 Nov 08:00 +0800`."""
    moment = datetime.fromtimestamp(at, ZoneInfo(zone))
    if not dated:
        return f"{moment:%H:%M}"
    return f"{moment:%a} {moment.day} {moment:%b} {moment:%H:%M %z}"
