"""Calendar events: what is known to come multiplies the forecast, and teaches no ordinary day."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autoscaler.model import Ahead, Code, Floats, Forecast, Mark, Reason, Series
from autoscaler.schema.events import EventWindow


def ordinary(series: Series, events: tuple[EventWindow, ...]) -> Series:
    """Give the series with event steps unknown, so that they teach nothing about other days.

    The same series when no event touches it.
    """
    touched = [event for event in events if event.start < series.end and event.end > series.start]
    if not touched or not len(series):
        return series
    values, marks = series.values.copy(), series.marks.copy()
    for event in touched:
        first = max(0, int(np.floor((event.start - series.start) / series.step)))
        last = int(np.ceil((event.end - series.start) / series.step))
        values[first:last] = np.nan
        marks[first:last] |= np.uint8(Mark.MISSING)
    return replace(series, values=values, marks=marks)


def raised(
    forecast: Forecast, events: tuple[EventWindow, ...]
) -> tuple[Forecast, tuple[Reason, ...]]:
    """Multiply the forecast inside the windows of events; factors of overlapping ones multiply.

    A step that an event only touches counts as inside. That replicas stand *before* an event is
    the plan's doing: it orders a lead time ahead.
    """
    steps = forecast.quantiles.shape[1]
    end = forecast.start + steps * forecast.step
    coming = [event for event in events if event.start < end and event.end > forecast.start]
    if not coming:
        return forecast, ()
    factors = np.ones(steps)
    for event in coming:
        first = max(0, int(np.floor((event.start - forecast.start) / forecast.step)))
        last = int(np.ceil((event.end - forecast.start) / forecast.step))
        factors[first:last] *= event.factor
    reasons = tuple(
        Reason(
            code=Code.EVENT,
            sentence=f"event {event.name}: demand x {event.factor:g} "
            + (
                f"from {(event.start - forecast.start) / 60:.0f} min from now on"
                if event.start > forecast.start
                else f"for {(event.end - forecast.start) / 60:.0f} min more"
            ),
            numbers={"factor": event.factor, "start": event.start, "end": event.end},
        )
        for event in coming
    )
    return replace(
        forecast,
        quantiles=forecast.quantiles * factors,
        ahead=None if forecast.ahead is None else _raised_ahead(forecast.ahead, factors, forecast),
    ), reasons


def _raised_ahead(ahead: Ahead, factors: Floats, forecast: Forecast) -> Ahead:
    """Multiply the distributions; a window is raised as if its peak met the event's."""
    at = min(round(ahead.after / forecast.step), len(factors) - 1)
    until = min(round(ahead.until / forecast.step), len(factors) - 1)
    here, peak = float(factors[at]), float(factors[: until + 1].max())
    return replace(ahead, lead=ahead.lead * here, window=ahead.window * peak, ago=ahead.ago * peak)
