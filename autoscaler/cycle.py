"""The one loop body: observe, decide, actuate, record. Two clocks run it; it knows neither."""

from __future__ import annotations

from autoscaler import remember
from autoscaler.decide import decide
from autoscaler.errors import (
    ActuationError,
    HistoryUnavailable,
    ObservationError,
    WriteConflict,
    WriteRefused,
)
from autoscaler.model import (
    Code,
    Decision,
    History,
    Knowledge,
    Memory,
    Observation,
    Outcome,
    Reason,
    Result,
)
from autoscaler.policy import TidePolicy
from autoscaler.ports import Ports


def run_once(
    policy: TidePolicy,
    ports: Ports,
    knowledge: Knowledge | None,
    memory: Memory,
    now: float,
    *,
    period: float = 60.0,
) -> tuple[Result, Memory]:
    """Run one cycle of one policy at `now` (POSIX seconds) and return what to remember.

    `period` is the seconds until the next cycle; it is part of the lead time.
    """
    try:
        target = ports.targets.observe(policy)
    except ObservationError as error:
        result = Result(
            decision=None, outcome=Outcome.UNCHANGED, message=str(error), code=error.code
        )
        ports.records.record(policy, None, knowledge, memory, result)
        return result, memory
    history, doubts = _read_history(policy, ports, now)
    observation = Observation(target=target, history=history, doubts=doubts, period=period)
    decision = decide(policy, observation, knowledge, memory, now)
    outcome, message = _actuate(policy, ports, observation, decision)
    result = Result(decision=decision, outcome=outcome, message=message)
    ports.records.record(policy, observation, knowledge, memory, result)
    return result, remember.actuated(decision.memory, outcome, decision.floor, now)


def _read_history(
    policy: TidePolicy, ports: Ports, now: float
) -> tuple[History | None, tuple[Reason, ...]]:
    """History up to now, or the doubt that stands for it."""
    try:
        return ports.demand.read(policy, now), ()
    except HistoryUnavailable as error:
        return None, (Reason(code=Code.HISTORY_UNAVAILABLE, sentence=str(error)),)


def _actuate(
    policy: TidePolicy, ports: Ports, observation: Observation, decision: Decision
) -> tuple[Outcome, str]:
    """Write the floor when it is to be written; a conflict is an outcome, not a retry."""
    if not decision.write:
        return Outcome.UNCHANGED, ""
    try:
        return ports.floors.write(policy, observation.target, decision.floor), ""
    except WriteConflict as error:
        return Outcome.CONFLICT, str(error)
    except WriteRefused as error:
        return Outcome.REFUSED, str(error)
    except ActuationError as error:
        return Outcome.UNKNOWN, str(error)
