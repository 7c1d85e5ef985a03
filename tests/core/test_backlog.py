"""What waits longer than was promised is drained in time: replicas beside those for the demand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.decide import decide
from autoscaler.demand import regular, seen_of
from autoscaler.forecast import FAST
from autoscaler.model import Code
from autoscaler.tune import learn
from tests.core.given import CAPACITY, NOW, flat, knowledge, policy, remembered, seen

LEVEL = 12.0  # four replicas' demand
PROMISE = policy().spec.promise


def waiting(backlog, level=LEVEL):
    return replace(flat(level), backlog=backlog)


def decided(backlog, level=LEVEL, present=5, **spec):
    given = waiting(backlog, level)
    return decide(policy(**spec), seen(given, present), knowledge(), remembered(present), NOW)


def backlog_of(given):
    return seen_of(regular(given, NOW)[0], given, 1800.0, PROMISE)["backlog"]


def test_ten_minutes_drain_it():
    # 12/s x 5 s wait within the promise; 10 replicas' worth of ten minutes more
    extra = 10 * CAPACITY * 600.0
    decision = decided(LEVEL * 5.0 + extra)
    assert (decision.need.now, decision.need.drain) == (14, 10)
    assert decision.floor >= 14
    said = next(r for r in decision.reasons if r.code is Code.FORECAST)
    assert "the newest demand needs 4, what waits 10 more" in said.sentence
    assert said.numbers["drain"] == 10


def test_longer_takes_fewer():
    backlog = LEVEL * 5.0 + 10 * CAPACITY * 600.0
    demand = {"query": "sum(rate(requests_total[1m]))", "backlog": "sum(queued_requests)"}
    assert decided(backlog, demand=demand, promise={"drain": "20m"}).need.drain == 5


@pytest.mark.parametrize("backlog", [None, 0.0, LEVEL * 5.0])
def test_what_is_within_the_promise_or_unknown_asks_for_nothing(backlog):
    decision = decided(backlog)
    assert decision.need.drain == 0
    assert decision.floor == decided(None).floor
    assert decision.reasons == decided(None).reasons


@pytest.mark.parametrize(("backlog", "said"), [(None, 1), (0.0, 0), (900.0, 0)])
def test_unknown_where_the_policy_says_how_to_read_it_is_told_and_is_no_doubt(backlog, said):
    """Silence would read as nothing waiting; a doubt would keep floors of idle queues for ever."""
    demand = {"query": "sum(rate(requests_total[1m]))", "backlog": "sum(queued_requests)"}
    decision = decided(backlog, demand=demand)
    codes = [reason.code for reason in decision.reasons]
    assert codes.count(Code.BACKLOG_UNKNOWN) == said
    assert decision.doubts == ()
    assert decided(backlog).reasons == tuple(
        reason for reason in decision.reasons if reason.code is not Code.BACKLOG_UNKNOWN
    )


def test_it_keeps_the_last_replica():
    asleep = {"floor": {"min": 0}}
    given = waiting(30.0, level=0.0)
    observation = replace(seen(given, 1), target=replace(seen(None, 1).target, lowest=0))
    known = learn(policy(**asleep), flat(0.0, days=14), NOW, shapes=FAST)
    decision = decide(policy(**asleep), observation, known, remembered(0), NOW)
    assert decision.floor == 1


@examples(st.tuples(st.floats(0, 1e18), st.floats(0, 1e18)) | st.just((float("nan"), -1.0)))
def test_more_of_it_never_needs_less(backlogs):
    low, high = (backlog_of(waiting(backlog)) for backlog in sorted(backlogs))
    assert low >= 0
    assert low <= high or max(backlogs) >= 1e15  # beyond any service: not believed
