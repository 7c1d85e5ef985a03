"""What stands, and a night without a choice: it is fitted on all there is, as a choice would.

Nothing is compared and nothing judged: scores, backtest and what was advised above our floor are
those of the choice. Whether the forecasts still hold is judged live (`autoscaler.fallback`), and
where they do not, the next night chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autoscaler.capacity import ACTUATION
from autoscaler.demand import regular
from autoscaler.forecast import (
    ALL,
    Drawn,
    FitImpossible,
    Tidal,
    TidalForecaster,
    learn_events,
    ordinary,
)
from autoscaler.forecast.ahead import TideAhead, reach_of, tables_of
from autoscaler.forecast.days import Days
from autoscaler.forecast.response import misses_of
from autoscaler.forecast.tidal import MOST_DAYS, days_of
from autoscaler.model import Accuracy, Advice, Choice, Fitted, History, Knowledge, Usual
from autoscaler.policy import Spec, TidePolicy
from autoscaler.schema.candidates import candidate_of
from autoscaler.tune.advice import renewed
from autoscaler.tune.judge import Judge
from autoscaler.tune.learn import tide_of
from autoscaler.tune.lesson import kinds_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What stands, as far as a night needs it; small enough to go to another process.

    Attributes
    ----------
    choice, order_level, cover, scores, advice, accuracy, usual : as in `Knowledge`
    doubted : whether all are to be compared whatever the night: the forecasts left the range of
        their backtest since the last fit, or the policy was edited
    """

    choice: Choice
    order_level: float
    cover: float | None = None
    scores: Mapping[str, float]
    advice: Advice | None = None
    accuracy: tuple[Accuracy, ...] = ()
    usual: Usual | None = None
    doubted: bool = False


def refit(
    policy: TidePolicy, history: History, now: float, standing: Standing, *, period: float = 60.0
) -> Knowledge:
    """Fit what stands on the history up to `now`, and take the rest over.

    Parameters
    ----------
    standing : what was chosen on an earlier night
    period : seconds between decisions, part of the lead time

    Raises
    ------
    FitImpossible
        This history does not carry what stands.
    """
    spec = policy.spec
    series, _ = regular(history, now)
    days = days_of(ordinary(series, spec.event_windows), spec.time_zone, kinds_for(spec, series))
    judge = Judge(policy, days, period)
    found = Knowledge(
        fitted=_fitted(spec, standing, days, judge.reach),
        order_level=standing.order_level,
        cover=standing.cover,
        fitted_at=now,
        scores=standing.scores,
        tide=tide_of(days),
        events=learn_events(series, days, spec.event_windows),
        span=len(series) * series.step,
        row=judge.row,
        choice=standing.choice,
        accuracy=standing.accuracy,
        usual=standing.usual,
    )
    if standing.advice is None:
        return found
    return replace(found, advice=renewed(standing.advice, policy, series, found))


def _fitted(spec: Spec, standing: Standing, days: Days, reach: int) -> Fitted:
    """Fit the forecaster that draws the day, and what decides where that is another."""
    far = _tidal(standing.choice.drawn, days, reach)
    if standing.cover is None:
        name = candidate_of(standing.choice.name).forecaster
        if name == far.name:
            return far
        return Drawn(near=_tidal(name, days, reach), far=far, reach=reach + 1)
    ahead = reach_of(spec.cold_start_seconds, ACTUATION, spec.release.break_even, days.step)
    return TideAhead.of(far, days, tables_of(days, ahead.window), ahead)


def _tidal(name: str, days: Days, reach: int) -> Tidal:
    """Fit one shape."""
    shape = next((shape for shape in ALL if shape.name == name), None)
    misses = None if shape is None else misses_of(shape, days, reach, MOST_DAYS)
    if shape is None or misses is None:
        raise FitImpossible(f"{name!r} cannot be learnt from {days.count} days")
    return TidalForecaster(shape=shape).finish(days, misses)
