"""Policies, targets, tides and hostile histories for the tests of the core."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from autoscaler.capacity import ACTUATION
from autoscaler.demand import regular
from autoscaler.forecast import FAST, PROFILE, TidalForecaster
from autoscaler.forecast.ahead import TideAhead, reach_of, tables_of
from autoscaler.forecast.tidal import days_of
from autoscaler.model import History, Knowledge, Memory, Observation, Samples, Target, Wanted
from autoscaler.policy import TidePolicy
from autoscaler.tune import learn

np.set_printoptions(threshold=30)  # failing examples stay readable

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
NOW = 1_764_547_200.0  # 2025-12-01 00:00 UTC, a Monday
CAPACITY = 3.0


def policy(zone: str = "UTC", **spec: Any) -> TidePolicy:
    document = {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": {"name": "qwen", "namespace": "llm"},
        "spec": {
            "mode": "Act",
            "timeZone": zone,
            "targetRef": {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "name": "qwen",
            },
            "demand": {"query": "sum(rate(requests_total[1m]))"},
            "capacity": {"perReplica": CAPACITY},
            **spec,
        },
    }
    return TidePolicy.model_validate(document)


def paused(of: TidePolicy) -> TidePolicy:
    metadata = of.metadata.model_copy(update={"annotations": {"foretide.dev/paused": "true"}})
    return of.model_copy(update={"metadata": metadata})


def target(floor: int = 5, ceiling: int = 40, **more: Any) -> Target:
    return Target(uid="u", version="1", floor=floor, ceiling=ceiling, **more)


def tide(days: float = 14, until: float = NOW, seed: int = 1, step: float = 60.0) -> History:
    """A day's rise and fall between about 3 and 12 replicas' demand, calmer at week-ends."""
    count = round(days * DAY / step)
    times = until - step * count + step * np.arange(count)
    clock = 2 * np.pi * (times % DAY) / DAY
    weekend = np.where((times // DAY + 3) % 7 >= 5, 0.7, 1.0)
    noise = np.random.default_rng(seed).normal(0, 1.0, count)
    values = np.maximum((22 - 13 * np.cos(clock)) * weekend + noise, 0.0)
    return history(times, values, until, step=step)


def restless(days: float = 12) -> History:
    """A tide with flashes whose size shows in the last minutes."""
    rng = np.random.default_rng(5)
    calm = tide(days)
    flashes = np.zeros(len(calm.demand))
    for start in rng.integers(0, len(flashes) - 60, 120):
        size, ramp = rng.uniform(10, 40), np.r_[np.linspace(0, 1, 15), np.linspace(1, 0, 30)]
        flashes[start : start + 45] += size * ramp
    return history(calm.demand.times, calm.demand.values + flashes)


def history(
    times: NDArray[np.float64] | list[float],
    values: NDArray[np.float64] | list[float],
    read_at: float = NOW,
    **more: Any,
) -> History:
    samples = Samples(
        times=np.asarray(times, dtype=np.float64), values=np.asarray(values, dtype=np.float64)
    )
    return History(demand=samples, read_at=read_at, **more)


def flat(level: float, days: float = 3, until: float = NOW) -> History:
    count = round(days * 1440)
    times = until - 60.0 * count + 60.0 * np.arange(count)
    return history(times, np.full(count, level), until)


@lru_cache(maxsize=8)
def knowledge(zone: str = "UTC", until: float = NOW) -> Knowledge:
    return learn(policy(zone), tide(14, until), until, shapes=FAST)


@lru_cache(maxsize=8)
def knowing_ahead(zone: str = "UTC", until: float = NOW) -> Knowledge:
    """Knowledge that decides on distributions ahead, whatever a replay would have chosen."""
    series, _ = regular(tide(14, until), until)
    days = days_of(series, zone)
    reach = reach_of(300.0, ACTUATION, 1800.0, 60.0)
    tidal = TidalForecaster(shape=PROFILE).fit(series, zone, ())
    fitted = TideAhead.of(tidal, days, tables_of(days, reach.window), reach)
    return Knowledge(fitted=fitted, order_level=0.95, fitted_at=until, cover=18.0)


def remembered(floor: int, now: float = NOW, minutes: int = 30) -> Memory:
    """A memory that is complete and in which `floor` was wanted all the time."""
    wanted = tuple(Wanted(at=now - 60.0 * m, floor=floor) for m in range(minutes, 0, -1))
    return Memory(wanted=wanted, since=now - 60.0 * minutes)


def seen(of: History | None = None, floor: int = 5, ceiling: int = 40, **more: Any) -> Observation:
    return Observation(target=target(floor, ceiling, **more), history=of)


# anything that a metrics source could answer, near `NOW`
_HOSTILE_VALUE = st.one_of(
    st.floats(0, 60),
    st.sampled_from([0.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e38, -1e38, 1e308]),
)
_HOSTILE_TIME = st.one_of(
    st.integers(-3000, 10).map(lambda minutes: NOW + 60.0 * minutes),
    st.floats(NOW - 3 * DAY, NOW + HOUR),
    st.sampled_from([0.0, -1.0, NOW, NOW - 60.0, 1e12, float("nan"), float("inf")]),
)


@st.composite
def hostile(draw: st.DrawFn) -> History:
    """A history that is empty, short, unordered, repeated, negative, from the future, ..."""
    pairs = draw(st.lists(st.tuples(_HOSTILE_TIME, _HOSTILE_VALUE), max_size=30))
    if draw(st.booleans()):  # or a good one with some of that mixed in, resets and holes
        good = tide(draw(st.sampled_from([0.2, 1.0, 3.0])), seed=draw(st.integers(0, 3)))
        times, values = good.demand.times.copy(), good.demand.values.copy()
        for _ in range(draw(st.integers(0, 3))):
            start = draw(st.integers(0, len(times) - 1))
            stop = min(len(times), start + draw(st.integers(1, 400)))
            values[start:stop] = draw(_HOSTILE_VALUE)
        keep = np.ones(len(times), dtype=bool)
        if draw(st.booleans()):
            start = draw(st.integers(0, len(times) - 1))
            keep[start : start + draw(st.integers(1, 400))] = False
        times = np.r_[times[keep], [time for time, _ in pairs]]
        values = np.r_[values[keep], [value for _, value in pairs]]
    else:
        times = np.array([time for time, _ in pairs], dtype=np.float64)
        values = np.array([value for _, value in pairs], dtype=np.float64)
    if draw(st.booleans()):
        order = np.random.default_rng(draw(st.integers(0, 9))).permutation(len(times))
        times, values = times[order], values[order]
    flags = Samples(times=times, values=np.ones(len(times))) if draw(st.booleans()) else None
    return history(
        times,
        values,
        saturated=flags,
        series=draw(st.integers(1, 2)),
        warnings=draw(st.sampled_from([(), ("partial response",)])),
    )
