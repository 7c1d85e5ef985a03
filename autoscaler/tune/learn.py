"""When to learn, and which candidate wins."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from datetime import datetime

import numpy as np

from autoscaler.capacity import ACTUATION, usual_level
from autoscaler.demand import regular
from autoscaler.forecast import (
    ALL,
    NO_TIDE,
    FitImpossible,
    Kinds,
    Recent,
    Shape,
    TidalForecaster,
    kinds_of,
    learn_events,
    ordinary,
)
from autoscaler.forecast.ahead import TideAhead, reach_of, tables_of
from autoscaler.forecast.days import Days
from autoscaler.forecast.response import Misses, misses_of
from autoscaler.forecast.tidal import MOST_DAYS, Tidal, days_of
from autoscaler.model import History, Knowledge, Series
from autoscaler.policy import Spec, TidePolicy
from autoscaler.schema import walltime
from autoscaler.tune.covering import choose
from autoscaler.tune.judge import ORDER_LEVELS, Judge, Trial

_LOG = logging.getLogger(__name__)

YOUNG, YOUNG_EVERY = 3 * 86_400.0, 6 * 3600.0
"""A history younger than this is learnt from again so often, since each hour of it is news."""

QUANTILE_DRAW = 0.5
"""What one replayed day must say for ordering on a quantile rather than on expected cost: a
quantile does not see how much demand lies beyond it."""

_DAYS_TO_COME = 30  # days of the calendar that a knowledge takes with it

NIGHT = 3
"""Local hour from which the nightly fit is due: after the day's end, before its tide."""


def due(policy: TidePolicy, knowledge: Knowledge | None, now: float) -> bool:
    """Whether it is time to learn (again): without knowledge, nightly, and often while young."""
    if knowledge is None or knowledge.fitted_at > now:
        return True
    if knowledge.span < YOUNG and now - knowledge.fitted_at >= YOUNG_EVERY:
        return True
    local = datetime.fromtimestamp(now, walltime.zone(policy.spec.time_zone))
    night = local.replace(hour=NIGHT, minute=0, second=0, microsecond=0).timestamp()
    return knowledge.fitted_at < (night if night <= now else night - 86_400.0)


def learn(  # long: every way of learning less ends here, in order
    policy: TidePolicy,
    history: History,
    now: float,
    *,
    period: float = 60.0,
    shapes: tuple[Shape, ...] = ALL,
) -> Knowledge:
    """Learn every candidate from the history up to `now`, and choose what would have done best.

    Parameters
    ----------
    period : seconds between decisions, part of the lead time
    shapes : candidates; `forecast.FAST` leaves out the one that imports statsmodels

    Returns
    -------
    Knowledge
        With too little history for any candidate: the last minutes alone.
    """
    spec = policy.spec
    usual = usual_level(spec.price.per_percent_late)
    series, _ = regular(history, now)
    span = len(series) * series.step
    try:
        days = days_of(ordinary(series, spec.event_windows), spec.time_zone, _kinds(spec, series))
    except FitImpossible:
        return _young(usual, now, span)
    judge = Judge(policy, days, period)
    learnt: dict[str, tuple[Shape, Misses]] = {}
    trials: dict[str, Trial] = {}
    for shape in (NO_TIDE, *(shape for shape in shapes if shape is not NO_TIDE)):
        try:
            misses = misses_of(shape, days, judge.reach, MOST_DAYS)
        except FitImpossible as error:
            _LOG.info("candidate left out", extra={"candidate": shape.name, "why": str(error)})
            continue
        if misses is not None:
            learnt[shape.name] = (shape, misses)
            trial = judge.trial(misses)
            if trial is not None:
                trials[shape.name] = trial
    if not learnt:
        return _young(usual, now, span)
    scores, drawn = _scores(judge, trials)
    name, level = _best(drawn) if drawn else (NO_TIDE.name, usual)
    shape, misses = learnt[name]
    known = Knowledge(
        fitted=TidalForecaster(shape=shape).finish(days, misses),
        order_level=level,
        fitted_at=now,
        scores={f"{of}@{q:g}": score for (of, q), score in scores.items()},
        tide=tide_of(days),
        events=learn_events(series, days, spec.event_windows),
        span=span,
    )
    if not drawn:
        return known
    since = int(trials[NO_TIDE.name].rows[0])
    return _with_ahead(known, policy, judge, days, (since, min(drawn.values())))


def _with_ahead(
    known: Knowledge, policy: TidePolicy, judge: Judge, days: Days, others: tuple[int, float]
) -> Knowledge:
    """Let the distributions ahead decide the moment, unless others would have done better.

    `others` are the first row that was replayed for them, and what the best came to.
    """
    spec = policy.spec
    since, best = others
    if not isinstance(known.fitted, Tidal):
        return known
    reach = reach_of(spec.cold_start.duration, ACTUATION, spec.release.break_even, days.step)
    tables = tables_of(days, reach.window)
    chosen = choose(judge, days, tables, reach, since)
    if chosen is None:
        return known
    scores = {**known.scores, f"ahead@{chosen.cover:.3g}": chosen.score}
    if chosen.drawn > best:
        return replace(known, scores=scores)
    fitted = TideAhead.of(known.fitted, days, tables, reach, chosen.season)
    return replace(known, fitted=fitted, cover=chosen.cover, scores=scores)


def _kinds(spec: Spec, series: Series) -> Kinds:
    """Tell what days are like, from the first of the history until knowledge is long too old."""
    return kinds_of(spec.special_days(series.start, series.end + _DAYS_TO_COME * 86_400.0))


def _young(usual: float, now: float, span: float) -> Knowledge:
    """Know what can be known before the first candidate can be judged."""
    return Knowledge(fitted=Recent(), order_level=usual, fitted_at=now, span=span)


Scores = dict[tuple[str, float], float]


def _scores(judge: Judge, trials: dict[str, Trial]) -> tuple[Scores, Scores]:
    """Score of every candidate and order level, and what is compared: its logarithm and its draw.

    A candidate that needs a longer history is replayed on fewer days. What it did there is read
    against "no tide" on the very same days, so that an easy week favours nobody. The fewer the
    days, the more a choice is drawn to what is usual: in few days some candidate is always lucky.
    """
    if NO_TIDE.name not in trials:
        return {}, {}
    plain = trials[NO_TIDE.name]
    usual = float(judge.scores(plain).min())
    found, drawn = {}, {}
    for name, trial in trials.items():
        since = int(max(trial.rows[0], plain.rows[0]))
        days = int(np.count_nonzero(trial.rows >= since))
        same = float(judge.scores(plain, since).min())
        for level, score in zip(ORDER_LEVELS, judge.scores(trial, since), strict=True):
            found[name, level] = float(score) / same * usual
            drawn[name, level] = math.log(found[name, level]) + _draw(level, judge) / days
    return found, drawn


def _draw(level: float, judge: Judge) -> float:
    """How far a quantile rule is from what is usual, as if one day had spoken against it."""
    usual = usual_level(judge.service.price)
    unusual = math.log(level / (1 - level)) - math.log(usual / (1 - usual))
    return QUANTILE_DRAW + 0.5 * abs(unusual)


def _best(drawn: Scores) -> tuple[str, float]:
    """Lowest of all."""
    return min(drawn, key=lambda candidate: (drawn[candidate], candidate))


def tide_of(days: Days) -> float:
    """Strength of the tide: correlation of hourly means with a day or a week before, at most 1.

    NaN when less than two days are known.
    """
    size = max(1, round(3600 / days.step))
    flat = days.z.ravel()
    hours = flat[: len(flat) // size * size].reshape(-1, size)
    known = ~np.isnan(hours)
    number = known.sum(axis=1)
    total = np.where(known, hours, 0.0).sum(axis=1)
    means = np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0)
    found = []
    for lag in (24, 168):
        now, before = means[lag:], means[:-lag]
        both = ~(np.isnan(now) | np.isnan(before))
        if both.sum() < 24:
            continue
        a, b = now[both] - now[both].mean(), before[both] - before[both].mean()
        norm = float(np.sqrt((a @ a) * (b @ b)))
        found.append(float(a @ b) / norm if norm > 0 else 0.0)
    return max(found, default=float("nan"))
