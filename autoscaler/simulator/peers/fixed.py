"""A fixed number of replicas from last week's load, refreshed daily, with nothing above."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Ints
from autoscaler.replay import replicas_for
from autoscaler.simulator.peers import AboveFloors, Settings
from autoscaler.simulator.plain import PlainWorld


@dataclass(frozen=True, slots=True)
class Fixed(AboveFloors):
    """Replicas for a percentile of the last 7 days, times a factor."""

    name: str
    source: str
    defaults: Settings
    grid: tuple[Settings, ...]
    history_days: int = 1

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:
        """Refresh at every midnight of the grid from the 7 days before it."""
        floors = np.empty(len(world.run_demand), dtype=np.int64)
        for first in range(world.start, len(world.demand), world.day):
            past = world.demand[max(0, first - 7 * world.day) : first]
            load = np.percentile(past, settings["percentile"]) * settings["factor"]
            begin = first - world.start
            floors[begin : begin + world.day] = replicas_for(load, world.service.capacity)
        return floors


_GRID = tuple({"percentile": p, "factor": f} for p in (90.0, 95.0, 99.0, 100.0) for f in (1.0, 1.2))

PEERS = (
    Fixed("fixed-p99", "common practice: P99 of the last week", _GRID[4], _GRID),
    Fixed("fixed-peak", "common practice: the last week's peak", _GRID[6], _GRID),
)
