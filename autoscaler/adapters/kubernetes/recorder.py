"""What becomes of a cycle in the cluster: status and Events. One of the controller's recorders."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence

from autoscaler.adapters.kubernetes.conditions import (
    Condition,
    conditions_of,
    refused_condition,
)
from autoscaler.adapters.kubernetes.events import EventWriter, Happening
from autoscaler.adapters.kubernetes.resources import POLICIES
from autoscaler.adapters.kubernetes.status import StatusWriter
from autoscaler.errors import ActuationError
from autoscaler.model import Code, Knowledge, Memory, Observation, Outcome, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Refusal

_log = logging.getLogger(__name__)

# the status of a condition that somebody should look at
_WORRYING = {"Ready": False, "InDoubt": True, "Capped": True, "FellBack": True}
_ACTION = {
    "Ready": "Observe",
    "Acting": "Write",
    "InDoubt": "Decide",
    "Capped": "Decide",
    "FellBack": "Decide",
}


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
        self._said: dict[str, Refusal] = {}

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
        refusal = self._refusals.get(policy.key)
        conditions = conditions_of(policy, observation, result, refusal)
        happenings = [
            *_moved(observation, result),
            *_reverted(result),
            *self._turned(policy.key, conditions),
        ]
        try:
            self._status.write(policy, observation, knowledge, result, refusal)
            for happening in happenings:
                self._events.emit(policy, target, happening)
        except ActuationError as error:
            _log.warning("%s: the cluster was not told: %s", policy.key, error)

    def refused(self, refusals: Mapping[str, Refusal]) -> None:
        """Hear, by key, which policies cannot be used now. Never raises.

        One that is followed in an older version says so with its next cycle; the others are told
        here, once for each version.
        """
        self._refusals = dict(refusals)
        self._said = {key: said for key, said in self._said.items() if key in refusals}
        with self._lock:
            followed = set(self._known)
        for key, refusal in refusals.items():
            if key not in followed and self._said.get(key) != refusal:
                self._refuse(refusal)

    def forget(self, policy: TidePolicy) -> None:
        """Forget a policy that was removed."""
        self._status.forget(policy)
        with self._lock:
            self._known.pop(policy.key, None)

    def _refuse(self, refusal: Refusal) -> None:
        try:
            found = self._status.refuse(refusal)
            if found is None:
                return
            metadata = found["metadata"]
            regarding = {
                "apiVersion": POLICIES.api_version,
                "kind": POLICIES.kind,
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            }
            self._events.emit_about(regarding, _turn(refused_condition(refusal, in_force=False)))
        except ActuationError as error:
            _log.warning("%s: the cluster was not told: %s", refusal.key, error)
        else:
            self._said[refusal.key] = refusal

    def _turned(self, key: str, conditions: Sequence[Condition]) -> list[Happening]:
        """Conditions that turned since the last cycle."""
        with self._lock:
            known = self._known.get(key, {})
            self._known[key] = {**known, **{c.type: c for c in conditions}}
        return [_turn(c) for c in conditions if _is_news(known.get(c.type), c)]


def _moved(observation: Observation | None, result: Result) -> list[Happening]:
    """Say that the floor was moved, and why."""
    decision = result.decision
    if result.outcome is not Outcome.WRITTEN or decision is None or observation is None:
        return []
    before, after = observation.target.floor, decision.floor
    why = "; ".join(reason.sentence for reason in decision.reasons)
    reason = "FloorRaised" if after > before else "FloorLowered"
    return [Happening(reason=reason, action="MoveFloor", note=f"floor {before} → {after}: {why}")]


def _reverted(result: Result) -> list[Happening]:
    """Say that somebody else moved our floor: the fight that we decline is theirs to end."""
    decision = result.decision
    found = () if decision is None else decision.reasons
    return [
        Happening(reason=str(why.code), action="Wait", note=why.sentence, warning=True)
        for why in found
        if why.code is Code.REVERTED
    ]


def _is_news(before: Condition | None, now: Condition) -> bool:
    """Whether a condition turned; at the first sight only when it is worrying."""
    if before is None:
        return _WORRYING.get(now.type) == now.status
    return before.status != now.status


def _turn(condition: Condition) -> Happening:
    words = "" if condition.status else "not "
    note = f"{words}{condition.type}: {condition.message or condition.reason}"
    return Happening(
        reason=condition.reason,
        action=_ACTION[condition.type],
        note=note,
        warning=_WORRYING.get(condition.type) == condition.status,
    )
