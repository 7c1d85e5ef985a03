"""Status of policies that are custom resources: written when it changed, and only then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.conditions import (
    Condition,
    conditions_of,
    dated,
    refused_condition,
    status_of,
)
from autoscaler.adapters.kubernetes.problems import NotFound, writing
from autoscaler.adapters.kubernetes.resources import POLICIES, Json
from autoscaler.model import Knowledge, Observation, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Refusal

# every field that this writer knows
_FIELDS = (
    "observedGeneration",
    "floor",
    "wanted",
    "need",
    "ceiling",
    "readyReplicas",
    "next",
    "knowledge",
    "advice",
    "lastDecision",
)


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
        refusal: Refusal | None = None,
    ) -> bool:
        """Write what one cycle came to, if it differs from what stands; whether it was written.

        `refusal` says that the newest version of the policy cannot be used.

        Raises
        ------
        WriteRefused, WriteUnavailable
        """
        metadata = policy.metadata
        if metadata.uid is None or not self._may_write():
            return False  # from a file: there is no object to write to
        with self._lock:
            before = self._known.get(metadata.uid)
        if before is None:
            found = self._find(metadata.namespace, metadata.name)
            if found is None or found["metadata"]["uid"] != metadata.uid:
                return False
            before = found.get("status") or {}
        fields = status_of(policy, observation, knowledge, result)
        if refusal is not None and refusal.generation is not None:
            fields["observedGeneration"] = refusal.generation
        if result.decision is None:
            # nothing was decided, so what was decided last still stands
            fields = {**{k: v for k, v in before.items() if k in _FIELDS}, **fields}
        conditions = conditions_of(policy, observation, result, refusal)
        at = (metadata.namespace, metadata.name, metadata.uid)
        return self._put(at, before, fields, conditions)

    def refuse(self, refusal: Refusal) -> Json | None:
        """Say on the object itself that it cannot be used and none of its versions is followed.

        Returns
        -------
        dict or None
            The object, when this was news to it.

        Raises
        ------
        WriteRefused, WriteUnavailable
        """
        namespace, _, name = refusal.key.partition("/")
        found = self._find(namespace, name) if name and self._may_write() else None
        if found is None:
            return None  # from a file
        metadata, before = found["metadata"], found.get("status") or {}
        fields = {"observedGeneration": metadata.get("generation")}
        conditions = (refused_condition(refusal, in_force=False),)
        written = self._put((namespace, name, metadata["uid"]), before, fields, conditions)
        return found if written else None

    def forget(self, policy: TidePolicy) -> None:
        """Forget a policy that was removed."""
        with self._lock:
            self._known.pop(policy.metadata.uid or "", None)

    def _put(
        self,
        at: tuple[str, str, str],
        before: Json,
        fields: Json,
        conditions: Sequence[Condition],
    ) -> bool:
        """Write fields and conditions to the object `at` (namespace, name, uid) if they differ."""
        namespace, name, uid = at
        generation = fields.get("observedGeneration")
        listed = dated(conditions, before.get("conditions") or (), generation, self._wall())
        wanted: Json = {**fields, "conditions": listed}
        if _same(wanted, before):
            return False
        # a merge patch keeps what is not named, so what is no longer known must be named
        gone: Json = {field: None for field in _FIELDS if field in before and field not in wanted}
        with writing():
            self._cluster.patch_status(POLICIES, namespace, name, {**wanted, **gone})
        with self._lock:
            self._known[uid] = wanted
        return True

    def _find(self, namespace: str, name: str) -> Json | None:
        """Return the object, None when it (or its whole kind) is not there."""
        with writing():
            try:
                return self._cluster.get(POLICIES, namespace, name)
            except NotFound:
                return None


def _same(wanted: Json, before: Json) -> bool:
    """Whether nothing changed but the time of the decision."""
    names = (wanted.keys() | before.keys()) - {"lastDecision"}
    return all(wanted.get(name) == before.get(name) for name in names)
