"""KEDA's cron trigger beside the HPA: a schedule that a careful operator fits on the history.

Ours, since the operator is: weekdays and weekends apart, P95 of the demand of each hour of the
history, at most four stretches a day (those that over-provide least), each begun 15 minutes early,
looked at again every week. The cron value is one more metric with AverageValue 1 under the same
HPA, so it is a floor that is subject to the HPA's tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from autoscaler.model import Ints
from autoscaler.replay import replicas_for
from autoscaler.simulator.peers import ByWishes, Settings, Wish
from autoscaler.simulator.plain import DAY, PlainWorld
from autoscaler.simulator.stepping import Bounds, Moment

STRETCHES = 4
EARLY = 900.0


@dataclass(frozen=True, slots=True)
class KedaCron(ByWishes):
    """A weekly reviewed schedule above which the HPA works."""

    name: str = "keda-cron"
    source: str = (
        "KEDA cron scaler (kedacore/keda, pkg/scalers/cron_scaler.go); the schedule is ours"
    )
    history_days: int = 2

    @property
    def defaults(self) -> Settings:
        """P95 as it was, HPA at 70 %."""
        return {"factor": 1.0, "target": 0.7}

    @property
    def grid(self) -> tuple[Settings, ...]:
        """A margin, and the HPA's target."""
        return tuple(
            {"factor": factor, "target": target}
            for factor in (1.0, 1.2)
            for target in (0.6, 0.7, 0.8, 0.9)
        )

    def wish(self, world: PlainWorld, settings: Settings) -> Wish:
        """Fit at the start and every 7 days on all the history there is, at most 28 days."""
        crons = np.empty(len(world.run_demand), dtype=np.int64)
        for first in range(world.start, len(world.demand), 7 * world.day):
            begin = first - world.start
            length = min(7 * world.day, len(crons) - begin)
            crons[begin : begin + length] = schedule(world, first, length, settings["factor"])
        capacity, bounds = world.service.capacity, Bounds()

        def wish(moment: Moment) -> int:
            ideal = moment.observed / (capacity * settings["target"])
            cron = float(crons[moment.step - world.start])
            both = max(bounds.calm(ideal, moment.total), bounds.calm(cron, moment.total))
            return bounds.bounded(both, moment.total)

        return wish


def schedule(world: PlainWorld, first: int, length: int, factor: float) -> Ints:
    """Replicas of the schedule for `length` steps from `first`, fitted on what was before."""
    day, step = world.day, world.service.step
    hour = day // 24
    past = world.demand[max(0, first - 28 * day) : first]
    offset = first - len(past)
    kinds = _kinds(world, np.arange(offset, first + length))
    plans: dict[bool, list[int]] = {}
    for weekend in (False, True):
        chosen = kinds[: len(past)] == weekend
        if not chosen.any():
            chosen = ~chosen  # no such day was seen yet: as on the other days
        clock = (np.arange(offset, first) % day) // hour
        loads = [float(np.percentile(past[chosen & (clock == h)], 95)) for h in range(24)]
        needs = replicas_for(np.asarray(loads) * factor, world.service.capacity)
        plans[weekend] = stretches(tuple(int(need) for need in needs))
    early = round(EARLY / step)
    ahead = np.arange(first, first + length) + early
    table = np.asarray([plans[False], plans[True]])
    value = table[_kinds(world, ahead).astype(np.int64), (ahead % day) // hour]
    now = np.arange(first, first + length)
    present = table[_kinds(world, now).astype(np.int64), (now % day) // hour]
    result: Ints = np.maximum(value, present)
    return result


def stretches(needs: tuple[int, ...], most: int = STRETCHES) -> list[int]:
    """Hourly levels of at most `most` stretches that cover the needs with the least excess."""

    @cache
    def best(begin: int, left: int) -> tuple[int, tuple[int, ...]]:
        if begin == len(needs):
            return 0, ()
        if left == 0:
            return 10**9, ()
        found: tuple[int, tuple[int, ...]] = (10**9, ())
        for end in range(begin + 1, len(needs) + 1):
            level = max(needs[begin:end])
            cost, rest = best(end, left - 1)
            cost += level * (end - begin) - sum(needs[begin:end])
            if cost < found[0]:
                found = (cost, (level,) * (end - begin) + rest)
        return found

    return list(best(0, most)[1])


def _kinds(world: PlainWorld, steps: Ints) -> np.ndarray:
    """Whether each step falls on a weekend, by the world's calendar (UTC)."""
    days = np.floor((world.begins + steps * world.service.step) / DAY).astype(np.int64)
    weekday = (days + 3) % 7  # 1970-01-01 was a Thursday; 0 is Monday
    weekend: np.ndarray = weekday >= 5
    return weekend


PEERS = (KedaCron(),)
