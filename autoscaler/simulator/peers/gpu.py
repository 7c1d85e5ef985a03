"""The HPA on GPU utilisation as DCGM shows it for an LLM: high with any load, and noisy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.simulator.peers import ByWishes, Settings, Wish
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.stepping import Bounds, Moment

# ours, after what operators report: the counter says "a kernel ran", so 10 % of the load already
# shows as half busy, and one-minute means still jump by some per cent
BEND, NOISE, SEED = 0.3, 0.07, 1


@dataclass(frozen=True, slots=True)
class GpuHpa(ByWishes):
    """Utilisation = load share ** 0.3, at most 1, with noise; target 70 %."""

    name: str = "hpa-gpu"
    source: str = "HPA on DCGM_FI_DEV_GPU_UTIL, as many guides set it up; shape and noise are ours"
    history_days: int = 0

    @property
    def defaults(self) -> Settings:
        """The usual target."""
        return {"target": 0.7}

    @property
    def grid(self) -> tuple[Settings, ...]:
        """60 to 80 %."""
        return tuple({"target": target} for target in (0.6, 0.7, 0.8))

    def wish(self, world: PlainWorld, settings: Settings) -> Wish:
        """Average over ready pods, as the HPA reads a Pods metric."""
        noise = np.random.default_rng(SEED).standard_normal(len(world.demand)) * NOISE
        capacity, bounds = world.service.capacity, Bounds()

        def wish(moment: Moment) -> int:
            load = moment.observed / (moment.ready * capacity)
            busy = utilisation(load) + float(noise[moment.step])
            ratio = min(max(busy, 0.0), 1.0) / settings["target"]
            return bounds.bounded(bounds.calm(ratio * moment.total, moment.total), moment.total)

        return wish


def utilisation(load: float) -> float:
    """Read the counter for a share of the capacity, without noise."""
    return float(min(1.0, max(load, 0.0) ** BEND))


PEERS = (GpuHpa(),)
