"""AutoReg on Fourier terms of the day and the week: a smooth tide for a young history.

statsmodels costs seconds and 140 MB to import, so it is imported inside the fit only, which runs
off the cycle's path; what is kept is an array. The autoregressive part makes the fit of the Fourier
terms efficient; how far the last minutes carry into the future is left to the calibrated
correction that all shapes share.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from autoscaler.forecast.base import Expectation, FitImpossible
from autoscaler.forecast.days import Days
from autoscaler.forecast.shapes import first_known
from autoscaler.model import Floats, Ints

_GRID = 900.0  # seconds; a quarter of an hour carries eight harmonics of a day with ease
_DAILY, _WEEKLY = 8, 3  # harmonics
_LAGS = 3
_DAYS = 35
"""Newest days that are fitted: on more of them tides were drawn worse, since seasons move on
(decision 0010)."""

_CHANCE = 0.02  # with which weekdays may differ as they do without any reason
_APART = 0.02  # of z, by which groups must differ: two per cent of demand or so
_REFIT = 4  # days between refits when past days are expected one after another


@dataclass(frozen=True, slots=True)
class AutoRegressive:
    """Fourier terms of day and week with autoregressive errors, fitted by statsmodels."""

    name: str = "autoreg"
    least: int = 3

    def prepare(self, days: Days) -> Expectation:
        """Fit when first asked about days after those known, and again every few days."""
        tides: dict[int, Floats] = {}
        coarse = _coarse(days)

        def expect(day: int, known: int) -> Floats:
            fitted_on = known if known >= days.count - 1 else known - (known - self.least) % _REFIT
            if fitted_on not in tides:
                rows = range(max(0, fitted_on - _DAYS), fitted_on)
                kinds = [days.kinds.weekday(days.kind(row)) for row in rows]
                tides[fitted_on] = _fit(coarse[rows], np.array(kinds, dtype=np.int64))
            per_day = coarse.shape[1]
            weekday = days.kinds.weekday(days.kind(day))
            tide = tides[fitted_on][weekday * per_day : (weekday + 1) * per_day]
            at = (np.arange(days.per_day) + 0.5) * per_day / days.per_day - 0.5
            smooth: Floats = np.interp(
                at, np.arange(-1, per_day + 1), np.r_[tide[-1], tide, tide[0]]
            )
            return smooth

        return expect


AUTOREG = AutoRegressive()


def _coarse(days: Days) -> Floats:
    """Means over quarters of an hour, shape (days, quarters); NaN left out."""
    size = max(1, round(_GRID / days.step))
    if days.per_day % size:
        size = 1
    parts = days.z.reshape(days.count, -1, size)
    known = ~np.isnan(parts)
    number = known.sum(axis=2)
    total = np.where(known, parts, 0.0).sum(axis=2)
    means: Floats = np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0)
    return means


def _fit(rows: Floats, weekdays: Ints) -> Floats:
    """Expect a week from Monday on, shape (7 * quarters,), from rows and what they are like."""
    from statsmodels.tsa.ar_model import AutoReg  # noqa: PLC0415  # seconds: only for a fit

    per_day = rows.shape[1]
    typical = np.median(rows[~np.isnan(rows)])
    filled = first_known(rows, np.roll(rows, 1, axis=0), np.full(rows.shape, typical)).ravel()
    quarters = (weekdays[:, None] * per_day + np.arange(per_day)).ravel()
    calm, weekly = calm_of(rows, weekdays), len(rows) >= 14
    terms = _terms(quarters, per_day, calm, weekly=weekly)
    model = AutoReg(filled, lags=_LAGS, trend="c", exog=terms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a flat past has no unique fit; its score says what it is
        parameters = np.asarray(model.fit().params)
    if not np.isfinite(parameters).all():
        raise FitImpossible("autoreg: the fit is not finite")
    # the tide is the mean that the recursion settles to: run it over two weeks, keep the second
    constant, lags, weights = parameters[0], parameters[1 : 1 + _LAGS], parameters[1 + _LAGS :]
    drive = constant + _terms(np.arange(14 * per_day), per_day, calm, weekly=weekly) @ weights
    if np.abs(lags).sum() >= 1 and np.abs(np.roots(np.r_[1.0, -lags])).max() >= 1:
        raise FitImpossible("autoreg: the recursion is not stable")
    one, two, three = lags.tolist()  # plain numbers: NumPy takes ten times as long a step
    last = before = earlier = float(drive.mean() / max(1 - lags.sum(), 1e-6))
    path = []
    for now in drive.tolist():
        last, before, earlier = now + (one * last + two * before + three * earlier), last, before
        path.append(last)
    return np.array(path[7 * per_day :])


def calm_of(rows: Floats, weekdays: Ints) -> Ints:
    """Weekdays that are calmer than the others as a group, such as a week-end, rising; maybe none.

    The days' levels are parted where the squares within both groups are least (two means), if
    weekdays differ beyond doubt (an analysis of variance) and by more than a trifle, and two days
    of each group were seen: else growth, or one day off, would be a law of the week.
    """
    from scipy.special import fdtrc  # noqa: PLC0415  # statsmodels has imported it

    known = ~np.isnan(rows)
    number = known.sum(axis=1)
    read = number > rows.shape[1] / 2
    level = np.where(known, rows, 0.0).sum(axis=1)[read] / number[read]
    of = weekdays[read]
    days = sorted(set(of.tolist()), key=lambda day: float(np.median(level[of == day])))
    between, within = len(days) - 1, len(level) - len(days)
    none: Ints = np.empty(0, dtype=np.int64)
    if between < 1 or within < 1:
        return none
    noise = sum(_squares(level[of == day]) for day in days)
    ratio = (_squares(level) - noise) / between / max(noise / within, 1e-12)
    if fdtrc(between, within, ratio) > _CHANCE:
        return none
    parted = min(
        (np.isin(of, days[:at]) for at in range(1, len(days))),
        key=lambda inside: _squares(level[inside]) + _squares(level[~inside]),
    )
    apart = level[~parted].mean() - level[parted].mean()
    if min(parted.sum(), (~parted).sum()) < 2 or apart < _APART:
        return none
    calm: Ints = np.unique(of[parted])
    return calm


def _squares(values: Floats) -> float:
    """Sum of squares about the mean."""
    return float(((values - values.mean()) ** 2).sum())


def _terms(quarter: Ints, per_day: int, calm: Ints, *, weekly: bool) -> Floats:
    """Fourier terms; calm days have a level and a day of their own beside them."""
    terms = _fourier(quarter, per_day, weekly=weekly)
    if not len(calm):
        return terms
    inside = np.isin(quarter // per_day % 7, calm).astype(np.float64)[:, None]
    return np.hstack([terms, inside, inside * terms[:, : 2 * _DAILY]])


def _fourier(quarter: Ints, per_day: int, *, weekly: bool) -> Floats:
    """Sines and cosines of the day, and of the week when there are two of them."""
    day = 2 * np.pi * (quarter % per_day) / per_day
    week = 2 * np.pi * (quarter % (7 * per_day)) / (7 * per_day)
    terms = [f(k * day) for k in range(1, _DAILY + 1) for f in (np.sin, np.cos)]
    if weekly:
        terms += [f(k * week) for k in range(1, _WEEKLY + 1) for f in (np.sin, np.cos)]
    return np.column_stack(terms)
