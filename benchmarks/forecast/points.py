"""Forecasters that give one number for each step, with quantiles of their own past misses.

Same time yesterday and last week, the models of Predictive HPA, and Crane's repeated period. None
of them says how sure it is. Each is therefore asked on the last seven days of its history as it is
asked on the days that count, and the quantiles of what it missed by there, by how far ahead, are
added to what it says: ours, and more than any of them ships.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats
from autoscaler.simulator.peers import Settings
from autoscaler.simulator.peers.crane import last_period
from autoscaler.simulator.peers.phpa import PEERS as PHPA
from autoscaler.simulator.peers.phpa import Linear
from benchmarks.forecast.task import DAY, LEVELS, MOMENTS, Asked, Past, TooShort

Point = Callable[[Floats], Floats]
"""Says the next `DAY` steps after what is known, shape (DAY,)."""

JUDGED_DAYS = 7
GROUPS = (0, 1, 2, 6, 12, 36, 96, DAY)
"""Steps ahead at which a new group of misses begins."""


@dataclass(frozen=True, slots=True)
class PointForecaster:
    """One of them.

    Attributes
    ----------
    prepare : at a midnight, from what is known there
    least : days that it needs before the first it can forecast
    """

    name: str
    prepare: Callable[[Floats], Point]
    least: int
    package: str | None = None

    def fit(self, past: Past) -> Asked:
        """Learn the quantiles of its misses on the newest days."""
        values = past.values
        days = len(values) // DAY
        first = max(self.least, days - JUDGED_DAYS)
        if first >= days:
            raise TooShort(f"{self.name}: {days} days of history; it needs {self.least + 1}")
        missed = [np.empty(0)] * (len(GROUPS) - 1)
        for day in range(first, days):
            point = self.prepare(values[: day * DAY])
            for moment in range(day * DAY + day * 5 % MOMENTS, (day + 1) * DAY, MOMENTS):
                came = values[moment : moment + DAY]
                error = came - point(values[:moment])[: len(came)]
                for i, (low, high) in enumerate(itertools.pairwise(GROUPS)):
                    missed[i] = np.concatenate([missed[i], error[low:high]])
        spread = np.repeat(
            np.stack([quantiles(errors) for errors in missed], axis=1), np.diff(GROUPS), axis=1
        )
        point = self.prepare(values)

        def ask(past: Past) -> Floats:
            return np.maximum(point(past.values) + spread, 0.0)

        return ask


def quantiles(errors: Floats) -> Floats:
    """`LEVELS` of errors, the k-th smallest of n with k = ceil((n + 1) p), at most n."""
    ordered = np.sort(errors)
    n = len(ordered)
    found: Floats = ordered[[min(n, math.ceil((n + 1) * level)) - 1 for level in LEVELS]]
    return found


def ago(days: int) -> Callable[[Floats], Point]:
    """Look up the same time so many days ago."""

    def prepare(_: Floats) -> Point:
        def point(values: Floats) -> Floats:
            back = len(values) - days * DAY
            return values[back : back + DAY]

        return point

    return prepare


def line(settings: Settings) -> Callable[[Floats], Point]:
    """PHPA's line through the last few values, looked ahead step by step.

    It is drawn through demand where PHPA draws it through replicas, so that whole replicas do not
    blur it.
    """
    size = int(settings["history"])
    unit = np.eye(size)
    now, next_step = (
        np.array([Linear(size, ahead).predict(row) for row in unit]) for ahead in (0.0, 1.0)
    )

    def prepare(_: Floats) -> Point:
        def point(values: Floats) -> Floats:
            newest = values[-size:]
            level = float(now @ newest)
            slope = float(next_step @ newest) - level
            return level + slope * np.arange(1, DAY + 1)

        return point

    return prepare


def winters(settings: Settings, *, shipped: bool, seasons: int = 4) -> Callable[[Floats], Point]:
    """PHPA's additive Holt-Winters with fixed parameters, over demand."""
    size = seasons * DAY

    def prepare(_: Floats) -> Point:
        def point(values: Floats) -> Floats:
            history = values[-size:]
            if shipped:  # newest first, with the newest sample of all at the end
                history = np.concatenate([history[:-1][::-1], history[-1:]])
            rates = settings["alpha"], settings["beta"], settings["gamma"]
            return holt_winters(history, rates, DAY, DAY)

        return point

    return prepare


def holt_winters(
    history: Floats, rates: tuple[float, float, float], season: int, steps: int
) -> Floats:
    """Forecast of additive Holt-Winters, shape (steps,).

    The states and their beginnings are those of `peers.phpa.holt_winters_weights`, which gives the
    first step alone.
    """
    alpha, beta, gamma = rates
    level = float(history[:season].mean())
    trend = (float(history[season : 2 * season].mean()) - level) / season
    shape = [float(value) - level for value in history[:season]]
    for t in range(season, len(history)):
        value, phase = float(history[t]), t % season
        before = level + trend
        level_now = alpha * (value - shape[phase]) + (1 - alpha) * before
        trend = beta * (level_now - level) + (1 - beta) * trend
        shape[phase] += gamma * (value - before - shape[phase])
        level = level_now
    ahead = np.arange(1, steps + 1)
    phases = (len(history) + ahead - 1) % season
    return level + trend * ahead + np.asarray(shape)[phases]


def crane(past: Floats) -> Point:
    """Crane's DSP: the smoothed last day or week repeats itself from the midnight on.

    Without its margin and without the largest of the next hour: both are what it adds for a floor.
    """
    period = last_period(past[-15 * DAY :], DAY, 0.0)
    known = len(past)

    def point(values: Floats) -> Floats:
        at = (len(values) - known + np.arange(DAY)) % len(period)
        return np.maximum(period[at], 0.0)

    return point


_SETTINGS = {peer.name: peer.defaults for peer in PHPA}

POINTS = (
    PointForecaster("yesterday", ago(1), 1),
    PointForecaster("last-week", ago(7), 7),
    PointForecaster("phpa-linear", line(_SETTINGS["phpa-linear"]), 1),
    PointForecaster("phpa-holt-winters", winters(_SETTINGS["phpa-holt-winters"], shipped=True), 4),
    PointForecaster(
        "phpa-holt-winters-ordered",
        winters(_SETTINGS["phpa-holt-winters-ordered"], shipped=False),
        4,
    ),
    PointForecaster("crane", crane, 2),
)
