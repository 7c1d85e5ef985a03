"""What becomes of a cycle in the cluster: status and Events. One of the controller's recorders."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from autoscaler.adapters.kubernetes.conditions import Condition, conditions_of
from autoscaler.adapters.kubernetes.events import EventWriter, Happening
from autoscaler.adapters.kubernetes.status import StatusWriter
from autoscaler.errors import ActuationError
from autoscaler.model import Knowledge, Memory, Observation, Outcome, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Refusal

_log = logging.getLogger(__name__)

# the status of a condition that somebody should look at
_WORRYING = {"Ready": False, "InDoubt": True, "Capped": True}
_ACTION = {"Ready": "Observe", "Acting": "Write", "InDoubt": "Decide", "Capped": "Decide"}


class ClusterRecorder:
    """Implements `ports.Recorder`: status written when changed, Events for changes.

    Safe to share between threads; one policy must not be recorded by two at once.
    """

    def __init__(self, status: StatusWriter, events: EventWriter) -> None:
        self._status = status
        self._events = events
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Condition]] = {}
        self._refusals: dict[str, Refusal] = {}

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,  # noqa: ARG002 - the port hands it to every recorder
        result: Result,
    ) -> None:
        """Say in the cluster what came of a cycle. Never raises; failures are logged."""
        target = None if observation is None else observation.target
        try:
            refusal = self._refusals.get(policy.key)
            if refusal is None:
                self._status.write(policy, observation, knowledge, result)
            else:
                self._status.refuse(policy, refusal.message, refusal.generation)
            for happening in self._happenings(policy, observation, result):
                self._events.emit(policy, target, happening)
        except ActuationError as error:
            _log.warning("%s: the cluster was not told: %s", policy.key, error)

    def refused(self, refusals: Mapping[str, Refusal]) -> None:
        """Hear which policies cannot be used now; cycles go on with their last good version."""
        self._refusals = dict(refusals)

    def forget(self, policy: TidePolicy) -> None:
        """Forget a policy that was removed."""
        self._status.forget(policy)
        with self._lock:
            self._known.pop(policy.key, None)

    def _happenings(
        self, policy: TidePolicy, observation: Observation | None, result: Result
    ) -> list[Happening]:
        """Floor moved, and conditions that turned since the last cycle."""
        found = []
        decision = result.decision
        if result.outcome is Outcome.WRITTEN and decision is not None and observation is not None:
            before, after = observation.target.floor, decision.floor
            why = "; ".join(reason.sentence for reason in decision.reasons)
            found.append(
                Happening(
                    reason="FloorRaised" if after > before else "FloorLowered",
                    action="MoveFloor",
                    note=f"floor {before} → {after}: {why}",
                )
            )
        conditions = {c.type: c for c in conditions_of(policy, observation, result)}
        with self._lock:
            known = self._known.get(policy.key, {})
            self._known[policy.key] = {**known, **conditions}
        return found + [
            _turned(condition)
            for condition in conditions.values()
            if _is_news(known.get(condition.type), condition)
        ]


def _is_news(before: Condition | None, now: Condition) -> bool:
    """Whether a condition turned; at the first sight only when it is worrying."""
    if before is None:
        return _WORRYING.get(now.type) == now.status
    return before.status != now.status


def _turned(condition: Condition) -> Happening:
    words = "" if condition.status else "not "
    note = f"{words}{condition.type}: {condition.message or condition.reason}"
    return Happening(
        reason=condition.reason,
        action=_ACTION[condition.type],
        note=note,
        warning=_WORRYING.get(condition.type) == condition.status,
    )
