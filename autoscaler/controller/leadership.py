"""Who may write: always, never, or a leader, and nobody once we are stopping."""

from __future__ import annotations

import threading

from autoscaler.controller.ports import Leadership


class Alone:
    """Leadership where there is only one controller."""

    def start(self) -> None:
        """Nothing to do."""

    def release(self) -> None:
        """Nothing to do."""

    def is_leader(self) -> bool:
        """Answer that it always does."""
        return True


class Never:
    """Leadership of a run that only looks: it says nothing to the cluster and writes nowhere."""

    def start(self) -> None:
        """Nothing to do."""

    def release(self) -> None:
        """Nothing to do."""

    def is_leader(self) -> bool:
        """Answer that it never does."""
        return False


class Gate:
    """Leadership behind a gate that closes when we stop.

    Every adapter that writes asks here. The lease itself is released last, so that no other leads
    while a write of ours is in flight.
    """

    def __init__(self, inner: Leadership) -> None:
        self._inner = inner
        self._closed = threading.Event()

    def start(self) -> None:
        """Begin to campaign."""
        self._inner.start()

    def close(self) -> None:
        """Let no new write begin."""
        self._closed.set()

    def release(self) -> None:
        """Give the leadership up."""
        self._closed.set()
        self._inner.release()

    def is_leader(self) -> bool:
        """Whether a write may begin at this very moment."""
        return not self._closed.is_set() and self._inner.is_leader()

    def wait_for_leader(self, timeout: float) -> bool:
        """Wait until we lead, at most `timeout` seconds; whether we do."""
        wait = getattr(self._inner, "wait_for_leader", None)
        return self.is_leader() if wait is None else bool(wait(timeout))
