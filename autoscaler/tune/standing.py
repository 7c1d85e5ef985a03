"""What stands, and a night without a choice: it is fitted on all there is, as a choice would.

Nothing is compared and nothing judged: scores, backtest and what was advised above our floor are
those of the choice. Whether the forecasts still hold is judged live (`autoscaler.fallback`), and
where they do not, the next night chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autoscaler.demand import regular
from autoscaler.forecast import (
    ALL,
    FitImpossible,
    TidalForecaster,
    learn_events,
    ordinary,
)
from autoscaler.forecast.days import Days
from autoscaler.forecast.response import misses_of
from autoscaler.forecast.tidal import MOST_DAYS, Tidal, days_of
from autoscaler.model import Accuracy, Advice, Choice, Fitted, History, Knowledge, Usual
from autoscaler.policy import Spec, TidePolicy
from autoscaler.schema.candidates import forecaster_of
from autoscaler.tune.advice import renewed
from autoscaler.tune.judge import Judge
from autoscaler.tune.learn import tide_of
from autoscaler.tune.lesson import fitted_of, kinds_for, tables_for


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
    spec, choice = policy.spec, standing.choice
    series, _ = regular(history, now)
    days = days_of(ordinary(series, spec.event_windows), spec.time_zone, kinds_for(spec, series))
    judge = Judge(policy, days, period)
    found = Knowledge(
        fitted=_fitted(spec, choice, days, judge.reach),
        order_level=standing.order_level,
        cover=standing.cover,
        fitted_at=now,
        scores=standing.scores,
        tide=tide_of(days),
        events=learn_events(series, days, spec.event_windows),
        span=len(series) * series.step,
        row=judge.row,
        choice=choice,
        accuracy=standing.accuracy,
        usual=standing.usual,
    )
    if standing.advice is None:
        return found
    return replace(found, advice=renewed(standing.advice, policy, series, found))


def _fitted(spec: Spec, choice: Choice, days: Days, near: int) -> Fitted:
    """Fit what was chosen, as the choice did."""
    return fitted_of(
        forecaster_of(choice.name), choice.drawn, days, near,
        lambda name: _tidal(name, days, near), lambda: tables_for(spec, days),
    )  # fmt: skip


def _tidal(name: str, days: Days, reach: int) -> Tidal:
    """Fit one shape."""
    shape = next((shape for shape in ALL if shape.name == name), None)
    misses = None if shape is None else misses_of(shape, days, reach, MOST_DAYS)
    if shape is None or misses is None:
        raise FitImpossible(f"{name!r} cannot be learnt from {days.count} days")
    return TidalForecaster(shape=shape).finish(days, misses)
