"""Samples as they were read become demand on a regular UTC grid, every decision anew.

This runs in every cycle over four weeks of samples, so the usual case (samples already on the
grid, all of them usable) takes a path of a few whole-array passes and copies nothing.
"""

from __future__ import annotations

from math import floor as round_down

import numpy as np
from numpy.typing import NDArray

from autoscaler.demand.doubts import MOST, RECENT, doubts_of
from autoscaler.demand.marks import mark_outages, mark_saturated, short_gaps_filled
from autoscaler.model import Code, Floats, History, Mark, Reason, Samples, Series
from autoscaler.policy import Demand, Promise

LONGEST = 600_000
"""Steps that a series may have (over a year at 60 s): one absurd old timestamp must not cost
gigabytes."""


# long: half of it says what is given
def regular(
    history: History, now: float, *, calm: bool = False
) -> tuple[Series, tuple[Reason, ...]]:
    """Put a history on its grid up to the last finished step before `now`.

    A sample at time t stands for the demand over the whole step that t lies in; several samples
    in a step are averaged. A step that ends after `now` is not finished and not used. Steps up to
    `now` without a sample are there, unknown, so the series always ends at the present.

    Parameters
    ----------
    history : samples in any order, finite or not
    now : POSIX seconds
    calm : whether next to nothing is announced for now: a fall to nothing is then no doubt

    Returns
    -------
    Series
        Short gaps filled, saturated and outage stretches marked; empty when nothing is usable.
    tuple of Reason
        Doubts about the history; empty when there are none.
    """
    step = history.step
    end = round_down(now / step + 1e-9)  # number of the first unfinished step
    whole = _whole(history.demand, step, end)
    refused = known = None
    if whole is None:
        values, first, refused = _binned(history.demand.times, history.demand.values, step, end)
    else:
        values, first = whole
    marks = np.zeros(len(values), dtype=np.uint8)
    if refused is not None:
        marks[refused] |= np.uint8(Mark.REFUSED)
    if whole is None:
        values, known = short_gaps_filled(values, marks, step)
    mark_outages(values, marks, step)
    if history.saturated is not None:
        mark_saturated(history.saturated, history.demand, marks, first, step)
    series = Series(start=first * step, step=step, values=values, marks=marks)
    timely = whole is not None and history.demand.times[-1] <= now
    return series, doubts_of(history, series, known, now, usable=timely, calm=calm)


def newest(series: Series) -> float:
    """Newest demand that is known and not older than a few minutes, else NaN."""
    tail = series.values[-max(1, round(RECENT / series.step)) :]
    known = tail[~np.isnan(tail)]
    return float(known[-1]) if len(known) else float("nan")


def highest(series: Series, within: float) -> float:
    """Largest known demand of the last `within` seconds, NaN when none is known."""
    recent = series.values[-max(1, round(within / series.step)) :]
    known = recent[~np.isnan(recent)]
    return float(known.max()) if len(known) else float("nan")


def seen_of(
    series: Series, history: History | None, within: float, promise: Promise
) -> dict[str, float]:
    """Say what is seen of this moment, all in demand per second; NaN is unknown.

    What waits longer than was promised is to be gone within `promise.drain`; unknown, it asks for
    nothing.

    Parameters
    ----------
    within : seconds of which the largest demand is `recent`
    """
    now, waiting = newest(series), None if history is None else history.backlog
    if waiting is None or not 0 < waiting < MOST:
        waiting = 0.0
    late = waiting - promise.wait * (0.0 if np.isnan(now) else now)
    recent, backlog = highest(series, within), max(0.0, late) / promise.drain
    return {"newest": now, "recent": recent, "backlog": backlog}


def unseen(demand: Demand, history: History | None) -> tuple[Reason, ...]:
    """Say that what waits is not known where the policy says how to read it.

    No doubt: a queue's metric is often absent while nothing waits, and a floor would never fall.
    """
    if demand.backlog is None or history is None or history.backlog is not None:
        return ()
    return (
        Reason(
            code=Code.BACKLOG_UNKNOWN,
            sentence="demand.backlog gave no single number: what waits is not known, and nothing "
            "is drained",
        ),
    )


def _whole(samples: Samples, step: float, end: int) -> tuple[Floats, int] | None:
    """Values per step and number of the first, where the samples are the grid without a hole."""
    times, values = samples.times, samples.values
    if not _is_regular(times, values, step):
        return None
    first = round(times[0] / step)
    return (values[: end - first], first) if 0 <= first <= end <= first + len(values) else None


def _is_regular(times: Floats, values: Floats, step: float) -> bool:
    """Whether the samples already are the grid, without one that needs a second look."""
    n = len(times)
    if n < 2 or not -np.inf < times[0] < np.inf:
        return False
    if times[0] % step != 0 or times[-1] != times[0] + (n - 1) * step:
        return False
    low, high = values.min(), values.max()  # NaN spreads into both
    return bool(low >= 0 and high <= MOST) and bool((times[1:] - times[:-1] == step).all())


def _binned(
    times: Floats, values: Floats, step: float, end: int
) -> tuple[Floats, int, NDArray[np.int64] | None]:
    """Average samples of any order into the steps in which they lie.

    Returns
    -------
    values : per step, NaN where unknown
    first : number of the first step
    refused : steps that hold nothing but samples that cannot be demand
    """
    timely = np.isfinite(times) & (times >= 0) & (times < end * step)
    at = np.floor(times[timely] / step + 1e-9).astype(np.int64)
    found = values[timely]
    inside = (at > end - LONGEST) & (at < end)
    at, found = at[inside], found[inside]
    usable = (found >= 0) & (found <= MOST)
    if not usable.any():
        return np.empty(0), end, None
    first = int(at[usable].min())
    length = end - first
    counts = np.bincount(at[usable] - first, minlength=length)
    sums = np.bincount(at[usable] - first, weights=found[usable], minlength=length)
    mean = np.divide(sums, counts, out=np.full(length, np.nan), where=counts > 0)
    # NaN is what a source says when it knows nothing; only other values are a refusal
    wrong = at[~usable & ~np.isnan(found) & (at >= first)] - first
    wrong = wrong[counts[wrong] == 0]
    return mean, first, np.unique(wrong) if len(wrong) else None
