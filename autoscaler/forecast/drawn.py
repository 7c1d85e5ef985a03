"""The hour that floors are decided on by one tide, the days after it by another.

What decides is chosen by what its floors would have cost, and for minutes ahead the last minutes
may say enough: "no tide" was chosen for services with a strong one. Of tomorrow it knows nothing.
So beyond what a decision looks at, the day is drawn by whoever knows it best a day ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from autoscaler.forecast.tidal import Tidal
from autoscaler.model import Forecast, Series


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Two fitted tides, one after the other.

    Attributes
    ----------
    near : decides
    far : draws what lies beyond
    reach : steps that a decision looks at, which are those of `near`
    """

    near: Tidal
    far: Tidal
    reach: int

    @property
    def name(self) -> str:
        """Name of the one that decides."""
        return self.near.name

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        """Forecast `steps` steps after `series.end`; up to `reach` as `near` alone."""
        forecast = self.near.predict(series, min(steps, self.reach), levels)
        if steps <= self.reach:
            return forecast
        beyond = self.far.predict(series, steps, levels).quantiles[:, self.reach :]
        return replace(forecast, quantiles=np.hstack([forecast.quantiles, beyond]))
