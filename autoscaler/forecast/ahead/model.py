"""Fit of one distribution and its use: z at a lead ahead, or its largest within a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autoscaler.forecast.ahead.features import (
    WARM,
    Aim,
    Strip,
    location_features,
    newest_scale_features,
    prior,
    recent_features,
    scale_features,
    shared,
)
from autoscaler.forecast.ahead.regress import huber_ridge, nonnegative
from autoscaler.forecast.ahead.tables import NAMES, OWN, Tables, forward_max, smoothed
from autoscaler.model import Floats, Ints

_LOCATION_DAYS, _TAIL_DAYS = 16.0, 14.0  # half-lives
_MOST_DAYS = 84
"""Newest days that are looked at. With what lies before, which has a fortieth of all weight, losses
are the same within 1 % (decision 0010)."""

_RIDGE = 300.0  # times the variance of the errors: a clean tide may tell fine things apart
_MOST_RIDGE = 3.0
_LEAST = 0.35  # of the mean |error|: no scale is smaller
_CENTRES = 6
_EVERYWHERE = 0.02  # weight of an error far from a centre
_CLOCK_DAYS = 14  # days whose |error| by clock is kept

# exceedance probabilities, dense where few but large loads decide
_EXCEED = np.r_[np.linspace(0.98, 0.1, 24), np.geomspace(0.09, 3e-5, 32)]
MASSES: Floats = np.diff(np.r_[0.0, (_EXCEED[:-1] + _EXCEED[1:])[::-1] / 2, 1.0])[::-1].copy()
"""Probability of each load of a distribution, shape (56,), loads rising."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A fitted distribution.

    Attributes
    ----------
    aim : what it is about
    location : weights of the location's features
    noise : mean |miss| of these; what an hour's misses share beyond it is added (`shared`)
    scale : weights of the scale's features
    level : mean |error| of the fit
    clocks : shape (2, days + 2, per_day), usual |error| by day and clock, wide and narrow
    centres : shape (c,), locations at which tails were learnt
    tails : shape (c, 56), error / scale at each exceedance probability, rising
    """

    aim: Aim
    location: Floats
    noise: float
    scale: Floats
    level: float
    clocks: Floats
    centres: Floats
    tails: Floats


def strip_of(tables: Tables, days: slice, lead: int) -> tuple[Strip, Ints]:
    """Strip over whole days of tables, and the slots of its origins, counted from the first day."""
    first, stop = days.start, days.stop
    z = tables.z[first:stop].ravel()
    at = first * tables.per_day + np.arange(len(z) + 1)
    here = slice(int(at[0]), int(at[-1]) + 1)
    target = slice(here.start + lead, here.stop + lead)
    rows = [
        tables.by_name[name].ravel()[here if name.startswith("w_") else target] for name in NAMES
    ]
    own = np.stack([tables.by_name[name][first:stop].ravel() for name in OWN])
    return Strip(z=z, own=own, tables=np.stack(rows)), at


def fit_model(tables: Tables, known: int, aim: Aim) -> Model:
    """Fit on the newest days of `tables` up to slot `known` (exclusive), counted from the first."""
    (model,) = fit_models(tables, known, (aim,))
    return model


def fit_models(tables: Tables, known: int, aims: Sequence[Aim]) -> tuple[Model, ...]:
    """Fit several of one lead as `fit_model` does: they look at the same minutes."""
    per_day = tables.per_day
    days = -(-known // per_day)
    first = max(0, days - _MOST_DAYS)
    strip, origins = strip_of(tables, slice(first, days), aims[0].lead)
    recent = recent_features(strip, aims[0])
    begun = first * per_day
    models = (_fit(strip, origins - begun, recent, known - begun, per_day, aim) for aim in aims)
    return tuple(_counted(model, first) for model in models)


# long: location, scale and tails, one after another
def _fit(strip: Strip, origins: Ints, recent: Floats, known: int, per_day: int, aim: Aim) -> Model:
    """Fit on all origins of a strip whose future is known before slot `known`.

    Parameters
    ----------
    origins, known : slots, counted from the first day of the strip
    """
    days = -(-known // per_day)
    x = location_features(strip, aim, recent)
    future = _future(strip.z, aim)
    # the first day has no day before it: its tables are its own values
    skip = per_day if days > 2 else aim.steps(WARM)
    usable = np.flatnonzero((origins >= skip) & (origins + aim.reach < known))
    rows = usable[:: 2 if aim.window is None else 3]
    weight = 0.5 ** ((known - rows) / per_day / _LOCATION_DAYS)
    location = huber_ridge(x[:, rows], future[rows], weight, prior(aim), (_RIDGE, _MOST_RIDGE))
    where = location @ x
    missed = np.nan_to_num(future - where, nan=0.0)
    missed[:skip] = 0.0
    noise = float(np.abs(missed[usable]).mean())
    where += shared(missed, noise, aim)
    error = np.nan_to_num(np.abs(future - where), nan=0.0)
    level = float(error[usable].mean()) + 1e-9
    error = np.minimum(error, np.quantile(error[usable], 0.999))
    error[:skip] = level
    clocks = _clocks(error, days, per_day, aim.reach, level)
    features = scale_features(strip, error, _at_clock(clocks, origins, aim), x, where, aim)
    seen, missed = features[:, rows], error[rows]
    scale = nonnegative(seen, missed, weight / level**2)
    for _ in range(2):  # large errors are uncertain themselves: weigh by what they should be
        expected = np.maximum(scale @ seen, _LEAST * level)
        scale = nonnegative(seen, missed, weight / expected**2)
    spread = np.maximum(scale @ features, _LEAST * level)
    centres, tails = _tails(
        ((future - where) / spread)[usable],
        where[usable],
        0.5 ** ((known - usable) / per_day / _TAIL_DAYS),
    )
    return Model(
        aim=aim, location=location, noise=noise, scale=scale, level=level, clocks=clocks,
        centres=centres, tails=tails,
    )  # fmt: skip


def _counted(model: Model, first: int) -> Model:
    """Count the days of a fit on days from `first` on from day 0; nobody asks for those before."""
    if not first:
        return model
    before = np.full((2, first, model.clocks.shape[2]), model.level)
    return replace(model, clocks=np.concatenate([before, model.clocks], axis=1))


def _future(z: Floats, aim: Aim) -> Floats:
    """Look up what is forecast at every origin; NaN where it is beyond the strip."""
    n = len(z)
    future = np.full(n + 1, np.nan)
    known = max(n - aim.reach, 0)
    ahead = z[aim.lead :] if aim.window is None else forward_max(z, aim.window)
    future[:known] = ahead[:known]
    return future


def _clocks(error: Floats, days: int, per_day: int, reach: int, level: float) -> Floats:
    """Mean |error| over the days before each day by the slot at which it was finished.

    Shape (2, days + 2, per_day): smoothed widely and narrowly.
    """
    by_target = np.full(days * per_day, level)
    by_target[reach:] = error[: days * per_day - reach]
    rows = by_target.reshape(days, per_day)
    sums = np.concatenate([np.zeros((1, per_day)), np.cumsum(rows, axis=0)])
    at = np.clip(np.arange(days + 2), 0, days)
    low = np.maximum(at - _CLOCK_DAYS, 0)
    mean = (sums[at] - sums[low]) / np.maximum(at - low, 1)[:, None]
    mean[at == 0] = level
    scale = per_day / 1440
    return np.stack([smoothed(mean, round(20 * scale)), smoothed(mean, max(1, round(4 * scale)))])


def _at_clock(clocks: Floats, slots: Ints, aim: Aim) -> Floats:
    """Usual |error| by clock at the targets of origins at slots, shape (2, n)."""
    flat = clocks.reshape(2, -1)
    usual: Floats = flat[:, np.minimum(slots + aim.lead, flat.shape[1] - 1)]
    return usual


def _tails(u: Floats, where: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Weighted empirical quantiles of error / scale around centres of the location."""
    order = np.argsort(u)
    u, where, weight = u[order], where[order], weight[order]
    low, high = np.quantile(where, [0.02, 0.98])
    centres = np.linspace(low, high, _CENTRES) if high > low else np.array([low])
    width = max((high - low) / (_CENTRES - 1), 1e-9)
    tails = []
    for i, centre in enumerate(centres):
        distance = (where - centre) / width
        if i == 0:
            distance = np.maximum(distance, 0.0)
        if i == len(centres) - 1:
            distance = np.minimum(distance, 0.0)
        kernel = weight * (np.exp(-0.5 * distance**2) + _EVERYWHERE)
        cumulated = np.cumsum(kernel)
        cumulated /= cumulated[-1]
        tails.append(np.interp(1 - _EXCEED, cumulated, u))
    return centres, np.stack(tails)


def predict_strip(model: Model, strip: Strip, slots: Ints) -> Floats:
    """Distributions at every origin of a strip whose origins lie at `slots` of the model's days.

    Returns
    -------
    shape (n + 1, 56), rising: z of the loads whose probabilities are `MASSES`
    """
    x, where, error = _located(model, strip, recent_features(strip, model.aim))
    clocks = _at_clock(model.clocks, slots, model.aim)
    features = scale_features(strip, error, clocks, x, where, model.aim)
    spread = np.maximum(model.scale @ features, _LEAST * model.level)
    z: Floats = where[:, None] + spread[:, None] * _tail_at(model, where)
    return z


def predict_newest(model: Model, strip: Strip, slots: Ints, recent: Floats) -> Floats:
    """Compute the last row of `predict_strip` alone, shape (56,); `recent` as of its strip."""
    x, where, error = _located(model, strip, recent)
    clocks = _at_clock(model.clocks, slots[-1:], model.aim)
    features = newest_scale_features(strip, error, clocks, x, where, model.aim)
    spread = max(float(model.scale @ features), _LEAST * model.level)
    z: Floats = where[-1] + spread * _tail_at(model, where[-1:])[0]
    return z


def _located(model: Model, strip: Strip, recent: Floats) -> tuple[Floats, Floats, Floats]:
    """Features, location, and |error| where it is finished, at every origin."""
    aim = model.aim
    x = location_features(strip, aim, recent)
    where = model.location @ x
    future = _future(strip.z, aim)
    future[max(len(future) - 1 - aim.reach, 0) :] = 0.0  # not finished: nobody looks there
    missed = future - where
    missed[: aim.steps(WARM)] = 0.0
    where += shared(missed, model.noise, aim)
    error = np.abs(future - where)
    error[: aim.steps(WARM)] = model.level
    return x, where, error


def _tail_at(model: Model, where: Floats) -> Floats:
    """Tails at locations, linear between centres, shape (n, 56)."""
    if len(model.centres) == 1:
        return np.broadcast_to(model.tails[0], (len(where), model.tails.shape[1]))
    position = np.interp(where, model.centres, np.arange(len(model.centres)))
    low = np.minimum(position.astype(np.int64), len(model.centres) - 2)
    part = (position - low)[:, None]
    mixed: Floats = model.tails[low] * (1 - part) + model.tails[low + 1] * part
    return mixed
