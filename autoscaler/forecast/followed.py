"""Forecasts kept until what they are about has come: how good they are in life, by horizon.

A backtest is what a forecaster would have said; this is what was said. It is light: a forecast
every quarter of an hour, two fading days of results, some kilobytes in all. It begins anew with the
process, and the count of forecasts judged says so.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import numpy as np

from autoscaler.forecast.accuracy import DAY, NAIVE, UPPER, WEEK, demand_at, pinball
from autoscaler.model import Accuracy, Expected, Series

EVERY = 900.0
"""Seconds between two forecasts that are kept."""

HALF_LIFE = 2 * DAY
"""Seconds in which a result loses half its weight."""

_KEPT = 4  # numbers of a forecast: when, median, upper quantile, newest value then
_FADE = 0.5 ** (EVERY / HALF_LIFE)


class Followed:
    """Live accuracy of one policy's forecasts, on whatever clock its owner turns.

    Parameters
    ----------
    horizons : seconds ahead
    """

    def __init__(self, horizons: Sequence[float]) -> None:
        self._waiting = {horizon: array("d") for horizon in horizons}
        # weight, loss of the median, of the upper quantile, covered, bias
        self._sums = {horizon: np.zeros(5) for horizon in horizons}
        # weight and loss of each naive forecast
        self._naive = {horizon: np.zeros((len(NAIVE), 2)) for horizon in horizons}
        self._next = float("-inf")

    def due(self, at: float) -> bool:
        """Whether a forecast from `at` on is to be kept."""
        return at >= self._next or at < self._next - 2 * EVERY  # or the clock went back

    def note(self, start: float, said: Mapping[float, Expected], newest: float) -> None:
        """Keep what is expected at each horizon.

        Parameters
        ----------
        start : from when on was forecast
        said : by horizon
        newest : last value known then, demand per second; NaN = unknown
        """
        self._next = start + EVERY
        for horizon, expected in said.items():
            if horizon in self._waiting:
                row = (expected.at, expected.median, expected.upper, newest)
                self._waiting[horizon].extend(row)

    def look(self, series: Series) -> bool:
        """Judge all whose step has ended; whether there were any."""
        judged = False
        for horizon, waiting in self._waiting.items():
            while len(waiting) and waiting[0] <= series.end - series.step + 1e-6:
                at, median, upper, newest = waiting[:_KEPT]
                del waiting[:_KEPT]
                judged = True
                demand = demand_at(series, at)
                if not np.isnan(demand):
                    naive = (newest, demand_at(series, at - DAY), demand_at(series, at - WEEK))
                    self._judge(horizon, demand, (median, upper), naive)
        return judged

    def accuracy(self) -> tuple[Accuracy, ...]:
        """Accuracy at every horizon of which something has come."""
        return tuple(
            Accuracy(
                horizon=horizon,
                count=float(sums[0]),
                median=float(sums[1] / sums[0]),
                upper=float(sums[2] / sums[0]),
                coverage=float(sums[3] / sums[0]),
                bias=float(sums[4] / sums[0]),
                naive={
                    name: float(loss / weight)
                    for name, (weight, loss) in zip(NAIVE, self._naive[horizon], strict=True)
                    if weight >= sums[0] / 2
                },
            )
            for horizon, sums in self._sums.items()
            if sums[0] > 0
        )

    def _judge(
        self, horizon: float, demand: float, said: tuple[float, float], naive: Sequence[float]
    ) -> None:
        """Add one result to what fades."""
        median, upper = said
        points = np.array([median, upper, *naive])
        losses = pinball(np.full(len(points), demand), points, 0.5)
        high = pinball(np.array([demand]), points[1:2], UPPER)[0]
        sums = self._sums[horizon]
        sums *= _FADE
        sums += (1.0, losses[0], high, demand <= upper, median - demand)
        table = self._naive[horizon]
        table *= _FADE
        known = ~np.isnan(losses[2:])
        table[known] += np.stack([np.ones(known.sum()), losses[2:][known]], axis=1)
