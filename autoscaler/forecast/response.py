"""How the last minutes correct a forecast, and how wide it then is: learnt from its own misses.

A shape (weekly profile, same time last week, ...) is expected for each past day from the days
before it alone. What it missed by, r = z - expected, is then used twice:

- *Correction*: r at a lead ahead is regressed (ridge, shrunk to a sensible prior) on the mean r of
  the last 5 minutes, hour and 3 hours, lead by lead. So a tide that runs high today is
  expected high for as long as such things last on this service.
- *Quantiles*: split conformal. The errors that remain at the real lead, each over the scale that
  it had (`forecast.width`), weighed by how near their hour is (twelve kinds of two hours); the
  quantile p of what remains, times the scale of the moment.

All of it is done on whole arrays of (day, slot), origins thinned, so that a fit costs milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.forecast.base import LEVELS, Shape
from autoscaler.forecast.days import Days
from autoscaler.forecast.width import (
    FEATURES,
    HOURS,
    Widths,
    bounded,
    features,
    scales_of,
    unit_quantiles,
    unrest,
)
from autoscaler.model import Floats, Ints

WINDOWS = (300.0, 3600.0, 10_800.0)
"""Seconds over which recent misses are averaged."""

LEADS = (0.0, 120.0, 300.0, 600.0, 1200.0, 2400.0, 4800.0, 14_400.0, 43_200.0, 86_400.0)
"""Leads in seconds at which corrections and quantiles are learnt; between them on a line."""

_RIDGE = 3.0
_ORIGINS = 4000  # origins used to learn from; more changes nothing but the time


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """Out-of-sample misses of a shape on past days.

    Attributes
    ----------
    rows : shape (d,), rows of `Days` that were expected
    expected : shape (d, per_day + reach), expected z of each day and the start of the next
    missed : same shape, z - expected; NaN = unknown
    recent : shape (3, d, per_day), mean miss over `WINDOWS` before each slot
    """

    rows: NDArray[np.int64]
    expected: Floats
    missed: Floats
    recent: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """Correction and quantiles by lead.

    Attributes
    ----------
    leads : shape (k,), steps
    weights : shape (k, 3), of the mean misses over `WINDOWS`
    scale : shape (k, 10), weights of what widens errors (`width.features`), least and most
    spread : shape (HOURS, k, len(LEVELS)), quantiles of what remains, over its scale
    usual : shape (per_day,), float16, usual |miss| at each slot of the day
    top : largest z that was expected
    """

    leads: Floats
    weights: Floats
    scale: Floats
    spread: Floats
    usual: NDArray[np.float16]
    top: float

    def correction(self, recent: Floats, leads: Floats) -> Floats:
        """Correction of z for leads in steps, shape (len(leads), ...); recent is (3, ...)."""
        weights = self._mixed(self.weights, *self._between(leads))
        corrected: Floats = np.tensordot(weights, recent, axes=1)
        return corrected

    def widths(self, z: Floats, slots: Ints, recent: Floats, leads: Floats) -> Floats:
        """Scale of the error for leads in steps, in z, of the shape of z.

        Parameters
        ----------
        z : what is expected, shape (len(leads), ...)
        slots : of the day, at which it is expected, of a shape that goes with it
        recent : mean misses over `WINDOWS` before the origins, shape (3, ...)
        """
        mixed = self._mixed(self.scale, *self._between(leads))
        moment = np.tensordot(mixed[:, 3:FEATURES], unrest(recent), axes=1)
        columns = mixed.T.reshape(-1, len(leads), *(1,) * (z.ndim - 1))
        return self._bounded(columns, moment, z, slots)

    def spreads(self, hours: Ints, leads: Floats) -> Floats:
        """Quantiles of the error over its scale, at kinds of hour, shape (n, len(LEVELS))."""
        return self._spread(hours, *self._between(leads))

    def path(self, expected: Floats, slots: Ints, recent: Floats) -> tuple[Floats, Floats]:
        """Correct z for the steps after one origin, shape (n,), and quantiles of its error.

        Parameters
        ----------
        expected : z of the shape, shape (n,)
        slots : of the day, of each step
        recent : mean misses over `WINDOWS` before the origin, shape (3,)

        Returns
        -------
        z, shape (n,), and quantiles of its error, shape (n, len(LEVELS)): as the functions above
        have them, which look at many origins
        """
        low, part = self._between(np.arange(len(expected), dtype=np.float64))
        z = expected + self._mixed(self.weights, low, part) @ recent
        mixed = self._mixed(self.scale, low, part)
        wide = self._bounded(mixed.T, mixed[:, 3:FEATURES] @ unrest(recent), z, slots)
        return z, self._spread(slots * HOURS // len(self.usual), low, part) * wide[:, None]

    def _bounded(self, columns: Floats, moment: Floats, z: Floats, slots: Ints) -> Floats:
        """Scale of the error from what the moment tells of it, and the target's clock and load."""
        wide = np.maximum(self.top - z, 0.0)
        wide *= columns[2]
        wide += columns[1] * self.usual[slots]
        wide += moment
        wide += columns[0]
        np.maximum(wide, columns[-2], out=wide)
        np.minimum(wide, columns[-1], out=wide)
        return wide

    def _between(self, leads: Floats) -> tuple[Ints, Floats]:
        """Between which leads that were learnt others lie, and how far, shapes (n,) and (n, 1)."""
        position = np.interp(leads, self.leads, np.arange(len(self.leads)))
        low = np.minimum(position.astype(np.int64), len(self.leads) - 2)
        return low, (position - low)[:, None]

    def _mixed(self, rows: Floats, low: Ints, part: Floats) -> Floats:
        """Rows of each lead, on a line between those that were learnt."""
        lower = rows[low]
        mixed: Floats = lower + part * (rows[low + 1] - lower)
        return mixed

    def _spread(self, hours: Ints, low: Ints, part: Floats) -> Floats:
        """Look up quantiles of the error over its scale, on the same line."""
        lower = self.spread[hours, low]
        mixed: Floats = lower + part * (self.spread[hours, low + 1] - lower)
        return mixed


def misses_of(shape: Shape, days: Days, reach: int, most: int) -> Misses | None:
    """Expect up to `most` of the newest days, each from the days before it alone.

    `reach` slots of the day after belong to each row, so that a forecast made before midnight
    is judged as it was made. None when there are too few days.
    """
    begin = max(shape.least, days.count - most)
    rows = np.arange(begin, days.count)
    if not len(rows):
        return None
    expect = shape.prepare(days)
    per_day = days.per_day
    expected = np.empty((len(rows), per_day + reach))
    actual = np.full((len(rows), per_day + reach), np.nan)
    for i, row in enumerate(range(begin, days.count)):
        expected[i, :per_day] = expect(row, row)
        expected[i, per_day:] = expect(row + 1, row)[:reach]
        actual[i, :per_day] = days.z[row]
        if row + 1 < days.count:
            actual[i, per_day:] = days.z[row + 1, :reach]
    missed = actual - expected
    recent = np.stack(
        [behind(missed[:, :per_day].ravel(), seconds, days.step) for seconds in WINDOWS]
    )
    return Misses(
        rows=rows,
        expected=expected,
        missed=missed,
        recent=fall_back(recent).reshape(len(WINDOWS), len(rows), per_day),
    )


def behind(missed: Floats, seconds: float, step: float) -> Floats:
    """Mean of what is known in the window before each step, shape (n,); NaN when nothing is."""
    width = max(1, round(seconds / step))
    known = ~np.isnan(missed)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, missed, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    stop = np.arange(len(missed))
    start = np.maximum(stop - width, 0)
    number = counts[stop] - counts[start]
    total = sums[stop] - sums[start]
    mean: Floats = np.divide(total, number, out=np.full(len(missed), np.nan), where=number > 0)
    return mean


def fall_back(recent: Floats) -> Floats:
    """Fill what a short window does not know from the longer one, and the longest by 0."""
    if not np.isnan(recent).any():
        return recent
    filled = recent.copy()
    filled[-1] = np.where(np.isnan(filled[-1]), 0.0, filled[-1])
    for i in range(len(filled) - 2, -1, -1):
        filled[i] = np.where(np.isnan(filled[i]), filled[i + 1], filled[i])
    return filled


def learn_response(  # long: one lead after another, then what all of them share
    misses: Misses, use: NDArray[np.int64], step: float, reach: float = np.inf
) -> Response:
    """Learn corrections and quantiles from the misses of some days.

    Parameters
    ----------
    misses : of the shape
    use : indices into `misses.rows` of the days to learn from
    step : seconds
    reach : furthest lead that will be asked for, in steps: no more than the next one is learnt
    """
    per_day = misses.recent.shape[2]
    leads = np.asarray(LEADS) / step
    leads = leads[: int(np.searchsorted(leads, reach, side="right")) + 1]
    prior = believed()
    both = np.stack([misses.missed[use], misses.expected[use]])  # (2, d, per_day + reach)
    both[0, -1:, per_day:] = np.nan  # of the day after the last: a replay has yet to see it
    widths = Widths.of(both[0, :, :per_day], both[1, :, :per_day], step)
    recent = misses.recent[:, use].reshape(len(WINDOWS), -1)
    stride = max(1, recent.shape[1] // _ORIGINS)
    # an odd stride visits every minute of the hour
    origins = np.arange(0, recent.shape[1], stride | 1)
    day, slot = np.divmod(origins, per_day)
    thinned = recent[:, origins]
    weights = np.empty((len(leads), 3))
    grams, targets = np.empty((len(leads), FEATURES, FEATURES)), np.empty((len(leads), FEATURES))
    seen = []
    for k, lead in enumerate(np.round(leads).astype(np.int64)):
        _, (missed, expected) = looked_up(both, day, slot + lead, per_day)
        ok = ~np.isnan(missed)
        x, y = _picked(thinned, ok), missed[ok]
        weights[k] = _ridge(x, y, prior[k])
        correction = weights[k] @ x
        on, at = np.divmod((origins + lead)[ok], per_day)
        usual = widths.others[np.minimum(on, len(use) - 1), at]
        told = features(usual, np.maximum(widths.top - expected[ok] - correction, 0.0), x)
        errors = y - correction
        grams[k], targets[k] = told @ told.T, told @ np.abs(errors)
        seen.append((told, errors, at * HOURS // per_day))
    scale = np.empty((len(leads), FEATURES + 2))
    scale[:, :FEATURES] = scales_of(grams, targets)
    spread = np.empty((HOURS, len(leads), len(LEVELS)))
    for k, (told, errors, kinds) in enumerate(seen):
        *scale[k, FEATURES:], wide = bounded(scale[k, :FEATURES], told, np.abs(errors))
        spread[:, k] = unit_quantiles(errors / wide, kinds)
    return Response(
        leads=leads,
        weights=weights,
        scale=scale,
        spread=spread,
        usual=widths.usual,
        top=widths.top,
    )


def looked_up(chain: Floats, row: Ints, at: Ints, per_day: int) -> tuple[Ints, Floats]:
    """Look up slots `at` of rows, which may lie beyond their end; NaN where there is none.

    Beyond its reach a row goes on in the next: expected one night later than it would be.

    Parameters
    ----------
    chain : shape (..., d, per_day + reach), as `Misses.missed` and `Misses.expected`
    row, at : of shapes that go together

    Returns
    -------
    The slot within the row that knows it, and the value.
    """
    inside = at < chain.shape[-1]
    beyond = np.where(inside, 0, (at - per_day) // per_day + 1)
    row, at = row + beyond, at - beyond * per_day
    exists = row < chain.shape[-2]
    values = chain[..., np.minimum(row, chain.shape[-2] - 1), at]
    return at, np.where(exists, values, np.nan)


def believed() -> Floats:
    """Weights of the recent misses when nothing is known: most of the last minutes, fading."""
    leads = np.asarray(LEADS)
    return np.stack(
        [0.5 * np.exp(-leads / 1800), 0.3 * np.exp(-leads / 10_800), 0.2 * np.exp(-leads / 43_200)],
        axis=1,
    )


def _ridge(x: Floats, y: Floats, prior: Floats) -> Floats:
    """Ridge regression towards a prior, robust by one pass without the largest errors."""
    weights = prior
    for _ in range(2):
        error = np.abs(y - weights @ x)
        if not len(error):
            return prior
        keep = error <= 3 * 1.4826 * np.median(error) + 1e-12
        kept, target = _picked(x, keep), y[keep]
        gram = kept @ kept.T + _RIDGE * np.eye(len(prior)) * max(float(np.mean(kept**2)), 1e-9)
        weights = prior + np.linalg.solve(gram, kept @ (target - prior @ kept))
    return weights


def _picked(x: Floats, keep: NDArray[np.bool_]) -> Floats:
    """`x[:, keep]` at a third of its time, for columns that lie together."""
    picked: Floats = np.compress(keep, x.T, axis=0).T
    return picked
