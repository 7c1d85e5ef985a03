"""The tide that the lab plays: recorded traffic, re-timed so that its rise comes in minutes.

Forecasters see days and weeks of the wall clock, so a test that must not take a day cannot play a
faster clock. Instead each recorded day is bent: its evening (18:30 to 04:00) is pressed into a few
minutes, from `rise_at` of every day on, and the rest of the day is stretched over the other hours.
Levels and their change from day to day stay those of the recording.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DAY = 86_400.0
DAYS = 14
SLOT = 600.0  # seconds of one slot of the recording
RECORDING = ("traces", "servegen-clients", "m-small-c5.csv.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How long the parts of a pressed evening take, in seconds."""

    rise: float = 60.0
    plateau: float = 300.0
    before_surge: float = 60.0
    surge: float = 90.0
    fall: float = 60.0

    @property
    def end(self) -> float:
        """Seconds from the start of the rise to the end of the fall."""
        return self.rise + self.plateau + self.fall


def recorded(path: Path) -> Floats:
    """Requests per second of each 10-minute slot, shape (2016,); NaN in the recording's holes."""
    with gzip.open(path, "rt") as file:
        rows = [(float(row["t"]), float(row["requests"])) for row in csv.DictReader(file)]
    values = np.full(int(DAYS * DAY / SLOT), np.nan)
    for at, requests in rows:
        # a window of zero for all clients at once is missing data (SOURCE.md of the recording)
        if requests > 0:
            values[int(at / SLOT)] = requests / SLOT
    return values


def synthetic(seed: int = 7) -> Floats:
    """Slots of a made-up tide with the same levels, where the recording is not at hand."""
    rng = np.random.default_rng(seed)
    hours = np.arange(int(DAYS * DAY / SLOT)) * SLOT / 3600 % 24
    knots = [0, 4, 8, 12, 18, 19, 21, 22, 24]
    levels = [400, 100, 250, 360, 420, 510, 840, 790, 400]
    day_level = np.repeat(rng.normal(1.0, 0.03, DAYS), int(DAY / SLOT))
    found: Floats = np.interp(hours, knots, levels) * day_level
    return found * rng.normal(1.0, 0.02, len(hours))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tide:
    """Demand at any time: the past as recorded, the present as the recording's last evening.

    Attributes
    ----------
    rise_at : POSIX seconds at which today's rise starts
    slots : shape (2016,), demand per second of the recording
    surge : factor on the middle of today's plateau: what no forecast can know
    """

    rise_at: float
    slots: Floats = field(repr=False)
    surge: float = 1.0
    shape: Shape = Shape()

    @property
    def plateau_at(self) -> float:
        """POSIX seconds at which today's plateau starts."""
        return self.rise_at + self.shape.rise

    @property
    def surge_at(self) -> float:
        """POSIX seconds at which today's surge starts."""
        return self.plateau_at + self.shape.before_surge

    @property
    def surge_end(self) -> float:
        """POSIX seconds at which today's surge ends, and the plateau is as ever again."""
        return self.surge_at + self.shape.surge

    @property
    def fall_at(self) -> float:
        """POSIX seconds at which today's fall starts."""
        return self.plateau_at + self.shape.plateau

    @property
    def end(self) -> float:
        """POSIX seconds at which today's fall ends."""
        return self.fall_at + self.shape.fall

    def demand(self, times: Floats) -> Floats:
        """Demand per second at `times` (POSIX seconds), NaN in holes of the recording."""
        since = np.asarray(times, dtype=np.float64) - self.rise_at
        day = np.floor(since / DAY)
        shape = self.shape
        # seconds into the pressed day → hour of the recording
        into = [0.0, shape.rise, shape.rise + shape.plateau, shape.end, DAY]
        hour = np.interp(since - day * DAY, into, [18.5, 21.0, 21.5, 28.0, 42.5])
        # days -13 … -1 and today are the evenings of the days 0 … 13 recorded; day -14 is the one
        # of a week later; what follows the last evening is what followed the one before
        evening = np.where(day < -13, day + 20, np.minimum(day + 13, DAYS - 1))
        slot = (evening * 24 + hour) * 3600 / SLOT
        slots = np.concatenate([self.slots, self.slots[-int(DAY / SLOT) :]])
        known = np.flatnonzero(np.isfinite(slots))
        value: Floats = np.interp(slot, known, slots[known])
        hole = np.isnan(slots[slot.astype(int)])
        surging = (times >= self.surge_at) & (times < self.surge_end)
        past = day < 0
        return np.where(hole & past, np.nan, np.where(surging, value * self.surge, value))

    def counter(self, times: Floats, since: float) -> Floats:
        """Requests that arrived between `since` and each of `times`: what a counter shows."""
        grid = np.arange(since, float(np.max(times)) + 1.0, 1.0)
        rate = self.demand(grid)
        # holes are lost samples, not lost requests: the counter goes on behind them
        known = np.flatnonzero(np.isfinite(rate))
        total = np.concatenate([[0.0], np.cumsum(np.interp(grid, grid[known], rate[known]))])
        found: Floats = np.interp(times, np.append(grid, grid[-1] + 1.0), total)
        return found
