"""Leader election on a Lease: who cannot prove it does not write.

Why not the elector of `kubernetes`: on a black-holed connection it goes on leading (no request
timeout, wall clock), it does not release on exit, and it dies of a connection error.

A leader may write until `renew` seconds after it *sent* its last successful renewal; another may
take over `lease` seconds after it *saw* the last change. Both are measured on own monotonic
clocks, so skewed wall clocks do not matter; the difference is the margin for a write in flight.
`is_leader` compares a deadline and asks nobody, and the watchdog that announces the loss sleeps
on that deadline, so neither waits for an HTTP call that never returns.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.adapters.kubernetes.problems import ApiError, Conflict, NotFound
from autoscaler.adapters.kubernetes.resources import LEASES, Json

_log = logging.getLogger(__name__)


def boottime() -> float:
    """Monotonic seconds that go on while the machine sleeps, where the system has such a clock."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds: how long a lease holds, how long a leader may write unrenewed, between two tries."""

    lease: float = 10.0
    renew: float = 6.0
    retry: float = 2.0

    @property
    def timeouts(self) -> Timeouts:
        """Ends of one request: connecting and reading together stay under half of `renew`."""
        each = self.renew * 0.22
        return Timeouts(connect=each, read=each, total=2 * each)

    @property
    def write_timeouts(self) -> Timeouts:
        """Ends of a write that was fenced: it is over before another can lead."""
        margin = self.lease - self.renew
        return Timeouts(connect=0.25 * margin, read=0.6 * margin, total=margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The Lease as last seen by us.

    Attributes
    ----------
    body : the object, None when there is none
    since : monotonic seconds at which we first saw this resourceVersion
    """

    body: Json | None
    since: float

    @property
    def holder(self) -> str:
        """Identity of the holder, "" when released or absent."""
        spec = (self.body or {}).get("spec") or {}
        return spec.get("holderIdentity") or ""

    def free_in(self, now: float) -> float:
        """Seconds until it may be taken; 0 or less: now."""
        if not self.holder:
            return 0.0
        spec = (self.body or {}).get("spec") or {}
        return float(self.since + (spec.get("leaseDurationSeconds") or 0) - now)


class Elector:
    """One candidate.

    Parameters
    ----------
    cluster : Cluster
    place : (namespace, name)
        Of the Lease.
    identity : str
        Ours, unique among the candidates.
    wall : callable
        POSIX seconds, for the times in the Lease that people read; nothing is decided by it.
    timing : Timing
    changed : callable
        Told True when we begin to lead and False when we stop, from a thread of the elector.
    clock : callable
        Monotonic seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        place: tuple[str, str],
        identity: str,
        wall: Callable[[], float],
        timing: Timing | None = None,
        changed: Callable[[bool], None] | None = None,
        clock: Callable[[], float] = boottime,
    ) -> None:
        self.identity = identity
        self.problem = ""
        self._cluster = cluster
        self._namespace, self._name = place
        self._wall = wall
        self._timing = timing or Timing()
        self._changed = changed
        self._clock = clock
        self._seen = Seen(body=None, since=float("-inf"))
        self._until = float("-inf")
        self._announced = False
        self._stopping = threading.Event()
        self._moved = threading.Condition()
        self._threads = [
            threading.Thread(target=self._campaign, name="lease-campaign", daemon=True),
            threading.Thread(target=self._watch, name="lease-watchdog", daemon=True),
        ]

    @property
    def holder(self) -> str:
        """Who holds the Lease, as last seen; "" when nobody."""
        return self._seen.holder

    def is_leader(self) -> bool:
        """Whether we can prove to lead at this very moment. Never waits."""
        return self._clock() < self._until

    def start(self) -> None:
        """Begin to campaign, in threads of its own."""
        for thread in self._threads:
            thread.start()

    def wait_for_leader(self, timeout: float) -> bool:
        """Wait until we lead, at most `timeout` seconds; whether we do."""
        with self._moved:
            return self._moved.wait_for(self.is_leader, timeout)

    def release(self) -> None:
        """Stop for good and give the Lease back, so that another need not wait for its end.

        Returns within the timeouts of one request even when the API server is silent: then the
        others have to wait for the end of the lease.
        """
        self._stopping.set()
        self._set_until(float("-inf"))
        with self._moved:
            self._moved.notify_all()
        ends = self._timing.timeouts
        campaign = self._threads[0]
        if campaign.is_alive():
            campaign.join(ends.connect + ends.read)
        if self._seen.holder != self.identity or self._seen.body is None:
            return
        if campaign.is_alive() or self.problem:
            _log.warning("the lease was not released, others wait for its end: no answer before")
            return
        try:
            self._put(self._seen.body, holder="", duration=1)
        except ApiError as error:
            _log.warning("the lease was not released, others wait for its end: %s", error)

    def step(self) -> float:
        """Try once to renew or acquire, and return the seconds until the next try."""
        try:
            self._try()
            self.problem = ""
        except ApiError as error:
            if str(error) != self.problem:
                _log.warning("leader election: %s", error)
            self.problem = str(error)
        now = self._clock()
        if self.is_leader() or not self._seen.holder or self.problem:
            return self._timing.retry
        # a candidate is there when the lease ends, not up to one retry later
        return min(self._timing.retry, max(self._seen.free_in(now), 0.0) + 0.01)

    def _try(self) -> None:
        """Renew what is ours, take what is free, and otherwise look."""
        if self._seen.holder == self.identity and self._seen.body is not None:
            try:
                self._claim(self._seen.body)
            except (Conflict, NotFound):
                # somebody wrote: see who before anything else
                self._set_until(float("-inf"))
            else:
                return
        self._look()
        mine = self._seen.holder == self.identity
        if mine or self._seen.free_in(self._clock()) <= 0:
            try:
                self._claim(self._seen.body)
            except Conflict:
                self._look()

    def _look(self) -> None:
        """See the Lease as it is; the clock of its age starts when we first see a change."""
        at = self._clock()
        try:
            body = self._cluster.get(
                LEASES, self._namespace, self._name, timeouts=self._timing.timeouts
            )
        except NotFound:
            self._seen = Seen(body=None, since=at)
            return
        known = self._seen.body
        version = body["metadata"]["resourceVersion"]
        if known is None or known["metadata"]["resourceVersion"] != version:
            # counted from after the answer: later than the change itself, so never too early
            self._seen = Seen(body=body, since=self._clock())
        if self._seen.holder != self.identity:
            self._set_until(float("-inf"))

    def _claim(self, body: Json | None) -> None:
        """Write our name and the time; what proves it is the time *before* the request."""
        sent = self._clock()
        stored = self._put(body, holder=self.identity, duration=self._timing.lease)
        self._seen = Seen(body=stored, since=self._clock())
        if not self._stopping.is_set():
            self._set_until(sent + self._timing.renew)

    def _put(self, body: Json | None, *, holder: str, duration: float) -> Json:
        """Create the Lease or replace it, guarded by its resourceVersion."""
        spec = dict((body or {}).get("spec") or {})
        now = _micro_time(self._wall())
        if now == spec.get("renewTime"):
            # a wall clock that stands still: a write that changes nothing keeps its
            # resourceVersion, and the others would see no renewal
            now = _micro_time(self._wall() + 1e-6)
        if holder and spec.get("holderIdentity") != holder:
            before = spec.get("leaseTransitions")
            spec |= {"acquireTime": now, "leaseTransitions": 0 if before is None else before + 1}
        spec |= {
            "holderIdentity": holder,
            "renewTime": now,
            # whole seconds in the API; rounded up, since others wait for it
            "leaseDurationSeconds": max(1, math.ceil(duration)),
        }
        ends = self._timing.timeouts
        if body is None:
            document = {
                "apiVersion": LEASES.api_version,
                "kind": LEASES.kind,
                "metadata": {"name": self._name, "namespace": self._namespace},
                "spec": spec,
            }
            return self._cluster.create(LEASES, self._namespace, document, timeouts=ends)
        # managedFields are the server's to keep; sent back they could only be stale
        metadata = {k: v for k, v in body["metadata"].items() if k != "managedFields"}
        document = {**body, "metadata": metadata, "spec": spec}
        return self._cluster.replace(LEASES, self._namespace, self._name, document, timeouts=ends)

    def _set_until(self, until: float) -> None:
        with self._moved:
            self._until = until
            self._moved.notify_all()

    def _campaign(self) -> None:
        """Try, wait, try again, until released."""
        while not self._stopping.is_set():
            self._stopping.wait(self.step())

    def _watch(self) -> None:
        """Announce every beginning and end of our leadership, the end exactly when it is due."""
        while True:
            with self._moved:
                leads = self.is_leader()
                if leads == self._announced:
                    if self._stopping.is_set():
                        return
                    left = self._until - self._clock() if leads else None
                    self._moved.wait(left)
                    continue
                self._announced = leads
            _log.info("leader: %s" if leads else "not the leader: %s", self.identity)
            if self._changed is not None:
                self._changed(leads)


def _micro_time(seconds: float) -> str:
    """POSIX seconds as the MicroTime of a Lease."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
