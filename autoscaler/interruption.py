"""An interruption (Ctrl-C) that waits for the end of a step."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


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

    Outside the main thread, or where Ctrl-C does not raise (a process told to ignore it, an
    interruption within another), handling stays as it is and `came` stays False.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C came a second time.
    """
    noted = Interruption()
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield noted
        return
    signal.signal(signal.SIGINT, noted.note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
