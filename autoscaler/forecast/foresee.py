"""From a series and what was learnt to one forecast, whatever fails on the way."""

from __future__ import annotations

import math

from autoscaler.forecast.calendar import levelled, ordinary, raised
from autoscaler.forecast.recent import Recent
from autoscaler.model import Code, Floats, Forecast, Knowledge, Reason, Series
from autoscaler.schema.events import EventWindow

SHOWN = (0.1, 0.5, 0.9, 0.99)
"""Levels that people see and forecasts are judged by, besides the one that orders replicas."""

STRENGTH = 0.3
"""Correlation with a day or a week before below which a service is said to have no tide."""


def foresee(  # long: whatever fails on the way, in order
    series: Series,
    knowledge: Knowledge | None,
    events: tuple[EventWindow, ...],
    steps: int,
    level: float,
    lead: float = 0.0,
) -> tuple[Forecast | None, tuple[Reason, ...], tuple[Reason, ...]]:
    """Forecast with what was learnt; without it, or if that fails, with the last minutes alone.

    Parameters
    ----------
    steps : how many to forecast
    level : quantile on which replicas are ordered, to be among the levels
    lead : seconds until what is ordered now is Ready at the latest: so far ahead events are ordered

    Returns
    -------
    forecast : events included; None when nothing is known of the last day
    reasons, doubts : events that change it and no tide; a forecaster that failed
    """
    levels = tuple(sorted({*SHOWN, level}))
    plain = levelled(ordinary(series, events), events)
    forecast = None
    doubts: tuple[Reason, ...] = ()
    if knowledge is not None:
        try:
            forecast = checked(knowledge.fitted.predict(plain, steps, levels))
        except (ValueError, ArithmeticError, LookupError) as error:
            # what numbers can do to a forecaster; anything else is a bug and ends loudly
            doubts = (_failed(knowledge.fitted.name, error),)
    if forecast is None:
        try:
            forecast = checked(Recent().predict(plain, steps, levels))
        except ValueError as error:
            return None, (), (*doubts, _failed("recent", error))
    learnt = None if knowledge is None else knowledge.events
    forecast, reasons = raised(forecast, events, learnt, series, lead)
    if knowledge is not None and not math.isnan(knowledge.tide) and knowledge.tide < STRENGTH:
        reasons = (*reasons, _no_tide(knowledge.tide))
    return forecast, reasons, doubts


def checked(forecast: Forecast) -> Forecast:
    """Refuse a forecast whose quantiles are not finite, negative, or cross.

    Raises
    ------
    ValueError
    """
    paths = forecast.quantiles
    if not _countable(paths):
        raise ValueError("quantiles must be finite and not negative")
    if (paths[1:] * (1 + 1e-9) < paths[:-1]).any():
        raise ValueError("quantiles must not decrease with their level")
    ahead = forecast.ahead
    if ahead is not None and not (_countable(ahead.lead) and _countable(ahead.window)):
        raise ValueError("loads ahead must be finite and not negative")
    return forecast


def _countable(values: Floats) -> bool:
    """Whether all are finite and not negative; NaN spreads into both ends and compares false."""
    return bool(values.min() >= 0 and values.max() < math.inf)


def _failed(name: str, error: Exception) -> Reason:
    return Reason(
        code=Code.FIT_FAILED, sentence=f"forecaster {name} failed: {type(error).__name__}: {error}"
    )


def _no_tide(tide: float) -> Reason:
    return Reason(
        code=Code.NO_TIDE,
        sentence=f"no tide: demand correlates only {tide:.2f} with a day or a week before; "
        "the last minutes speak",
        numbers={"tide": tide},
    )
