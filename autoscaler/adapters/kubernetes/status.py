"""Status of policies that are custom resources: written when it changed, and only then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.conditions import (
    Condition,
    conditions_of,
    dated,
    status_of,
)
from autoscaler.adapters.kubernetes.problems import NotFound, writing
from autoscaler.adapters.kubernetes.resources import POLICIES, Json
from autoscaler.model import Knowledge, Observation, Result
from autoscaler.policy import TidePolicy

# every field that this writer knows: one that is not said now must be removed from the object
_FIELDS = (
    "observedGeneration",
    "floor",
    "wanted",
    "need",
    "ceiling",
    "readyReplicas",
    "next",
    "knowledge",
    "lastDecision",
)
_KEPT_WITHOUT_DECISION = frozenset(_FIELDS) - {"observedGeneration"}


class StatusWriter:
    """Writes `status` of TidePolicy objects. Safe to share between threads.

    Parameters
    ----------
    cluster : Cluster
    may_write : callable
        Fencing: only the leader speaks.
    wall : callable
        POSIX seconds, for the times of transition.
    """

    def __init__(
        self, cluster: Cluster, *, may_write: Callable[[], bool], wall: Callable[[], float]
    ) -> None:
        self._cluster = cluster
        self._may_write = may_write
        self._wall = wall
        self._lock = threading.Lock()
        self._known: dict[str, Json] = {}

    def write(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        result: Result,
    ) -> bool:
        """Write what one cycle came to, if it differs from what stands; whether it was written.

        Raises
        ------
        WriteRefused, WriteUnavailable
        """
        fields = status_of(policy, observation, knowledge, result)
        decided = result.decision is not None
        return self._put(policy, fields, conditions_of(policy, observation, result), decided)

    def refuse(self, policy: TidePolicy, message: str, generation: int | None) -> bool:
        """Say that the object's newest generation cannot be used and `policy` stays in force.

        Raises
        ------
        WriteRefused, WriteUnavailable
        """
        refused = Condition(type="Ready", status=False, reason="PolicyRefused", message=message)
        fields: Json = {} if generation is None else {"observedGeneration": generation}
        return self._put(policy, fields, (refused,), decided=False)

    def forget(self, policy: TidePolicy) -> None:
        """Forget a policy that was removed."""
        with self._lock:
            self._known.pop(policy.metadata.uid or "", None)

    def _put(
        self, policy: TidePolicy, fields: Json, conditions: Sequence[Condition], decided: bool
    ) -> bool:
        uid, metadata = policy.metadata.uid, policy.metadata
        if uid is None or not self._may_write():
            return False  # from a file: there is no object to write to
        before = self._before(policy)
        if before is None:
            return False
        generation = fields.get("observedGeneration")
        listed = dated(conditions, before.get("conditions") or (), generation, self._wall())
        wanted: Json = {**fields, "conditions": listed}
        kept = frozenset[str]() if decided else _KEPT_WITHOUT_DECISION
        wanted |= {name: before[name] for name in kept & before.keys()}
        if _same(wanted, before):
            return False
        gone: Json = {name: None for name in _FIELDS if name in before and name not in wanted}
        # a merge patch merges objects: what an object lost must be named too
        with writing():
            self._cluster.patch_status(
                POLICIES, metadata.namespace, metadata.name, {**wanted, **gone}
            )
        with self._lock:
            self._known[uid] = wanted
        return True

    def _before(self, policy: TidePolicy) -> Json | None:
        """Status that stands: what we wrote, else what the object says; None when it is gone."""
        metadata = policy.metadata
        with self._lock:
            known = self._known.get(metadata.uid or "")
        if known is not None:
            return known
        with writing():
            try:
                found = self._cluster.get(POLICIES, metadata.namespace, metadata.name)
            except NotFound:
                return None
        if found["metadata"]["uid"] != metadata.uid:
            return None
        status: Json = found.get("status") or {}
        return status


def _same(wanted: Json, before: Json) -> bool:
    """Whether nothing changed but the time of the decision."""
    names = (wanted.keys() | before.keys()) - {"lastDecision"}
    return all(wanted.get(name) == before.get(name) for name in names)
