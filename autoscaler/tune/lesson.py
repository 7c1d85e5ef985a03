"""Every candidate learnt and replayed on a service's past, before one of them is chosen.

Apart from the choice, because three look at it: the choice, which takes one; `foretide tune`,
which shows them all; the advice, which replays the chosen one under other autoscalers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from autoscaler.capacity import ACTUATION
from autoscaler.demand import regular
from autoscaler.forecast import (
    ALL,
    NO_TIDE,
    PROFILE,
    Drawn,
    FitImpossible,
    Kinds,
    Shape,
    TidalForecaster,
    kinds_of,
    ordinary,
)
from autoscaler.forecast.ahead import Reach, Tables, TideAhead, reach_of, tables_of
from autoscaler.forecast.days import Days
from autoscaler.forecast.response import Misses, misses_of
from autoscaler.forecast.tidal import MOST_DAYS, Tidal, days_of
from autoscaler.model import Fitted, History, Series
from autoscaler.policy import Spec, TidePolicy
from autoscaler.replay.doubt import SEED, ratios
from autoscaler.schema.candidates import AHEAD, Candidate
from autoscaler.schema.price import usual_level
from autoscaler.tune.covering import Tried, covers_at, try_all
from autoscaler.tune.evidence import BLIND, ENOUGH, WORTHWHILE, saved
from autoscaler.tune.judge import ORDER_LEVELS, Judge, Trial

_LOG = logging.getLogger(__name__)

QUANTILE_DRAW = 2.5
"""What one replayed day must say for ordering on a quantile rather than on expected cost: a
quantile does not see how much demand lies beyond it. With 0.5 in its place the days after the
choice scored 6 % worse (geometric mean of 27 recorded services), with more nothing changes."""

FORESEEN = 1.75
"""Replayed score of the usual price above which a service has flashes that nobody foresees, and a
quiet fortnight says nothing for whoever covers less."""

NOISE, WORTH = 0.05, 0.01
"""The best takes the place of what stands when it is better by that part of the score in all but
that share of bootstrap draws. A change in a hundred days in place of one in thirteen, at the same
score within 0.6 % (the same services)."""

CLEARLY = 0.75
"""Share of the profile's mean miss a day ahead below which another shape draws the days instead.
With 1 in its place the loss of P99 was 1.18 times as high a day ahead, of P50 1.05 (27 services);
from 0.8 down to 0.6 all is the same within 2 %."""

_DAYS_TO_COME = 30  # days of the calendar that a knowledge takes with it

Scores = dict[Candidate, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What was learnt of one service's past.

    Attributes
    ----------
    series : demand up to `now`
    days : the same by day; None when there is too little of it
    judge : replays floors on those days; None likewise
    learnt : shapes and their misses on past days, by name
    trials : floors of each shape on past days, by name
    tried : floors of the distributions ahead; None when no day could be replayed
    scores : of every candidate on the same past days, lower is better
    drawn : logarithms of the scores and how far each is drawn to what is usual: what is compared
    """

    now: float
    usual: float
    series: Series
    days: Days | None = None
    judge: Judge | None = None
    learnt: dict[str, tuple[Shape, Misses]] = field(default_factory=dict)
    trials: dict[str, Trial] = field(default_factory=dict)
    tables: Tables | None = None
    reach: Reach | None = None
    tried: Tried | None = None
    scores: Scores = field(default_factory=dict)
    drawn: Scores = field(default_factory=dict)

    @property
    def span(self) -> float:
        """Seconds of history."""
        return len(self.series) * self.series.step

    def best(self, among: Scores) -> Candidate:
        """Lowest of all; in a tie the first by name."""
        return min(among, key=lambda candidate: (among[candidate], str(candidate)))

    @property
    def replayed(self) -> int:
        """Whole days on which candidates were compared."""
        plain = self.trials.get(NO_TIDE.name)
        return 0 if plain is None else len(plain.rows)

    def close(self, one: Candidate, best: Candidate) -> bool:
        """Whether one may well be as good as the best: their difference lies within the noise."""
        ours, theirs = self.trial_of(one), self.trial_of(best)
        if ours is None or theirs is None or self.judge is None or one == best:
            return one == best
        shared = np.intersect1d(ours.rows, theirs.rows)
        mine, other = (self.judge.daily(trial, shared) for trial in (ours, theirs))
        found = ratios(other, mine, self.judge.service.price, seed=SEED)
        # what a bolder candidate must save is asked once, where the best is found
        drawn = {
            of: max(self.drawn[of] - math.log(self.scores[of]) - WORTHWHILE, 0.0)
            for of in (one, best)
        }
        gained = np.log(found) + drawn[one] - drawn[best]
        return not len(found) or float(np.quantile(gained, NOISE)) <= WORTH

    def trial_of(self, candidate: Candidate) -> Trial | None:
        """Floors of one candidate, shape (1, d, per_day); None when it was not replayed."""
        if candidate.forecaster == AHEAD:
            if self.tried is None or candidate not in self.scores or candidate.rule is None:
                return None
            at, trial = self.tried.at(candidate.rule), self.tried.trial
        else:
            found = self.trials.get(candidate.forecaster)
            if found is None or candidate.rule not in ORDER_LEVELS:
                return None
            at, trial = ORDER_LEVELS.index(candidate.rule), found
        return trial.only(at)

    def draws(self) -> str:
        """Name of the shape that draws the days ahead, whatever its floors would have cost.

        The profile, or "no tide" where that misses by less, unless another misses a day ahead by
        less than `CLEARLY` of it: in a week or two some other is a little better by chance, and
        medians suffer least from a day that is odd. Mean |miss| over the newest fortnight, before
        any correction by the last minutes, which say nothing of tomorrow; read against "no tide"
        on the same days, as in `scores`.
        """
        _, plain = self.learnt[NO_TIDE.name]
        per_day = plain.recent.shape[2]
        found = {NO_TIDE.name: 1.0}
        for name, (_, misses) in self.learnt.items():
            rows = np.intersect1d(misses.rows, plain.rows)[-14:]
            own, same = (
                np.abs(of.missed[np.searchsorted(of.rows, rows), :per_day])
                for of in (misses, plain)
            )
            known = ~np.isnan(own) & ~np.isnan(same)
            if len(rows) >= 2 and (total := float(same[known].sum())) > 0:
                found[name] = float(own[known].sum()) / total
        usual = PROFILE.name if found.get(PROFILE.name, 1.0) < 1.0 else NO_TIDE.name
        best = min(found, key=lambda name: (found[name], name))
        return best if found[best] < CLEARLY * found[usual] else usual

    def fitted(self, candidate: Candidate, beneath: Candidate) -> Fitted:
        """Fit one candidate on all there is; `beneath` draws the days ahead."""
        if self.days is None or self.judge is None:
            raise FitImpossible("there is nothing to learn from")
        return fitted_of(
            candidate.forecaster, beneath.forecaster, self.days, self.judge.reach, self._tidal,
            self._tables,
        )  # fmt: skip

    def _tables(self) -> tuple[Tables, Reach]:
        if self.tried is None or self.tables is None or self.reach is None:
            raise FitImpossible("the distributions ahead were not replayed")
        return self.tables, self.reach

    def _tidal(self, name: str) -> Tidal:
        if self.days is None:
            raise FitImpossible("there is nothing to learn from")
        shape, misses = self.learnt[name]
        return TidalForecaster(shape=shape).finish(self.days, misses)


def fitted_of(
    decides: str,
    draws: str,
    days: Days,
    near: int,
    fit: Callable[[str], Tidal],
    tables: Callable[[], tuple[Tables, Reach]],
) -> Fitted:
    """Make one forecaster of who decides and who draws the days ahead.

    The same for a choice, which has replayed all of it, and for a night that fits what stands.

    Parameters
    ----------
    decides, draws : names of forecasters; the second is a shape
    days : all there is
    near : steps ahead that a decision on a shape looks at
    fit : a shape of that name, on all there is
    tables : what the distributions ahead are learnt from, and how far they reach

    Raises
    ------
    FitImpossible
        This history does not carry one of them.
    """
    far = fit(draws)
    if decides == AHEAD:
        return TideAhead.of(far, days, *tables())
    return far if decides == draws else Drawn(near=fit(decides), far=far, reach=near + 1)


def tables_for(spec: Spec, days: Days) -> tuple[Tables, Reach]:
    """Tables that the distributions ahead are learnt from, and how far they reach."""
    reach = reach_of(spec.cold_start_seconds, ACTUATION, spec.release.break_even, days.step)
    return tables_of(days, reach.window), reach


def study(  # long: every way of learning less ends here, in order
    policy: TidePolicy,
    history: History,
    now: float,
    *,
    period: float = 60.0,
    shapes: tuple[Shape, ...] = ALL,
) -> Lesson:
    """Learn every candidate from the history up to `now`, and replay it on its last days.

    Parameters
    ----------
    period : seconds between decisions, part of the lead time
    shapes : candidates; `forecast.FAST` leaves out the one that imports statsmodels
    """
    spec = policy.spec
    usual = spec.price.level
    series, _ = regular(history, now)
    try:
        days = days_of(
            ordinary(series, spec.event_windows), spec.time_zone, kinds_for(spec, series)
        )
    except FitImpossible:
        return Lesson(now=now, usual=usual, series=series)
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
    scores, drawn = _scores(judge, trials)
    lesson = Lesson(
        now=now, usual=usual, series=series, days=days, judge=judge,
        learnt=learnt, trials=trials, scores=scores, drawn=drawn,
    )  # fmt: skip
    return _with_ahead(lesson, spec, days, judge) if drawn else lesson


def _with_ahead(lesson: Lesson, spec: Spec, days: Days, judge: Judge) -> Lesson:
    """Replay the distributions ahead too, on the days on which "no tide" was replayed."""
    tables, reach = tables_for(spec, days)
    covers = covers_at(spec.price.per_percent_late)
    pinned = spec.forecast.candidate
    if pinned.forecaster == AHEAD and pinned.rule is not None and pinned.rule not in covers:
        covers = (*covers, pinned.rule)
    since = int(lesson.trials[NO_TIDE.name].rows[0])
    tried = try_all(judge, days, tables, reach, since, covers)
    if tried is None:
        return lesson
    scores, drawn = dict(lesson.scores), dict(lesson.drawn)
    for cover in covers:
        at, candidate = tried.at(cover), Candidate(forecaster=AHEAD, rule=cover)
        scores[candidate] = float(tried.scores[at])
        drawn[candidate] = float(tried.drawn[at])
    found = replace(lesson, tables=tables, reach=reach, tried=tried, scores=scores, drawn=drawn)
    return replace(found, drawn=_with_evidence(found, judge, tried.usual))


def _with_evidence(lesson: Lesson, judge: Judge, cover: float) -> Scores:
    """Draw no further to the usual price what plainly saved: `Lesson.drawn` with that."""
    usual = Candidate(forecaster=AHEAD, rule=cover)
    stands, drawn = lesson.trial_of(usual), dict(lesson.drawn)
    if stands is None or lesson.scores[usual] > FORESEEN:
        return drawn
    # most candidates were replayed on the same days
    stood = cache(lambda *rows: judge.daily(stands, np.array(rows)))
    for candidate, score in lesson.scores.items():
        trial = lesson.trial_of(candidate)
        if trial is None or candidate.rule is None:
            continue
        priced = candidate.forecaster == AHEAD
        if score >= lesson.scores[usual] or (priced and candidate.rule >= cover):
            continue
        shared = np.intersect1d(stands.rows, trial.rows)
        mine, other = stood(*shared.tolist()), judge.daily(trial, shared)
        found = saved(mine, other, judge.service.price, ENOUGH if priced else BLIND)
        drawn[candidate] = min(drawn[candidate], drawn[usual] + found)
    return drawn


def kinds_for(spec: Spec, series: Series) -> Kinds:
    """Tell what days are like, from the first of the history until knowledge is long too old."""
    return kinds_of(spec.special_days(series.start, series.end + _DAYS_TO_COME * 86_400.0))


def _scores(judge: Judge, trials: dict[str, Trial]) -> tuple[Scores, Scores]:
    """Score of every shape and order level, and what is compared: its logarithm and its draw.

    A shape that needs a longer history is replayed on fewer days. What it did there is read
    against "no tide" on the very same days, so that an easy week favours nobody. The fewer the
    days, the more a choice is drawn to what is usual: in few days some candidate is always lucky.
    """
    if NO_TIDE.name not in trials:
        return {}, {}
    plain = trials[NO_TIDE.name]
    usual = float(judge.scores(plain).min())
    alone = {int(plain.rows[0]): usual}  # by the first of the days on which others are compared
    found, drawn = {}, {}
    for name, trial in trials.items():
        since = int(max(trial.rows[0], plain.rows[0]))
        days = int(np.count_nonzero(trial.rows >= since))
        if since not in alone:
            alone[since] = float(judge.scores(plain, since).min())
        for level, score in zip(ORDER_LEVELS, judge.scores(trial, since), strict=True):
            candidate = Candidate(forecaster=name, rule=level)
            found[candidate] = float(score) / alone[since] * usual
            drawn[candidate] = math.log(found[candidate]) + _draw(level, judge) / days
    return found, drawn


def _draw(level: float, judge: Judge) -> float:
    """How far a quantile rule is from what is usual, as if one day had spoken against it."""
    usual = usual_level(judge.service.price)
    unusual = math.log(level / (1 - level)) - math.log(usual / (1 - usual))
    return QUANTILE_DRAW + 0.5 * abs(unusual)
