"""An interruption (Ctrl-C) that waits for the end of a step: of a cycle, a peer, a file."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Somebody pressed Ctrl-C once, and what was under way was left at a place that is safe."""


class Interruption:
    """Whether somebody pressed Ctrl-C.

    Attributes
    ----------
    came : True from the first one on
    """

    def __init__(self) -> None:
        self.came = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Note the first one; whoever presses again does not want to wait."""
        if self.came:
            signal.default_int_handler(number, frame)
        self.came = True


@contextlib.contextmanager
def interruption() -> Iterator[Interruption]:
    """Note Ctrl-C instead of raising KeyboardInterrupt wherever the program happens to be.

    Raised between a condition's lock being taken and its block being entered (in `queue`, and so in
    a pool of connections), it leaves the lock taken, and whoever closes the pool waits for ever
    (https://github.com/python/cpython/issues/74174). A loop that asks `came` before each step ends
    with nothing half-done.

    Within another it is that other one, so that every loop hears it. Outside the main thread, or
    where Ctrl-C does not raise (a process told to ignore it), handling stays as it is and `came`
    stays False.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C came a second time.
    """
    handler, noted = signal.getsignal(signal.SIGINT), Interruption()
    mine = threading.current_thread() is threading.main_thread()
    if mine and isinstance(outer := getattr(handler, "__self__", None), Interruption):
        yield outer
        return
    if not mine or handler is not signal.default_int_handler:
        yield noted
        return
    signal.signal(signal.SIGINT, noted.note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
