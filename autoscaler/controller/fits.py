"""Learning off the cycle's path: one process, one fit at a time, never waited for by a cycle.

Every finished cycle offers its history, and the desk takes it when that policy is due and the desk
is free. So at most two histories wait, fits spread by themselves over the minutes in which they are
due, and what was learnt from is exactly what a record holds. Knowledge is replaced as a whole.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from autoscaler import tune
from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.controller import fitting
from autoscaler.controller.clock import Clock
from autoscaler.controller.fleet import Tended, series_of
from autoscaler.controller.ports import Learner
from autoscaler.errors import ForetideError
from autoscaler.model import History, Knowledge
from autoscaler.policy import TidePolicy

logger = logging.getLogger(__name__)

DEADLINE = 300.0  # seconds for one fit
WAITING = 2  # histories that wait; each is 0.6 MB for four weeks
SERVED = 50  # fits after which the process is made anew, since its memory only grows
IDLE = 120.0  # seconds without a fit after which the process ends and its memory is given back
BASE, LIMIT = 60.0, 3600.0  # seconds of the first and the longest wait after a failed fit


class FitLate(ForetideError):
    """A fit did not end in time, or its process died."""


class Here:
    """Learner in the calling thread: for one cycle at a desk, and for tests."""

    def learn(
        self,
        policy: TidePolicy,
        history: History,
        now: float,
        period: float,
        standing: tune.Standing | None,
    ) -> Knowledge:
        """Learn at once."""
        return tune.tonight(policy, history, now, standing, period=period)

    def rest(self) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Nothing to do."""


class Elsewhere:
    """Learner in a process of its own, which is made anew when it died. For one thread."""

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._pool: ProcessPoolExecutor | None = None
        self._served = 0

    def learn(
        self,
        policy: TidePolicy,
        history: History,
        now: float,
        period: float,
        standing: tune.Standing | None,
    ) -> Knowledge:
        """Learn in the process.

        Raises
        ------
        FitLate
            It did not end within the deadline, or its process died.
        """
        if self._pool is None:
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
                os.environ.setdefault(name, "1")  # for the child: its threads would only contend
            self._pool = ProcessPoolExecutor(
                max_workers=1,
                mp_context=multiprocessing.get_context("spawn"),  # fork copies locks in any state
                initializer=fitting.begin,
            )
        try:
            future: Future[Knowledge] = self._pool.submit(
                fitting.learn, policy, history, now, period, standing, self._deadline
            )
            knowledge = future.result()
        except BrokenProcessPool as error:
            self.rest()
            raise FitLate(
                f"the fit did not end within {self._deadline:.0f} s, or its process was killed"
            ) from error
        except RuntimeError as error:  # the pool was shut down while we stop
            raise FitLate(f"the fit was given up: {error}") from error
        self._served += 1
        if self._served >= SERVED:
            self.rest()
        return knowledge

    def rest(self) -> None:
        """End the process and give its memory back."""
        self._served = 0
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def stop(self) -> None:
        """End the process now, whatever it is doing."""
        self.rest()
        for child in multiprocessing.active_children():
            child.terminate()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """A fit that waits; `outdated` as the knowledge was that it is to replace."""

    tended: Tended
    policy: TidePolicy
    history: History
    now: float
    outdated: bool


class FitDesk:
    """Takes what is offered when it is due and it is free; one thread does the fits.

    Parameters
    ----------
    learnt : told the policy, history and knowledge of each fit, before the knowledge is used
    due : whether a policy's knowledge is to be learnt again
    """

    def __init__(
        self,
        learner: Learner,
        learnt: Callable[[TidePolicy, History, Knowledge], None],
        clock: Clock,
        metrics: Metrics,
        *,
        period: float,
        due: Callable[[TidePolicy, Knowledge | None, float], bool] = tune.due,
    ) -> None:
        self._learner, self._learnt, self._clock, self._metrics = learner, learnt, clock, metrics
        self._period, self._due = period, due
        self._orders: queue.Queue[_Order | None] = queue.Queue(maxsize=WAITING)
        self._waiting: set[str] = set()
        self._failed: dict[str, tuple[int, float]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fits", daemon=True)

    def start(self) -> None:
        """Begin to take orders."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more orders and end the fit that runs."""
        self._stopping.set()
        self._learner.stop()

    def offer(self, tended: Tended, policy: TidePolicy, history: History, now: float) -> None:
        """Take the history of a finished cycle if its policy is due; never waits."""
        key = policy.key
        if key in self._waiting or self._orders.full() or self._stopping.is_set():
            return
        if not (tended.outdated or self._due(policy, tended.knowledge, now)):
            return
        if self._clock.monotonic() < self._failed.get(key, (0, float("-inf")))[1]:
            return
        order = _Order(
            tended=tended, policy=policy, history=history, now=now, outdated=tended.outdated
        )
        tended.outdated = False  # an edit from now on makes this order's fit outdated too
        self._waiting.add(key)
        try:
            self._orders.put_nowait(order)
        except queue.Full:  # another cycle was quicker; there is a next time
            self._waiting.discard(key)
            tended.outdated = order.outdated

    def forget(self, key: str) -> None:
        """Let go of a policy that is no more."""
        self._failed.pop(key, None)

    def _run(self) -> None:
        """Fit after fit, until stopped."""
        while not self._stopping.is_set():
            try:
                order = self._orders.get(timeout=IDLE)
            except queue.Empty:
                self._learner.rest()
                continue
            if order is not None:
                self._fit(order)
                self._waiting.discard(order.policy.key)

    def _fit(self, order: _Order) -> None:
        """Do one fit; whatever goes wrong, the last knowledge stays."""
        key = order.policy.key
        began = self._clock.monotonic()
        try:
            tended = order.tended
            standing = tune.standing_of(tended.knowledge, tended.memory, outdated=order.outdated)
            knowledge = self._learner.learn(
                order.policy, order.history, order.now, self._period, standing
            )
            self._learnt(order.policy, order.history, knowledge)
        except FitLate as error:
            self._not(order, "late", error)
        except Exception as error:  # noqa: BLE001 a bug in a forecaster costs its knowledge only
            self._not(order, "failed", error)
        else:
            took = self._clock.monotonic() - began
            self._failed.pop(key, None)
            self._metrics.fits.labels("learnt").inc()
            self._metrics.fit.observe(took)
            logger.info(
                "%s in %.1f s: %s decides",
                "fitted again" if knowledge.refitted else "learnt",
                took,
                knowledge.fitted.name if knowledge.choice is None else knowledge.choice.name,
                extra={"policy": key},
            )
            if series_of(order.tended.policy) == series_of(order.policy):
                order.tended.knowledge = knowledge

    def _not(self, order: _Order, result: str, error: Exception) -> None:
        """Count a fit that came to nothing, and wait longer before the next."""
        if self._stopping.is_set():
            return
        key = order.policy.key
        # a bug in what stands must not fail for a week: the next try compares all
        order.tended.outdated |= order.outdated or result == "failed"
        tries = self._failed.get(key, (0, 0.0))[0] + 1
        wait = min(BASE * 2.0 ** min(tries - 1, 10), LIMIT)
        self._failed[key] = (tries, self._clock.monotonic() + wait)
        self._metrics.fits.labels(result).inc()
        logger.warning(
            "nothing new was learnt, so the last knowledge stays; next try in %.0f s: %s",
            wait,
            error,
            extra={"policy": key},
            exc_info=None if isinstance(error, ForetideError) else error,
        )
