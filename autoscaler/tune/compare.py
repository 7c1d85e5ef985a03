"""What every candidate would have cost on the same past days, and who would have waited.

For `foretide tune`: forecaster x rule x slow release, beside "fixed" (the P99 of the last seven
days, refreshed daily) and "reactive only", all with the reactive autoscaler above that the
service has ("fixed" stands alone). The controller's choice leaves that autoscaler out, since its
target is not ours to know; whoever asks here says it. What stands is preferred within the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.capacity import replicas_for
from autoscaler.forecast import NO_TIDE
from autoscaler.forecast.days import Days
from autoscaler.model import Floats, Ints
from autoscaler.policy import TidePolicy
from autoscaler.reactive import PlainHpa
from autoscaler.replay import (
    Replayed,
    cost_of,
    late_fraction,
    replay,
    score_of,
)
from autoscaler.replay.doubt import (
    SEED,
    Daily,
    Interval,
    Intervals,
    daily,
    interval_of,
    intervals,
    ratios,
)
from autoscaler.schema.candidates import Candidate
from autoscaler.tune.judge import Judge
from autoscaler.tune.lesson import WORTH, Lesson

RELEASES = (300.0, 600.0, 1800.0, 3600.0)
"""Seconds of slow release that are replayed beside the policy's own."""

FIXED, REACTIVE = "fixed", "reactive only"
FIXED_DAYS, FIXED_LEVEL = 7, 99.0

Told = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to run the service, on the days of the comparison.

    Attributes
    ----------
    name : the candidate as in `forecast.use`, or `fixed`, `reactive only`
    candidate : None for the two that are none
    release : seconds of slow release, None where there is none
    score, cost_ratio : against the clairvoyant
    late : late share of all requests
    replica_hours, starts : a day
    interval : 95 %, over days; None with fewer than two
    daily : day by day
    hours : replica-hours of each day, shape (days,)
    """

    name: str
    candidate: Candidate | None
    release: float | None
    score: float
    cost_ratio: float
    late: float
    replica_hours: float
    starts: float
    interval: Intervals | None
    daily: Daily
    hours: Floats

    @property
    def late_by_day(self) -> Floats:
        """Late share of each day, shape (days,); 0 where nothing came."""
        came, late = self.daily.came, self.daily.late
        shares: Floats = np.divide(late, came, out=np.zeros(len(came)), where=came > 0)
        return shares

    @property
    def worst_day(self) -> int:
        """Which of the days had most late requests."""
        return int(np.argmax(self.daily.late))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All options on the same days.

    Attributes
    ----------
    rows : the days, rows of the lesson's `Days`
    unread : days among them that judge nobody, since most of them was not read
    target : of the reactive autoscaler above, None for none
    options : best score first
    chosen : the best candidate at the policy's own release, or `standing` within the noise
    standing : what the controller has chosen, None when it was not replayed on these days
    lead : 95 % interval of how many times the best candidate's score that of `standing` is; None
        when they are the same or there are too few days
    without : the better of the two that need no forecast, where it scores lower than the chosen one
        by more than the noise; else None
    left_out : forecasters with too short a history, and why
    best : the clairvoyant, day by day
    best_hours : its replica-hours a day
    """

    rows: NDArray[np.int64]
    unread: int
    target: float | None
    options: tuple[Option, ...]
    chosen: Option
    standing: Option | None
    lead: Interval | None
    without: Option | None
    left_out: dict[str, str]
    best: Daily
    best_hours: float

    def own(self, release: float) -> tuple[Option, ...]:
        """Candidates at one release."""
        return tuple(o for o in self.options if o.candidate is not None and o.release == release)

    def named(self, name: str) -> Option:
        """Give the best option of a name."""
        return next(option for option in self.options if option.name == name)


def compare(  # long: half of it says what is given
    policy: TidePolicy,
    lesson: Lesson,
    standing: Candidate,
    target: float | None,
    told: Told = lambda _what, _share: None,
) -> Comparison | None:
    """Replay everything on the days on which all can be; None with no such day.

    Parameters
    ----------
    standing : what is in use
    target : of the reactive autoscaler above, None for none
    told : told what is replayed and which share is done
    """
    judge, days = lesson.judge, lesson.days
    if judge is None or days is None:
        return None
    every, left_out = _days_of(lesson)
    if not len(every):
        return None
    rows = every[judge.judged(every)]
    ground = _Ground(judge, rows, target)
    own = policy.spec.release.after
    releases = sorted({own, *RELEASES})
    options = [_fixed(ground, days), _reactive(ground, policy)]
    for done, release in enumerate(releases):
        told(f"release.after {release / 60:g} min", done / len(releases))
        options += _candidates(ground, lesson, left_out, release)
    options.sort(key=lambda option: (option.score, option.name, option.release or 0.0))
    ours = [o for o in options if o.candidate is not None and o.release == own]
    if not ours:
        return None
    stands = next((o for o in ours if str(o.candidate) == str(standing)), None)
    chosen, lead = ours[0], None
    if stands is not None and stands is not chosen:
        price = judge.service.price
        drawn = ratios(chosen.daily, stands.daily, price, seed=SEED)
        lead = interval_of(drawn) if len(drawn) else None
        if lead is None or lead.low <= 1.0 + WORTH:
            chosen = stands
    return Comparison(
        rows=rows,
        unread=len(every) - len(rows),
        target=target,
        options=tuple(options),
        chosen=chosen,
        standing=stands,
        lead=lead,
        without=_without(options, chosen, judge.service.price),
        left_out=left_out,
        best=ground.best,
        best_hours=ground.best_hours,
    )


def _without(options: list[Option], chosen: Option, price: float) -> Option | None:
    """Find what does better without any forecast; the options are sorted."""
    plain = next(option for option in options if option.candidate is None)
    drawn = ratios(plain.daily, chosen.daily, price, seed=SEED)
    return plain if len(drawn) and interval_of(drawn).low > 1.0 + WORTH else None


class _Ground:
    """Demand of the days, the reactive autoscaler above, and the clairvoyant."""

    def __init__(self, judge: Judge, rows: NDArray[np.int64], target: float | None) -> None:
        self.judge, self.rows = judge, rows
        service = judge.service
        self.demand = judge.demand_on(rows)
        self.per_day = len(self.demand) // len(rows)
        self.hpa = None if target is None else judge.hpa(target)
        run = judge.ideal(rows)
        self.best = daily(run, self.demand, service, self.per_day)[0]
        self.reference = float(cost_of(run, service)[0])
        self.best_hours = float(run.total.sum()) * service.step / 3600 / len(rows)

    def options(
        self,
        names: list[tuple[str, Candidate | None]],
        floors: Ints,
        hpa: PlainHpa | None,
        release: float | None = None,
    ) -> list[Option]:
        """Replay floors, shape (m, steps), and account for each."""
        run = replay(self.demand, floors, self.judge.service, hpa)
        return [
            self._option(name, candidate, release, _alone(run, at))
            for at, (name, candidate) in enumerate(names)
        ]

    def _option(
        self, name: str, candidate: Candidate | None, release: float | None, run: Replayed
    ) -> Option:
        service, days = self.judge.service, len(self.rows)
        cost, late = cost_of(run, service), late_fraction(run, self.demand)
        by_day = daily(run, self.demand, service, self.per_day)[0]
        held = run.total[0].reshape(days, -1).sum(axis=1) * service.step / 3600
        return Option(
            name=name,
            candidate=candidate,
            release=release,
            score=float(score_of(cost, self.reference, late, service.price)[0]),
            cost_ratio=float(cost[0]) / self.reference,
            late=float(late[0]),
            replica_hours=float(held.mean()),
            starts=float(run.started.sum()) / days,
            interval=intervals(by_day, self.best, service.price, seed=SEED),
            daily=by_day,
            hours=held.astype(np.float64),
        )


def _alone(run: Replayed, at: int) -> Replayed:
    """Give one timeline of a replay."""
    which = slice(at, at + 1)
    return Replayed(
        total=run.total[which],
        ready=run.ready[which],
        backlog=run.backlog[which],
        late=run.late[which],
        before=run.before[which],
    )


def _days_of(lesson: Lesson) -> tuple[NDArray[np.int64], dict[str, str]]:
    """Days on which "no tide" and the distributions ahead were replayed, and who was not."""
    plain = lesson.trials.get(NO_TIDE.name)
    if plain is None:
        return np.empty(0, dtype=np.int64), {}
    rows = plain.rows
    if lesson.tried is not None:
        rows = np.intersect1d(rows, lesson.tried.trial.rows)
    left_out = {}
    for name, trial in lesson.trials.items():
        missing = len(np.setdiff1d(rows, trial.rows))
        if missing:
            left_out[name] = f"it needs a longer history for {missing} of these {len(rows)} days"
    return rows, left_out


def _candidates(
    ground: _Ground, lesson: Lesson, left_out: dict[str, str], release: float
) -> list[Option]:
    """Every candidate at one slow release."""
    judge, rows = ground.judge, ground.rows
    span = np.arange(rows[0], rows[-1] + 1)  # a release looks back over a day that judges nobody
    names: list[tuple[str, Candidate | None]] = []
    wanted = []
    for candidate in lesson.scores:
        trial = lesson.trial_of(candidate)
        if trial is not None and candidate.forecaster not in left_out:
            names.append((str(candidate), candidate))
            wanted.append(trial.wanted[0, np.isin(trial.rows, span)].ravel())
    if not names:
        return []
    floors = judge.released(np.stack(wanted), release, span).reshape(len(names), len(span), -1)
    judged = floors[:, np.isin(span, rows)].reshape(len(names), -1)
    return ground.options(names, judged, ground.hpa, release)


def _fixed(ground: _Ground, days: Days) -> Option:
    """Replicas for the P99 of the seven days before each day, and nothing above."""
    usual = []
    for row in ground.rows.tolist():
        days_before = np.arange(max(0, row - FIXED_DAYS), row)
        before = ground.judge.demand_on(days_before[ground.judge.judged(days_before)])
        usual.append(float(np.percentile(before, FIXED_LEVEL)) if len(before) else 0.0)
    need = replicas_for(np.array(usual), ground.judge.service.capacity)
    floors = np.repeat(np.maximum(need, 1), days.per_day)
    return ground.options([(FIXED, None)], floors[None, :], None)[0]


def _reactive(ground: _Ground, policy: TidePolicy) -> Option:
    """Nothing but the reactive autoscaler on the policy's minimum."""
    floor = max(1, policy.spec.floor.min or 1)
    floors = np.full((1, len(ground.demand)), floor, dtype=np.int64)
    return ground.options([(REACTIVE, None)], floors, ground.hpa)[0]
