"""How the last minutes correct a forecast, and how wide it then is: learnt from its own misses.

A shape (weekly profile, same time last week, ...) is expected for each past day from the days
before it alone. What it missed by, r = z - expected, is then used twice:

- *Correction*: r at a lead ahead is regressed (ridge, shrunk to a sensible prior) on the mean r of
  the last 5 minutes, hour and 3 hours, lead by lead. So a tide that runs high today is
  expected high for as long as such things last on this service.
- *Quantiles*: split conformal. The errors that remain at the real lead, by kind of hour (twelve
  of two hours), ordered; the k-th of n with k = ceil((n + 1) p) is the quantile p.

All of it is done on whole arrays of (day, slot), origins thinned, so that a fit costs milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.forecast.base import LEVELS, Shape
from autoscaler.forecast.days import Days
from autoscaler.model import Floats, Ints

WINDOWS = (300.0, 3600.0, 10_800.0)
"""Seconds over which recent misses are averaged."""

LEADS = (0.0, 120.0, 300.0, 600.0, 1200.0, 2400.0, 4800.0, 14_400.0, 43_200.0, 86_400.0)
"""Leads in seconds at which corrections and quantiles are learnt; between them on a line."""

HOURS = 12
"""Kinds of hour: two-hour parts of the day."""

_RIDGE = 3.0
_ORIGINS = 4000  # origins used to learn from; more changes nothing but the time
_SMALL = 40  # errors that a kind of hour must have to stand alone

# Hours ahead a day misses as a whole: a kind of hour has seen as many cases as there were days, too
# few for a tail of its own. So its upper quantiles are no lower than those of all hours together:
# loss of P99 a day ahead on nine recorded services 0.8 of what it was, of P90 the same.
_FAR = 14_400.0
_UPPER = LEVELS.index(0.5) + 1
_LEVELS = np.asarray(LEVELS)


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
    spread : shape (HOURS, k, len(LEVELS)), quantiles of what remains, in z
    """

    leads: Floats
    weights: Floats
    spread: Floats

    def correction(self, recent: Floats, leads: Floats) -> Floats:
        """Correction of z for leads in steps, shape (len(leads), ...); recent is (3, ...)."""
        weights = np.stack([np.interp(leads, self.leads, w) for w in self.weights.T], axis=1)
        corrected: Floats = np.tensordot(weights, recent, axes=1)
        return corrected

    def spreads(self, hours: NDArray[np.int64], leads: Floats) -> Floats:
        """Quantiles of the error for leads in steps at kinds of hour, shape (n, len(LEVELS))."""
        position = np.interp(leads, self.leads, np.arange(len(self.leads)))
        low = np.minimum(position.astype(np.int64), len(self.leads) - 2)
        part = (position - low)[:, None]
        lower, upper = self.spread[hours, low], self.spread[hours, low + 1]
        mixed: Floats = lower + part * (upper - lower)
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


def learn_response(
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
    chain = misses.missed[use]  # (d, per_day + reach)
    features = misses.recent[:, use].reshape(len(WINDOWS), -1)
    stride = max(1, features.shape[1] // _ORIGINS)
    # an odd stride visits every minute of the hour
    origins = np.arange(0, features.shape[1], stride | 1)
    day, slot = np.divmod(origins, per_day)
    thinned = features[:, origins]
    hours = ((np.arange(chain.shape[1]) % per_day) * HOURS // per_day).astype(np.uint8)
    weights, spread = np.empty((len(leads), 3)), np.empty((HOURS, len(leads), len(LEVELS)))
    for k, lead in enumerate(np.round(leads).astype(np.int64)):
        at, target = looked_up(chain, day, slot + lead, per_day)
        ok = ~np.isnan(target)
        x, y = _picked(thinned, ok), target[ok]
        weights[k] = _ridge(x, y, prior[k])
        errors = y - weights[k] @ x
        spread[:, k] = _quantiles(errors, hours[at[ok]])
        if LEADS[k] >= _FAR:
            spread[:, k, _UPPER:] = np.maximum(spread[:, k, _UPPER:], conformal(errors)[_UPPER:])
    return Response(leads=leads, weights=weights, spread=spread)


def looked_up(chain: Floats, row: Ints, at: Ints, per_day: int) -> tuple[Ints, Floats]:
    """Look up slots `at` of rows, which may lie beyond their end; NaN where there is none.

    Beyond its reach a row goes on in the next: expected one night later than it would be.

    Parameters
    ----------
    chain : shape (d, per_day + reach), as `Misses.missed` and `Misses.expected`
    row, at : of shapes that go together

    Returns
    -------
    The slot within the row that knows it, and the value.
    """
    inside = at < chain.shape[1]
    beyond = np.where(inside, 0, (at - per_day) // per_day + 1)
    row, at = row + beyond, at - beyond * per_day
    exists = row < len(chain)
    return at, np.where(exists, chain[np.minimum(row, len(chain) - 1), at], np.nan)


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


def _quantiles(errors: Floats, kinds: NDArray[np.uint8]) -> Floats:
    """Conformal quantiles by kind of hour, shape (HOURS, len(LEVELS)); small kinds are pooled."""
    pooled = conformal(errors)
    if not len(errors):
        return np.broadcast_to(pooled, (HOURS, len(LEVELS)))
    order = np.argsort(errors)
    order = order[np.argsort(kinds[order], kind="stable")]  # kind by kind
    count = np.bincount(kinds, minlength=HOURS)[:, None]
    at = np.cumsum(count)[:, None] - count + _rank(count)
    own = errors[order][np.minimum(at, len(errors) - 1)]
    return np.where(count >= _SMALL, own, pooled)


def conformal(errors: Floats) -> Floats:
    """Quantiles `LEVELS` with the finite-sample correction of split conformal prediction.

    The k-th smallest of n errors with k = ceil((n + 1) p), at most n (Lei et al. 2018).
    """
    n = np.int64(len(errors))
    if n == 0:
        return np.zeros(len(LEVELS))
    ordered: Floats = np.sort(errors)[_rank(n)]
    return ordered


def _rank(count: Ints | np.int64) -> Ints:
    """Where the quantiles of so many errors stand among them, from 0; at most the last."""
    rank: Ints = np.minimum(np.ceil((count + 1) * _LEVELS).astype(np.int64), count) - 1
    return rank
