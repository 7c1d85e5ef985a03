"""A recorded decision made again from the records alone, and what is different about it.

This is how "recorded decisions replay to the same floor and reasons" is checked: in tests, in CI
and by `foretide explain` on somebody else's machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from autoscaler import tune
from autoscaler.adapters.telemetry import schema
from autoscaler.adapters.telemetry.chain import Fit
from autoscaler.adapters.telemetry.reader import Record
from autoscaler.adapters.telemetry.strips import RecordDamaged
from autoscaler.decide import decide
from autoscaler.model import Decision, History, Knowledge
from autoscaler.policy import TidePolicy

CLOSE = 1e-9  # relative, and absolute below one


class Learn(Protocol):
    """`tune.learn`, as far as it is used here."""

    def __call__(
        self, policy: TidePolicy, history: History, now: float, *, period: float, standing: str
    ) -> Knowledge:
        """Learn from the history up to `now`."""
        ...


class Replayer:
    """Replays records, learning each knowledge once.

    Parameters
    ----------
    learn : how a choice is made; the production function unless a test has its own
    """

    def __init__(self, learn: Learn = tune.learn) -> None:
        self._learn = learn
        self._known: dict[str, Knowledge] = {}

    def knowledge(self, fit: Fit) -> Knowledge:
        """Knowledge learnt again from what it was learnt from.

        A night that chose nothing took over what had been chosen, which its record holds.
        """
        if fit.id not in self._known:
            policy, history = TidePolicy.model_validate(fit.policy), fit.kept.history()
            choice, now = fit.knowledge["choice"], fit.knowledge["fitted_at"]
            if choice is not None and choice["at"] < now:
                stood = schema.standing_of(fit.knowledge)
                known = tune.refit(policy, history, now, stood, period=fit.period)
            else:
                name = "" if choice is None else choice["standing"]
                known = self._learn(policy, history, now, period=fit.period, standing=name)
            self._known[fit.id] = known
        return self._known[fit.id]

    def replay(self, record: Record) -> Decision:
        """Make the decision of a record again.

        Raises
        ------
        RecordDamaged
            There was no decision, or the record does not hold all that it was made from.
        """
        if record.observation is None or "floor" not in record.result:
            raise RecordDamaged(f"{record.source}: there was no decision: the target was not read")
        if record.replayable:
            raise RecordDamaged(f"{record.source}: cannot be replayed: {record.replayable}")
        knowledge = None if record.fit is None else self.knowledge(record.fit)
        return decide(record.policy, record.observation, knowledge, record.memory, record.at)

    def differences(self, record: Record) -> tuple[str, ...]:
        """Everything in which the replay is not what was recorded; empty when it is the same."""
        decision = self.replay(record)
        found = [f"{name}: the recorded input was altered" for name in record.altered]
        if record.fit is not None:
            again = schema.knowledge_document(self.knowledge(record.fit))
            found += unlike("knowledge", record.fit.knowledge, again)
        again = schema.decision_document(decision)
        recorded = {k: v for k, v in record.result.items() if k not in {"outcome", "message"}}
        found += unlike("", recorded, again)
        remembers = schema.memory_document(decision.memory)
        found += unlike("memory", record.remembers, remembers)
        return tuple(found)


def unlike(where: str, recorded: Any, again: Any) -> Iterator[str]:
    """Yield a sentence for each place in which two JSON documents differ, numbers within 1e-9."""
    if isinstance(recorded, Mapping) and isinstance(again, Mapping):
        for name in sorted(recorded.keys() | again.keys()):
            place = f"{where}.{name}" if where else str(name)
            if name not in recorded or name not in again:
                side = "replayed" if name in again else "recorded"
                yield f"{place}: only {side}"
            else:
                yield from unlike(place, recorded[name], again[name])
    elif _is_list(recorded) and _is_list(again):
        if len(recorded) != len(again):
            yield f"{where}: {len(recorded)} recorded, {len(again)} replayed"
        for i, (one, two) in enumerate(zip(recorded, again, strict=False)):
            yield from unlike(f"{where}[{i}]", one, two)
    elif not _same(recorded, again):
        yield f"{where}: recorded {recorded!r}, replayed {again!r}"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _same(one: Any, two: Any) -> bool:
    """Equal; numbers within 1e-9."""
    numbers = isinstance(one, int | float) and isinstance(two, int | float)
    if numbers and not isinstance(one, bool) and not isinstance(two, bool):
        return math.isclose(one, two, rel_tol=CLOSE, abs_tol=CLOSE)
    return type(one) is type(two) and bool(one == two)
