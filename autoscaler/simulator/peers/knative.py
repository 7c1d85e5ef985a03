"""Knative's pod autoscaler (KPA) on concurrency, ticks of 2 s within each step.

A replica's concurrency limit stands for its capacity; target = 70 % of it. In a world of
one-minute steps the stable (60 s) and the panic window (6 s) see the same load (ours). Panic
starts when the load asks for twice the *ready* pods, and while it lasts nothing shrinks: with a
long cold start that is until the pods are there. No scale to zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from autoscaler.simulator.peers import ByWishes, Settings, Wish
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.stepping import Moment, wish_of

TICK = 2.0
STABLE = 60.0


class Kpa:
    """The decider's state: until when it panics, and the most that it wanted in that panic.

    Parameters
    ----------
    target : load that one replica is aimed at
    threshold : share of ready pods at which panic starts
    """

    def __init__(self, target: float, threshold: float) -> None:
        self._target, self._threshold = target, threshold
        self._now = 0.0
        self._panic_until = float("-inf")
        self._most = 0

    def tick(self, load: float, ready: int) -> int:
        """One evaluation with that load and that many ready pods."""
        self._now += TICK
        ready = max(1, ready)
        asked = wish_of(load / self._target)
        wanted = min(max(asked, ready // 2), 1000 * ready)
        over = asked / ready >= self._threshold
        if over:
            if self._now > self._panic_until:
                self._most = 0
            self._panic_until = self._now + STABLE
        if self._now <= self._panic_until:
            self._most = max(self._most, wanted)
            return self._most
        return wanted


@dataclass(frozen=True, slots=True)
class Knative(ByWishes):
    """KPA with its defaults."""

    name: str = "kpa"
    source: str = "knative/serving pkg/autoscaler/scaling/autoscaler.go, defaults"
    history_days: int = 0

    @property
    def defaults(self) -> Settings:
        """Target utilisation 70 %, panic at 200 %."""
        return {"utilisation": 0.7, "threshold": 2.0}

    @property
    def grid(self) -> tuple[Settings, ...]:
        """Target utilisation and panic threshold."""
        return tuple(
            {"utilisation": utilisation, "threshold": threshold}
            for utilisation in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
            for threshold in (1.5, 2.0)
        )

    def wish(self, world: PlainWorld, settings: Settings) -> Wish:
        """Thirty ticks a minute; pods that are let go are gone at the next tick."""
        kpa = Kpa(world.service.capacity * settings["utilisation"], settings["threshold"])
        ticks = max(1, round(world.service.step / TICK))

        def wish(moment: Moment) -> int:
            total, ready = moment.total, moment.ready
            for _ in range(ticks):
                total = max(1, kpa.tick(moment.observed, ready))
                ready = min(ready, total)
            return total

        return wish


PEERS = (Knative(),)
