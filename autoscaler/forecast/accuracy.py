"""How good forecasts are: pinball loss, coverage and bias, against values that anybody knows.

One set of functions for the backtest of a choice and for what is seen live. A forecaster that
loses to "the same time last week" is told by these numbers, whatever its scores say.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autoscaler.model import Accuracy, Code, Expected, Floats, Forecast, Reason, Series

UPPER = 0.99
"""Quantile whose coverage is promised."""

HOUR, DAY, WEEK = 3600.0, 86_400.0, 604_800.0

NAIVE = ("last-value", "yesterday", "last-week")
"""What every forecaster is read against."""

MARGIN = 1.05
"""Times the loss of last week's value that counts as losing to it: less is noise."""

LEAST = 96.0
"""Forecasts that must have been judged before anything is said about them: a day's quarters."""


def pinball(demand: Floats, forecast: Floats, level: float) -> Floats:
    """Pinball loss of a quantile, same shape: its mean is least for the true quantile.

    Koenker and Bassett (1978): (y - f) level above the forecast, (f - y) (1 - level) below it.
    """
    above = demand - forecast
    loss: Floats = np.maximum(level * above, (level - 1) * above)
    return loss


def accuracy_of(
    horizon: float, demand: Floats, median: Floats, upper: Floats, naive: Mapping[str, Floats]
) -> Accuracy | None:
    """Judge forecasts by what came; None when nothing can be compared.

    Parameters
    ----------
    demand, median, upper : shape (n,), demand per second; NaN = unknown
    naive : by name, what stands for a median, shape (n,); one that is unknown on more than half of
        the steps is left out, else all are compared on the steps that all of them know
    """
    known = np.isfinite(demand) & np.isfinite(median) & np.isfinite(upper)
    used = {
        name: values
        for name, values in naive.items()
        if 2 * int((known & np.isfinite(values)).sum()) >= max(1, int(known.sum()))
    }
    for values in used.values():
        known &= np.isfinite(values)
    if not known.any():
        return None
    y = demand[known]
    middle, high = (_without_dust(y, of[known]) for of in (median, upper))
    return Accuracy(
        horizon=horizon,
        count=float(len(y)),
        median=float(pinball(y, middle, 0.5).mean()),
        upper=float(pinball(y, high, UPPER).mean()),
        coverage=float((y <= high).mean()),
        bias=float((middle - y).mean()),
        naive={name: float(pinball(y, values[known], 0.5).mean()) for name, values in used.items()},
    )


def _without_dust(demand: Floats, forecast: Floats) -> Floats:
    """Take what lies a rounding beside demand as demand: a constant one would have missed it."""
    meant: Floats = np.where(np.abs(forecast - demand) <= 1e-9 * demand, demand, forecast)
    return meant


def relative_loss(demand: Floats, median: Floats, upper: Floats, capacity: float) -> Floats:
    """Loss of both quantiles against the load that was meant, same shape; small loads are tame.

    At most 1.5 where too little was expected, so that no single minute outweighs others, and
    without a unit, so that a service that grows is judged as before.
    """
    loss = pinball(demand, median, 0.5) + pinball(demand, upper, UPPER)
    relative: Floats = loss / (np.maximum(demand, median) + capacity)
    return relative


def expected_at(forecast: Forecast, seconds: float) -> Expected | None:
    """Say what a forecast expects so many seconds after its start; None when it ends before.

    At the lead it is the distribution that replicas are ordered on, where there is one. Six
    digits, since that is kept and recorded.
    """
    ahead = forecast.ahead
    if ahead is not None and abs(ahead.after - seconds) < forecast.step:
        at = forecast.start + ahead.after
        middle, high = (float(ahead.lead[reaching(ahead.weights, level)]) for level in (0.5, UPPER))
    else:
        step = round(seconds / forecast.step)
        if not 0 <= step < forecast.quantiles.shape[1]:
            return None
        at = forecast.start + step * forecast.step
        middle, high = (float(forecast.at(level)[step]) for level in (0.5, UPPER))
    return Expected(at=at, median=float(f"{middle:.6g}"), upper=float(f"{high:.6g}"))


def reaching(weights: Floats, level: float) -> int:
    """Which of rising loads with these probabilities is their quantile of a level."""
    return min(int(np.searchsorted(np.cumsum(weights), level - 1e-9)), len(weights) - 1)


def demand_at(series: Series, at: float) -> float:
    """Demand of the step that starts at `at`; NaN when it is not known for certain."""
    index = round((at - series.start) / series.step)
    if not 0 <= index < len(series) or series.marks[index]:
        return float("nan")
    return float(series.values[index])


def worse_than_last_week(accuracy: tuple[Accuracy, ...]) -> tuple[Reason, ...]:
    """Say at which horizons the same time last week would have been the better forecast."""
    lost = [each for each in accuracy if loses(each)]
    if not lost:
        return ()
    words = " and ".join(
        f"{horizon_name(each.horizon)} ahead ({each.median:.3g} against "
        f"{each.naive['last-week']:.3g})"
        for each in lost
    )
    return (
        Reason(
            code=Code.WORSE_THAN_LAST_WEEK,
            sentence=f"the same time last week was the better forecast {words}: the tide changed, "
            "or the last minutes mislead",
            numbers={
                f"{each.horizon:g}": each.median / each.naive["last-week"]
                for each in lost
                if each.naive["last-week"] > 0  # of weeks that repeat exactly there is no ratio
            },
        ),
    )


def loses(accuracy: Accuracy) -> bool:
    """Whether last week's value would have been the better median, beyond noise."""
    naive = accuracy.naive.get("last-week")
    return naive is not None and accuracy.count >= LEAST and accuracy.median > MARGIN * naive


def horizon_name(seconds: float) -> str:
    """Horizon for people: 5 min, 1 h, 1 d."""
    for size, unit in ((DAY, "d"), (HOUR, "h")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 60:g} min"
