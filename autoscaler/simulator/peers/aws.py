"""AWS predictive scaling beside target tracking, which the HPA stands for.

From the documentation: 14 days of hourly data, a forecast of 48 hours renewed every 6 hours,
capacity of an hour in force from `buffer` before it, no scaling in below it, the largest of all
policies wins. The forecast itself is not published; ours: mean of the same hour on the last 14
days, the same weekday twice as heavy. Ramps within an hour are invisible to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats, Ints
from autoscaler.replay import replicas_for
from autoscaler.simulator.peers import AboveFloors, Settings
from autoscaler.simulator.plain import PlainWorld


@dataclass(frozen=True, slots=True)
class Aws(AboveFloors):
    """Hourly forecast as a floor, HPA above."""

    name: str = "aws"
    source: str = "AWS EC2 Auto Scaling documentation, predictive scaling; the forecast is ours"
    history_days: int = 1

    @property
    def defaults(self) -> Settings:
        """Target 70 % for both, buffer of 300 s."""
        return {"target": 0.7, "buffer": 300.0}

    @property
    def grid(self) -> tuple[Settings, ...]:
        """Target and buffer."""
        return tuple(
            {"target": target, "buffer": buffer}
            for target in (0.5, 0.6, 0.7, 0.8, 0.9)
            for buffer in (300.0, 900.0)
        )

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:
        """Renew every 6 hours; an hour's capacity holds from its buffer on to its end."""
        day, hour = world.day, world.day // 24
        early = round(settings["buffer"] / world.service.step)
        load = np.zeros(len(world.run_demand))
        for first in range(world.start, len(world.demand), 6 * hour):
            ahead = hours_ahead(world.demand[:first], day, 7 + early // hour)
            begin = first - world.start
            steps = np.arange(min(6 * hour, len(load) - begin))
            load[begin : begin + len(steps)] = np.maximum(
                ahead[steps // hour], ahead[(steps + early) // hour]
            )
        capacity = world.service.capacity * settings.get("target", 0.7)
        return replicas_for(load, capacity)


def hours_ahead(past: Floats, day: int, hours: int) -> Floats:
    """Mean load of the coming hours, shape (hours,), from whole past hours."""
    hour = day // 24
    whole = past[len(past) % hour :].reshape(-1, hour).mean(axis=1)[-14 * 24 :]
    ahead = np.empty(hours)
    for k in range(hours):
        same = whole[(len(whole) + k) % 24 :: 24]
        age = np.arange(len(same), 0, -1)  # days ago, as the hour lies one or more days back
        weights = np.where(age % 7 == 0, 2.0, 1.0)
        ahead[k] = np.average(same, weights=weights)
    return ahead


PEERS = (Aws(),)
