"""Kubernetes Events: what happened to a floor or a condition, said once and counted after that.

Bounded twice: the same sentence within ten minutes is counted up on its Event, at most once a
minute; and one object may cause only so many requests, whatever it does.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.problems import writing
from autoscaler.adapters.kubernetes.resources import EVENTS, POLICIES, Json
from autoscaler.errors import WriteConflict
from autoscaler.model import Target
from autoscaler.policy import TidePolicy

CONTROLLER = "foretide.dev/controller"
_LONGEST_NOTE = 1024  # bytes; the API server refuses more


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What an Event says.

    Attributes
    ----------
    warning : whether somebody should look at it
    reason : PascalCase code
    action : what was done or tried, PascalCase
    note : the sentence
    """

    reason: str
    action: str
    note: str
    warning: bool = False


@dataclass(slots=True)
class _Series:
    """An Event that may be counted up."""

    name: str
    count: int
    began: float
    told: float


@dataclass(slots=True)
class _Budget:
    """Requests that one object may still cause: a token bucket."""

    left: float
    at: float


class EventWriter:
    """Writes Events of events.k8s.io/v1. Safe to share between threads.

    Parameters
    ----------
    cluster : Cluster
    may_write : callable
        Fencing: only the leader speaks.
    instance : str
        Our identity, as on the Lease.
    wall : callable
        POSIX seconds, for the times in Events.
    clock : callable
        Monotonic seconds, for the bounds.
    """

    window = 600.0
    pause = 60.0
    burst = 20.0
    refill = 60.0

    def __init__(
        self,
        cluster: Cluster,
        *,
        may_write: Callable[[], bool],
        instance: str,
        wall: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._may_write = may_write
        self._instance = instance
        self._wall = wall
        self._clock = clock
        self._lock = threading.Lock()
        self._series: dict[tuple[str, str, str], _Series] = {}
        self._budgets: dict[str, _Budget] = {}

    def emit(self, policy: TidePolicy, target: Target | None, what: Happening) -> bool:
        """Say what happened, about the policy or, when that is a file, about its target.

        As `emit_about`.
        """
        regarding = _regarding(policy, target)
        return regarding is not None and self.emit_about(regarding, what)

    def emit_about(self, regarding: Json, what: Happening) -> bool:
        """Say what happened to an object (apiVersion, kind, namespace, name, uid).

        Returns
        -------
        bool
            Whether a request was made; False when it was only counted or is over the bounds.

        Raises
        ------
        WriteRefused, WriteUnavailable
        """
        if not self._may_write():
            return False
        now = self._clock()
        key = regarding["uid"], what.reason, what.note
        with self._lock:
            self._forget_old(now)
            series = self._series.get(key)
            if series is not None:
                series.count += 1
                if now - series.told < self.pause:
                    return False
            if not self._take(regarding["uid"], now):
                return False
            if series is None:
                name = f"{regarding['name'][:200]}.{uuid.uuid4().hex[:16]}"
                series = self._series[key] = _Series(name=name, count=1, began=now, told=now)
            series.told = now
        if series.count == 1:
            self._create(regarding, series.name, what)
        else:
            self._count(regarding["namespace"], series)
        return True

    def _create(self, regarding: Json, name: str, what: Happening) -> None:
        body: Json = {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": name, "namespace": regarding["namespace"]},
            "eventTime": self._now(),
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance[:128],
            "action": what.action,
            "reason": what.reason,
            "regarding": regarding,
            "note": _cut(what.note),
            "type": "Warning" if what.warning else "Normal",
        }
        with writing():
            self._cluster.create(EVENTS, regarding["namespace"], body)

    def _count(self, namespace: str, series: _Series) -> None:
        body = {"series": {"count": series.count, "lastObservedTime": self._now()}}
        try:
            with writing():
                self._cluster.patch_merge(EVENTS, namespace, series.name, body)
        except WriteConflict:
            # Events live for an hour, less where an operator wants so: the next one is new
            with self._lock:
                self._series = {k: s for k, s in self._series.items() if s is not series}

    def _take(self, uid: str, now: float) -> bool:
        """Take one request of the object's budget."""
        budget = self._budgets.setdefault(uid, _Budget(self.burst, now))
        budget.left = min(self.burst, budget.left + (now - budget.at) / self.refill)
        budget.at = now
        if budget.left < 1:
            return False
        budget.left -= 1
        return True

    def _forget_old(self, now: float) -> None:
        self._series = {k: s for k, s in self._series.items() if now - s.began < self.window}

    def _now(self) -> str:
        return datetime.fromtimestamp(self._wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _cut(note: str) -> str:
    """Cut a note to what the API server takes, between two characters."""
    return note.encode()[:_LONGEST_NOTE].decode(errors="ignore")


def _regarding(policy: TidePolicy, target: Target | None) -> Json | None:
    """Name the object that an Event is about."""
    namespace, reference = policy.metadata.namespace, policy.spec.target_ref
    if policy.metadata.uid is not None:
        names = (POLICIES.api_version, POLICIES.kind, policy.metadata.name, policy.metadata.uid)
    elif target is not None:
        names = (reference.api_version, reference.kind, reference.name, target.uid)
    else:
        return None
    fields = zip(("apiVersion", "kind", "name", "uid"), names, strict=True)
    return {"namespace": namespace, **dict(fields)}
