"""The day ahead of one policy, with the stages of `decide` run over a longer horizon.

Apart from the command `plan`, which fetches the history and prints, so that it can be tested on
plain arrays. What it shows is what would happen if all came as forecast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler import dates, plan
from autoscaler.capacity import ACTUATION, lead_time, need_of, rule_of
from autoscaler.cli.advised import Stands
from autoscaler.cli.options import duration_text
from autoscaler.demand import regular, seen_of
from autoscaler.errors import ForetideError
from autoscaler.forecast import foresee, pinned
from autoscaler.model import (
    Change,
    Floats,
    Forecast,
    History,
    Ints,
    Knowledge,
    Need,
    Reason,
    Series,
    Target,
)
from autoscaler.policy import Spec, TidePolicy
from autoscaler.report import local_time, value_text
from autoscaler.schema.cold_start import LEVELS
from autoscaler.tune.advice import UNKNOWN, Above

_UNBOUNDED = 1_000_000  # stands for "no ceiling known"; never shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A change of the floor and why it comes when it comes.

    Attributes
    ----------
    ready : share of the replicas that it orders and the moment by which they are Ready, where it is
        known how starts are spread
    """

    at: float
    before: int
    floor: int
    why: str
    ready: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAhead:
    """Everything that the pictures and the JSON of `plan` show.

    Attributes
    ----------
    target : as observed, or None when it could not be asked; then `assumed` says what stands for it
    above : the autoscaler of that target, as far as it is known
    price : of a replica-hour, None when it was not told
    chosen : candidate that the controller chose last, "" where no status of a cluster says it
    floors : shape (h,), from `now` on
    """

    policy: TidePolicy
    now: float
    series: Series
    forecast: Forecast
    need: Need
    floors: Ints
    changes: tuple[Explained, ...]
    knowledge: Knowledge
    target: Target | None
    assumed: str
    ceiling: int | None
    period: float
    reasons: tuple[Reason, ...]
    doubts: tuple[Reason, ...]
    above: Above = UNKNOWN
    price: float | None = None
    chosen: str = ""

    @property
    def stands(self) -> Stands:
        """What stands at the target, as an advice compares with it."""
        ceiling = None if self.target is None else self.target.ceiling
        highest = int(self.floors.max())
        return Stands(above=self.above, ceiling=ceiling, floor=highest, price=self.price)

    @property
    def times(self) -> Floats:
        """Starts of the steps ahead, shape (h,)."""
        steps: Floats = self.forecast.start + self.forecast.step * np.arange(
            len(self.floors), dtype=np.float64
        )
        return steps

    @property
    def replica_hours(self) -> float:
        """Replica-hours of the floors over the horizon."""
        return float(self.floors.sum()) * self.forecast.step / 3600.0


def look_ahead(  # long: a line for each field of what it gives
    policy: TidePolicy,
    history: History,
    knowledge: Knowledge,
    target: Target | None,
    now: float,
    *,
    horizon: float = 86_400.0,
    period: float = 60.0,
) -> DayAhead:
    """Run demand, forecast, need and plan for `horizon` seconds from `now`.

    Parameters
    ----------
    target : as observed; None takes the policy's bounds and the present need in its place

    Raises
    ------
    ForetideError
        There is no demand to forecast from.
    """
    spec = policy.spec
    series, doubts = regular(history, now, calm=dates.calm(spec, now))
    lead = lead_time(spec.cold_start_seconds, period)
    forecast, reasons, doubts = _foreseen(policy, series, knowledge, horizon, lead, doubts)
    level, cover = rule_of(knowledge, spec)
    need = need_of(
        forecast,
        level,
        spec.capacity.per_replica,
        cover=cover,
        **seen_of(series, history, spec.release.break_even, spec.promise),
    )
    ceiling = _ceiling(policy, target)
    present, original, assumed = _standing(policy, target, need)
    floors, changes = plan.outlook(
        policy,
        need,
        present,
        lead,
        ceiling=ceiling or _UNBOUNDED,
        original=original,
        lowest=0 if target is None else target.lowest,
        row=knowledge.row,
    )
    return DayAhead(
        policy=policy,
        now=now,
        series=series,
        forecast=forecast,
        need=need,
        floors=floors,
        changes=_explained(policy, need, present, changes, forecast.at(level), lead, ceiling),
        knowledge=knowledge,
        target=target,
        assumed=assumed,
        ceiling=ceiling,
        period=period,
        reasons=reasons,
        doubts=doubts,
    )


def _foreseen(
    policy: TidePolicy,
    series: Series,
    knowledge: Knowledge,
    horizon: float,
    lead: float,
    doubts: tuple[Reason, ...],
) -> tuple[Forecast, tuple[Reason, ...], tuple[Reason, ...]]:
    """Forecast over the horizon, with its reasons and all doubts; without one there is no plan."""
    forecast = None
    reasons: tuple[Reason, ...] = ()
    if len(series):
        steps = plan.steps_ahead(horizon, series.step)
        level = knowledge.order_level
        events = dates.events(policy.spec, series.end, horizon)
        forecast, reasons, failed = foresee(series, knowledge, events, steps, level, lead)
        doubts = (*doubts, *failed)
        if forecast is not None:
            reasons = (*reasons, *pinned(policy.spec.forecast.use, forecast.by))
    if forecast is None:
        said = "; ".join(doubt.sentence for doubt in doubts) or "the history is empty"
        raise ForetideError(f"{policy.key}: nothing to forecast from: {said}")
    return forecast, reasons, doubts


def _ceiling(policy: TidePolicy, target: Target | None) -> int | None:
    """Lowest bound from above that is known."""
    known = [
        bound for bound in (policy.spec.floor.max, target.ceiling if target else None) if bound
    ]
    return min(known) if known else None


def _standing(policy: TidePolicy, target: Target | None, need: Need) -> tuple[int, int, str]:
    """Return the floor now, the floor that was found, and what had to be assumed."""
    if target is not None:
        original = target.floor if target.original is None else target.original
        return target.floor, original, ""
    least = 1 if policy.spec.floor.min is None else policy.spec.floor.min
    most = policy.spec.floor.max or _UNBOUNDED
    now = min(max(least, need.now), most)
    return now, least, f"a floor of {now} now, {least} at least: the target was not read"


def _explained(
    policy: TidePolicy,
    need: Need,
    present: int,
    changes: tuple[Change, ...],
    demand: Floats,
    lead: float,
    ceiling: int | None,
) -> tuple[Explained, ...]:
    """Give every change of the floor its reason."""
    explained, before = [], present
    for change in changes:
        if change.floor != before:
            raised = change.floor > before
            why = (
                _why_raised(policy, need, demand, change, lead)
                if raised
                else _why_lowered(policy, need, change, lead, ceiling)
            )
            explained.append(
                Explained(
                    at=change.at,
                    before=before,
                    floor=change.floor,
                    why=why,
                    ready=_ready(policy.spec, change.at) if raised else (),
                )
            )
        before = change.floor
    return tuple(explained)


def _ready(spec: Spec, at: float) -> tuple[tuple[float, float], ...]:
    """Say which share of what is ordered at a moment is Ready when."""
    return tuple(
        (level, at + ACTUATION + seconds)
        for level, seconds in zip(LEVELS, spec.cold_start.spread, strict=False)
    )


def _why_raised(policy: TidePolicy, need: Need, demand: Floats, change: Change, lead: float) -> str:
    """Say which demand a raise is for, and how long ahead it comes."""
    spec, ahead = policy.spec, plan.steps_ahead(lead, need.step)
    first = round((change.at - need.start) / need.step)
    known = 0
    if need.least is not None and first <= ahead:  # up to there decided on expected cost
        known = ahead + 1
        if change.floor <= need.least:
            return _by_cost(need.least, lead)
    if first == 0 and change.floor <= need.now:
        return f"the newest demand alone needs {need.now}"
    after = max(first, known)
    reaching = np.flatnonzero(need.order[after : first + ahead + 1] >= change.floor)
    if not len(reaching):
        asked, said = dates.at_least(spec, 0, change.at, ahead * need.step)
        if said and asked >= change.floor:
            return said[0].sentence.removesuffix(", 0 without it")
        return "the least that the policy allows"
    at = after + int(reaching[0])
    moment = need.start + at * need.step
    near = dates.events(spec, moment, 0.0)
    events = [event.name for event in near if event.first <= moment < event.last]
    during = f" (event {', '.join(events)})" if events else ""
    clock = local_time(moment, spec.time_zone, dated=False)
    return f"{value_text(float(demand[at]))}/s expected at {clock}{during} need {need.order[at]}"


def _why_lowered(
    policy: TidePolicy, need: Need, change: Change, lead: float, ceiling: int | None
) -> str:
    """Say why replicas are let go now."""
    if change.floor == ceiling:
        return f"no more than {ceiling} may stand, whatever is needed"
    first = round((change.at - need.start) / need.step)
    ahead = plan.steps_ahead(lead, need.step)
    if need.least is not None and first <= ahead:
        return f"{_by_cost(need.least, lead)}, and no more are worth keeping"
    again = duration_text(policy.spec.release.break_even)
    needed = int(need.order[min(first, len(need.order) - 1)])
    return f"{needed} needed, and {change.floor + 1} not again within {again}"


def _by_cost(least: int, seconds: float) -> str:
    """Say what the distribution of the next minutes decides."""
    return f"{least} cost least for what may come within {duration_text(seconds)}"
