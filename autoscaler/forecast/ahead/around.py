"""What a fit leaves of its tables for the decisions to come: a knowledge is held for every service.

Decisions look at nothing that lies more than some hours before the fit. Of a table that says the
same of the day after tomorrow as of tomorrow (most do: both are foreseen from the same days), one
is enough: what lies past the end is the last day that there is, by the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from autoscaler.model import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Rows by slot, each as long as it says something new.

    Attributes
    ----------
    values : shape (n,), float32, row after row
    starts, lengths : shape (rows, 1), where each begins in it, and how many slots it has
    shortest : of the lengths
    per_day : slots in a day
    """

    values: Floats
    starts: Ints
    lengths: Ints
    shortest: int
    per_day: int

    @classmethod
    def of(cls, rows: Sequence[Floats], per_day: int) -> Self:
        """Keep rows, all of whose first slots are the same."""
        kept = [without_repeats(row.astype(np.float32), per_day) for row in rows]
        lengths = np.array([len(row) for row in kept], dtype=np.int64)[:, None]
        return cls(
            values=np.concatenate(kept),
            starts=np.cumsum(lengths, axis=0) - lengths,
            lengths=lengths,
            shortest=int(lengths.min()),
            per_day=per_day,
        )

    def at(self, slots: Ints, rows: Sequence[int] | slice = slice(None)) -> Floats:
        """Look slots up in rows, shape (rows, n); `slots` of that shape or (n,).

        Returns
        -------
        float64
        """
        if slots.min() < 0 or slots.max() >= self.shortest:  # knowledge is old, or clocks jumped
            slots = by_clock(slots, self.lengths[rows], self.per_day)
        found: Floats = self.values[self.starts[rows] + slots].astype(np.float64)
        return found


def without_repeats(rows: Floats, per_day: int) -> Floats:
    """Leave out last days that are the very day before them, along the last axis; a copy."""
    stop = rows.shape[-1]
    while stop >= 2 * per_day and np.array_equal(
        rows[..., stop - per_day : stop], rows[..., stop - 2 * per_day : stop - per_day]
    ):
        stop -= per_day
    return rows[..., :stop].copy()


def by_clock(slots: Ints, length: Ints | int, per_day: int) -> Ints:
    """Slots within [0, length): for others the nearest day that there is, at the same time."""
    late = np.maximum(slots - length + per_day, 0) // per_day
    early = np.maximum(per_day - 1 - slots, 0) // per_day
    within: Ints = slots + (early - late) * per_day
    return within
