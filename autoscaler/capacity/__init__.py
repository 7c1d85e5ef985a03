"""Stage 3: demand becomes whole replicas, and a cold start becomes a lead time."""

from __future__ import annotations

import math

import numpy as np

from autoscaler.capacity.newsvendor import keeping, least_and_most
from autoscaler.model import Floats, Forecast, Ints, Knowledge, Need
from autoscaler.policy import Spec

ACTUATION = 15.0
"""Seconds until an autoscaler acts on a new floor: the HPA's default sync period."""

_TOLERANCE = 1e-6
"""Relative; values have float32 precision (6e-8), and 3.2000001 times a capacity is 3 of them."""

_NONE = 1e-9
"""Replicas that are none: what rounding leaves of a demand of 0 on its way through a logarithm."""

MOST = 1e6
"""Replicas beyond any cluster: an absurd demand must not overflow."""


Covers = tuple[float, float]
"""`Knowledge.cover`, and how many times that a standing replica is kept for."""


def rule_of(knowledge: Knowledge | None, spec: Spec) -> tuple[float, Covers | None]:
    """How replicas are ordered: the quantile, and on expected cost where that was learnt."""
    if knowledge is None:
        return spec.price.level, None
    if knowledge.cover is None:
        return knowledge.order_level, None
    return knowledge.order_level, (knowledge.cover, keeping(spec.release.break_even))


def replicas_for(demand: Floats, capacity: float) -> Ints:
    """Whole replicas for a demand per second, same shape: ceil(demand / capacity), 0 for none.

    Parameters
    ----------
    demand : finite, >= 0
    capacity : demand per second that one replica carries, > 0
    """
    exact = np.minimum(demand / capacity, MOST)
    needed: Ints = np.ceil(exact * (1 - _TOLERANCE) - _NONE).astype(np.int64)
    return needed


def need_of(
    forecast: Forecast,
    order_level: float,
    capacity: float,
    newest: float,
    *,
    recent: float = math.nan,
    backlog: float = 0.0,
    cover: Covers | None = None,
) -> Need:
    """Need for every step ahead on quantiles, and for this moment on expected cost.

    Parameters
    ----------
    forecast : quantiles of demand
    order_level : quantile on which replicas are ordered
    capacity : demand per second of one replica
    newest, recent : newest known demand, and the largest of a break-even; NaN needs nothing
    backlog : demand per second that drains what waits in time
    cover : as `rule_of` gives it
    """
    least = most = None
    if forecast.ahead is not None and cover is not None:
        least, most = least_and_most(forecast.ahead, capacity, *cover)
        if not math.isnan(forecast.ahead.coming):
            most = max(most, int(replicas_for(np.asarray([forecast.ahead.coming]), capacity)[0]))
    alone, most_seen = (0.0 if math.isnan(demand) else demand for demand in (newest, recent))
    seen = np.asarray([alone + backlog, alone, most_seen])
    now, without, highest = replicas_for(seen, capacity).tolist()
    return Need(
        start=forecast.start,
        step=forecast.step,
        order=replicas_for(forecast.at(order_level), capacity),
        keep=replicas_for(forecast.at(0.5), capacity),
        now=now,
        drain=now - without,
        recent=highest,
        least=least,
        most=most,
    )


def lead_time(cold_start: float, period: float) -> float:
    """Seconds from a demand that is foreseen until replicas for it are Ready, at the latest.

    One control period until the next decision, the autoscaler's own sync, and the cold start.
    """
    return period + ACTUATION + cold_start
