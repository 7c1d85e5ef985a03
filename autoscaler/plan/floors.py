"""The floor wanted now: order a lead time ahead, keep what comes back before its break-even."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from autoscaler.model import Change, Code, Ints, Memory, Need, Plan, Reason, Wanted
from autoscaler.plan.paths import follow, largest_ahead, largest_behind
from autoscaler.policy import Spec
from autoscaler.schema.cold_start import LEVELS


def steps_ahead(seconds: float, step: float) -> int:
    """Whole steps after the present one that a span of seconds reaches into."""
    return max(0, math.ceil(seconds / step - 1e-9))


ROWS, LONGEST = 3, 1800.0
"""Rows of a coarse history that a release looks back over, and seconds beyond which it does not."""


def looking_back(after: float, row: float) -> float:
    """Seconds within which the highest floor wanted is kept: `release.after`, or three rows.

    A history in rows of ten minutes tells one thing in each: ten minutes back are one observation,
    and one low row is no ebb. On services whose history holds each value for 5 to 30 minutes this
    is worth 5 % of the score (docs/decisions/0004).

    Parameters
    ----------
    row : `Knowledge.row`, seconds
    """
    return max(after, min(ROWS * row, LONGEST))


def horizon(lead: float, break_even: float, step: float) -> int:
    """Count the steps that a decision must foresee: a lead time and then a break-even."""
    return steps_ahead(lead, step) + steps_ahead(break_even, step) + 1


def path_of(
    present: int, need: Need, lead: float, break_even: float, least: Ints | None = None
) -> Ints:
    """Floors from now on if all comes as forecast, shape (h,).

    A replica needed in [t, t + lead] must stand (be ordered) at t; one that stands and is not
    needed is kept while the median needs it again, ordered in time, within the break-even.
    `least` is what must be Ready at every step whatever is needed, shape (h,).
    """
    order = _ordered(need, lead, least)
    return follow(present, order, _kept(need, need.keep, lead, break_even, least))


def _ordered(need: Need, lead: float, least: Ints | None = None) -> Ints:
    """Say what must stand at each step, shape (h,)."""
    ahead, needed = steps_ahead(lead, need.step), need.order
    if need.least is not None:
        # what comes within a lead time is decided on expected cost; what comes after it is not
        needed = needed.copy()
        needed[: ahead + 1] = need.least
    order = largest_ahead(needed, ahead)
    order[0] = max(order[0], need.now)
    return order if least is None else np.maximum(order, largest_ahead(least, ahead))


def _kept(
    need: Need, again: Ints, lead: float, break_even: float, least: Ints | None = None
) -> Ints:
    """Say up to what is kept of what stands at each step, since it is needed again; (h,)."""
    ahead = steps_ahead(lead, need.step)
    reach = ahead + steps_ahead(break_even, need.step)
    keep = largest_ahead(again, reach)
    if need.least is not None and need.most is not None:
        keep[: ahead + 1] = max(need.most, need.recent)
    return keep if least is None else np.maximum(keep, largest_ahead(least, reach))


def make(  # long: two paths, the one that decides and the calm one that is told
    present: int,
    need: Need,
    lead: float,
    break_even: float,
    least: Ints | None = None,
    after: float = 0.0,
    memory: Memory | None = None,
) -> Plan:
    """Plan from what stands now (`present`), what is needed, and how long a start takes.

    Parameters
    ----------
    least : what must be Ready at every step by the calendar, shape (h,); it is in the floors to
        come, and not in the floor wanted now, so that both can be told apart
    after : seconds that a release looks back over
    memory : with the floors that were wanted in them

    Returns
    -------
    Plan
        `floor` is wanted now. `changes` tells the floors to come as far as the need is known.
    """
    order, keep = _ordered(need, lead), _kept(need, need.keep, lead, break_even)
    floor = max(int(order[0]), min(present, int(keep[0])))
    ahead = steps_ahead(lead, need.step)
    first = floor if least is None else max(floor, int(least[: ahead + 1].max()))
    # as `outlook` draws it, so that it does not turn with the noise of every cycle: what is
    # ordered again within the break-even is kept, and what was wanted is let go slowly
    calm = _kept(need, np.maximum(need.keep, need.order), lead, break_even, least)
    if least is not None:
        order = _ordered(need, lead, least)
    past = [] if memory is None else _held(memory.wanted, first, present, after, need)
    path = follow(max([first, *(held for _, held in past)]), order, calm)
    path[0] = first
    path = _released(path, past, steps_ahead(after, need.step))
    return Plan(
        floor=floor,
        lead=lead,
        changes=changes_of(path, need.start, need.step),
        reasons=_reasons(need, lead, floor, break_even),
    )


def _held(
    wanted: tuple[Wanted, ...], first: int, present: int, after: float, need: Need
) -> list[tuple[int, int]]:
    """List what a slow release keeps of floors above `first`: up to which step, and how many."""
    return [
        (until, min(past.floor, present))
        for past in wanted
        if min(past.floor, present) > first
        and (until := math.floor((past.at + after - need.start) / need.step)) >= 0
    ]


def _released(path: Ints, past: list[tuple[int, int]], after: int) -> Ints:
    """Let go slowly what falls along a path, and what was wanted before it."""
    if not past and (path[1:] >= path[:-1]).all():
        return path
    released = largest_behind(path, after)
    for until, held in past:
        kept = released[: until + 1]
        np.maximum(kept, held, out=kept)
    return released


def changes_of(path: Ints, start: float, step: float) -> tuple[Change, ...]:
    """Moments at which a path changes, its first floor left out."""
    at = np.flatnonzero(path[1:] != path[:-1]) + 1
    return tuple(Change(at=start + int(i) * step, floor=int(path[i])) for i in at)


def within(plan: Plan | None, floor: int, least: int, most: int) -> Plan | None:
    """Give a plan whose changes are those of a floor that stays within its bounds.

    Parameters
    ----------
    floor : that stands from now on, after all guards
    least, most : bounds; the second wins
    """
    if plan is None:
        return None
    told: list[Change] = []
    for change in plan.changes:
        bounded = min(max(change.floor, least), most)
        if bounded != (told[-1].floor if told else floor):
            told.append(change if bounded == change.floor else replace(change, floor=bounded))
    return plan if (changes := tuple(told)) == plan.changes else replace(plan, changes=changes)


def _reasons(need: Need, lead: float, floor: int, break_even: float) -> tuple[Reason, ...]:
    """Why the floor wanted now is what it is."""
    ahead = steps_ahead(lead, need.step)
    window = need.order[: ahead + 1]
    peak = int(np.argmax(window))
    foreseen = int(window[peak]) if need.least is None else need.least
    ordered = max(foreseen, need.now)
    if need.now > foreseen:
        why = f"the newest demand alone needs {need.now}"
        if need.drain:
            why = f"the newest demand needs {need.now - need.drain}, what waits {need.drain} more"
    elif need.least is not None:
        peak = ahead
        why = f"{ordered} cost least for what may come within {_minutes(lead)}"
    else:
        why = f"the forecast needs {ordered} in {(peak * need.step) / 60:.0f} min"
    reasons = [
        Reason(
            code=Code.FORECAST,
            sentence=f"{why}: {_replicas(ordered)} must stand now to be ready in time",
            numbers={"need": ordered, "now": need.now, "in": peak * need.step}
            | ({"drain": need.drain} if need.drain else {}),
        )
    ]
    if floor > ordered:
        seen = need.least is not None and need.recent >= floor
        when = "within the last" if seen else "again within the"
        reasons.append(
            Reason(
                code=Code.KEPT,
                sentence=f"{_replicas(floor - ordered)} kept beyond that: needed {when} "
                f"break-even of {break_even / 60:.0f} min",
                numbers={"kept": floor - ordered, "breakEven": break_even},
            )
        )
    return tuple(reasons)


def starting(spec: Spec, ordered: int, lead: float) -> tuple[Reason, ...]:
    """Say how many of the replicas that are ordered now will be Ready when, if that is known.

    Parameters
    ----------
    spec : with how cold starts are spread
    ordered : by the floor that is written, after all guards
    """
    spread = spec.cold_start.spread
    if ordered <= 0 or not spread:
        return ()
    parts = [
        f"{round(level * ordered, 1):g} within {_minutes(seconds)}"
        for level, seconds in zip(LEVELS, spread, strict=True)
    ]
    return (
        Reason(
            code=Code.COLD_START,
            sentence=f"of {_replicas(ordered)} ordered now, {', '.join(parts)} are expected to be "
            f"Ready; orders go out {_minutes(lead)} ahead",
            numbers={"ordered": ordered, "lead": lead}
            | {f"p{100 * p:g}": seconds for p, seconds in zip(LEVELS, spread, strict=True)},
        ),
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.3g} min"


def _replicas(count: int) -> str:
    return "1 replica" if count == 1 else f"{count} replicas"
