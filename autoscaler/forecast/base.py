"""What every forecaster is, and the levels that all of them are calibrated on."""

from __future__ import annotations

from typing import Protocol

from autoscaler.forecast.days import Days
from autoscaler.forecast.kinds import PLAIN, Kinds
from autoscaler.model import Fitted, Floats, Series
from autoscaler.schema.events import EventWindow

LEVELS = (0.05, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998)
"""Quantiles that are learnt; others lie on straight lines between them."""


class Forecaster(Protocol):
    """A way to forecast, before its fit."""

    @property
    def name(self) -> str:
        """Stable name, as shown in scores."""
        ...

    def fit(
        self, series: Series, zone: str, events: tuple[EventWindow, ...], kinds: Kinds = PLAIN
    ) -> Fitted:
        """Learn from a series; nothing after its end is used.

        Parameters
        ----------
        series : at least `least_days` of it
        zone : IANA time zone of the tide
        events : what is in them teaches no ordinary day
        kinds : what days are like

        Raises
        ------
        FitImpossible
            There is too little to learn from.
        """
        ...


class FitImpossible(Exception):  # it is an answer, not a mistake
    """A forecaster has too little to learn from, or its fit came to nothing."""


class Expectation(Protocol):
    """The shape of a tide: what a day is expected to be like, from days before it."""

    def __call__(self, day: int, known: int) -> Floats:
        """Expect z for every slot of row `day`, shape (per_day,), from rows before `known`.

        NaN where nothing is known.
        """
        ...


class Shape(Protocol):
    """A way to expect days; what distinguishes one tidal forecaster from another."""

    @property
    def name(self) -> str:
        """Stable name."""
        ...

    @property
    def least(self) -> int:
        """Rows of days needed before the first expectation."""
        ...

    def prepare(self, days: Days) -> Expectation:
        """Get ready to expect days from those before them."""
        ...
