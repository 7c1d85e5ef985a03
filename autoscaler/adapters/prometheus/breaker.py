"""One circuit breaker for all policies, so that a dead Prometheus costs one wait, not 200.

Each policy's query has a deadline. When a server swallows packets, 200 policies on a few threads
would wait one after the other, for longer than a cycle; the policies at the end would get no
decision at all rather than a doubt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Enum


class Pass(Enum):
    """What a caller may do."""

    GO = "go"  # the server was well when last heard of
    TRY = "try"  # ask whether it is back, then go or report: only one caller gets this
    NO = "no"  # it is not; give up at once


class Breaker:
    """Whether it is worth asking. Thread-safe.

    Parameters
    ----------
    rest : seconds after a failure in which nobody asks
    clock : monotonic seconds
    """

    def __init__(self, rest: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._since: float | None = None
        self._again = 0.0
        self._why = ""

    def enter(self) -> Pass:
        """Ask for leave to ask."""
        with self._lock:
            if self._since is None:
                return Pass.GO
            now = self._clock()
            if now < self._again:
                return Pass.NO
            self._again = now + self._rest  # should the one who tries never report
            return Pass.TRY

    def failed(self, why: str) -> None:
        """Nobody asks for a while: the server is known to be away."""
        with self._lock:
            now = self._clock()
            self._since = now if self._since is None else self._since
            self._again = now + self._rest
            self._why = why

    def answered(self) -> None:
        """Everybody may ask: the server has just answered."""
        with self._lock:
            self._since = None

    @property
    def closed(self) -> bool:
        """Whether everybody may ask."""
        with self._lock:
            return self._since is None

    def account(self) -> str:
        """For how long nothing was heard, why, and when it is tried again."""
        with self._lock:
            if self._since is None:
                return "it answers"
            now = self._clock()
            return (
                f"no answer for {now - self._since:.0f} s ({self._why}); tried again in "
                f"{max(0.0, self._again - now):.0f} s"
            )
