"""Claims: how they are read, and what they say when they fail."""

import numpy as np
import pytest

from autoscaler.errors import InputError
from autoscaler.simulator.claims import AWAY, RESTART, Evidence, judge
from autoscaler.simulator.peers import chosen
from autoscaler.simulator.runs import best_run, play


@pytest.fixture
def evidence(world_of):
    world = world_of(np.tile(np.r_[np.full(720, 2.5), np.full(720, 6.5)], 3), 1)
    best = best_run(world)
    reference = best.account.cost(world.service)
    runs = [play(world, peer, reference) for peer in chosen("fixed-p99,hpa")]
    return Evidence(runs=runs, counts={"writes": 7}, lowered_in_doubt=2)


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("late_fraction <= 0.1 %", True),
        ("late_fraction < 0", False),
        ("score < 0.01 × hpa", False),
        ("score > 0.01 × hpa", True),
        ("score >= 0.01 x hpa", True),
        ("replica_hours > hpa", False),
        ("writes <= 7", True),
        ("writes < 7", False),
        (AWAY, False),
        (RESTART, True),
    ],
)
def test_judged(evidence, claim, holds):
    assert judge(claim, evidence).holds is holds


def test_a_verdict_tells_both_numbers(evidence):
    found = judge("score < 0.5 × hpa", evidence).found
    ours, theirs = (run.account.score for run in evidence.runs)
    assert found == f"score is {ours:.6g} (hpa: {theirs:.6g})"
    assert judge(AWAY, evidence).found == "lowered 2 times"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("it is good", "cannot be read"),
        ("score <", "cannot be read"),
        ("score < 1.2.3", "cannot be read"),
        ("writes < hpa", "writes is counted of ours only"),
        ("beauty < 3", 'found the metric "beauty"; allowed: score'),
        ("score < 2 × kpa", 'found the run "kpa"; allowed: fixed-p99, hpa'),
    ],
)
def test_unreadable_claims(evidence, claim, message):
    with pytest.raises(InputError, match=message):
        judge(claim, evidence)
