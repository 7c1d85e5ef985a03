"""The policies that are tended: how a listing of the source changes them, and what each remembers.

A source that is empty, unreadable or only partly readable removes nothing, since a mistake in a
mount or a wrong namespace must not hand back the floors of a whole fleet. A policy that is there
but not usable keeps its last good version.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from autoscaler.model import Knowledge, Memory
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed, Refusal


@dataclass(slots=True)
class Tended:
    """One policy and what it carries from cycle to cycle.

    Only the worker that has the policy in hand changes `memory`; `policy` and `knowledge` are
    replaced as a whole by others, and a cycle looks at each once. `outdated` is knowledge that
    is good enough until it is learnt again, and due at once: what it was learnt for is another.
    """

    policy: TidePolicy
    knowledge: Knowledge | None = None
    memory: Memory = field(default_factory=Memory)
    passes: int = 0
    outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a listing changed."""

    added: tuple[TidePolicy, ...] = ()
    changed: tuple[TidePolicy, ...] = ()
    removed: tuple[TidePolicy, ...] = ()
    refused: tuple[Refusal, ...] = ()
    held: str = ""  # why what is missing was not taken as removed


class Fleet:
    """All tended policies; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tended: dict[str, Tended] = {}
        self._listed = False

    @property
    def listed(self) -> bool:
        """Whether the source was ever read."""
        return self._listed

    def get(self, key: str) -> Tended | None:
        """Return the policy, if it is tended."""
        with self._lock:
            return self._tended.get(key)

    def all(self) -> tuple[Tended, ...]:
        """Every tended policy."""
        with self._lock:
            return tuple(self._tended.values())

    def reconcile(self, listed: Listed) -> Changes:
        """Take over a listing of the source."""
        with self._lock:
            added, changed = [], []
            for policy in listed.policies:
                key = policy.key
                old = self._tended.get(key)
                if old is None:
                    self._tended[key] = Tended(policy)
                    added.append(policy)
                elif old.policy != policy:
                    changed.append(policy)
                    _edit(old, policy)
            present = {policy.key for policy in listed.policies}
            present |= {refusal.key for refusal in listed.refused}
            missing = [key for key in self._tended if key not in present]
            held = _held(listed, len(missing))
            removed = [] if held else [self._tended.pop(key).policy for key in missing]
            self._listed = True
        return Changes(
            added=tuple(added),
            changed=tuple(changed),
            removed=tuple(removed),
            refused=listed.refused,
            held=held,
        )


def _held(listed: Listed, missing: int) -> str:
    """Why missing policies are not to be taken as removed, or nothing."""
    if missing == 0:
        return ""
    if not listed.complete:
        return f"{missing} policies are missing, but part of the source could not be read"
    if not listed.policies and not listed.refused:
        return f"all {missing} policies are missing: an empty source removes nothing"
    return ""


def series_of(policy: TidePolicy) -> object:
    """Tell apart what is learnt from: a series, and the clock by which its days are cut."""
    return policy.spec.demand.source, policy.spec.time_zone


def _edit(tended: Tended, policy: TidePolicy) -> None:
    """Take over a new version; what no longer fits it is let go."""
    old = tended.policy
    if old.target_key != policy.target_key:
        tended.memory = Memory()
    elif old.spec.mode != policy.spec.mode:
        # a shadow floor was never written: Act starts from the floor that stands
        tended.memory = replace(tended.memory, shadow=None)
    if series_of(old) != series_of(policy):
        tended.knowledge = None  # learnt from another series
    if old.spec != policy.spec.model_copy(update={"mode": old.spec.mode}):
        tended.outdated = True  # by calendar, cold start, price, ... a choice is made
    tended.policy = policy
