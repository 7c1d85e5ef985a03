"""The `autoscaling/v2` HPA as a pure step: (settings, state, what one sync sees) → replicas.

Source: kubernetes pkg/controller/podautoscaler/horizontal.go, release 1.37. One call is one sync
of the controller; its period (15 s by default) is the caller's. All memory is the state, seeded
with the present replicas as the controller does after a restart. With raw recommendations in that
memory, a lowered floor is *not* protected by the stabilisation window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from autoscaler.reactive.metrics import Metric, Standing, Tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rate policy: at most `value` pods, or per cent of what stood before, in `period` s."""

    kind: Literal["Pods", "Percent"]
    value: int
    period: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """`behavior.scaleUp` or `behavior.scaleDown`.

    Attributes
    ----------
    window : seconds of stabilisation
    select : Max takes the largest change that a rule allows, Min the smallest, Disabled none
    """

    rules: tuple[Rule, ...]
    window: float
    select: Literal["Max", "Min", "Disabled"] = "Max"
    tolerance: float = 0.1


UP = Direction(
    rules=(
        Rule(kind="Pods", value=4, period=15.0),
        Rule(kind="Percent", value=100, period=15.0),
    ),
    window=0.0,
)
DOWN = Direction(rules=(Rule(kind="Percent", value=100, period=15.0),), window=300.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hpa:
    """Settings of one HPA apart from its bounds, which move.

    Attributes
    ----------
    up, down : as in `behavior`, with the API's defaults
    behavior : whether the object has a `behavior`; without one the older rules hold (largest of
        the last `down.window`, up to max(2n, 4) a sync)
    """

    up: Direction = UP
    down: Direction = DOWN
    behavior: bool = True

    @property
    def tolerance(self) -> Tolerance:
        """Both directions' tolerance."""
        return Tolerance(up=self.up.tolerance, down=self.down.tolerance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A number and when it was."""

    at: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaState:
    """What the controller remembers: raw recommendations, and replicas added and removed."""

    recommended: tuple[Stamp, ...] = ()
    added: tuple[Stamp, ...] = ()
    removed: tuple[Stamp, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one sync sees.

    Attributes
    ----------
    floor, ceiling : `minReplicas`, `maxReplicas` as they stand now
    """

    standing: Standing
    metrics: tuple[Metric, ...]
    floor: int
    ceiling: int


def hpa_step(hpa: Hpa, state: HpaState, look: Look) -> tuple[int, HpaState]:
    """One sync: replicas that are written, and what is remembered.

    Bounds come first and skip metrics, tolerance, windows and rates: a raised floor takes effect
    at once, even while the metrics are away.
    """
    now, present = look.standing.now, look.standing.spec
    if not state.recommended:
        state = replace(state, recommended=(Stamp(at=now, count=present),))
    if present == 0 and look.floor != 0:
        return 0, state  # disabled by hand
    if present > look.ceiling:
        desired = look.ceiling
    elif present < look.floor:
        desired = look.floor
    else:
        wanted = _wanted(hpa, look)
        if wanted is None:
            return present, state
        desired = _normalised(hpa, state, look, wanted)
        state = _remember(hpa, state, Stamp(at=now, count=wanted))
    return desired, _moved(hpa, state, now, desired - present)


def _wanted(hpa: Hpa, look: Look) -> int | None:
    """Largest proposal; None when all metrics failed, or some did and the rest would shrink."""
    proposals = [metric.propose(look.standing, hpa.tolerance) for metric in look.metrics]
    known = [proposal for proposal in proposals if proposal is not None]
    if not known:
        return None
    wanted = max(known)
    if len(known) < len(proposals) and wanted < look.standing.spec:
        return None
    return wanted


def _normalised(hpa: Hpa, state: HpaState, look: Look, wanted: int) -> int:
    """Windows, then rates, then bounds."""
    now, present = look.standing.now, look.standing.spec
    if not hpa.behavior:
        recent = [s.count for s in state.recommended if s.at >= now - hpa.down.window]
        limit = min(look.ceiling, max(2 * present, 4))
        return min(max(wanted, *recent, look.floor), limit)
    lowest = min([wanted, *_since(state.recommended, now - hpa.up.window)])
    highest = max([wanted, *_since(state.recommended, now - hpa.down.window)])
    stable = min(max(present, lowest), highest)
    if stable > present:
        allowed = max(_limit_up(hpa.up, state, present, now), present)
        return min(stable, allowed, look.ceiling)
    if stable < present:
        allowed = min(_limit_down(hpa.down, state, present, now), present)
        return max(stable, allowed, look.floor)
    return stable


def _since(stamps: tuple[Stamp, ...], cutoff: float) -> list[int]:
    """List the counts younger than the cutoff."""
    return [stamp.count for stamp in stamps if stamp.at > cutoff]


def _before(state: HpaState, present: int, cutoff: float) -> int:
    """Replicas at the beginning of a rule's period."""
    return present - sum(_since(state.added, cutoff)) + sum(_since(state.removed, cutoff))


def _limit_up(up: Direction, state: HpaState, present: int, now: float) -> int:
    """Most replicas that the rules allow now."""
    if up.select == "Disabled" or not up.rules:
        return present
    proposed = []
    for rule in up.rules:
        before = _before(state, present, now - rule.period)
        grown = math.ceil(before * (1 + rule.value / 100))
        proposed.append(before + rule.value if rule.kind == "Pods" else grown)
    return max(proposed) if up.select == "Max" else min(proposed)


def _limit_down(down: Direction, state: HpaState, present: int, now: float) -> int:
    """Fewest replicas that the rules allow now."""
    if down.select == "Disabled" or not down.rules:
        return present
    proposed = []
    for rule in down.rules:
        before = _before(state, present, now - rule.period)
        shrunk = int(before * (1 - rule.value / 100))
        proposed.append(before - rule.value if rule.kind == "Pods" else shrunk)
    return min(proposed) if down.select == "Max" else max(proposed)


def _remember(hpa: Hpa, state: HpaState, stamp: Stamp) -> HpaState:
    """Keep a raw recommendation, and no older one than the longer window asks for."""
    cutoff = stamp.at - max(hpa.up.window, hpa.down.window)
    kept = tuple(old for old in state.recommended if old.at >= cutoff)
    return replace(state, recommended=(*kept, stamp))


def _moved(hpa: Hpa, state: HpaState, now: float, change: int) -> HpaState:
    """Remember replicas added or removed, for the rules' periods."""
    if change == 0 or not hpa.behavior:
        return state
    longest = max((rule.period for rule in (*hpa.up.rules, *hpa.down.rules)), default=0.0)
    added = tuple(stamp for stamp in state.added if stamp.at > now - longest)
    removed = tuple(stamp for stamp in state.removed if stamp.at > now - longest)
    stamp = Stamp(at=now, count=abs(change))
    if change > 0:
        return replace(state, added=(*added, stamp), removed=removed)
    return replace(state, added=added, removed=(*removed, stamp))
