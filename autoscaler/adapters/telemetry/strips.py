"""A history in the fewest bytes that give it back exactly, in memory and in a record.

Two hundred services with 28 days at 60 s are 8 million samples. Kept as float64 times and values
they fill 129 MB for each copy, and written every minute they would be 70 GB a day. A `Strip` keeps
the times as runs on the step and the values as float32; a `Patch` says a newer strip through an
older one (what fell out in front, what came behind), which is a sample or two a minute.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoscaler.errors import InputError
from autoscaler.model import Floats, Samples

Bytes = NDArray[np.uint8]
FEW = 16  # so many samples are written as numbers that a person can read
LEVEL = 6  # zlib: level 9 takes three times as long for 0.3 % less


class RecordDamaged(InputError):
    """A record cannot be read back: it was cut, or altered by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Samples in compact form.

    Attributes
    ----------
    step : seconds between samples of a run
    starts, counts : shape (r,), first time and length of every run; or None when the times are
        on no grid, then `loose` holds them
    loose : shape (n,), float64 times, or None
    values : shape (n,), float32 when that is exact (an adapter rounds to it), else float64
    """

    step: float
    starts: Floats | None
    counts: NDArray[np.int64] | None
    loose: Floats | None
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def times(self) -> Floats:
        """POSIX seconds of every sample, shape (n,)."""
        if self.loose is not None:
            return self.loose
        if self.starts is None or self.counts is None:
            raise RecordDamaged("a strip has neither runs nor times")
        return _unroll(self.starts, self.counts, self.step)

    @property
    def only_start(self) -> float | None:
        """First time when all of it is one run, else None."""
        return float(self.starts[0]) if self.starts is not None and len(self.starts) == 1 else None

    def part(self, start: int, end: int) -> Strip:
        """Cut out samples number `start` up to `end`."""
        only, number = self.only_start, np.arange(start, end, dtype=np.float64)
        times: Floats = self.times[start:end] if only is None else only + self.step * number
        values = self.values[start:end].astype(np.float64)
        return strip(Samples(times=times, values=values), self.step)

    def samples(self) -> Samples:
        """Give the samples back, values as float64."""
        return Samples(times=self.times, values=self.values.astype(np.float64))

    def digest(self, into: blake2b) -> None:
        """Feed everything that decides what the samples are."""
        into.update(f"{self.step!r}/{len(self)}/{self.values.dtype.str}".encode())
        for part in (self.starts, self.counts, self.loose, self.values):
            if part is not None:
                into.update(np.ascontiguousarray(part).view(np.uint8).data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A strip said through an older one: `before` + old[skip : skip + take] + `after`."""

    before: Strip
    skip: int
    take: int
    after: Strip


def _unroll(starts: Floats, counts: NDArray[np.int64], step: float) -> Floats:
    """Expand runs to times, one after the other."""
    pieces = [start + step * np.arange(n) for start, n in zip(starts, counts, strict=True)]
    return np.concatenate(pieces) if pieces else np.empty(0)


def strip(samples: Samples, step: float) -> Strip:
    """Compact form of `samples`, which gives back exactly the same numbers."""
    times = np.asarray(samples.times, dtype=np.float64)
    with np.errstate(over="ignore"):  # then it is not exact, and float64 is kept
        single = np.asarray(samples.values).astype(np.float32)
    double = np.ascontiguousarray(samples.values, dtype=np.float64)
    # bits, since comparing numbers needs three passes for the sake of NaN
    exact = np.array_equal(single.astype(np.float64).view(np.uint64), double.view(np.uint64))
    values: NDArray[Any] = single if exact else double.copy()
    if len(times) == 0:
        return Strip(
            step=step, starts=times, counts=np.empty(0, np.int64), loose=None, values=values
        )
    edges = np.flatnonzero(np.diff(times) != step) + 1
    begins = np.concatenate(([0], edges))
    counts = np.diff(np.concatenate((begins, [len(times)])))
    if len(begins) <= max(1, len(times) // 4):
        starts = times[begins]
        # whole seconds add up exactly; of others it must be seen
        whole = step.is_integer() and bool((starts % 1 == 0).all() and (starts < 2**50).all())
        if whole or np.array_equal(_unroll(starts, counts, step), times):
            return Strip(step=step, starts=starts, counts=counts, loose=None, values=values)
    return Strip(step=step, starts=None, counts=None, loose=times.copy(), values=values)


def patch(old: Strip, new: Strip) -> Patch | None:
    """Say `new` through `old`; None when they have too little in common to be worth it."""
    if len(old) == 0 or len(new) == 0 or old.values.dtype != new.values.dtype:
        return None
    kind = np.dtype(f"u{old.values.dtype.itemsize}")  # bits, so that NaN equals itself
    skip, before, same_times = _aligned(old, new)
    length = min(len(old) - skip, len(new) - before)
    if length <= 0:
        return None
    values_were = old.values[skip : skip + length].view(kind)
    same = values_were == new.values[before : before + length].view(kind)
    if same_times is not None:
        same &= same_times
    take = length if bool(same.all()) else int(np.argmin(same))
    if take * 2 < len(new):
        return None
    return Patch(
        before=new.part(0, before), skip=skip, take=take, after=new.part(before + take, len(new))
    )


def _aligned(old: Strip, new: Strip) -> tuple[int, int, NDArray[np.bool_] | None]:
    """Where the common part begins in both, and where their times agree (None: everywhere)."""
    one, two = old.only_start, new.only_start
    if one is not None and two is not None and old.step == new.step:
        ahead = (two - one) / old.step
        if ahead.is_integer() and one.is_integer() and old.step.is_integer():
            return max(0, int(ahead)), max(0, int(-ahead)), None
    was, now = old.times, new.times
    skip, before = int(np.searchsorted(was, now[0])), int(np.searchsorted(now, was[0]))
    length = max(0, min(len(old) - skip, len(new) - before))
    return skip, before, was[skip : skip + length] == now[before : before + length]


def apply(old: Strip, change: Patch) -> Strip:
    """Strip that `change` says, given the one that it was said through.

    Raises
    ------
    RecordDamaged
        `old` is too short for it.
    """
    if not 0 <= change.skip <= change.skip + change.take <= len(old):
        raise RecordDamaged(
            f"a record takes samples {change.skip} to {change.skip + change.take} of the history "
            f"before it, which has {len(old)}"
        )
    keep = slice(change.skip, change.skip + change.take)
    times = np.concatenate((change.before.times, old.times[keep], change.after.times))
    values = np.concatenate((change.before.values, old.values[keep], change.after.values))
    return strip(Samples(times=times, values=values.astype(np.float64)), old.step)


def block(piece: Strip) -> dict[str, Any] | list[list[float]]:
    """Strip as JSON: pairs of numbers when few, else bytes shuffled, deflated, base64."""
    single = piece.values.dtype == np.float32
    if len(piece) <= FEW and single and bool(np.isfinite(piece.values).all()):
        # the shortest decimal that is this float32; it reads back to the same bits
        return [[float(t), float(str(v))] for t, v in zip(piece.times, piece.values, strict=True)]
    document: dict[str, Any] = {"n": len(piece)}
    if piece.starts is not None and piece.counts is not None:
        document["runs"] = [
            [float(s), int(n)] for s, n in zip(piece.starts, piece.counts, strict=True)
        ]
    else:
        document["times"] = _deflate(piece.times)
    document["f4" if single else "f8"] = _deflate(piece.values)
    return document


def unblock(document: Any, step: float) -> Strip:
    """Strip of what `block` wrote.

    Raises
    ------
    RecordDamaged
        It is not what `block` writes.
    """
    try:
        if isinstance(document, list):
            pairs = np.array(document, dtype=np.float64).reshape(-1, 2)
            values = pairs[:, 1].astype(np.float32).astype(np.float64)
            return strip(Samples(times=pairs[:, 0].copy(), values=values), step)
        kind = "f4" if "f4" in document else "f8"
        values = _inflate(document[kind], kind).astype(np.float64)
        if "runs" in document:
            runs = np.array(document["runs"], dtype=np.float64).reshape(-1, 2)
            times = _unroll(runs[:, 0], runs[:, 1].astype(np.int64), step)
        else:
            times = _inflate(document["times"], "f8")
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise RecordDamaged(f"a history in the records cannot be read: {error}") from error
    if not len(times) == len(values) == document["n"]:
        raise RecordDamaged(
            f"a history in the records has {len(times)} times and {len(values)} values, "
            f"and says it has {document['n']}"
        )
    return strip(Samples(times=times, values=values), step)


def _deflate(values: NDArray[Any]) -> str:
    """Bytes by significance (exponents together deflate far better), deflated, base64."""
    size = values.dtype.itemsize
    rows: Bytes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, size)
    return base64.b64encode(zlib.compress(np.ascontiguousarray(rows.T).tobytes(), LEVEL)).decode()


def _inflate(text: str, kind: str) -> NDArray[Any]:
    """Undo `_deflate`."""
    dtype = np.dtype(f"<{kind}")
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype=np.uint8)
    columns = raw.reshape(dtype.itemsize, -1)
    return np.ascontiguousarray(columns.T).view(dtype).reshape(-1)
