"""Which policy is due next: a heap of due times without duplicates, handed to one worker at a time.

A key that is in a worker's hands is not handed out again; what is asked for it meanwhile is kept.
APScheduler is not used for this: one job per policy drops or starves runs (`max_instances`,
misfires), and it has no way to say "sooner, once".
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

BASE, LIMIT = 1.0, 30.0  # seconds of the first and the longest wait of a retry


class WorkQueue:
    """Keys with due times; thread-safe.

    Parameters
    ----------
    monotonic : seconds that never jump
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._heap: list[tuple[float, int, str]] = []
        self._due: dict[str, float] = {}
        self._in_hand: dict[str, float] = {}
        self._tries: dict[str, int] = {}
        self._order = itertools.count()
        self._closed = False

    def put(self, key: str, delay: float = 0.0) -> None:
        """Ask for `key` in `delay` seconds; an earlier due time that it has already stands."""
        due = self._monotonic() + max(0.0, delay)
        with self._changed:
            if self._closed or self._due.get(key, float("inf")) <= due:
                return
            self._due[key] = due
            heapq.heappush(self._heap, (due, next(self._order), key))
            self._changed.notify()

    def retry(self, key: str, within: float) -> None:
        """Ask again soon, each time in a row twice as late, but not later than `within` seconds."""
        with self._changed:
            tries = self._tries.get(key, 0)
            self._tries[key] = tries + 1
        self.put(key, min(BASE * 2.0 ** min(tries, 10), LIMIT, within))

    def succeeded(self, key: str) -> None:
        """Begin with the shortest wait again."""
        with self._changed:
            self._tries.pop(key, None)

    def take(self, timeout: float | None = None) -> str | None:
        """Key that is due and in nobody's hands; None when there was none, or at the end."""
        end = None if timeout is None else self._monotonic() + timeout
        with self._changed:
            while not self._closed:
                now = self._monotonic()
                key, wait = self._next(now)
                if key is not None:
                    self._in_hand[key] = now
                    return key
                if end is not None:
                    if end <= now:
                        return None
                    wait = end - now if wait is None else min(wait, end - now)
                self._changed.wait(wait)
        return None

    def _next(self, now: float) -> tuple[str | None, float | None]:
        """Find a key that can be taken, or how long until there may be one."""
        busy: list[tuple[float, int, str]] = []
        found: str | None = None
        wait: float | None = None
        while self._heap:
            due, _, key = entry = self._heap[0]
            if self._due.get(key) != due:  # forgotten, or asked for earlier
                heapq.heappop(self._heap)
                continue
            if due > now:
                wait = due - now
                break
            heapq.heappop(self._heap)
            if key in self._in_hand:
                busy.append(entry)
                continue
            del self._due[key]
            found = key
            break
        for entry in busy:  # `done` wakes whoever waits for these
            heapq.heappush(self._heap, entry)
        return found, wait

    def done(self, key: str) -> None:
        """Give `key` back."""
        with self._changed:
            self._in_hand.pop(key, None)
            self._changed.notify()

    def forget(self, key: str) -> None:
        """Nothing is asked for `key` any more."""
        with self._changed:
            self._due.pop(key, None)
            self._tries.pop(key, None)

    def in_hand(self) -> dict[str, float]:
        """Keys that workers have, and since when (monotonic seconds)."""
        with self._changed:
            return dict(self._in_hand)

    def close(self) -> None:
        """Hand nothing out any more; whoever waits gets None."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
