"""The four ports over recorded demand and one simulated target: what production meets here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autoscaler.errors import HistoryUnavailable, WriteConflict
from autoscaler.model import (
    Floats,
    History,
    Knowledge,
    Memory,
    Observation,
    Outcome,
    Result,
    Target,
)
from autoscaler.model import Samples as ModelSamples
from autoscaler.policy import TidePolicy
from autoscaler.ports import DemandSource, FloorWriter, Recorder, TargetReader

NO_CEILING = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPorts:
    """The four together."""

    demand: DemandSource
    targets: TargetReader
    floors: FloorWriter
    records: Recorder


class RecordedDemand:
    """Demand history out of an array: at any moment it shows the finished steps before it.

    Parameters
    ----------
    demand : shape (n,), per second; NaN is a hole
    begins : POSIX seconds of the first step, a multiple of `step`
    step : seconds

    Values have float32 precision, as those of the real adapter, so that records are lossless.
    """

    def __init__(self, demand: Floats, begins: float, step: float) -> None:
        self._values = demand.astype(np.float32).astype(np.float64)
        self._times = begins + step * np.arange(len(demand), dtype=np.float64)
        self._begins, self._step = begins, step

    def read(self, policy: TidePolicy, until: float) -> History:
        """Show what ended by `until`, as far back as the policy asks."""
        last = int((until - self._begins) / self._step + 1e-9)
        if last <= 0:
            raise HistoryUnavailable("nothing was recorded yet", code="NoSeries")
        first = max(0, last - int(policy.spec.demand.history / self._step))
        return History(
            demand=ModelSamples(times=self._times[first:last], values=self._values[first:last]),
            step=self._step,
            read_at=until,
            series=1,
        )


class PlainTarget:
    """An HPA as far as a floor goes: bounds, and writes that are guarded as the real ones."""

    def __init__(self, floor: int = 1, ceiling: int = NO_CEILING) -> None:
        self.floor, self.ceiling = floor, ceiling
        self.original: int | None = None
        self.writes = 0

    def observe(self, policy: TidePolicy) -> Target:  # noqa: ARG002 - there is only one target
        """Read the target as it stands."""
        return Target(
            uid="simulated",
            version=str(self.writes),
            floor=self.floor,
            ceiling=self.ceiling,
            original=self.original,
        )

    def write(self, policy: TidePolicy, target: Target, floor: int) -> Outcome:  # noqa: ARG002 - as above
        """Move the floor if floor and ceiling are as observed."""
        if (target.floor, target.ceiling) != (self.floor, self.ceiling):
            raise WriteConflict(f"floor {self.floor} and ceiling {self.ceiling} were moved")
        if self.original is None:
            self.original = self.floor
        self.floor = floor
        self.writes += 1
        return Outcome.WRITTEN


class NoRecords:
    """Keeps nothing."""

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,
        result: Result,
    ) -> None:
        """Nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """One fit: when, of which forecaster, and how it scored on the past.

    Attributes
    ----------
    target : reactive target that was advised with it, None where there was no advice
    chosen : whether all were compared, or else what stood was fitted again
    cpu_seconds : of this process
    """

    at: float
    name: str
    level: float
    scores: Mapping[str, float]
    target: float | None = None
    chosen: bool = True
    cpu_seconds: float = 0.0


def learning_of(knowledge: Knowledge, cpu_seconds: float = 0.0) -> Learning:
    """Keep what a report tells of a knowledge."""
    return Learning(
        at=knowledge.fitted_at,
        name=knowledge.fitted.name,
        level=knowledge.order_level,
        scores=knowledge.scores,
        target=None if knowledge.advice is None else knowledge.advice.target,
        chosen=not knowledge.refitted,
        cpu_seconds=cpu_seconds,
    )


def names_of(learnt: Sequence[Learning]) -> Mapping[str, int]:
    """How often each forecaster was chosen."""
    counts: dict[str, int] = {}
    for learning in learnt:
        counts[learning.name] = counts.get(learning.name, 0) + 1
    return counts
