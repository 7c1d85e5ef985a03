"""The one loop body: what each kind of failure comes to, and what is remembered of a write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from autoscaler.cycle import run_once
from autoscaler.errors import (
    HistoryUnavailable,
    TargetRefused,
    TargetUnavailable,
    WriteConflict,
    WriteRefused,
    WriteUnavailable,
)
from autoscaler.model import Code, Memory, Outcome, Wanted
from tests.core.given import NOW, flat, knowledge, policy, remembered, target


@dataclass
class World:
    """The four ports over one value each; an exception stands for a failure."""

    history: Any
    observed: Any = field(default_factory=lambda: target(5))
    answer: Any = Outcome.WRITTEN
    writes: list[int] = field(default_factory=list)
    recorded: list[Any] = field(default_factory=list)

    @property
    def demand(self):
        return self

    targets = floors = records = demand

    def read(self, of, until):
        return self._give(self.history)

    def observe(self, of):
        return self._give(self.observed)

    def write(self, of, where, floor):
        self.writes.append(floor)
        return self._give(self.answer)

    def record(self, of, observation, knows, memory, result):
        self.recorded.append(result)

    @staticmethod
    def _give(value):
        if isinstance(value, Exception):
            raise value
        return value


def cycle(world, memory=None):
    return run_once(policy(), world, knowledge(), memory or remembered(5), NOW)


def test_a_change_is_written_and_remembered():
    world = World(flat(60.0))
    result, memory = cycle(world)
    assert world.writes == [result.decision.floor]
    assert result.outcome is Outcome.WRITTEN
    assert memory.written == Wanted(at=NOW, floor=result.decision.floor)
    assert world.recorded == [result]


@pytest.mark.parametrize("failure", [TargetUnavailable("gone"), TargetRefused("owned by KEDA")])
def test_without_a_target_there_is_nothing_to_decide_and_memory_stays(failure):
    world, before = World(flat(60.0), observed=failure), remembered(5)
    result, memory = cycle(world, before)
    assert result.decision is None
    assert result.message == str(failure)
    assert memory == before
    assert world.recorded == [result]


def test_without_a_history_the_decision_is_made_in_doubt():
    result, _ = cycle(World(HistoryUnavailable("timeout after 10 s")))
    assert [doubt.code for doubt in result.decision.doubts] == [Code.HISTORY_UNAVAILABLE]
    assert result.decision.floor == 5
    assert result.outcome is Outcome.UNCHANGED


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (WriteConflict("moved"), Outcome.CONFLICT),
        (WriteRefused("forbidden"), Outcome.REFUSED),
        (WriteUnavailable("no answer"), Outcome.UNKNOWN),
    ],
)
def test_a_failed_write_is_an_outcome_and_is_not_retried(failure, outcome):
    world = World(flat(60.0), answer=failure)
    result, memory = cycle(world)
    assert len(world.writes) == 1
    assert result.outcome is outcome
    assert result.message == str(failure)
    assert memory.written is None


@pytest.mark.parametrize("declined", [Outcome.OBSERVED, Outcome.NOT_LEADER])
def test_a_writer_may_decline(declined):
    result, memory = cycle(World(flat(60.0), answer=declined))
    assert result.outcome is declined
    assert memory.written is None


def test_a_bug_ends_the_cycle_loudly():
    with pytest.raises(ZeroDivisionError):
        cycle(World(ZeroDivisionError("a bug")))


def test_the_period_reaches_the_plan():
    result, _ = run_once(policy(), World(flat(60.0)), knowledge(), Memory(), NOW, period=10.0)
    assert result.decision.plan.lead == 10 + 15 + 300
