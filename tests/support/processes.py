"""Child processes of tests, which end with the test whatever becomes of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 300.0
"""Seconds until a process counts as hanging: nothing is judged by it, on any machine."""

Child = TypeVar("Child", subprocess.Popen[str], subprocess.Popen[bytes])


@contextmanager
def ended(child: Child) -> Iterator[Child]:
    """Give a running child; at the end it is killed if it still runs, and its pipes are closed.

    One that was left would live beside later tests, and its open pipes would fail one of them.
    """
    with child:
        try:
            yield child
        finally:
            child.kill()  # nothing, where it has ended
