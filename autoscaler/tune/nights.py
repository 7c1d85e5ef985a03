"""When to learn, and whether all candidates are compared or only what was chosen is fitted again.

A night that compares all costs six times one that fits the chosen candidate, and chooses the same
on all but a few (docs/decisions/0010). So a choice stands for a week, and each night between two
choices fits what stands on all there is. What was chosen, how it scored, how good its forecasts
were and what was advised is then taken over, with the time at which it was found.

Each policy has its own night of the week and its own moment of the night, the same in every
process: after a restart all choose at once, and a fleet's load is spread again within a week.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import lru_cache

from autoscaler.forecast import ALL, FitImpossible, Shape
from autoscaler.forecast.clock import DAY
from autoscaler.model import History, Knowledge, Memory
from autoscaler.policy import TidePolicy
from autoscaler.schema import walltime
from autoscaler.schema.calendar import number_of
from autoscaler.schema.candidates import forecaster_of
from autoscaler.tune.evidence import BLIND, ENOUGH
from autoscaler.tune.learn import learn
from autoscaler.tune.standing import Standing, refit

_LOG = logging.getLogger(__name__)

YOUNG, YOUNG_EVERY = 3 * DAY, 6 * 3600.0
"""A history younger than this is learnt from again so often, since each hour of it is news."""

NIGHT = 3
"""Local hour from which nightly fits are due: after the day's end, before its tide."""

SPREAD = 2 * 3600.0
"""Seconds after that within which each policy has its own moment, so that a fleet's fits do not
wait for each other."""

WEEK = 7
"""Nights after which all candidates are compared again. A choice on fewer than `ENOUGH` days stands
until there are enough for a lower price, one on fewer than `BLIND` until there are for a quantile.
A night longer than are missing, since of a service's first days half are not replayed."""

FEW = 2
"""Replayed days up to which every fit compares all: the first five days of a service, whose every
day may bring the first that a candidate can be replayed on."""


def standing_of(
    knowledge: Knowledge | None, memory: Memory, *, outdated: bool = False
) -> Standing | None:
    """Give what stands, for the next fit; None when nothing was chosen yet.

    Parameters
    ----------
    memory : how the forecasts fared since they were fitted
    outdated : whether the policy was edited since then
    """
    if knowledge is None or knowledge.choice is None:
        return None
    fell = memory.live.fell and memory.live.fit == knowledge.fitted_at
    return Standing(
        choice=knowledge.choice,
        order_level=knowledge.order_level,
        cover=knowledge.cover,
        scores=knowledge.scores,
        advice=knowledge.advice,
        accuracy=knowledge.accuracy,
        usual=knowledge.usual,
        doubted=outdated or fell,
    )


def due(policy: TidePolicy, knowledge: Knowledge | None, now: float) -> bool:
    """Whether it is time to learn (again): without knowledge, nightly, and often while young."""
    if knowledge is None or knowledge.fitted_at > now:
        return True
    if knowledge.span < YOUNG and now - knowledge.fitted_at >= YOUNG_EVERY:
        return True
    return _night(policy, knowledge.fitted_at) < _night(policy, now)


def tonight(
    policy: TidePolicy,
    history: History,
    now: float,
    standing: Standing | None,
    *,
    period: float = 60.0,
    shapes: tuple[Shape, ...] = ALL,
) -> Knowledge:
    """Learn from the history up to `now`: a choice among all, or what stands fitted again.

    Parameters
    ----------
    standing : from `standing_of`
    period, shapes : as in `learn`
    """
    if standing is not None and not choosing(policy, standing, now):
        try:
            return refit(policy, history, now, standing, period=period)
        except FitImpossible as error:
            _LOG.info("what stands cannot be fitted", extra={"why": str(error)})
    name = "" if standing is None else standing.choice.name
    return learn(policy, history, now, period=period, shapes=shapes, standing=name)


def choosing(policy: TidePolicy, standing: Standing, now: float) -> bool:
    """Whether a fit at `now` compares all candidates."""
    choice = standing.choice
    if standing.doubted or choice.at > now or choice.days <= FEW:
        return True
    pinned = policy.spec.forecast.candidate
    if not pinned.open and forecaster_of(choice.name) != pinned.forecaster:
        return True  # the history was too short for what is pinned
    before, tonight = (_night(policy, moment) for moment in (choice.at, now))
    for enough in (ENOUGH, BLIND):
        if choice.days < enough:
            return tonight - before > enough - choice.days
    own = _fingerprint(policy.key) % WEEK
    return (tonight - own) // WEEK > (before - own) // WEEK


def _night(policy: TidePolicy, moment: float) -> int:
    """Count the nights by the policy's clock, each beginning at its own moment.

    By the wall alone: an hour that comes twice is no second night, and after a day of 25 hours
    none begins at midnight.
    """
    wall = datetime.fromtimestamp(moment, walltime.zone(policy.spec.time_zone)).replace(tzinfo=None)
    return number_of(wall - timedelta(hours=NIGHT, seconds=_own_moment(policy.key)))


def _own_moment(key: str) -> float:
    """Whole seconds within `SPREAD`, the same every night and in every process."""
    return float(_fingerprint(key) % int(SPREAD))


@lru_cache(maxsize=1024)
def _fingerprint(key: str) -> int:
    """Mix a key into a number (FNV-1a)."""
    mixed = 2_166_136_261
    for byte in key.encode():
        mixed = (mixed ^ byte) * 16_777_619 % 2**32
    return mixed
