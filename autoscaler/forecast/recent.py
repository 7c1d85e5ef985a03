"""What can be said without any knowledge: the last minutes, and how much such minutes change.

Used when nothing was learnt yet or a fitted forecaster fails. It is asked only in doubt, so floors
may rise by it and never fall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.days import SHIFT, trusted
from autoscaler.forecast.response import behind
from autoscaler.model import Floats, Forecast, Series

_LOOK_BACK = 86_400.0
_LEVEL = 300.0
_CAP = 2.0  # times the largest demand of the day


@dataclass(frozen=True, slots=True)
class Recent:
    """Quantiles of the changes seen within the last day, around the mean of the last minutes."""

    name: str = "recent"

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        """Forecast from the last day of the series; it must hold a known value there."""
        count = min(len(series), max(2, round(_LOOK_BACK / series.step)))
        values = trusted(series)[-count:]
        known = values[~np.isnan(values)]
        if not len(known):
            raise ValueError("no demand is known within the last day")
        peak = float(known.max())
        shift = SHIFT * peak or 1.0
        z = np.log(values + shift)
        width = max(1, round(_LEVEL / series.step))
        level = behind(np.append(z, np.nan), width * series.step, series.step)
        now = level[-1] if not np.isnan(level[-1]) else float(z[~np.isnan(z)][-1])
        leads = np.unique(np.geomspace(1, max(steps, 1), 8).astype(np.int64))
        changes = np.stack([_changes(z, level[:-1], int(lead), levels) for lead in leads])
        ahead = np.arange(1, steps + 1)
        error = np.stack([np.interp(ahead, leads, column) for column in changes.T])
        paths = np.exp(now + error) - shift
        return Forecast(
            start=series.end,
            step=series.step,
            levels=levels,
            quantiles=np.clip(np.maximum.accumulate(paths, axis=0), 0.0, _CAP * peak),
            by=self.name,
        )


def _changes(z: Floats, level: Floats, lead: int, levels: tuple[float, ...]) -> Floats:
    """Quantiles of z some steps later minus the level before, shape (len(levels),)."""
    if len(z) <= lead:
        return np.zeros(len(levels))
    changes = z[lead - 1 :] - level[: len(z) - lead + 1]
    changes = changes[~np.isnan(changes)]
    if not len(changes):
        return np.zeros(len(levels))
    quantiles: Floats = np.quantile(changes, levels)
    return quantiles
