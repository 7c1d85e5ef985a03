"""Stage 5: an ordered tuple of small guards between what the plan wants and what is written.

Each looks at the floor so far and may raise, hold or cap it, and says so with numbers. They are
applied from the weakest to the strongest, so the last word is the ceiling's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autoscaler import dates
from autoscaler.model import Code, Memory, Mode, Reason, Target
from autoscaler.policy import TidePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What guards may look at.

    Attributes
    ----------
    present : the floor that stands (in Observe: the shadow floor)
    memory : with what is wanted now already in it
    doubts : why the inputs are distrusted
    after : seconds that a release looks back over
    quiet : whether nothing was needed for a break-even, nor is within a lead time; None is unknown
    """

    policy: TidePolicy
    target: Target
    present: int
    memory: Memory
    doubts: tuple[Reason, ...]
    now: float
    after: float
    quiet: bool | None = None

    @property
    def original(self) -> int:
        """Floor that was found before Foretide first wrote."""
        return self.target.floor if self.target.original is None else self.target.original

    @property
    def paused(self) -> bool:
        """Whether an annotation, on the target or on the policy, asks for no writes."""
        return self.target.paused or self.policy.paused

    def moves(self, floor: int) -> int:
        """Replicas by which a floor is moved now: none while paused or quiet after a revert."""
        quiet = self.paused or self.now < self.memory.quiet_until
        return 0 if quiet else floor - self.present

    @property
    def minimum(self) -> int:
        """Policy minimum; by default the floor that was found, since somebody chose that."""
        least = self.policy.spec.floor.min
        return self.original if least is None else least

    @property
    def lowest(self) -> int:
        """Lowest floor that may stand: the minimum, and no less than the target takes."""
        return max(self.minimum, self.target.lowest)

    @property
    def maximum(self) -> int:
        """Policy maximum; by default the target's ceiling."""
        most = self.policy.spec.floor.max
        return self.target.ceiling if most is None else most

    @property
    def bounds(self) -> tuple[int, int]:
        """Lowest and highest floor that may stand, whatever is wanted; the second wins."""
        raises = self.policy.spec.mode is Mode.RAISE_ONLY
        least = max(self.lowest, self.original) if raises else self.lowest
        return least, min(self.maximum, self.target.ceiling)


Guard = Callable[[int, Ground], tuple[int, Reason | None]]


def slow_release(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Lower only to the largest floor wanted a while back, and only if all of that is known."""
    if floor >= ground.present:
        return floor, None
    after, since = ground.after, ground.memory.since
    known = 0.0 if since is None else ground.now - since
    if known < after:
        return ground.present, Reason(
            code=Code.RELEASE_HELD,
            sentence=f"held at {ground.present}: only the last {known:.0f} s are remembered, "
            f"a release looks back {after:.0f} s",
            numbers={"held": ground.present, "wanted": floor, "known": known, "after": after},
        )
    highest = max((wanted.floor for wanted in ground.memory.wanted), default=ground.present)
    held = min(highest, ground.present)
    if held <= floor:
        return floor, None
    return held, Reason(
        code=Code.RELEASE_HELD,
        sentence=f"held at {held}: that was wanted within the last {after:.0f} s",
        numbers={"held": held, "wanted": floor, "after": after},
    )


def raise_limit(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Add at most `floor.raiseLimit` replicas a cycle."""
    limit = ground.policy.spec.floor.raise_limit
    if limit is None or floor <= ground.present + limit:
        return floor, None
    limited = ground.present + limit
    return limited, Reason(
        code=Code.RAISE_LIMITED,
        sentence=f"raised from {ground.present} to {limited} instead of {floor}: at most {limit} "
        "a cycle",
        numbers={"floor": limited, "wanted": floor, "limit": limit},
    )


def doubt_holds(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Never lower on inputs that are distrusted."""
    if not ground.doubts or floor >= ground.present:
        return floor, None
    names = ", ".join(dict.fromkeys(doubt.code.value for doubt in ground.doubts))
    return ground.present, Reason(
        code=Code.DOUBT_HOLDS,
        sentence=f"held at {ground.present} instead of {floor}: in doubt ({names})",
        numbers={"held": ground.present, "wanted": floor, "doubts": len(ground.doubts)},
    )


def calendar_holds(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Lower nothing inside a hold window, whoever wants it."""
    if floor >= ground.present:
        return floor, None
    windows = dates.holds(ground.policy.spec, ground.now, ground.now)
    if not windows:
        return floor, None
    names = ", ".join(dict.fromkeys(window.name for window in windows))
    left = max(window.end for window in windows) - ground.now
    return ground.present, Reason(
        code=Code.CALENDAR_HOLDS,
        sentence=f"held at {ground.present} instead of {floor}: nothing is lowered for "
        f"{left / 60:.0f} min more ({names})",
        numbers={"held": ground.present, "wanted": floor, "until": ground.now + left},
    )


def last_replica(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Let the last replica go only while nothing is needed, and wake one as soon as any is."""
    if floor > 0 or ground.lowest > 0:
        return floor, None
    if ground.quiet or (ground.quiet is None and ground.present == 0):
        start = ground.policy.spec.cold_start_seconds
        return 0, Reason(
            code=Code.ASLEEP,
            sentence="no replica needs to stand; a request at an unexpected moment waits for a "
            f"cold start, about {start / 60:.3g} min",
            numbers={"coldStart": start},
        )
    why = "nothing is not known to be needed" if ground.quiet is None else "some demand is near"
    return 1, Reason(
        code=Code.LAST_REPLICA,
        sentence=f"1 instead of 0: {why}",
        numbers={"present": ground.present},
    )


def raise_only(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """In mode RaiseOnly, never go below the floor that was found."""
    if ground.policy.spec.mode is not Mode.RAISE_ONLY or floor >= ground.original:
        return floor, None
    return ground.original, Reason(
        code=Code.RAISE_ONLY,
        sentence=f"{ground.original} instead of {floor}: mode RaiseOnly never goes below what it "
        "found",
        numbers={"found": ground.original, "wanted": floor},
    )


def pause(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """While paused, stay; nothing is written either (`Decision.write`)."""
    if not ground.paused:
        return floor, None
    return ground.present, Reason(
        code=Code.PAUSED,
        sentence=f"paused at {ground.present}; {floor} is wanted",
        numbers={"present": ground.present, "wanted": floor},
    )


def minimum(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Never go below the policy's minimum."""
    if floor >= ground.lowest:
        return floor, None
    why = "the policy's minimum" if ground.lowest == ground.minimum else "the target takes no less"
    return ground.lowest, Reason(
        code=Code.AT_MINIMUM,
        sentence=f"{ground.lowest} instead of {floor}: {why}",
        numbers={"minimum": ground.lowest, "wanted": floor},
    )


def maximum(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Never go above the policy's maximum."""
    if floor <= ground.maximum or ground.policy.spec.floor.max is None:
        return floor, None
    return ground.maximum, Reason(
        code=Code.AT_MAXIMUM,
        sentence=f"{ground.maximum} instead of {floor}: the policy's maximum",
        numbers={"maximum": ground.maximum, "wanted": floor},
    )


def ceiling(floor: int, ground: Ground) -> tuple[int, Reason | None]:
    """Never go above the target's own ceiling, whatever else is said."""
    if floor <= ground.target.ceiling:
        return floor, None
    return ground.target.ceiling, Reason(
        code=Code.AT_CEILING,
        sentence=f"{ground.target.ceiling} instead of {floor}: the target's ceiling",
        numbers={"ceiling": ground.target.ceiling, "wanted": floor},
    )


STEERING: tuple[Guard, ...] = (
    slow_release,
    raise_limit,
    doubt_holds,
    calendar_holds,
    last_replica,
    raise_only,
    pause,
    minimum,
)
CAPS: tuple[Guard, ...] = (maximum, ceiling)
GUARDS: tuple[Guard, ...] = (*STEERING, *CAPS)


def apply(guards: tuple[Guard, ...], floor: int, ground: Ground) -> tuple[int, tuple[Reason, ...]]:
    """Apply guards in order; the floor that is left, and what each that acted says."""
    reasons = []
    for guard in guards:
        floor, reason = guard(floor, ground)
        if reason is not None:
            reasons.append(reason)
    return floor, tuple(reasons)
