"""Does the promise hold? Coverage of the P99 at the lead on one-minute steps, day after day.

Each night production learns from the days before; through the day after, every minute, its P99 for
the step in which replicas ordered now begin to serve is compared with what came. (One minute in
seven is not enough: on two weeks what it counts is 0.15 % off, a third of what is allowed.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.capacity import ACTUATION
from autoscaler.demand import regular
from autoscaler.errors import TraceError
from autoscaler.model import Floats
from autoscaler.simulator.plain import plain_world
from autoscaler.tune import learn
from benchmarks.forecast.ours import history_of, policy_for, promised
from benchmarks.forecast.task import cpu

STEP = 60.0
DAY = 1440
HISTORY = 28 * DAY
LEVEL = 0.99
ENOUGH = (0.985, 0.995)
"""Coverage of the promised P99 that counts as kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How a promise was kept on one series.

    Attributes
    ----------
    coverage : share of moments at which demand stayed at or below the promised P99
    loss : mean pinball loss of that P99, as a share of mean demand
    ahead : share of the days on which the distributions ahead decided
    """

    coverage: float
    loss: float
    ahead: float
    days: int
    cpu_seconds: float

    @property
    def good(self) -> bool:
        """Whether the coverage is what was promised."""
        return ENOUGH[0] <= self.coverage <= ENOUGH[1]


def keep(minutes: Floats, begins: float) -> Kept:
    """Judge the promise on the days that `benchmarks.score` evaluates.

    Raises
    ------
    TraceError
        There are too few days.
    """
    world = plain_world(minutes, begins=begins)
    demand, began = world.demand, cpu()
    policy = policy_for(demand)
    lead = int((policy.spec.cold_start.duration + ACTUATION) / STEP + 1e-9)
    missed: list[float] = []
    covered, by_ahead = 0, 0
    nights = range(world.measured, len(demand) - DAY + 1, DAY)
    if not nights:
        raise TraceError("no whole day to judge")
    for night in nights:
        low = max(0, night - HISTORY)
        history = history_of(demand[low:night], begins + low * STEP, STEP)
        knowledge = learn(policy, history, history.read_at)
        by_ahead += knowledge.cover is not None
        for now in range(night, min(night + DAY, len(demand) - lead)):
            low = max(0, now - 2 * DAY)  # a forecast looks back some hours
            history = history_of(demand[low:now], begins + low * STEP, STEP)
            series, _ = regular(history, history.read_at)
            forecast = knowledge.fitted.predict(series, lead + 1, (0.5, LEVEL))
            over = demand[now + lead] - promised(forecast, LEVEL, lead)
            missed.append(max(LEVEL * over, (LEVEL - 1) * over))
            covered += over <= 1e-9 * (1 + demand[now + lead])
    return Kept(
        coverage=covered / len(missed),
        loss=float(np.mean(missed) / demand.mean()),
        ahead=by_ahead / len(nights),
        days=len(nights),
        cpu_seconds=cpu() - began,
    )
