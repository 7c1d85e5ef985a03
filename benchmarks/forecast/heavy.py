"""Forecasters of other packages, each imported only when it is asked.

They are no dependency of the product: `benchmarks/requirements-peers.txt` has an environment of
their own. Settings are the packages' defaults but for what is said beside each.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoscaler.model import Floats
from benchmarks.forecast.task import DAY, LEVELS, STEP, Asked, Past

_WEEK = 7 * DAY


@dataclass(frozen=True, slots=True)
class Mstl:
    """statsforecast's MSTL of day and week with a model of its own for what remains.

    LOESS jumps a quarter of a day (the same error at a sixtieth of the time). Within the day after
    its fit the seasons go on and the model takes in what came (`forward`), parameters kept.
    """

    name: str
    package: str | None = "statsforecast"

    def fit(self, past: Past) -> Asked:
        """Decompose, and fit the rest."""
        from statsforecast.models import MSTL, AutoARIMA, AutoETS  # noqa: PLC0415 - heavy

        values = past.values
        lengths = [DAY, _WEEK] if len(values) >= 2 * _WEEK + 1 else [DAY]
        rest = AutoETS(model="ZZN") if self.name.endswith("ets") else AutoARIMA()
        jumps = {"trend_jump": DAY // 4, "low_pass_jump": DAY // 4}
        model = MSTL(season_length=lengths, trend_forecaster=rest, stl_kwargs=jumps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # theirs, about pandas and NumPy to come
            model.fit(values)
        parts = model.model_
        seasons = [
            np.asarray(parts[column])[-length:]
            for column, length in zip(
                [name for name in parts.columns if name.startswith("seasonal")],
                lengths,
                strict=True,
            )
        ]
        known = len(values)
        remains = values - sum(np.asarray(parts[c]) for c in parts.columns if c[:3] == "sea")
        fitted_at = past.begins + known * STEP

        def ask(past: Past) -> Floats:
            since = round((past.begins + len(past.values) * STEP - fitted_at) / STEP)
            at = np.arange(since + DAY)
            tide = np.sum([season[at % len(season)] for season in seasons], axis=0)
            came = past.values[len(past.values) - since :] - tide[:since]
            newest = np.concatenate([remains, came])[-_WEEK:]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = model.trend_forecaster.forward(y=newest, h=DAY, level=[80, 98])
            rows = (np.asarray(answer[key]) for key in ("mean", "hi-80", "hi-98"))
            return np.maximum(np.stack(list(rows)) + tide[since:], 0.0)

        return ask


@dataclass(frozen=True, slots=True)
class Prophet:
    """Prophet with its quantiles from 1000 sampled paths; it does not look at the last minutes."""

    name: str = "prophet"
    package: str | None = "prophet"

    def fit(self, past: Past) -> Asked:
        """Fit, and draw the day and the one after at once: nothing that comes changes them."""
        for noisy in ("cmdstanpy", "prophet", "prophet.plot"):
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        import pandas as pd  # noqa: PLC0415 - it comes with the package
        import prophet  # noqa: PLC0415 - heavy

        times = past.begins + STEP * np.arange(len(past.values) + 2 * DAY)
        stamps = pd.to_datetime(times, unit="s")
        known = len(past.values)
        fitted_at = past.begins + known * STEP
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = prophet.Prophet(uncertainty_samples=1000)
            model.fit(pd.DataFrame({"ds": stamps[:known], "y": past.values}), seed=1)
            state = np.random.get_state()
            np.random.seed(1)
            drawn = model.predictive_samples(pd.DataFrame({"ds": stamps[known:]}))["yhat"]
            np.random.set_state(state)
        path = np.maximum(np.quantile(drawn, LEVELS, axis=1), 0.0)

        def ask(past: Past) -> Floats:
            since = round((past.begins + len(past.values) * STEP - fitted_at) / STEP)
            return path[:, since : since + DAY]

        return ask


@dataclass(frozen=True, slots=True)
class Boosted:
    """LightGBM, one model for each quantile, on lags and the clock, for all steps ahead at once.

    Features: steps ahead, slot and weekday of the target, demand a day and a week before it, newest
    value, means of a quarter of an hour and an hour, and the same hour a day before. 200 trees.
    """

    name: str = "lightgbm"
    package: str | None = "lightgbm"

    def fit(self, past: Past) -> Asked:
        """Train on moments drawn from the history."""
        import lightgbm as lgb  # noqa: PLC0415 - heavy

        values, random = past.values, np.random.default_rng(1)
        origins = np.arange(DAY + 12, len(values) - 1, 5)
        moments = np.tile(origins, 9)
        ahead = np.concatenate(
            [
                np.ones(2 * len(origins), dtype=np.int64),
                random.integers(2, 12, 3 * len(origins)),
                random.integers(12, DAY, 4 * len(origins)),
            ]
        )
        inside = moments + ahead < len(values)
        moments, ahead = moments[inside], ahead[inside]
        x = _features(past, moments, ahead)
        y = values[moments + ahead]
        models = [
            lgb.train(
                {
                    "objective": "quantile", "alpha": level, "verbosity": -1,
                    "num_threads": 1, "seed": 1, "learning_rate": 0.05,
                },
                lgb.Dataset(x, y),
                num_boost_round=200,
            )
            for level in LEVELS
        ]  # fmt: skip

        def ask(past: Past) -> Floats:
            steps = np.arange(DAY)
            x = _features(past, np.full(DAY, len(past.values)), steps)
            path = np.stack([np.asarray(model.predict(x)) for model in models])
            return np.maximum(np.sort(path, axis=0), 0.0)

        return ask


def _features(past: Past, moments: Any, ahead: Any) -> Floats:
    """Features of targets `ahead` steps after moments, shape (n, 9); NaN where unknown."""
    values = past.values
    target = moments + ahead
    sums = np.concatenate([[0.0], np.cumsum(values)])

    def mean(stop: Any, width: int) -> Floats:
        low = np.maximum(stop - width, 0)
        return (sums[stop] - sums[low]) / np.maximum(stop - low, 1)

    def before(lag: int) -> Floats:
        at = target - lag
        return np.where(at >= 0, values[np.maximum(at, 0)], np.nan)

    day = np.floor((past.begins + target * STEP) / 86_400.0)
    return np.column_stack(
        [
            ahead,
            target % DAY,  # the first step is a midnight
            day % 7,
            before(DAY),
            before(_WEEK),
            values[moments - 1],
            mean(moments, 3),
            mean(moments, 12),
            mean(moments - DAY, 12),
        ]
    )


HEAVY = (Mstl("mstl-ets"), Mstl("mstl-arima"), Prophet(), Boosted())
