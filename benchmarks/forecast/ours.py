"""Production as one of the forecasters: what `tune.learn` chose, asked as a decision asks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autoscaler.demand import regular
from autoscaler.forecast.accuracy import reaching
from autoscaler.model import Ahead, Floats, Forecast, History, Knowledge, Samples, Series
from autoscaler.policy import TidePolicy
from autoscaler.tune import learn
from benchmarks.forecast.task import DAY, LEVELS, STEP, Asked, Past

Learn = Callable[[TidePolicy, History, float], Knowledge]


def policy_for(values: Floats) -> TidePolicy:
    """Policy with nothing set but what it must have: 20 replicas carry the P99 of the history."""
    capacity = float(np.quantile(values, 0.99)) / 20.0 or 1.0
    return TidePolicy.model_validate(
        {
            "metadata": {"name": "forecast"},
            "spec": {
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": "forecast",
                },
                "demand": {"query": "recorded"},
                "capacity": {"perReplica": capacity},
            },
        }
    )


def history_of(values: Floats, begins: float, step: float) -> History:
    """Put recorded demand as a metrics source would have answered at its end."""
    times = begins + step * np.arange(len(values))
    return History(
        demand=Samples(times=times, values=values),
        step=step,
        read_at=begins + step * len(values),
    )


def quantile_ahead(ahead: Ahead, level: float) -> float:
    """Quantile of demand at the lead, as production itself judges it."""
    return float(ahead.lead[reaching(ahead.weights, level)])


def promised(forecast: Forecast, level: float, lead: int) -> float:
    """Quantile of demand in the step `lead` steps after the forecast's start."""
    ahead = forecast.ahead
    if ahead is not None and round(ahead.after / forecast.step) == lead:
        return quantile_ahead(ahead, level)
    return float(forecast.at(level)[lead])


@dataclass(frozen=True, slots=True)
class Ours:
    """Production at its defaults: the lead from the distributions ahead, the rest from the tide."""

    name: str = "foretide"
    package: str | None = None
    how: Learn = learn

    def fit(self, past: Past) -> Asked:
        """Learn all candidates and choose."""
        now = past.begins + STEP * len(past.values)
        history = history_of(past.values, past.begins, STEP)
        knowledge = self.how(policy_for(past.values), history, now)

        def ask(past: Past) -> Floats:
            forecast = knowledge.fitted.predict(_series(past), DAY, LEVELS)
            path = forecast.quantiles.copy()
            if forecast.ahead is not None:
                lead = round(forecast.ahead.after / STEP)
                path[:, lead] = [promised(forecast, level, lead) for level in LEVELS]
            return path

        return ask


def _series(past: Past) -> Series:
    """Demand as a decision sees it."""
    history = history_of(past.values, past.begins, STEP)
    return regular(history, history.read_at)[0]
