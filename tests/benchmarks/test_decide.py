"""What a service holds in the controller's memory does not grow unnoticed."""

from __future__ import annotations

from autoscaler.tune import learn
from benchmarks.decide import NOW, held_by, history_of, policy_of

MOST = 600_000
"""Bytes. A fleet of 200 keeps within 400 MB with it (docs/decisions/0010)."""


def test_knowledge_and_history_of_four_weeks_at_a_minute_stay_small() -> None:
    policy, history = policy_of("ahead"), history_of(28)
    knowledge = learn(policy, history, NOW)
    assert knowledge.fitted.name == "ahead"  # the largest that there is

    known, kept = held_by(policy, history, knowledge)

    assert kept >= 5 * 40_320  # a number and a flag for every step: it was really kept
    assert known + kept <= MOST
