"""The one place where the controller reads the wall clock, so that another clock can stand in.

Decisions are made at wall time, since the tide follows the clock on people's walls. Waiting and
deadlines use the monotonic clock, so that a jump of the wall clock delays or bursts nothing.
"""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import Protocol


class Clock(Protocol):
    """Both clocks of a machine."""

    def now(self) -> float:
        """POSIX seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...


class WallClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """POSIX seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()


def offset_of(key: str, period: float) -> float:
    """Where in the period a policy's cycle stands: by its name, so that they spread evenly."""
    share = int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) / 2**64
    return share * period


def until_slot(key: str, now: float, period: float) -> float:
    """Seconds until the policy's next cycle is due, in (0, period], however the clock jumped."""
    return period - (now - offset_of(key, period)) % period
