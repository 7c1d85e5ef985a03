"""The controller: wires queue, workers, timers, fits, leadership and HTTP, and stops them in order.

Who does what: *timers* list the policies, watch for stuck cycles and give floors back; *workers*
run the cycles that the queue says are due; the *fit desk* learns; the main thread only waits to be
told to stop. Whatever fails in one policy is caught at its own doorstep.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.controller.clock import Clock, WallClock, until_slot
from autoscaler.controller.cycles import Cycles
from autoscaler.controller.fits import Elsewhere, FitDesk
from autoscaler.controller.fleet import Changes, Fleet
from autoscaler.controller.leadership import Alone, Gate
from autoscaler.controller.ports import (
    GivesBack,
    GivesNothing,
    Learner,
    Records,
)
from autoscaler.controller.timers import Timers
from autoscaler.controller.workers import Workers
from autoscaler.controller.workqueue import WorkQueue
from autoscaler.errors import ObservationError
from autoscaler.model import History, Knowledge, Outcome
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed, PolicySource, Ports

logger = logging.getLogger(__name__)

LISTING = 15.0  # seconds between two listings of the policies
WATCH = 2.0  # seconds between two looks for stuck cycles
BEAT = 30.0  # seconds without a look after which we count as dead
GRACE, RELEASE = 3.6, 0.9  # seconds for what is in hand and for the lease when we stop: under 5


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """What the command line built for one controller.

    Attributes
    ----------
    ports : the four of a cycle; `ports.records` is `records`
    leadership : asked by every adapter that writes
    forgotten : told the keys of the policies that are left, when one is gone
    """

    source: PolicySource
    ports: Ports
    records: Records
    metrics: Metrics
    leadership: Gate = field(default_factory=lambda: Gate(Alone()))
    gives_back: GivesBack = field(default_factory=GivesNothing)
    learner: Learner = field(default_factory=Elsewhere)
    clock: Clock = field(default_factory=WallClock)
    period: float = 60.0
    workers: int = 8
    forgotten: Callable[[frozenset[str]], None] = lambda _left: None


class Controller:
    """One controller, from `start` to `stop`."""

    def __init__(self, wiring: Wiring) -> None:
        self._w = wiring
        self._stopping = threading.Event()
        self._beat = wiring.clock.monotonic()
        self._listed: Listed | None = None
        self._refusals: dict[str, str] = {}
        self._held = ""
        self.fleet = Fleet()
        self._queue = WorkQueue(wiring.clock.monotonic)
        self._desk = FitDesk(
            wiring.learner, self._learnt, wiring.clock, wiring.metrics, period=wiring.period
        )
        self._cycles = Cycles(
            wiring.ports,
            wiring.clock,
            wiring.metrics,
            offer=self._desk.offer,
            period=wiring.period,
        )
        self._workers = Workers(
            self._queue, self._work, wiring.clock, count=wiring.workers, deadline=wiring.period
        )
        self._timers = Timers(lambda name, kind: wiring.metrics.jobs.labels(name, kind).inc())

    def start(self) -> None:
        """Begin to tend."""
        period = self._w.period
        self._w.metrics.leader.set_function(self._w.leadership.is_leader)
        self._w.leadership.start()
        self._workers.start()
        self._desk.start()
        self._timers.every("policies", min(LISTING, period), self.list_policies)
        self._timers.every("watch", min(WATCH, period), self._watch)
        self._timers.every("give-back", period, self.give_back)
        self._timers.start()

    def stop(self) -> bool:
        """Let the write in hand end, start no other, release the lease; floors stay as they are.

        Returns
        -------
        bool
            Whether everything came to its end within its time.
        """
        self._stopping.set()
        self._w.leadership.close()  # from here on no write begins
        self._timers.stop()
        self._queue.close()
        self._desk.stop()
        done = self._workers.join(GRACE)
        self._w.records.close()
        # an API server that is silent must not keep us: then the lease ends by itself
        giving_up = threading.Thread(target=self._w.leadership.release, name="release", daemon=True)
        giving_up.start()
        giving_up.join(RELEASE)
        return done and not giving_up.is_alive()

    # --- policies -------------------------------------------------------------------------------

    def list_policies(self) -> None:
        """List the source and take over what changed; an unreadable source changes nothing."""
        try:
            listed = self._w.source.list()
        except ObservationError as error:
            self._w.metrics.errors.labels(error.code).inc()
            self._say_held(f"the policies cannot be read, so nothing changes: {error}")
            return
        self._listed = listed
        self._w.gives_back.seen(listed.policies)
        changes = self.fleet.reconcile(listed)
        for policy in changes.added:
            self._queue.put(policy.key)
        for policy in changes.changed:
            self._queue.put(policy.key)
        for policy in changes.removed:
            self._forget(policy)
        self._tell(changes)

    def _forget(self, policy: TidePolicy) -> None:
        """Let go of a policy; its floor is given back by `give_back`, slowly."""
        self._queue.forget(policy.key)
        self._desk.forget(policy.key)
        self._w.records.forget(policy)
        self._w.forgotten(frozenset(tended.policy.key for tended in self.fleet.all()))

    def _tell(self, changes: Changes) -> None:
        """Log and count what a listing changed."""
        for words, policies in (
            ("policy appeared", changes.added),
            ("policy was edited", changes.changed),
            ("policy is gone; its floor is given back slowly", changes.removed),
        ):
            for policy in policies:
                logger.info(words, extra={"policy": policy.key, "mode": str(policy.spec.mode)})
        self._say_held(changes.held)
        refused = {refusal.key: refusal.message for refusal in changes.refused}
        for refusal in changes.refused:
            tended = self.fleet.get(refusal.key)
            if self._refusals.get(refusal.key) != refusal.message:
                keeps = "its last good version stays in force" if tended else "it is not tended"
                logger.error(
                    "a policy cannot be used, so %s: %s",
                    keeps,
                    refusal.message,
                    extra={"policy": refusal.key},
                )
        self._refusals = refused
        self._w.records.refused({refusal.key: refusal for refusal in changes.refused})
        self._w.metrics.policies.labels("tended").set(len(self.fleet.all()))
        self._w.metrics.policies.labels("refused").set(len(refused))

    def _say_held(self, why: str) -> None:
        """Say once why what is missing is not taken as removed."""
        if why and why != self._held:
            logger.warning("%s", why)
        self._held = why

    def give_back(self) -> None:
        """Give back what no policy names any more, when that is certain and we lead."""
        if self._listed is None or not self._w.leadership.is_leader():
            return
        tended = [one.policy for one in self.fleet.all()]
        try:
            found = self._w.gives_back.sweep(self._listed, tended)
        except ObservationError as error:
            self._w.metrics.errors.labels(error.code).inc()
            logger.warning("floors of removed policies cannot be given back now: %s", error)
            return
        waiting = [returned for returned in found if not returned.done]
        self._w.metrics.policies.labels("releasing").set(len(waiting))

    # --- cycles ---------------------------------------------------------------------------------

    def _work(self, key: str) -> None:
        """Run one cycle, and say when the next is due; never raises."""
        tended = self.fleet.get(key)
        if tended is None:
            return
        period = self._w.period
        outcome: Outcome | None = None
        try:
            outcome = self._cycles.run(tended).outcome
        except Exception as error:  # a bug in one policy: loud, and its own
            tended.passes += 1
            self._w.metrics.errors.labels(type(error).__name__).inc()
            logger.exception(
                "a cycle failed, so its floor stays; this is a bug", extra={"policy": key}
            )
        if self.fleet.get(key) is not tended:  # removed meanwhile: what was recorded is undone
            self._w.records.forget(tended.policy)
            return
        slot = until_slot(key, self._w.clock.now(), period)
        if outcome is Outcome.CONFLICT:  # decide again soon, on what is there then
            self._queue.retry(key, slot)
        else:
            self._queue.succeeded(key)
            self._queue.put(key, slot)

    def _learnt(self, policy: TidePolicy, history: History, knowledge: Knowledge) -> None:
        """Keep what was learnt from, for the records."""
        self._w.records.learnt(policy, history, knowledge, self._w.period)

    # --- health ---------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Look after the workers, and show that somebody does."""
        self._w.metrics.stuck.set(self._workers.watch())
        self._beat = self._w.clock.monotonic()

    def healthy(self) -> str:
        """Say why this process should be restarted, or nothing."""
        silent = self._w.clock.monotonic() - self._beat
        if silent > max(BEAT, 3 * self._w.period) and not self._stopping.is_set():
            return f"the timers have not run for {silent:.0f} s"
        if self._workers.exhausted:
            return "every worker is stuck in a cycle that does not end"
        return ""

    def ready(self) -> str:
        """Say what is missing until every policy was observed once, or nothing."""
        if self._stopping.is_set():
            return "stopping"
        if not self.fleet.listed:
            return self._held or "the policies were not listed yet"
        waiting = sum(1 for tended in self.fleet.all() if tended.passes == 0)
        return f"{waiting} policies were not observed yet" if waiting else ""
