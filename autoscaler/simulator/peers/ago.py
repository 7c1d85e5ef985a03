"""Same time yesterday or last week, as a floor under the HPA: the best cheap baseline.

Grafana Mimir's "predictive" KEDA trigger: max_over_time(metric[30m] offset 6d23h30m), which is
the largest demand of the 30 minutes that followed this instant one week ago.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Ints
from autoscaler.replay import largest_ahead, replicas_for
from autoscaler.simulator.peers import AboveFloors, Settings, scaled
from autoscaler.simulator.plain import PlainWorld

_GRID = tuple(
    {"factor": factor, "target": target} for factor in (1.0, 1.2) for target in (0.6, 0.7, 0.8, 0.9)
)


@dataclass(frozen=True, slots=True)
class Ago(AboveFloors):
    """Largest demand of [t - days, t - days + 30 min] above the HPA."""

    name: str
    days: int
    source: str
    grid: tuple[Settings, ...] = _GRID

    @property
    def defaults(self) -> Settings:
        """The demand as it was, HPA at 70 %."""
        return {"factor": 1.0, "target": 0.7}

    @property
    def history_days(self) -> int:
        """It must be able to look back."""
        return self.days

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:
        """Look back `days`, at every step of the run."""
        back = self.days * world.day
        window = largest_ahead(world.demand, round(1800 / world.service.step))
        past = np.zeros(len(world.demand))
        past[back:] = window[: max(len(past) - back, 0)]
        floors = replicas_for(past[world.start :], world.service.capacity)
        return scaled(floors, settings["factor"])


PEERS = (
    Ago("day-ago", 1, "Mimir's predictive trigger with an offset of one day instead of one week"),
    Ago("week-ago", 7, "Grafana Mimir, predictive KEDA trigger: 30 min, offset 6d23h30m"),
)
