"""Which candidate wins a night on which all are compared, and the knowledge that comes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autoscaler.forecast import ALL, NO_TIDE, FitImpossible, Recent, Shape, learn_events
from autoscaler.forecast.days import Days
from autoscaler.model import Choice, History, Knowledge
from autoscaler.policy import TidePolicy
from autoscaler.schema.candidates import AHEAD, Candidate
from autoscaler.tune.advice import advise
from autoscaler.tune.backtest import measured
from autoscaler.tune.lesson import Lesson, study


def learn(
    policy: TidePolicy,
    history: History,
    now: float,
    *,
    period: float = 60.0,
    shapes: tuple[Shape, ...] = ALL,
    standing: str = "",
) -> Knowledge:
    """Learn every candidate from the history up to `now`, and choose what would have done best.

    Parameters
    ----------
    period : seconds between decisions, part of the lead time
    shapes : candidates; `forecast.FAST` leaves out the one that imports statsmodels
    standing : name of the candidate in use, which is kept while the best is not better by more
        than the noise

    Returns
    -------
    Knowledge
        With too little history for any candidate: the last minutes alone.
    """
    return known(policy, study(policy, history, now, period=period, shapes=shapes), standing)


def known(policy: TidePolicy, lesson: Lesson, standing: str = "") -> Knowledge:
    """Knowledge of the candidate that is pinned, stands, or would have done best."""
    if lesson.days is None or not lesson.learnt:
        return Knowledge(
            fitted=Recent(), order_level=lesson.usual, fitted_at=lesson.now, span=lesson.span
        )
    candidate, beneath = choose(lesson, policy.spec.forecast.candidate, standing)
    try:
        fitted = lesson.fitted(candidate, beneath)
    except FitImpossible:
        candidate = beneath
        fitted = lesson.fitted(candidate, beneath)
    ahead = candidate.forecaster == AHEAD
    level = beneath.rule if ahead else candidate.rule
    found = Knowledge(
        fitted=fitted,
        order_level=lesson.usual if level is None else level,
        cover=candidate.rule if ahead else None,
        fitted_at=lesson.now,
        scores={str(of): score for of, score in lesson.scores.items()},
        tide=tide_of(lesson.days),
        events=learn_events(lesson.series, lesson.days, policy.spec.event_windows),
        span=lesson.span,
        row=0.0 if lesson.judge is None else lesson.judge.row,
        choice=Choice(
            name=str(candidate),
            best=str(lesson.best(lesson.drawn) if lesson.drawn else candidate),
            standing=standing,
            days=lesson.replayed,
            drawn=beneath.forecaster,
            at=lesson.now,
        ),
    )
    _, drawing = lesson.learnt[beneath.forecaster]
    _, deciding = lesson.learnt[beneath.forecaster if ahead else candidate.forecaster]
    found = measured(found, policy, lesson.days, (deciding, drawing), lesson.tables)
    return replace(found, advice=advise(policy, lesson, found, candidate))


def choose(lesson: Lesson, pinned: Candidate, standing: str = "") -> tuple[Candidate, Candidate]:
    """Choose what decides, and the shape that draws the day: the one that knows it best ahead.

    A shape that is pinned draws its own. What is pinned and was not learnt, since the history is
    too short, gives way to the best.
    """
    usual = Candidate(forecaster=NO_TIDE.name, rule=lesson.usual)
    if not lesson.learnt:  # hours of history
        return usual, usual
    if pinned.rule is not None and pinned.forecaster in lesson.learnt:
        return pinned, pinned  # its level need not be among those that were replayed
    fitting = {of: drawn for of, drawn in lesson.drawn.items() if _fits(of, pinned)}
    if not fitting and pinned.forecaster in lesson.learnt:
        found = Candidate(forecaster=pinned.forecaster, rule=lesson.usual)
        return found, found
    among = fitting or lesson.drawn
    best = lesson.best(among) if among else usual
    best = next((of for of in among if str(of) == standing and lesson.close(of, best)), best)
    drawer = lesson.draws()
    if drawer == best.forecaster or not (pinned.open or best.forecaster == AHEAD):
        return best, best
    shapes = {of: drawn for of, drawn in lesson.drawn.items() if of.forecaster == drawer}
    if shapes:
        return best, lesson.best(shapes)
    return best, usual if best.forecaster == AHEAD else best


def _fits(candidate: Candidate, pinned: Candidate) -> bool:
    """Whether a candidate is what is pinned."""
    if pinned.open:
        return True
    same = candidate.forecaster == pinned.forecaster
    return same and pinned.rule in {None, candidate.rule}


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
