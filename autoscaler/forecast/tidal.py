"""A fitted tide: expected weeks by wall clock, corrected by the last minutes, with quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.base import LEVELS, Expectation, FitImpossible, Shape
from autoscaler.forecast.calendar import ordinary
from autoscaler.forecast.clock import DAY, wall_seconds
from autoscaler.forecast.days import Days, by_day, trusted
from autoscaler.forecast.kinds import PLAIN, Kinds
from autoscaler.forecast.response import (
    WINDOWS,
    Misses,
    Response,
    fall_back,
    learn_response,
    misses_of,
)
from autoscaler.forecast.shapes import first_known
from autoscaler.model import Floats, Forecast, Series
from autoscaler.schema.events import EventWindow

MOST_DAYS = 21
"""Newest days on which corrections and quantiles are learnt."""

_WEEKS_AHEAD = 8  # no holiday lasts longer

GROWTH = 1.5
"""A forecast may exceed the largest demand ever seen only up to this times the newest peak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidal:
    """A fitted tidal forecaster.

    Attributes
    ----------
    week : shape (kinds * per_day,), float32, expected z from Monday 00:00 on, for the week after
        the fit, then of days that are like a past day
    kinds : what days are like, from the day before the fit on
    """

    name: str
    zone: str
    step: float
    shift: float
    peak: float
    week: Floats
    response: Response
    kinds: Kinds = PLAIN

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        """Forecast `steps` steps after `series.end` from the newest three hours of `series`."""
        per_day = max(1, round(DAY / self.step))
        back = min(len(series), max(1, round(WINDOWS[-1] / self.step)))
        wall = wall_seconds(series.end - back * self.step, self.step, back + steps, self.zone)
        slots = self.kinds.slots(wall, self.step, per_day)
        expected = self.week[slots].astype(np.float64)
        tail = trusted(newest_of(series, back))
        recent = self._recent(np.log(tail + self.shift) - expected[:back])
        z, spread = self.response.path(expected[back:], slots[back:] % per_day, recent)
        position = np.interp(levels, LEVELS, np.arange(len(LEVELS)))
        low = np.minimum(position.astype(np.int64), len(LEVELS) - 2)
        part = position - low
        error = spread[:, low] * (1 - part) + spread[:, low + 1] * part
        cap = max(self.peak, GROWTH * _newest_peak(tail, self.step))
        paths = np.exp(np.minimum(z[None, :] + error.T, np.log(cap + self.shift))) - self.shift
        return Forecast(
            start=series.end,
            step=series.step,
            levels=levels,
            quantiles=np.clip(paths, 0.0, cap),
            by=self.name,
        )

    def _recent(self, missed: Floats) -> Floats:
        """Mean miss over the windows that end now, shape (3,)."""
        means = np.full(len(WINDOWS), np.nan)
        for i, seconds in enumerate(WINDOWS):
            part = missed[-max(1, round(seconds / self.step)) :]
            total = float(part.sum()) / len(part)  # NaN spreads into it
            if math.isnan(total):
                part = part[~np.isnan(part)]
                total = float(part.sum()) / len(part) if len(part) else total
            means[i] = total
        return fall_back(means)


def newest_of(series: Series, count: int) -> Series:
    """Cut a series to its newest steps."""
    return Series(
        start=series.end - count * series.step,
        step=series.step,
        values=series.values[len(series) - count :],
        marks=series.marks[len(series) - count :],
    )


def _newest_peak(tail: Floats, step: float) -> float:
    """Largest known demand of the last quarter of an hour; 0 when nothing is known."""
    newest = tail[-max(1, round(900 / step)) :]
    newest = newest[~np.isnan(newest)]
    return float(newest.max()) if len(newest) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TidalForecaster:
    """Forecaster of a shape: expect, correct, calibrate."""

    shape: Shape

    @property
    def name(self) -> str:
        """Name of the shape."""
        return self.shape.name

    def fit(
        self, series: Series, zone: str, events: tuple[EventWindow, ...], kinds: Kinds = PLAIN
    ) -> Tidal:
        """Learn from a series; see `Forecaster.fit`."""
        days = days_of(ordinary(series, events), zone, kinds)
        misses = misses_of(self.shape, days, 0, MOST_DAYS)
        if misses is None:
            raise FitImpossible(f"{self.name}: {days.count} days are too few")
        return self.finish(days, misses)

    def finish(self, days: Days, misses: Misses) -> Tidal:
        """Fit from misses that are already known."""
        response = learn_response(misses, np.arange(len(misses.rows)), days.step)
        kinds = days.kinds.coming(days.first + days.count - 1)
        return Tidal(
            name=self.name,
            zone=days.zone,
            step=days.step,
            shift=days.shift,
            peak=days.peak,
            week=_week(days, kinds, self.shape.prepare(days)).astype(np.float32),
            response=response,
            kinds=kinds,
        )


def days_of(series: Series, zone: str, kinds: Kinds = PLAIN) -> Days:
    """Arrange the series by day, or say that there is nothing to arrange."""
    if not len(series) or np.isnan(trusted(series)).all():
        raise FitImpossible("the series holds no trusted value")
    return by_day(series, zone, kinds)


def _week(days: Days, kinds: Kinds, expect: Expectation) -> Floats:
    """Expect z from Monday on: today from the days before it, the next six from all there is.

    Then of the `kinds` that are to come.

    Each weekday as the next day of its kind, which may be a holiday that is like it. A day that is
    over is evidence for the next when that is like it.
    """
    today = days.count - 1
    over = days.now == days.per_day and days.kind(today) == days.kind(today + 1)
    rows: list[Floats] = [np.empty(0)] * kinds.count
    for ahead in range(7):
        weekday = (days.first + today + ahead) % 7
        coming_rows = range(today + over, today + 7 * _WEEKS_AHEAD)
        row = next((row for row in coming_rows if days.kind(row) == weekday), today + ahead)
        rows[weekday] = expect(row, max(today, 1) if row == today else days.count)
    for kind in range(7, kinds.count):
        coming = (day - days.first for day, of in kinds.like.items() if of == kind)
        nearest = min(row for row in coming if row >= today)
        rows[kind] = expect(nearest, max(today, 1) if nearest == today else days.count)
    week = np.concatenate(rows)
    if np.isnan(week).any():
        week = first_known(week, np.full(len(week), np.median(days.z[~np.isnan(days.z)])))
    if not np.isfinite(week).all():
        raise FitImpossible("the expected week is not finite")
    return week
