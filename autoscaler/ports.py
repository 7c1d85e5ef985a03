"""The four small ports through which a cycle meets the world, wall clock or simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from autoscaler.model import History, Knowledge, Memory, Observation, Outcome, Result, Target
from autoscaler.policy import TidePolicy


class DemandSource(Protocol):
    """Where a policy's demand history comes from."""

    def read(self, policy: TidePolicy, until: float) -> History:
        """History of the policy's demand, nothing newer than `until` (POSIX seconds).

        Raises
        ------
        HistoryUnavailable
            The source did not answer in time, refused, or has no such series.
        """
        ...


class TargetReader(Protocol):
    """Where a policy's target is observed."""

    def observe(self, policy: TidePolicy) -> Target:
        """Read the target as it stands now.

        Raises
        ------
        TargetUnavailable
            It is not there, or the cluster did not answer.
        TargetRefused
            It is there, but a floor must not be written to it.
        """
        ...


class FloorWriter(Protocol):
    """Where a floor is written, guarded by what was observed."""

    def write(self, policy: TidePolicy, target: Target, floor: int) -> Outcome:
        """Move the floor of `target` to `floor` if the target is still as observed.

        Returns
        -------
        Outcome
            WRITTEN, or OBSERVED / NOT_LEADER when this writer declines to write.

        Raises
        ------
        WriteConflict, WriteRefused, WriteUnavailable
        """
        ...


class Recorder(Protocol):
    """Where decisions are recorded (records, metrics, events, status)."""

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,
        result: Result,
    ) -> None:
        """Keep what was seen, what was known, and what came of it. Must not raise."""
        ...


class Ports(Protocol):
    """The four together."""

    @property
    def demand(self) -> DemandSource:
        """Where demand is read."""
        ...

    @property
    def targets(self) -> TargetReader:
        """Where targets are observed."""
        ...

    @property
    def floors(self) -> FloorWriter:
        """Where floors are written."""
        ...

    @property
    def records(self) -> Recorder:
        """Where decisions are recorded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A policy that its source holds but that cannot be used: the last good version stays."""

    key: str
    message: str
    generation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """All policies of a source at one moment.

    Attributes
    ----------
    complete : False when part of the source could not be read at all (a file that is no YAML, a
        document without a name): then a policy that is missing here is not to be taken as removed
    """

    policies: tuple[TidePolicy, ...]
    refused: tuple[Refusal, ...] = ()
    complete: bool = True


class PolicySource(Protocol):
    """Where policies come from: custom resources, files, a mounted ConfigMap."""

    def list(self) -> Listed:
        """Every policy there is now.

        Raises
        ------
        ObservationError
            The source cannot be read: nothing is to be concluded from that.
        """
        ...
