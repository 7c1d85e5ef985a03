"""How a listing of the source changes what is tended."""

from __future__ import annotations

from typing import Any

import pytest

from autoscaler.controller.fleet import Fleet
from autoscaler.model import Memory, Wanted
from autoscaler.ports import Listed, Refusal
from tests.telemetry.making import START, knowledge, policy

QUERY = policy("a").spec.demand.query


def fleet(*names: str) -> Fleet:
    made = Fleet()
    made.reconcile(Listed(policies=tuple(policy(name) for name in names)))
    return made


def keys(made: Fleet) -> set[str]:
    return {tended.policy.key for tended in made.all()}


def test_policies_appear_change_and_go() -> None:
    made = fleet("a", "b")
    changes = made.reconcile(
        Listed(policies=(policy("a", capacity={"perReplica": 4.0}), policy("c")))
    )
    assert [p.key for p in changes.added] == ["llm/c"]
    assert [p.key for p in changes.changed] == ["llm/a"]
    assert [p.key for p in changes.removed] == ["llm/b"]
    assert keys(made) == {"llm/a", "llm/c"}


def test_an_empty_source_removes_nothing() -> None:
    made = fleet("a", "b")
    changes = made.reconcile(Listed(policies=()))
    assert changes.removed == ()
    assert "an empty source removes nothing" in changes.held
    assert keys(made) == {"llm/a", "llm/b"}


def test_a_source_that_was_read_in_part_removes_nothing() -> None:
    made = fleet("a", "b")
    changes = made.reconcile(Listed(policies=(policy("a"),), complete=False))
    assert changes.removed == ()
    assert keys(made) == {"llm/a", "llm/b"}


def test_a_refused_policy_keeps_its_last_good_version() -> None:
    made = fleet("a", "b")
    refusal = Refusal(key="llm/a", message="perReplika: no such field")
    changes = made.reconcile(Listed(policies=(policy("b"),), refused=(refusal,)))
    assert changes.removed == ()
    assert changes.refused == (refusal,)
    assert made.get("llm/a").policy == policy("a")


def test_an_edit_keeps_what_still_fits() -> None:
    made = fleet("a")
    tended = made.get("llm/a")
    tended.knowledge = knowledge(START)
    tended.memory = Memory(wanted=(Wanted(at=START, floor=3),), since=START, shadow=7)
    known, memory = tended.knowledge, tended.memory

    made.reconcile(Listed(policies=(policy("a", capacity={"perReplica": 5.0}),)))
    assert tended.knowledge is known
    assert tended.memory is memory

    tended.outdated = False
    made.reconcile(Listed(policies=(policy("a", mode="Act", capacity={"perReplica": 5.0}),)))
    assert not tended.outdated  # what may be written changes nothing that was learnt
    assert tended.memory.shadow is None  # Act starts from the floor that stands
    assert tended.memory.wanted == memory.wanted

    made.reconcile(Listed(policies=(policy("a", demand={"query": "other"}),)))
    assert tended.knowledge is None  # learnt from another series


def test_another_target_starts_without_memory() -> None:
    made = fleet("a")
    tended = made.get("llm/a")
    tended.memory = Memory(wanted=(Wanted(at=START, floor=3),), since=START)
    ref = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": "other"}
    made.reconcile(Listed(policies=(policy("a", targetRef=ref),)))
    assert tended.memory == Memory()


@pytest.mark.parametrize(
    "edit",
    [
        {"calendar": {"days": [{"date": "2026-12-24", "like": "sunday"}]}},
        {"price": {"perPercentLate": 3}},
        {"coldStart": {"duration": "12m"}},
        {"release": {"breakEven": "2h"}},
        {"demand": {"query": QUERY, "backlog": "sum(queued)"}},
        {"demand": {"query": QUERY, "history": "60d"}},
    ],
    ids=lambda edit: [*next(iter(edit.values()))][-1],
)
def test_what_was_learnt_for_another_policy_is_due_and_kept_until_then(
    edit: dict[str, Any],
) -> None:
    made = fleet("a")
    (tended,) = made.all()
    tended.knowledge = known = knowledge(START)
    made.reconcile(Listed(policies=(policy("a", **edit),)))
    assert tended.knowledge is known
    assert tended.outdated
