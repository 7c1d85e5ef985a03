"""The fitted distributions beside a fitted tide: the tide draws the day, they decide the moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from autoscaler.forecast.ahead.around import Around, by_clock, without_repeats
from autoscaler.forecast.ahead.features import Aim, Strip, recent_features
from autoscaler.forecast.ahead.model import MASSES, Model, fit_models, predict_newest
from autoscaler.forecast.ahead.tables import NAMES, OWN, SEASON, Tables
from autoscaler.forecast.clock import DAY, wall_seconds
from autoscaler.forecast.days import Days, trusted
from autoscaler.forecast.tidal import GROWTH, Tidal, newest_of
from autoscaler.model import Ahead, Floats, Forecast, Ints, Series

BACK = 5 * 3600.0
"""Seconds before the present that a decision looks at: misses of the last three hours, each of
which was forecast from an hour before it."""

_SKIPPED = 3600.0  # seconds that the clock may have skipped within them

_WINDOWED = np.array([[name.startswith("w_")] for name in NAMES])
_OWN = [NAMES.index(name) for name in OWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far ahead, in whole steps: `lead` until a replica ordered now serves, `window` beyond."""

    lead: int
    window: int

    def aims(self, days: Days) -> tuple[Aim, Aim]:
        """Say what the two distributions are about: the lead, the window."""
        log_shift = float(np.log(days.shift))
        return (
            Aim(lead=self.lead, window=None, step=days.step, log_shift=log_shift),
            Aim(lead=self.lead, window=self.window, step=days.step, log_shift=log_shift),
        )


def reach_of(cold_start: float, actuation: float, break_even: float, step: float) -> Reach:
    """Reach of a service: the next decision's replicas serve a step later, so no more is needed."""
    lead = int((cold_start + actuation) / step + 1e-9)
    return Reach(lead=lead, window=lead + max(1, round(break_even / step)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TideAhead:
    """A fitted tide with the distributions of what a lead and a window ahead may bring.

    Attributes
    ----------
    first : first slot of the kept tables, counted from the Monday that is day 0
    tables : row by name
    """

    tidal: Tidal
    point: Model
    window: Model
    reach: Reach
    first: int
    tables: Around

    @property
    def name(self) -> str:
        """Name shown in scores."""
        return "ahead"

    @classmethod
    def of(cls, tidal: Tidal, days: Days, tables: Tables, reach: Reach) -> Self:
        """Fit on all that is known of `days`."""
        known = (days.count - 1) * days.per_day + days.now
        point, window = fit_models(tables, known, reach.aims(days))
        # of the tables of all days and of two to come, what a decision may look at
        back = max(2, round(BACK / days.step)) + round(_SKIPPED / days.step)
        since = max(0, known - back)
        point, window = (
            replace(model, clocks=_newest(model.clocks, since, days.per_day))
            for model in (point, window)
        )
        return cls(
            tidal=tidal,
            point=point,
            window=window,
            reach=reach,
            first=days.first * days.per_day + since,
            tables=Around.of(
                [tables.by_name[name].ravel()[since:] for name in NAMES], days.per_day
            ),
        )

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        """Forecast paths as the tide does, and the distributions ahead of `series.end`."""
        forecast = self.tidal.predict(series, steps, levels)
        return replace(forecast, by=self.name, ahead=self._ahead(series))

    def _ahead(self, series: Series) -> Ahead:
        step, shift = self.tidal.step, self.tidal.shift
        back = min(len(series), max(2, round(BACK / step)))
        strip, now = self._strip(series, back)
        recent = recent_features(strip, self.point.aim)
        newest = trusted(newest_of(series, max(1, round(900 / step))))
        newest = newest[~np.isnan(newest)]
        cap = max(self.tidal.peak, GROWTH * float(newest.max(initial=0.0)))
        most = np.log(cap + shift)  # what lies beyond is cut, and might overflow
        lead, window = (
            np.clip(np.exp(np.minimum(z, most)) - shift, 0.0, cap)
            for z in (
                predict_newest(model, strip, self._clock(model, now), recent)
                for model in (self.point, self.window)
            )
        )
        return Ahead(
            weights=MASSES,
            lead=lead,
            window=window,
            ago=float(np.exp(strip.table(SEASON)[-1]) - shift),
            after=self.reach.lead * step,
            until=self.reach.window * step,
        )

    def _strip(self, series: Series, back: int) -> tuple[Strip, Ints]:
        """Strip of the newest steps, and the slot of its last origin, shape (1,)."""
        step, lead = self.tidal.step, self.reach.lead
        wall = wall_seconds(series.end - back * step, step, back + 1 + lead, self.tidal.zone)
        per_day = self.tables.per_day
        day = np.floor(wall / DAY)
        slot = np.minimum(((wall - day * DAY) / step).astype(np.int64), per_day - 1)
        at = day.astype(np.int64) * per_day + slot - self.first
        here, target = at[: back + 1], at[lead:]
        own = self.tables.at(here[:-1], _OWN)
        values = trusted(newest_of(series, back))
        z = _held(np.log(values + self.tidal.shift) - own[0]) + own[0]
        tables = self.tables.at(np.where(_WINDOWED, here, target))
        return Strip(z=z, own=own, tables=tables), here[-1:]

    def _clock(self, model: Model, now: Ints) -> Ints:
        """Slot from which the kept misses by clock of a lead later are looked up, shape (1,)."""
        lead, kept = model.aim.lead, model.clocks.shape[1]
        if 0 <= now[0] + lead < kept:
            return now
        return by_clock(now + lead, kept, self.tables.per_day) - lead


def _newest(clocks: Floats, since: int, per_day: int) -> Floats:
    """Usual |error| by clock from a slot on, shape (2, slots), float32."""
    return without_repeats(clocks.reshape(2, -1)[:, since:].astype(np.float32), per_day)


def _held(deviation: Floats) -> Floats:
    """Fill holes by the last known deviation from the daily table; before any, by none."""
    unknown = np.isnan(deviation)
    if not unknown.any():
        return deviation
    at = np.where(unknown, -1, np.arange(len(deviation)))
    at = np.maximum.accumulate(at)
    held: Floats = np.where(at >= 0, deviation[np.maximum(at, 0)], 0.0)
    return held
