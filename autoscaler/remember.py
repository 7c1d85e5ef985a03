"""What one decision hands to the next, and what the last one teaches about the present.

Memory is a value. Losing it holds the floor for one `release.after` and costs nothing else, so it
is never worth persisting at a risk.
"""

from __future__ import annotations

from dataclasses import replace

from autoscaler.model import (
    Code,
    Knowledge,
    Memory,
    Mode,
    Outcome,
    Reason,
    Target,
    Wanted,
)

PATIENCE = 60.0
"""Seconds of quiet after the first revert; doubled with each further one in a row."""

LONGEST_QUIET = 1800.0
"""Whoever reverts (GitOps, an operator, a person) is asked about again twice an hour."""

STOOD = 3600.0
"""Seconds after which a written floor counts as accepted."""

STALE_KNOWLEDGE = 3 * 86_400.0
"""Seconds; knowledge is renewed nightly, so this is the third night that failed."""

HOLE = 300.0
"""Seconds (at least three periods) between two decisions after which memory does not tell what was
wanted between them."""


def present_floor(mode: Mode, target: Target, memory: Memory) -> int:
    """Floor that stands; in Observe the one that would stand by now had we written."""
    if mode is Mode.OBSERVE and memory.shadow is not None:
        return memory.shadow
    return target.floor


def doubts_of(memory: Memory, knowledge: Knowledge | None, now: float) -> tuple[Reason, ...]:
    """Doubts about knowledge and about the clock."""
    doubts = []
    ahead = max((wanted.at for wanted in memory.wanted), default=now) - now
    if ahead > 0:
        doubts.append(
            Reason(
                code=Code.CLOCK_BACKWARDS,
                sentence=f"the clock stands {ahead:.0f} s before the last decision",
                numbers={"seconds": ahead},
            )
        )
    if knowledge is None:
        doubts.append(Reason(code=Code.NO_KNOWLEDGE, sentence="no forecaster was fitted yet"))
    elif not 0 <= (age := now - knowledge.fitted_at) <= STALE_KNOWLEDGE:
        doubts.append(
            Reason(
                code=Code.KNOWLEDGE_STALE if age > 0 else Code.CLOCK_BACKWARDS,
                sentence=f"the forecaster was fitted {abs(age) / 3600:.0f} h "
                + ("ago" if age > 0 else "after now"),
                numbers={"age": age},
            )
        )
    return tuple(doubts)


def reverted(target: Target, memory: Memory, now: float) -> tuple[Memory, tuple[Reason, ...]]:
    """Notice that the floor is not what we last wrote, and be quiet for a while.

    Whoever moved it (GitOps, the owner of the target, a person) wins for now: writing again at
    once would be a fight, and every write of a fight restarts something somewhere. Quiet doubles
    with each revert in a row; a floor that stood for an hour starts the count anew.
    """
    if memory.written is None:
        return memory, ()
    if target.floor == memory.written.floor:
        stood = memory.reverts and now - memory.written.at >= STOOD
        return (replace(memory, reverts=0) if stood else memory), ()
    quiet = min(PATIENCE * 2**memory.reverts, LONGEST_QUIET)
    reason = Reason(
        code=Code.REVERTED,
        sentence=f"we wrote {memory.written.floor}, now {target.floor} stands: somebody else "
        f"writes this floor; no write for {quiet:.0f} s",
        numbers={"written": memory.written.floor, "found": target.floor, "quiet": quiet},
    )
    return replace(
        memory, written=None, reverts=min(memory.reverts + 1, 30), quiet_until=now + quiet
    ), (reason,)


def wanted(memory: Memory, floor: int, after: float, period: float, now: float) -> Memory:
    """Add what is wanted now; forget what is too old, and what a clock jump made false."""
    kept = tuple(w for w in memory.wanted if now - after <= w.at < now)
    newest = max((w.at for w in memory.wanted), default=None)
    whole = newest is not None and 0 <= now - newest <= max(HOLE, 3 * period)
    since = memory.since if whole and memory.since is not None else now
    return replace(
        memory,
        wanted=(*kept, Wanted(at=now, floor=floor)),
        since=min(since, now),
        quiet_until=min(memory.quiet_until, now + LONGEST_QUIET),
    )


def decided(memory: Memory, mode: Mode, floor: int) -> Memory:
    """Keep the shadow floor in Observe; a real floor needs none."""
    return replace(memory, shadow=floor if mode is Mode.OBSERVE else None)


def actuated(memory: Memory, outcome: Outcome, floor: int, now: float) -> Memory:
    """Keep what was written, for `reverted`; after any doubt about a write, nothing."""
    if outcome is Outcome.WRITTEN:
        return replace(memory, written=Wanted(at=now, floor=floor))
    if outcome is Outcome.UNCHANGED:
        return memory
    return replace(memory, written=None)
