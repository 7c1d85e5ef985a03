"""Series in memory, appended to from one thread and read from many."""

from __future__ import annotations

import re
import struct
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats
from autoscaler.sandbox.promql.syntax import Matcher

STALE: float = struct.unpack("<d", (0x7FF0000000000002).to_bytes(8, "little"))[0]
"""The NaN by which Prometheus says that a series has ended."""

_STALE_BITS = np.uint64(0x7FF0000000000002)

Labels = tuple[tuple[str, str], ...]
"""Sorted pairs, `__name__` among them."""


def stale(values: Floats) -> NDArray[np.bool_]:
    """Which values are markers of staleness rather than numbers."""
    marks: NDArray[np.bool_] = np.ascontiguousarray(values).view(np.uint64) == _STALE_BITS
    return marks


@dataclass(frozen=True, slots=True)
class Series:
    """One series: sorted times, values of the same shape."""

    labels: Labels
    times: Floats
    values: Floats


class _Growing:
    """Two arrays that grow by doubling."""

    def __init__(self) -> None:
        self.times = np.empty(64)
        self.values = np.empty(64)
        self.size = 0

    def append(self, times: Floats, values: Floats) -> None:
        """Take samples newer than the newest; older ones are out of order and dropped."""
        if self.size:
            fresh = times > self.times[self.size - 1]
            times, values = times[fresh], values[fresh]
        total = self.size + len(times)
        if total > len(self.times):
            room = max(total, 2 * len(self.times))
            # np.resize copies: readers keep the arrays that they hold
            self.times, self.values = np.resize(self.times, room), np.resize(self.values, room)
        self.times[self.size : total] = times
        self.values[self.size : total] = values
        self.size = total


class Store:
    """All series of a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._series: dict[Labels, _Growing] = {}

    def append(
        self, name: str, labels: Mapping[str, str], times: Iterable[float], values: Iterable[float]
    ) -> None:
        """Add samples (POSIX seconds, ascending) to one series, which begins with them if new."""
        key = tuple(sorted({**labels, "__name__": name}.items()))
        t, v = np.array(list(times), float), np.array(list(values), float)
        if len(t) != len(v):
            raise ValueError(f"{len(t)} times but {len(v)} values for {name}")
        with self._lock:
            self._series.setdefault(key, _Growing()).append(t, v)

    def end(self, labels: Mapping[str, str], at: float) -> None:
        """Mark every series with these labels as ended, as a failed scrape does."""
        wanted = set(labels.items())
        with self._lock:
            for key, grown in self._series.items():
                if wanted <= set(key):
                    grown.append(np.array([at]), np.array([STALE]))

    def select(self, matchers: Iterable[Matcher], until: float) -> list[Series]:
        """Series that match, with their samples up to `until`; those without any are left out."""
        tests = [_Match(matcher) for matcher in matchers]
        found = []
        with self._lock:
            for key, grown in self._series.items():
                labels = dict(key)
                if all(test(labels) for test in tests):
                    size = int(np.searchsorted(grown.times[: grown.size], until, "right"))
                    if size:
                        found.append(Series(key, grown.times[:size], grown.values[:size]))
        return found


class _Match:
    """Whether labels satisfy one matcher; an absent label is an empty one."""

    def __init__(self, matcher: Matcher) -> None:
        self.name, self.value = matcher.name, matcher.value
        self.wanted = matcher.sign in {"=", "=~"}
        self.pattern = re.compile(matcher.value) if matcher.sign in {"=~", "!~"} else None

    def __call__(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.name, "")
        if self.pattern is None:
            return (value == self.value) == self.wanted
        return (self.pattern.fullmatch(value) is not None) == self.wanted
