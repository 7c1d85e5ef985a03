"""When the forecasts of the newest fit miss as they never did in their backtest: the safer side.

Each cycle notes what is expected of the step a lead ahead, and judges the one that has come since.
A *miss* is a forecast worse than nineteen of twenty in the backtest; what counts is their share
within the last hours, so no single minute decides, however bad. Beyond its usual range the need is
the larger of what the forecast says and what the last day's changes alone say (`forecast.recent`):
a floor may rise by it and never falls. It ends when the share is back to half of that, or with the
next fit. `docs/decisions/0008-falling-back.md` says why so, and what it is worth.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from autoscaler.capacity import ACTUATION, replicas_for
from autoscaler.forecast import Recent
from autoscaler.forecast.accuracy import demand_at, expected_at, relative_loss
from autoscaler.forecast.foresee import checked
from autoscaler.model import (
    Code,
    Expected,
    Floats,
    Forecast,
    Knowledge,
    Live,
    Memory,
    Need,
    Reason,
    Series,
    Usual,
)
from autoscaler.policy import Spec

HALF_LIFE = 3600.0
"""Seconds in which a miss loses half its weight."""

BACK = 0.5
"""Part of the usual range under which the forecasts are believed again."""

BEYOND = 1.2
"""Times the 99th percentile of the share in the backtest that is still usual."""

SHARES = (0.6, 0.9)
"""Share of misses that is not out of range whatever the backtest says, and that always is."""

LEAST = 0.1
"""Relative loss that is no miss whatever the backtest says: of a fifth of the load, one way."""

LONGEST = 600.0
"""Seconds that one forecast may stand for: after a gap the first one alone decides nothing."""

LEVEL = 0.98
"""Quantile of the last day's changes that is ordered on while fallen back."""


def usual_of(loss: Floats, step: float) -> Usual:
    """Range of the loss in a backtest.

    Parameters
    ----------
    loss : shape (n,), relative losses in the order of time, at least one of them known
    step : seconds between them
    """
    known = loss[~np.isnan(loss)]
    bound = max(float(np.quantile(known, 0.95)), LEAST)
    shares = np.empty(len(known))
    share, fade = 0.05, fading(step)
    for i, miss in enumerate((known > bound).tolist()):
        share = fade * share + (1 - fade) * miss
        shares[i] = share
    return Usual(loss=bound, share=float(np.clip(BEYOND * np.quantile(shares, 0.99), *SHARES)))


def fading(step: float) -> float:
    """Weight of what was a step ago against what is now."""
    return float(0.5 ** (step / HALF_LIFE))


def judged(
    memory: Memory,
    knowledge: Knowledge | None,
    series: Series,
    forecast: Forecast,
    need: Need,
    spec: Spec,
) -> tuple[Memory, Need, tuple[Reason, ...]]:
    """Judge the forecasts that came due, note the newest, and be safer where they miss too often.

    Returns
    -------
    memory : with `live` brought up to date
    need : the larger one while fallen back
    reasons : that we fell back, while we are
    """
    capacity, seconds = spec.capacity.per_replica, spec.cold_start_seconds + ACTUATION
    usual = None if knowledge is None else knowledge.usual
    if knowledge is None or usual is None:
        return memory, need, ()
    live = memory.live
    if live.fit != knowledge.fitted_at:
        live = Live(fit=knowledge.fitted_at)
    live = _turned(_seen(live, series, usual, capacity), usual, series.end)
    expected = expected_at(forecast, seconds)
    if expected is not None and (not live.expected or expected.at > live.expected[-1].at):
        live = replace(live, expected=(*live.expected, expected))
    memory = replace(memory, live=live)
    if live.fallen is None:
        return memory, need, ()
    return memory, _safer(need, series, capacity, seconds), (_fell(live, usual),)


def _seen(live: Live, series: Series, usual: Usual, capacity: float) -> Live:
    """Judge what was expected of steps that have ended; what is not known teaches nothing."""
    due = sum(each.at < series.end - 1e-6 for each in live.expected)
    missed, judged = live.missed, live.judged
    for each in live.expected[:due]:
        demand = demand_at(series, each.at)
        if not math.isnan(demand):
            miss = _loss(each, demand, capacity) > usual.loss
            since = series.step if judged is None else min(each.at - judged, LONGEST)
            fade = fading(since)
            missed = fade * missed + (1 - fade) * miss
            judged = each.at
    missed = float(f"{missed:.6g}")
    return replace(live, expected=live.expected[due:], judged=judged, missed=missed)


def _loss(expected: Expected, demand: float, capacity: float) -> float:
    came, median, upper = np.array([[demand], [expected.median], [expected.upper]])
    return float(relative_loss(came, median, upper, capacity)[0])


def _turned(live: Live, usual: Usual, now: float) -> Live:
    """Fall back out of range; return when well within it."""
    if live.fallen is None and live.missed > usual.share:
        return replace(live, fallen=now, fell=True)
    if live.fallen is not None and live.missed < BACK * usual.share:
        return replace(live, fallen=None)
    return live


def _safer(need: Need, series: Series, capacity: float, seconds: float) -> Need:
    """Need at least what the last day's changes alone say; as it was where they say nothing."""
    steps = len(need.order)
    try:
        plain = checked(Recent().predict(series, steps, (0.5, LEVEL)))
    except ValueError:
        return need
    order = replicas_for(plain.at(LEVEL), capacity)
    keep = replicas_for(plain.at(0.5), capacity)
    least, most = need.least, need.most
    if least is not None and most is not None:
        least = max(least, int(order[: round(seconds / need.step) + 1].max()))
        most = max(most, least)
    return replace(
        need,
        order=np.maximum(need.order, order),
        keep=np.maximum(need.keep, keep),
        least=least,
        most=most,
    )


def _fell(live: Live, usual: Usual) -> Reason:
    return Reason(
        code=Code.FELL_BACK,
        sentence=f"{live.missed:.0%} of the last forecasts missed by more than one in twenty did "
        f"on the days before the fit, where at most {usual.share:.0%} is usual: the larger of this "
        "forecast and of what the last day's changes say",
        numbers={"missed": live.missed, "usual": usual.share},
    )
