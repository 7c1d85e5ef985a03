"""Decision records as JSON lines: one file a day, each complete in itself.

Durability: a record is one unbuffered `write` in append mode, so that a crash of the process loses
nothing and a crash of the machine what the kernel had not written back (some 30 s); `fsync` is
called when a file ends. Records are evidence, nobody's state, so a full disk costs records and a
counter, never a decision.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from autoscaler.adapters.telemetry import schema
from autoscaler.adapters.telemetry.chain import USUAL_PERIOD, Chain, Cycle, Fit, encode, fit
from autoscaler.model import History, Knowledge, Memory, Observation, Result
from autoscaler.policy import TidePolicy

logger = logging.getLogger(__name__)

PREFIX, SUFFIX = "decisions-", ".jsonl"
PATIENCE = 1.0  # seconds that a cycle waits for another's record to be written
PAUSE = 30.0  # seconds without an attempt after the disk refused one


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of the past is kept."""

    days: int = 14
    megabytes: int = 4096


class Meter(Protocol):
    """Who counts what was written and what was lost."""

    def wrote(self, size: int) -> None:
        """`size` bytes of records were written."""
        ...

    def dropped(self) -> None:
        """One record was lost."""
        ...


class NoMeter:
    """Counts nothing."""

    def wrote(self, size: int) -> None:
        """Nothing to do."""

    def dropped(self) -> None:
        """Nothing to do."""


class RecordWriter:
    """Recorder that appends to `decisions-YYYY-MM-DD.jsonl` (UTC) in a folder, or to one file.

    Parameters
    ----------
    path : a folder for daily files; or, with `daily=False`, the one file
    clock : POSIX seconds now, for cycles that came to no decision
    limits : how many daily files and bytes stay when a new file begins; None keeps all
    run : name of this process in the records, so that several writers of a file do not mix
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float],
        *,
        daily: bool = True,
        limits: Limits | None = None,
        run: str | None = None,
        meter: Meter | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._clock, self._daily, self._limits = path, clock, daily, limits
        self._run = secrets.token_hex(3) if run is None else run
        self._meter, self._monotonic = meter or NoMeter(), monotonic
        self._lock = threading.Lock()
        self._chains: dict[str, Chain] = {}
        self._fits: dict[str, tuple[Knowledge, Fit]] = {}
        self._fd: int | None = None
        self._day = ""
        self._torn = False
        self._blocked_until = float("-inf")

    def learnt(
        self,
        policy: TidePolicy,
        history: History,
        knowledge: Knowledge,
        period: float = USUAL_PERIOD,
    ) -> None:
        """Keep what `knowledge` was learnt from; without it its decisions cannot be replayed.

        Parameters
        ----------
        policy, history, period : what `tune.learn` was given, `history` up to `fitted_at`
        """
        self._fits[policy.key] = (knowledge, fit(policy, history, knowledge, period))

    def forget(self, policy: TidePolicy) -> None:
        """Let go of a policy that is no more."""
        self._chains.pop(policy.key, None)
        self._fits.pop(policy.key, None)

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,
        result: Result,
    ) -> None:
        """Append one record; a disk that refuses it costs the record and is counted."""
        at = self._clock() if result.decision is None else result.decision.at
        noted, known = self._fits.get(policy.key, (None, None))
        cycle = Cycle(
            at=at,
            policy=policy,
            observation=observation,
            knowledge=knowledge,
            fit=known if noted is knowledge else None,
            memory=memory,
            result=result,
        )
        if not self._lock.acquire(timeout=PATIENCE):  # a hanging disk must not hang the cycles
            self._meter.dropped()
            return
        try:
            self._append(cycle)
        except OSError as error:
            self._refused(error)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Bring the file to the disk and close it; give up when a hanging disk holds it."""
        if self._lock.acquire(timeout=PATIENCE):
            try:
                self._end_file()
            finally:
                self._lock.release()

    def _append(self, cycle: Cycle) -> None:
        """Encode and write; the chain advances only when the whole line is out."""
        if self._monotonic() < self._blocked_until:
            self._meter.dropped()
            return
        self._turn_page(cycle.at)
        chain = self._chains.get(cycle.policy.key, Chain())
        document, after = encode(chain, cycle)
        line = schema.text({"run": self._run, **document}).encode() + b"\n"
        self._write(line)
        self._chains[cycle.policy.key] = after
        self._meter.wrote(len(line))

    def _write(self, line: bytes) -> None:
        """Write one whole line; after a torn one, on a new line."""
        if self._fd is None:
            raise OSError("no file is open")
        left = b"\n" + line if self._torn else line
        self._torn = True  # until the last byte is out
        while left:
            left = left[os.write(self._fd, left) :]
        self._torn = False

    def _refused(self, error: OSError) -> None:
        """Count a lost record, say it once a pause, and do not try again before that."""
        self._meter.dropped()
        self._blocked_until = self._monotonic() + PAUSE
        logger.error(
            "records cannot be written, so decisions of the next %d s are not recorded: %s",
            PAUSE,
            error,
        )

    def _turn_page(self, at: float) -> None:
        """Begin the file of the day of `at`, once; the day never goes back."""
        day = datetime.fromtimestamp(at, UTC).date().isoformat() if self._daily else "all"
        if self._fd is not None and day <= self._day:
            return
        self._end_file()
        path = self._path / f"{PREFIX}{day}{SUFFIX}" if self._daily else self._path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._day = day
        self._torn = _is_torn(self._fd)
        if self._daily and self._limits is not None:
            remove_old(path.parent, self._limits)

    def _end_file(self) -> None:
        """Close the file of the day; what follows must not build on it."""
        self._chains.clear()
        if self._fd is not None:
            fd, self._fd = self._fd, None
            with contextlib.suppress(OSError):  # evidence only: see the module's docstring
                os.fsync(fd)
            os.close(fd)


def remove_old(folder: Path, limits: Limits) -> None:
    """Remove the oldest daily files beyond the limits; the newest always stays."""
    files = sorted(folder.glob(f"{PREFIX}*{SUFFIX}"), reverse=True)
    room = limits.megabytes * 1_000_000
    for kept, path in enumerate(files):
        with contextlib.suppress(OSError):  # gone already, or not ours to remove
            room -= path.stat().st_size
            if kept > 0 and (kept >= limits.days or room < 0):
                path.unlink()


def _is_torn(fd: int) -> bool:
    """Whether a crash left the file without its last newline."""
    size = os.fstat(fd).st_size
    return size > 0 and os.pread(fd, 1, size - 1) != b"\n"
