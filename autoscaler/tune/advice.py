"""What a service's own last days advise its owner: what should stand above our floor.

Our floor and the spare of the reactive autoscaler above it are paid twice, so its target should be
high; how high is replayed, with a draw to what is usual. Beside it: the `maxReplicas` that the
forecast needs, what we save against the reactive autoscaler alone, and whether it does as well
without us. Nothing is decided by an advice and nothing of it is written to a target.

Everything is replayed on whole days whose floors were found strictly out of sample, so an advice
knows nothing that was not known when it was made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autoscaler import dates, plan
from autoscaler.capacity import need_of, replicas_for, rule_of
from autoscaler.demand import newest
from autoscaler.forecast import foresee, ordinary
from autoscaler.forecast.calendar import raised
from autoscaler.model import Advice, Floats, Forecast, Ints, Knowledge, Running, Series
from autoscaler.policy import TidePolicy
from autoscaler.replay import cost_of, late_fraction, replay, score_of
from autoscaler.schema.candidates import Candidate, candidate_of
from autoscaler.tune.judge import Judge, Trial
from autoscaler.tune.lesson import Lesson

TARGETS = (0.7, 0.8, 0.9, 0.95)
"""Reactive targets above our floor that are replayed, as a share of a replica's capacity."""

ALONE = (0.5, 0.6, *TARGETS)
"""Targets at which the reactive autoscaler is replayed without us."""

PRESENT = 0.7
"""Target that is taken for the present one where it is not known."""

TOLERANCE = 0.1
"""Of an HPA that says none: it moves only when measured / target is further from 1."""

DRAW = 5.0
"""What one replayed day must say, per unit of target, for a target below the usual one: one late
hour in two days once advised 70 % for two months, a quarter dearer than 95 %."""

REPLAYED_DAYS = 7
"""Newest whole days that are replayed, of those that were read: every weekday once."""

AHEAD = 7 * 86_400.0
"""Seconds ahead in which the largest need is looked for: announced events among it."""

UPPER = 0.99
"""Quantile of the demand ahead that `maxReplicas` must carry."""

ROOM = 1.1
"""`maxReplicas` over the largest need that is known: a ceiling is for what nobody foresaw."""


EVEN = 0.02
"""Relative difference of two scores that is noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Above:
    """The reactive autoscaler as it stands above a floor.

    Attributes
    ----------
    target : as a share of a replica's capacity, None when it is not known
    bounded : whether its metric cannot exceed 100 %, None when it is not known
    tolerance : it moves only when measured / target is further from 1
    """

    target: float | None = None
    bounded: bool | None = None
    tolerance: float = TOLERANCE


UNKNOWN = Above()
"""Nobody could read it."""


def advise(  # long: a line for each field of what it gives
    policy: TidePolicy, lesson: Lesson, knowledge: Knowledge, candidate: Candidate
) -> Advice | None:
    """Advise from the floors that the chosen candidate would have set.

    Parameters
    ----------
    lesson : what was learnt, with the floors of every candidate on past days
    knowledge : of the chosen candidate, for the need ahead and the strength of the tide
    candidate : the chosen one

    Returns
    -------
    Advice or None
        None when no whole day of the candidate could be replayed.
    """
    judge, trial = lesson.judge, lesson.trial_of(candidate)
    if judge is None or trial is None or not len(trial.rows):
        return None
    rows = _days_of(judge, trial)
    floor = policy.spec.floor.min or 1
    beneath = trial.floors[0, np.isin(trial.rows, rows)].reshape(1, -1)
    nobody = np.full((len(ALONE), beneath.shape[1]), floor, dtype=np.int64)
    floors = np.concatenate([np.repeat(beneath, len(TARGETS), axis=0), nobody])
    ways = _run(judge, rows, floors, (*TARGETS, *ALONE))
    ours, alone = ways[: len(TARGETS)], ways[len(TARGETS) :]
    ahead, own = _week_ahead(policy, lesson.series, knowledge)
    reached = _reached(rows, beneath.reshape(len(rows), -1))
    return Advice(
        target=fitting(ours, len(rows)),
        utilisation=fitting(ours, len(rows), bounded=True),
        ours=ours,
        alone=alone,
        now=next(way for way in alone if way.target == PRESENT),
        floor=floor,
        days=len(rows),
        seen=_need(lesson.series.values, policy),
        ahead=ahead,
        own=max(own, *reached),
        tide=knowledge.tide,
        reached=reached,
    )


def renewed(advice: Advice, policy: TidePolicy, series: Series, knowledge: Knowledge) -> Advice:
    """Look a week ahead once more; what was replayed stays as it was advised.

    Of the floors on the replayed days, those of days that lie more than a week back by now are
    forgotten, so that `maxReplicas` follows a service that shrinks.
    """
    ahead, own = _week_ahead(policy, series, knowledge)
    chosen = knowledge.fitted_at if knowledge.choice is None else knowledge.choice.at
    nights = max(0, round((knowledge.fitted_at - chosen) / 86_400.0))
    gone = max(0, nights + len(advice.reached) - REPLAYED_DAYS)
    return replace(
        advice,
        seen=_need(series.values, policy),
        ahead=ahead,
        own=max(own, 0, *advice.reached[gone:]),
        tide=knowledge.tide,
    )


def fitting(
    ours: Sequence[Running],
    days: int,
    *,
    bounded: bool = False,
    tolerance: float = TOLERANCE,
) -> float:
    """Target that fits above our floor, chosen among those that were replayed.

    The highest allowed is the usual one; a lower one must have done better by more than a few days
    can pretend.

    Parameters
    ----------
    ours : our floors under each target
    days : that were replayed
    bounded : the metric cannot exceed 100 %: above 1 / (1 + tolerance) it would never ask for more
    tolerance : of the reactive autoscaler

    Returns
    -------
    float
        Within 0.7 and 0.95, unless the bound is lower; then the bound, in whole per cent.
    """
    most = 1.0 / (1.0 + tolerance) if bounded else 1.0
    allowed = [way for way in ours if way.target <= most]
    if not allowed:
        return math.floor(100 * most) / 100
    usual = max(way.target for way in allowed)
    drawn = {
        way.target: math.log(way.score) + DRAW * (usual - way.target) / days for way in allowed
    }
    return min(drawn, key=lambda target: (drawn[target], -target))


def against(knowledge: Knowledge, lesson: Lesson, above: Above, floor: int) -> Knowledge:
    """Advise against what stands now, without us: that autoscaler above that floor.

    Parameters
    ----------
    knowledge, lesson : as they were learnt
    floor : `minReplicas` without us
    """
    advice, choice, judge = knowledge.advice, knowledge.choice, lesson.judge
    if advice is None or choice is None or judge is None:
        return knowledge
    # a name is rounded: the candidate itself is among those that were replayed
    named = (of for of in lesson.scores if str(of) == choice.name)
    trial = lesson.trial_of(next(named, candidate_of(choice.name)))
    if trial is None:
        return knowledge
    target = PRESENT if above.target is None else above.target
    rows = _days_of(judge, trial)
    floors = np.full((len(ALONE) + 1, len(judge.demand_on(rows))), floor, dtype=np.int64)
    now, *alone = _run(judge, rows, floors, (target, *ALONE))
    seen = replace(advice, now=now, alone=tuple(alone), floor=floor)
    return replace(knowledge, advice=seen)


def target_for(advice: Advice, above: Above) -> float:
    """Target that fits the reactive autoscaler as it stands, with its metric and its tolerance."""
    bounded = above.bounded is True
    return fitting(advice.ours, advice.days, bounded=bounded, tolerance=above.tolerance)


def ours_under(advice: Advice, target: float) -> Running:
    """Give our floors under the nearest target that was replayed."""
    return min(advice.ours, key=lambda way: abs(way.target - target))


def best_alone(advice: Advice) -> Running:
    """Give the reactive autoscaler without us at the target that would have done best."""
    return min(advice.alone, key=lambda way: way.score)


def helps(advice: Advice, ours: Running) -> bool:
    """Whether our floors did better than the best reactive autoscaler alone, beyond the noise."""
    return ours.score < best_alone(advice).score * (1.0 - EVEN)


def room(advice: Advice, floor: int = 0) -> int:
    """Give the `maxReplicas` that past and forecast ask for; never below a floor of ours.

    Parameters
    ----------
    floor : of ours that came after the advice, or is to come
    """
    needed = math.ceil(max(advice.seen, advice.ahead, 1) * ROOM)
    return max(needed, advice.own, floor)


def _days_of(judge: Judge, trial: Trial) -> Ints:
    """Newest days of a trial that were read: a line over a hole is no day that anybody had."""
    rows: Ints = trial.rows[judge.judged(trial.rows)][-REPLAYED_DAYS:]
    return rows


def _reached(rows: Ints, floors: Ints) -> tuple[int, ...]:
    """Highest floor of each of the newest days, 0 for one without any; rows of shape (d,)."""
    highest = dict(zip(rows.tolist(), floors.max(axis=1).tolist(), strict=True))
    newest = int(rows[-1])
    return tuple(highest.get(row, 0) for row in range(newest + 1 - REPLAYED_DAYS, newest + 1))


def _run(judge: Judge, rows: Ints, floors: Ints, targets: Sequence[float]) -> tuple[Running, ...]:
    """Replay floors of whole days, shape (m, n), each under a reactive autoscaler of its target."""
    service, demand = judge.service, judge.demand_on(rows)
    run = replay(demand, floors, service, judge.hpa(np.array(targets)))
    perfect = judge.ideal(rows)
    cost, late = cost_of(run, service), late_fraction(run, demand)
    scores = score_of(cost, float(cost_of(perfect, service)[0]), late, service.price)
    days = len(demand) * service.step / 86_400.0
    hours = run.total.sum(axis=1) * service.step / 3600.0 / days
    starts = run.started.sum(axis=1) / days
    return tuple(
        Running(
            target=target,
            score=float(scores[i]),
            replica_hours=float(hours[i]),
            starts=float(starts[i]),
            late=float(late[i]),
        )
        for i, target in enumerate(targets)
    )


def _week_ahead(policy: TidePolicy, series: Series, knowledge: Knowledge) -> tuple[int, int]:
    """Most replicas that the week ahead may need, and the highest floor of ours in it.

    Needed is the demand that is exceeded once in a hundred, and that of the last week once more,
    both with the events that are announced: a forecaster that trusts the last minutes alone knows
    nothing of a peak that is days away. A floor may be ordered on a higher quantile, and the
    calendar and the policy may ask for one whatever comes.
    """
    spec = policy.spec
    steps = plan.steps_ahead(AHEAD, series.step)
    events = dates.events(spec, series.end, AHEAD)
    level, cover = rule_of(knowledge, spec)
    forecast, _, _ = foresee(series, knowledge, events, steps, level)
    week = np.nan_to_num(ordinary(series, events).values[-steps:], nan=0.0)
    again, _ = raised(
        Forecast(
            start=series.end,
            step=series.step,
            levels=(UPPER,),
            quantiles=np.pad(week, (steps - len(week), 0))[None, :],
            by="the last week",
        ),
        events,
        knowledge.events,
    )
    upper = again.at(UPPER)
    if forecast is None:
        return _need(upper, policy), 0
    need = need_of(forecast, level, spec.capacity.per_replica, newest(series), cover=cover)
    asked = dates.least(spec, need)
    own = max(
        int(need.order.max()),
        need.least or 0,
        0 if asked is None else int(asked.max()),
        spec.floor.min or 0,
    )
    most = own if spec.floor.max is None else min(own, spec.floor.max)
    return _need(np.maximum(upper, forecast.at(UPPER)), policy), most


def _need(demand: Floats, policy: TidePolicy) -> int:
    """Replicas for the largest demand that is known."""
    known = demand[~np.isnan(demand)]
    most = known.max(initial=0.0)
    return int(replicas_for(np.array([most]), policy.spec.capacity.per_replica)[0])
