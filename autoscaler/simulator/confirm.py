"""Past days of one service once more, by the production cycle itself.

The comparison of all candidates (`tune.compare`) replays whole arrays, with corrections learnt a
few times and not nightly. So its finalists fly again here: `cycle.run_once` and `tune.tonight` see
at each moment what the history held then, with the candidate pinned, exactly as the controller
would. What they come to is the truth that the comparison is read against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from autoscaler.errors import HistoryUnavailable
from autoscaler.forecast import ALL, AUTOREG, FAST, Shape
from autoscaler.forecast.clock import DAY, wall_seconds
from autoscaler.forecast.tidal import MOST_DAYS
from autoscaler.model import Floats, History, Mode, Samples, Series
from autoscaler.policy import TidePolicy
from autoscaler.schema.candidates import AHEAD, Candidate
from autoscaler.simulator.plain import PlainWorld, reference_cost
from autoscaler.simulator.ports import NoRecords, PlainTarget, SimulatedPorts
from autoscaler.simulator.production import fly, run_of
from autoscaler.simulator.runs import Run
from autoscaler.tune.judge import Judge


class PastDemand:
    """A history that is shown as it was at any moment: finished steps before it, no others."""

    def __init__(self, history: History) -> None:
        self._history = history

    def read(self, policy: TidePolicy, until: float) -> History:
        """Show what had ended by `until`, as far back as the policy asks."""
        whole = self._history
        since = until - policy.spec.demand.history
        demand = _between(whole.demand, since, until - whole.step)
        if not len(demand):
            raise HistoryUnavailable("nothing was recorded yet", code="NoSeries")
        marks = whole.saturated
        saturated = None if marks is None else _between(marks, since, until - whole.step)
        return replace(whole, demand=demand, saturated=saturated, read_at=until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A candidate on past days, by the production cycle.

    Attributes
    ----------
    name : the candidate
    days : how many whole days
    begins : POSIX seconds of the first
    demand : shape (n,), holes bridged by a line
    run : its floors and account
    """

    name: str
    days: int
    begins: float
    demand: Floats
    run: Run


def confirm(
    policy: TidePolicy,
    history: History,
    candidate: Candidate,
    stretch: PlainWorld,
    progress: Callable[[int, int], None] | None = None,
) -> Confirmed:
    """Fly the production cycle over the run of `stretch` with the candidate pinned.

    Parameters
    ----------
    stretch : from `stretch_of`
    progress : told (steps done, steps in all) now and then

    Raises
    ------
    KeyboardInterrupt
        Somebody interrupted it.
    """
    past = pinned(policy, candidate)
    target = PlainTarget(floor=past.spec.floor.min or 1)
    ports = SimulatedPorts(
        demand=PastDemand(history), targets=target, floors=target, records=NoRecords()
    )
    shapes = shapes_for(past, candidate, stretch.start / stretch.day)
    flight = fly(stretch, past, ports=ports, progress=progress, shapes=shapes)
    if flight.steps < len(stretch.run_demand):
        raise KeyboardInterrupt  # a part of the days is no evidence
    return Confirmed(
        name=str(candidate),
        days=len(stretch.run_demand) // stretch.day,
        begins=stretch.begins + stretch.start * stretch.service.step,
        demand=stretch.run_demand,
        run=run_of(stretch, flight, reference_cost(stretch)),
    )


def shapes_for(policy: TidePolicy, candidate: Candidate, days: float) -> tuple[Shape, ...]:
    """Shapes that a fit must try for the same floors as with all of them.

    AutoReg costs most of a fit. Where another shape is pinned it is not looked at. Where `ahead`
    is, it could draw the day, on which a floor depends only by what the calendar adds, while no
    replica stands, and, in a history of less than `days` 21, in how many days were judged.
    """
    spec = policy.spec
    if candidate.forecaster == AHEAD:
        drawn = spec.floor.min == 0 or spec.events or spec.recurring or days < MOST_DAYS
        return ALL if drawn else FAST
    return ALL if candidate.forecaster == AUTOREG.name else FAST


def pinned(policy: TidePolicy, candidate: Candidate) -> TidePolicy:
    """Give the policy with that candidate pinned, acting whatever its mode, and not paused."""
    metadata = policy.metadata.model_copy(update={"annotations": {}})
    forecast = policy.spec.forecast.model_copy(update={"use": str(candidate)})
    acting = policy.copy_with(forecast=forecast, mode=Mode.ACT)
    return acting.model_copy(update={"metadata": metadata})


def stretch_of(
    series: Series, judge: Judge, zone: str, days: int, target: float | None
) -> PlainWorld | None:
    """Lay a world over the newest whole days of a series; None when there is none.

    Parameters
    ----------
    zone : whose days
    days : how many, fewer when there are not so many after the first two
    """
    wall = wall_seconds(series.start, series.step, len(series), zone)
    day = np.floor(wall / DAY)
    starts = np.flatnonzero(np.diff(day, prepend=day[0] - 1) > 0)
    whole = [int(at) for at in starts if wall[at] % DAY < series.step]
    per_day = round(DAY / series.step)
    last = whole[-1] if whole else 0
    stop = len(series) if len(series) - last >= per_day else last
    begins = [at for at in whole if 2 * per_day <= at < stop][-days:]
    known = np.flatnonzero(~np.isnan(series.values))
    if not begins or not len(known):
        return None
    bridged = np.interp(np.arange(len(series)), known, series.values[known])
    return PlainWorld(
        demand=np.maximum(bridged[:stop], 0.0),
        service=judge.service,
        start=begins[0],
        measured=begins[0],
        target=target,
        begins=series.start,
    )


def _between(samples: Samples, since: float, until: float) -> Samples:
    """Cut samples to [since, until]."""
    kept = (samples.times >= since - 1e-6) & (samples.times <= until + 1e-6)
    return Samples(times=samples.times[kept], values=samples.values[kept])
