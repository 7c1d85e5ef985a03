"""The task that every forecaster is set: one series, seven nights, the moments of each day.

A series lies on a grid of 300 s. At each of its last seven midnights a forecaster is fitted on the
28 days before; within the day after, it is asked at moments 65 minutes apart (so that every part of
an hour is met), and may use all that came until then, but is not fitted again. Each answer is a
path of quantiles for the next 24 hours.
"""

from __future__ import annotations

import math
import resource
import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from autoscaler.errors import TraceError
from autoscaler.model import Floats

STEP = 300.0
DAY = 288
"""Steps of a day."""

LEVELS = (0.5, 0.9, 0.99)
ORIGINS = 7
HISTORY = 28 * DAY
MOMENTS = 13
"""Steps between two moments of a day."""

HORIZONS = {"lead": (1, 2), "hour": (2, 12), "day": (12, DAY)}
"""Steps ahead, from and to (exclusive), that count as each horizon. The lead is the one step in
which replicas begin to serve that are ordered at the moment, with a cold start of five minutes."""

LEAST_DAYS = 12
"""Seven that are forecast, and five before the first of them."""

MOST_DAYS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What is known at a moment.

    Attributes
    ----------
    values : shape (n,), demand per second on steps of `STEP`, none of them unknown
    begins : POSIX seconds of the first step, a UTC midnight
    """

    values: Floats
    begins: float

    def until(self, step: int) -> Past:
        """Only what lies before a step."""
        return Past(values=self.values[:step], begins=self.begins)

    def newest(self, most: int) -> Past:
        """Cut to the newest whole days, at most so many steps."""
        drop = max(0, math.ceil((len(self.values) - most) / DAY)) * DAY
        return Past(values=self.values[drop:], begins=self.begins + drop * STEP)


class Asked(Protocol):
    """A fitted forecaster, asked at a moment."""

    def __call__(self, past: Past, /) -> Floats:
        """Quantiles `LEVELS` of the next `DAY` steps, shape (3, DAY)."""
        ...


class TooShort(Exception):  # an answer, not a mistake
    """A forecaster needs more days than there are."""


class Forecaster(Protocol):
    """Somebody who forecasts.

    Attributes
    ----------
    name : as in `--peers`
    package : what must be installed beside the product, or None
    """

    @property
    def name(self) -> str:
        """Name as in `--peers`."""
        ...

    @property
    def package(self) -> str | None:
        """Package that must be installed beside the product, or None."""
        ...

    def fit(self, past: Past, /) -> Asked:
        """Fit at a midnight on what is known.

        Raises
        ------
        TooShort
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one forecaster did on one series at one horizon.

    Attributes
    ----------
    loss : mean pinball loss of each level, as a share of the series' mean demand
    covered : share of demand at or below each level
    """

    loss: tuple[float, ...]
    covered: tuple[float, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one forecaster did on one series: by horizon, and CPU seconds of a fit and an answer."""

    horizons: dict[str, Measured]
    fit_seconds: float
    ask_seconds: float


def series_of(minutes: Floats, begins: float) -> Past:
    """Means over five minutes of a one-minute grid: whole UTC days, the first 60 at most.

    Raises
    ------
    TraceError
        There are too few days, or there is no demand.
    """
    late = -begins % 86_400.0 / 60.0
    flat = minutes[round(late) :]
    days = min(len(flat) // 1440, MOST_DAYS)
    if days < LEAST_DAYS:
        raise TraceError(f"{days} whole days of traffic; at least {LEAST_DAYS} are needed")
    values = flat[: days * 1440].reshape(-1, 5).mean(axis=1)
    if not values.any():
        raise TraceError("the traffic is 0 throughout")
    return Past(values=values, begins=begins + late * 60.0)


def moments(series: Past) -> list[tuple[int, list[int]]]:
    """Midnights at which one fits, each with the moments of its day, in steps."""
    last = len(series.values)
    found = []
    for origin in range(last - ORIGINS * DAY, last, DAY):
        shift = (origin // DAY * 5) % MOMENTS
        found.append((origin, list(range(origin + shift, origin + DAY, MOMENTS))))
    return found


def measure(forecaster: Forecaster, series: Past) -> Result:
    """Set one forecaster the task.

    Raises
    ------
    TooShort
        It cannot do it on so few days.
    """
    mean = float(series.values.mean())
    sums = {name: np.zeros((2, len(LEVELS))) for name in HORIZONS}
    counts = dict.fromkeys(HORIZONS, 0)
    fitting = asking = 0.0
    asked = 0
    for origin, times in moments(series):
        began = cpu()
        ask = forecaster.fit(series.until(origin).newest(HISTORY))
        fitting += cpu() - began
        for moment in times:
            began = cpu()
            path = ask(series.until(moment).newest(HISTORY + DAY))
            asking += cpu() - began
            asked += 1
            actual = series.values[moment : moment + DAY]
            for name, (first, stop) in HORIZONS.items():
                came = actual[first:stop]
                sums[name] += judged(path[:, first : first + len(came)], came)
                counts[name] += len(came)
    return Result(
        horizons={
            name: Measured(
                loss=tuple(float(x) for x in sums[name][0] / counts[name] / mean),
                covered=tuple(float(x) for x in sums[name][1] / counts[name]),
                count=counts[name],
            )
            for name in HORIZONS
        },
        fit_seconds=fitting / ORIGINS,
        ask_seconds=asking / asked,
    )


def judged(path: Floats, came: Floats) -> Floats:
    """Sum of pinball losses and number of steps covered, by level, shape (2, levels)."""
    over = came - path
    level = np.asarray(LEVELS)[:, None]
    loss = np.maximum(level * over, (level - 1) * over)
    # a forecast of 0 is kept by a demand of 0, whatever rounding left of either
    return np.stack([loss.sum(axis=1), (over <= 1e-9 * (1 + came)).sum(axis=1)])


def cpu() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
