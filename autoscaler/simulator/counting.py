"""Single requests counted per slot while they are read: a week of them is larger than memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from autoscaler.model import Floats
from autoscaler.world.traffic import refusals

Columns = dict[str, Floats]

# slots to count requests into (eleven years of minutes): one absurd time must not cost gigabytes
LONGEST = 6_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Slots out of a foreign source.

    Attributes
    ----------
    times : shape (n,), start of each slot; POSIX seconds when `absolute`, else from the first row
    columns : values of each slot by name; totals, unless the name ends in `_per_second`
    refused : what was wrong with rows that were not used
    notes : what else its reader should know
    """

    times: Floats
    columns: Columns
    absolute: bool
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def remarks(self, most: int) -> tuple[str, ...]:
        """Say what is wrong with rows, as `Traffic.remarks`, and what else there is to know."""
        return (*refusals(self.refused, most), *self.notes)


class OtherKindError(Exception):
    """The source is not of the kind that was said; the message says what was found."""


@dataclass(slots=True, kw_only=True)
class Requests:
    """Requests per slot.

    Attributes
    ----------
    slot : seconds
    unit : seconds of 1 in times that are numbers; None finds out by their size
    refused : what was wrong with lines that were not used
    earliest : smallest time so far, seconds
    """

    slot: float
    unit: float | None = None
    refused: list[str] = field(default_factory=list)
    earliest: float = math.inf
    _slots: dict[int, list[float]] = field(default_factory=dict)
    _untold: int = 0

    def add(self, line: int, at: object, inputs: object, outputs: object) -> None:
        """Take a request, or say by line number why not."""
        try:
            moment = seconds_of(at, self.unit)
            prompt, output = _tokens(inputs), _tokens(outputs)
        except (ValueError, TypeError, OverflowError) as error:
            self.refused.append(f"line {line}: {error}")
            return
        self.earliest = min(self.earliest, moment)
        self._untold += prompt is None or output is None
        totals = self._slots.setdefault(math.floor(moment / self.slot), [0.0, 0.0, 0.0])
        totals[0] += 1
        totals[1] += prompt or 0.0
        totals[2] += output or 0.0

    def counted(self, *, absolute: bool) -> Imported:
        """Give every slot from that of the first request to that of the last.

        Raises
        ------
        OtherKindError
            They lie too far apart to be of one service.
        """
        refused = tuple(self.refused)
        if not self._slots:
            return Imported(times=np.empty(0), columns={}, absolute=absolute, refused=refused)
        first, count = min(self._slots), max(self._slots) - min(self._slots) + 1
        if count > LONGEST:
            days = count * self.slot / 86_400
            raise OtherKindError(
                f"first and last request lie {days:.0f} days apart; is one of the times wrong?"
            )
        totals = np.zeros((3, count))
        totals[:, [at - first for at in self._slots]] = np.asarray(list(self._slots.values())).T
        names = ("requests", "prompt_tokens", "output_tokens")
        known = 3 if totals[1:].any() else 1  # a log without tokens has no columns of them
        note = f"{self._untold} requests name no count of tokens: they add none to the totals"
        return Imported(
            times=np.arange(first, first + count, dtype=np.float64) * self.slot,
            columns=dict(zip(names[:known], totals[:known], strict=True)),
            absolute=absolute,
            refused=refused,
            notes=(note,) if self._untold and known > 1 else (),
        )


def seconds_of(value: object, unit: float | None = None) -> float:
    """Seconds of a number or a time; a time without a zone is read as UTC.

    Parameters
    ----------
    unit : seconds of 1 in a number; None finds out by its size

    Raises
    ------
    ValueError
        It is none.
    """
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{value!r} is no time")
    if isinstance(value, int | float):
        found = float(value)
    else:
        text = str(value).strip()
        try:
            found = float(text)
        except ValueError:
            moment = datetime.fromisoformat(_microseconds(text))
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is no time")
    if unit is not None:
        return found * unit
    # milliseconds and finer, as logs and dashboards write them
    for divisor, limit in ((1e9, 1e17), (1e6, 1e14), (1e3, 1e11)):
        if found >= limit:
            return found / divisor
    return found


def _tokens(value: object) -> float | None:
    """Give a count of tokens, None where none is told."""
    if value is None or value == "":
        return None
    found = float(str(value))
    if not math.isfinite(found) or found < 0:
        raise ValueError(f"{value!r} is no count of tokens")
    return found


def _microseconds(text: str) -> str:
    """Cut fractions of a second to the six digits that a time can hold."""
    head, dot, tail = text.partition(".")
    if not dot:
        return text
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return f"{head}.{tail[: min(digits, 6)]}{tail[digits:]}"
