"""A bounded number of threads that run due policies; one that is stuck is accounted for.

A thread cannot be killed. A cycle that does not come back (every adapter has deadlines, so this is
a bug or a kernel's trouble) keeps its policy to itself; its place is taken by a new thread, up to a
bound, so that no other policy waits for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from autoscaler.controller.clock import Clock
from autoscaler.controller.workqueue import WorkQueue

logger = logging.getLogger(__name__)


class Workers:
    """Threads that take keys from a queue.

    Parameters
    ----------
    work : runs one key; what it raises is its own business (see `Controller`), never the thread's
    count : threads that work at a time
    spare : threads that may be started in place of stuck ones
    deadline : seconds after which a key in hand counts as stuck
    """

    def __init__(
        self,
        queue: WorkQueue,
        work: Callable[[str], None],
        clock: Clock,
        *,
        count: int = 8,
        spare: int = 16,
        deadline: float = 60.0,
    ) -> None:
        self._queue, self._work, self._clock = queue, work, clock
        self._count, self._spare, self._deadline = count, spare, deadline
        self._lock = threading.Lock()
        self._stuck: set[str] = set()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads."""
        for _ in range(self._count):
            self._begin()

    def _begin(self) -> None:
        """Start one thread; daemons, so that a stuck one does not keep the process."""
        number = len(self._threads)
        thread = threading.Thread(target=self._run, name=f"cycle-{number}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self) -> None:
        """Work until the queue is closed, or this thread has been replaced."""
        while (key := self._queue.take()) is not None:
            try:
                self._work(key)
            finally:
                self._queue.done(key)
            with self._lock:
                if key in self._stuck:
                    self._stuck.remove(key)
                    logger.warning("a stuck cycle came back", extra={"policy": key})
                    return  # another thread has taken this place

    def watch(self) -> int:
        """Replace threads that are stuck; how many are."""
        now = self._clock.monotonic()
        with self._lock:
            for key, since in self._queue.in_hand().items():
                if now - since <= self._deadline or key in self._stuck:
                    continue
                if len(self._stuck) >= self._spare:
                    break
                self._stuck.add(key)
                logger.error(
                    "a cycle has been running for %.0f s: its policy is not tended until it ends",
                    now - since,
                    extra={"policy": key},
                )
                self._begin()
            return len(self._stuck)

    @property
    def exhausted(self) -> bool:
        """Whether nobody is left to work: every spare thread stands in for a stuck one."""
        with self._lock:
            return len(self._stuck) >= self._spare

    def join(self, timeout: float) -> bool:
        """Wait until all that is in hand is done; False when it is not in time."""
        end = self._clock.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, end - self._clock.monotonic()))
        return not self._queue.in_hand()
