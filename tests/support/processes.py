"""Child processes of tests, which end with the test whatever becomes of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 300.0
"""Seconds until a process counts as hanging: nothing is judged by it, on any machine."""

Child = TypeVar("Child", subprocess.Popen[str], subprocess.Popen[bytes])


def python(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own to its end: signals are delivered to it alone."""
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE,
    )


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
