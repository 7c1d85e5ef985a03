"""Predictive HPA (jthomperoo): models over the HPA's own replica counts, combined by maximum.

Per sync the HPA's wish c is appended to each model's history; the decision is the largest of c and
the predictions, then the behaviour rules of 60 s. The world's step takes the place of the sync.
The history before the run is what c would have been on the demand then (ours).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from autoscaler.model import Floats
from autoscaler.replay import replicas_for
from autoscaler.simulator.peers import ByWishes, Settings, Wish
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.stepping import Bounds, Moment, wish_of


class Model(Protocol):
    """Predicts from the newest-last history of wishes."""

    size: int

    def predict(self, history: Floats) -> float:
        """Replicas, not rounded yet."""
        ...


class Linear:
    """Least squares of replicas on time over the last `size` wishes, looked `ahead` steps."""

    def __init__(self, size: int, ahead: float) -> None:
        self.size = size
        x = np.arange(size) - (size - 1) / 2.0
        # value of the line at the newest time + ahead is a weighted sum of the history
        self._weights = 1.0 / size + x * ((size - 1) / 2.0 + ahead) / float((x * x).sum())

    def predict(self, history: Floats) -> float:
        """Value of the line ahead."""
        return float(self._weights @ history)


class HoltWinters:
    """Additive Holt-Winters with fixed α, β, γ, one step ahead, as a weighted sum of the history.

    With fixed parameters the forecast is linear in the history, so its weights are worked out
    once, backwards. The first states are heuristic (mean and shape of the first season, slope
    between the first two), where statsmodels' `estimated` optimises them: ours.

    Parameters
    ----------
    season : steps
    seasons : how many are kept
    shipped : since v0.11 the history is fitted newest first with the newest sample at the end
    """

    def __init__(
        self, alpha: float, beta: float, gamma: float, *, season: int, seasons: int, shipped: bool
    ) -> None:
        self.size = season * seasons
        weights = holt_winters_weights(alpha, beta, gamma, season, seasons)
        if shipped:
            weights = np.concatenate([weights[:-1][::-1], weights[-1:]])
        self._weights = weights

    def predict(self, history: Floats) -> float:
        """Forecast of the next step."""
        return float(self._weights @ history)


def holt_winters_weights(
    alpha: float, beta: float, gamma: float, season: int, seasons: int
) -> Floats:
    """Weights w with forecast(1) = w · history, shape (season * seasons,).

    level' = α (y - s) + (1 - α)(level + trend); trend' = β (level' - level) + (1 - β) trend;
    s' = γ (y - level - trend) + (1 - γ) s; forecast = level + trend + s of the next phase.
    """
    n = season * seasons
    weights = np.zeros(n)
    level, trend = 1.0, 1.0  # derivatives of the forecast by the states, carried backwards
    shape = np.zeros(season)
    shape[0] = 1.0
    for t in range(n - 1, season - 1, -1):
        phase = t % season
        after = level + beta * trend  # by the new level
        own = shape[phase]
        weights[t] = alpha * after + gamma * own
        before = (1 - alpha) * after - gamma * own
        shape[phase] = (1 - gamma) * own - alpha * after
        level, trend = before - beta * trend, before + (1 - beta) * trend
    # first states: level = mean of season 1, trend = (mean 2 - mean 1) / season, s = y - level
    weights[:season] += shape + (level - shape.sum()) / season
    weights[:season] -= trend / season**2
    weights[season : 2 * season] += trend / season**2
    return weights


@dataclass(frozen=True, slots=True)
class Phpa(ByWishes):
    """One model beside the HPA."""

    name: str
    source: str
    kind: str
    defaults: Settings
    grid: tuple[Settings, ...]
    history_days: int

    def model(self, world: PlainWorld, settings: Settings) -> Model:
        """Build the model for a world."""
        if self.kind == "linear":
            return Linear(int(settings["history"]), settings["ahead"] / world.service.step)
        return HoltWinters(
            settings["alpha"],
            settings["beta"],
            settings["gamma"],
            season=world.day,
            seasons=4,
            shipped=self.kind == "shipped",
        )

    def wish(self, world: PlainWorld, settings: Settings) -> Wish:
        """Wish, append, predict, take the largest, bound."""
        model, bounds = self.model(world, settings), Bounds()
        capacity = world.service.capacity * settings["target"]
        past = world.demand[max(0, world.start - model.size) : world.start]
        history: deque[float] = deque(replicas_for(past, capacity).tolist(), maxlen=model.size)
        ring = _Ring(np.asarray(history, dtype=np.float64), model.size)

        def wish(moment: Moment) -> int:
            calculated = bounds.calm(moment.observed / capacity, moment.total)
            ring.push(calculated)
            predicted = model.predict(ring.newest()) if ring.full else 0.0
            return bounds.bounded(max(calculated, wish_of(predicted)), moment.total)

        return wish


class _Ring:
    """The newest `size` values as one contiguous array, moved to the front only when it is full."""

    def __init__(self, values: Floats, size: int) -> None:
        self._size = size
        self._store = np.empty(max(4 * size, 4096))
        self._store[: len(values)] = values
        self._end = len(values)

    @property
    def full(self) -> bool:
        return self._end >= self._size

    def push(self, value: float) -> None:
        if self._end == len(self._store):
            self._store[: self._size] = self._store[-self._size :]
            self._end = self._size
        self._store[self._end] = value
        self._end += 1

    def newest(self) -> Floats:
        return self._store[self._end - self._size : self._end]


_LINEAR = tuple(
    {"history": history, "ahead": ahead, "target": target}
    for history in (6.0, 15.0, 30.0)
    for ahead in (60.0, 300.0)
    for target in (0.7, 0.8)
)
_WINTERS = tuple(
    {"alpha": a, "beta": b, "gamma": g, "target": target}
    for a, b, g in ((0.3, 0.05, 0.3), (0.1, 0.01, 0.5))
    for target in (0.6, 0.7, 0.8)
)
_OF = "jthomperoo/predictive-horizontal-pod-autoscaler v0.13.2"

PEERS = (
    Phpa(
        "phpa-linear",
        f"{_OF}, Linear; historySize 6 of its example, lookAhead = cold start is ours",
        "linear",
        {"history": 6.0, "ahead": 300.0, "target": 0.7},
        _LINEAR,
        1,
    ),
    Phpa(
        "phpa-holt-winters",
        f"{_OF}, HoltWinters as shipped: fitted on a history that runs backwards",
        "shipped",
        _WINTERS[1],
        _WINTERS,
        4,
    ),
    Phpa(
        "phpa-holt-winters-ordered",
        f"{_OF}, HoltWinters with the history in right order",
        "ordered",
        _WINTERS[1],
        _WINTERS,
        4,
    ),
)
