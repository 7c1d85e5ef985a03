"""Kinds of day: which days are evidence for which, when some are not like their own weekday.

Kinds 0–6 are the weekdays from Monday on; 7 and up are days that are like one past day. Without a
calendar the kind of a day is its weekday, and nothing here changes a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from autoscaler.forecast.clock import DAY, slots_of
from autoscaler.model import Floats, Ints
from autoscaler.schema.calendar import SpecialDay

WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """What days that are not like their weekday are like.

    Attributes
    ----------
    like : kind by number of the wall-clock day (0 modulo 7 is a Monday)
    examples : of kind 7 + i, the day that it is like, and the weekday that stands for it
    """

    like: Mapping[int, int] = field(default_factory=dict)
    examples: tuple[tuple[int, int], ...] = ()

    @property
    def count(self) -> int:
        """How many kinds there are."""
        return WEEK + len(self.examples)

    def at(self, day: int) -> int:
        """Kind of a day."""
        return self.like.get(day, day % WEEK)

    def weekday(self, kind: int) -> int:
        """Weekday of a kind, or the one that stands for it."""
        return kind if kind < WEEK else self.examples[kind - WEEK][1]

    def shows(self, day: int, kind: int) -> bool:
        """Whether a past day is evidence for a kind."""
        return self.at(day) == kind or (kind >= WEEK and self.examples[kind - WEEK][0] == day)

    def coming(self, today: int) -> Kinds:
        """Forget what was before yesterday, and past dates like which no day is to come.

        Parameters
        ----------
        today : number of the day
        """
        dated = sorted({of for day, of in self.like.items() if day >= today and of >= WEEK})
        order = {kind: WEEK + i for i, kind in enumerate(dated)}
        return Kinds(
            like={
                day: order.get(kind, self.weekday(kind))
                for day, kind in self.like.items()
                if day >= today - 1
            },
            examples=tuple(self.examples[kind - WEEK] for kind in dated),
        )

    def slots(self, wall: Floats, step: float, per_day: int) -> Ints:
        """Slot by kind of wall-clock seconds: kind * per_day + slot of the day."""
        slots = slots_of(wall, step, per_day)
        if not self.like:
            return slots
        days = np.floor(wall / DAY).astype(np.int64)
        numbers, at = np.unique(days, return_inverse=True)
        kinds = np.array([self.at(int(day)) for day in numbers], dtype=np.int64)
        by_kind: Ints = kinds[at] * per_day + slots % per_day
        return by_kind


PLAIN = Kinds()
"""Every day is like its weekday."""


def kinds_of(days: Iterable[SpecialDay]) -> Kinds:
    """Kinds from what a policy's calendar says about some stretch of days."""
    like: dict[int, int] = {}
    examples: dict[int, tuple[int, int]] = {}  # by the day that they are like: kind, weekday
    for day in days:
        if day.example is None:
            like[day.day] = day.like
        else:
            kind, _ = examples.setdefault(day.example, (WEEK + len(examples), day.like))
            like[day.day] = kind
    # the dictionary keeps the order in which kinds were given out
    return Kinds(
        like=like, examples=tuple((day, weekday) for day, (_, weekday) in examples.items())
    )
