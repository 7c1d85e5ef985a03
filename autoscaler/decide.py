"""The order of the stages, on one page: demand → forecast → need → plan → guards.

Pure: no clock, network or disk. Called by the controller with the wall clock, by the simulator
with a stepped one, and by `explain` with what was recorded. The same inputs give the same Decision.
"""

from __future__ import annotations

from autoscaler.model import Decision, Knowledge, Memory, Observation
from autoscaler.policy import TidePolicy


def decide(
    policy: TidePolicy,
    observation: Observation,
    knowledge: Knowledge | None,
    memory: Memory,
    now: float,
) -> Decision:
    """Decide the floor that should stand at `now` (POSIX seconds)."""
    raise NotImplementedError
