"""What goes wrong in a scenario, acting through the ports, so that production meets it there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from autoscaler.errors import (
    HistoryUnavailable,
    TargetUnavailable,
    WriteConflict,
    WriteUnavailable,
)
from autoscaler.model import Floats, History, Outcome, Samples, Target
from autoscaler.policy import TidePolicy
from autoscaler.ports import DemandSource
from autoscaler.world.service import World

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time in POSIX seconds, with a number that says how much."""

    begin: float
    end: float
    amount: float = 0.0

    def holds(self, now: float) -> bool:
        """Whether `now` lies in it."""
        return self.begin <= now < self.end


def within(stretches: Sequence[Stretch], now: float) -> bool:
    """Whether any stretch holds now."""
    return any(stretch.holds(now) for stretch in stretches)


class FaultyDemand:
    """A demand source with a slow scrape, outages, delay, gaps and wrong values.

    Parameters
    ----------
    source : what is true
    clock : the world's time, not the controller's
    away : no answer
    scrape : seconds between scrapes; the steps between two show the older one again
    delay : seconds until a finished step is there
    gaps : samples of these times are never there
    wrong : samples of these times are multiplied
    """

    def __init__(
        self,
        source: DemandSource,
        clock: Clock,
        *,
        away: Sequence[Stretch] = (),
        scrape: float = 0.0,
        delay: float = 0.0,
        gaps: Sequence[Stretch] = (),
        wrong: Sequence[Stretch] = (),
    ) -> None:
        self._source, self._clock = source, clock
        self._away, self._scrape, self._delay = away, scrape, delay
        self._gaps, self._wrong = gaps, wrong

    def read(self, policy: TidePolicy, until: float) -> History:
        """Show what is left of the truth."""
        now = self._clock()
        if within(self._away, now):
            raise HistoryUnavailable("no answer within 10 s", code="Timeout")
        history = self._source.read(policy, min(until, now) - self._delay)
        times, values = history.demand.times, history.demand.values
        if self._scrape > history.step:
            scraped = np.searchsorted(times, times // self._scrape * self._scrape)
            values = values[scraped]
        if self._gaps:
            there = np.ones(len(times), dtype=bool)
            for gap in self._gaps:
                there &= ~((times >= gap.begin) & (times < gap.end))
            times, values = times[there], values[there]
        for wrong in self._wrong:
            inside = (times >= wrong.begin) & (times < wrong.end)
            values = np.where(inside, (values * wrong.amount).astype(np.float32), values)
        return History(
            demand=Samples(times=times, values=_doubles(values)),
            step=history.step,
            read_at=until,
            series=history.series,
        )


def _doubles(values: Floats) -> Floats:
    """Give float64, as everywhere."""
    return np.asarray(values, dtype=np.float64)


class WorldTarget:
    """The HPA of a world: what production observes and writes, with the API's moods.

    Parameters
    ----------
    world : whose floor it is
    clock : the world's time
    away : neither reads nor writes are answered
    reverts : in these stretches an owner puts back the floor that it found, at once
    conflicts : share of writes that find the object moved
    rng : decides which
    """

    def __init__(
        self,
        world: World,
        clock: Clock,
        *,
        away: Sequence[Stretch] = (),
        reverts: Sequence[Stretch] = (),
        conflicts: float = 0.0,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._world, self._clock = world, clock
        self._away, self._reverts, self._conflicts = away, reverts, conflicts
        self._rng = rng or np.random.default_rng(0)
        self.original: int | None = None
        self.writes = 0

    def observe(self, policy: TidePolicy) -> Target:  # noqa: ARG002 - there is only one target
        """Read the target."""
        if within(self._away, self._clock()):
            raise TargetUnavailable("no answer within 5 s", code="Timeout")
        if within(self._reverts, self._clock()) and self.original is not None:
            self._world.floor = self.original
        return Target(
            uid="simulated",
            version=str(self.writes),
            floor=self._world.floor,
            ceiling=self._world.ceiling,
            original=self.original,
            replicas=self._world.total,
            ready=self._world.ready,
        )

    def write(self, policy: TidePolicy, target: Target, floor: int) -> Outcome:  # noqa: ARG002 - as above
        """Move the floor, guarded by what was observed."""
        if within(self._away, self._clock()):
            raise WriteUnavailable("no answer within 5 s")
        moved = target.floor != self._world.floor or target.ceiling != self._world.ceiling
        if moved or (self._conflicts and self._rng.random() < self._conflicts):
            raise WriteConflict("the object is not as it was observed")
        if self.original is None:
            self.original = self._world.floor
        self._world.floor = floor
        self.writes += 1
        return Outcome.WRITTEN
