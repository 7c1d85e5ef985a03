"""Targets as they stand now: one LIST per kind and namespace and cycle, shared by all policies.

200 policies of one namespace cost three requests a cycle. A listing is at most `fresh` seconds
old; a failure is remembered for as long, so that a cluster that swallows packets costs one timeout
and not one for each policy.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.marks import namespace_is_paused
from autoscaler.adapters.kubernetes.problems import ApiError, Denied, observing
from autoscaler.adapters.kubernetes.resources import (
    DEPLOYMENTS,
    STATEFUL_SETS,
    Json,
    Resource,
)
from autoscaler.adapters.kubernetes.targets import Scaled, kind_of
from autoscaler.errors import TargetUnavailable
from autoscaler.model import Target
from autoscaler.policy import TidePolicy

_log = logging.getLogger(__name__)

_WORKLOADS = {
    (resource.api_version, resource.kind): resource for resource in (DEPLOYMENTS, STATEFUL_SETS)
}

T = TypeVar("T")


@dataclass(slots=True)
class _Answer(Generic[T]):
    """What was answered last, a failure included, and when."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    at: float = float("-inf")
    value: T | None = None
    error: ApiError | None = None


class Fresh(Generic[T]):
    """Answers by key that are asked for at most every `fresh` seconds, by one thread at a time."""

    def __init__(self, fresh: float, clock: Callable[[], float]) -> None:
        self._fresh = fresh
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: dict[object, _Answer[T]] = {}

    def get(self, key: object, ask: Callable[[], T]) -> T:
        """Answer for `key`, asked anew when the known one is too old.

        Raises
        ------
        ApiError
            As `ask` raised it, now or within the last `fresh` seconds.
        """
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
        with answer.lock:
            if self._clock() - answer.at > self._fresh:
                try:
                    answer.value, answer.error = ask(), None
                except ApiError as error:
                    answer.value, answer.error = None, error
                # counted from the end: who waited for a timeout shall not ask once more
                answer.at = self._clock()
            if answer.error is not None:
                raise answer.error
            assert answer.value is not None
            return answer.value

    def forget(self, key: object) -> None:
        """Ask anew next time."""
        with self._lock:
            self._answers.pop(key, None)


class KubernetesTargets:
    """Implements `ports.TargetReader` on a cluster. Safe to share between threads.

    Parameters
    ----------
    cluster : Cluster
    fresh : float
        Seconds for which a listing is used; well below the control period.
    clock : callable
        Monotonic seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        fresh: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._listings: Fresh[dict[str, Json]] = Fresh(fresh, clock)
        self._namespaces: Fresh[bool] = Fresh(fresh, clock)
        self._denied: set[str] = set()

    def observe(self, policy: TidePolicy) -> Target:
        """Read the target as it stands now, with its ready pods and its namespace's pause.

        Raises
        ------
        TargetUnavailable
            It is not there, or the cluster did not answer.
        TargetRefused
            It is there, but a floor must not be written to it.
        """
        kind = kind_of(policy.spec.target_ref)
        found = self.found(policy)
        target = kind.read(found)
        namespace = policy.metadata.namespace
        return replace(
            target,
            ready=self._ready(namespace, kind.scaled(found)),
            paused=target.paused or self._namespace_is_paused(namespace),
        )

    def found(self, policy: TidePolicy) -> Json:
        """Return the object that the policy names, as listed.

        Raises
        ------
        TargetUnavailable
            It is not there, or the cluster did not answer.
        """
        reference, namespace = policy.spec.target_ref, policy.metadata.namespace
        resource = kind_of(reference).resource
        with observing():
            listing = self._listing(resource, namespace)
        if reference.name not in listing:
            there = ", ".join(sorted(listing)[:5]) or "none"
            raise TargetUnavailable(
                f"{resource.named(namespace, reference.name)} is not there; "
                f"of this kind in the namespace: {there}",
                code="TargetNotFound",
            )
        return listing[reference.name]

    def forget(self, policy: TidePolicy) -> None:
        """Read the policy's target anew next time: it was written to."""
        resource = kind_of(policy.spec.target_ref).resource
        self._listings.forget((resource, policy.metadata.namespace))

    def _listing(self, resource: Resource, namespace: str) -> dict[str, Json]:
        def ask() -> dict[str, Json]:
            return {o["metadata"]["name"]: o for o in self._cluster.list(resource, namespace)}

        return self._listings.get((resource, namespace), ask)

    def _ready(self, namespace: str, scaled: Scaled | None) -> int | None:
        """Ready pods of the workload; None when they cannot be known. Never worth a failure."""
        if scaled is None or (scaled.api_version, scaled.kind) not in _WORKLOADS:
            return None
        resource = _WORKLOADS[scaled.api_version, scaled.kind]
        try:
            found = self._listing(resource, namespace).get(scaled.name)
        except ApiError as error:
            self._say_once(f"{resource.plural} of {namespace}", error)
            return None
        if found is None:
            return None
        status = found.get("status") or {}
        ready: int | None = status.get("readyReplicas")
        if ready is None and "observedGeneration" in status:
            return 0  # the workload's controller was here and leaves a zero out
        return ready

    def _namespace_is_paused(self, namespace: str) -> bool:
        """Whether the namespace asks for no writes."""
        with observing():
            return self._namespaces.get(namespace, lambda: self._ask_pause(namespace))

    def _ask_pause(self, namespace: str) -> bool:
        try:
            return namespace_is_paused(self._cluster, namespace)
        except Denied as error:
            self._say_once(f"namespace {namespace}, so its pause is not seen", error)
            return False

    def _say_once(self, what: str, error: ApiError) -> None:
        if what not in self._denied:
            self._denied.add(what)
            _log.warning("cannot read %s: %s", what, error)
