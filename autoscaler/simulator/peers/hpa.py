"""The plain HPA alone, on demand and backlog: what stands in most clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Ints
from autoscaler.simulator.peers import AboveFloors, Settings
from autoscaler.simulator.plain import PlainWorld


@dataclass(frozen=True, slots=True)
class Hpa(AboveFloors):
    """A floor of one replica, and the HPA above it."""

    name: str = "hpa"
    source: str = "Kubernetes documentation, Horizontal Pod Autoscaling; target 70 %"
    history_days: int = 0

    @property
    def defaults(self) -> Settings:
        """The target that most guides use; the world's own when it has one."""
        return {"target": 0.7}

    @property
    def grid(self) -> tuple[Settings, ...]:
        """Targets from 30 % to 90 %."""
        return tuple({"target": round(0.1 * k, 1)} for k in range(3, 10))

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:  # noqa: ARG002 - one is one
        """Nothing but the HPA."""
        ones: Ints = np.ones(len(world.run_demand), dtype=np.int64)
        return ones


PEERS = (Hpa(),)
