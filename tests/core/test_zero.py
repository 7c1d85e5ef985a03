"""A floor of 0: only on what is known, woken ahead of the tide, and never by a missing number."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler import plan
from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast import FAST
from autoscaler.model import Code, Mark, Memory, Need, Observation, Samples
from autoscaler.tune import learn
from tests.core.given import (
    DAY,
    HOUR,
    NOW,
    flat,
    history,
    hostile,
    knowing_ahead,
    knowledge,
    policy,
    remembered,
    seen,
    target,
    tide,
)

ASLEEP = policy(floor={"min": 0})
LEAD, KEEP = 375.0, 1800.0


def office(until: float, days: float = 14):
    """Nobody from eight in the evening to seven in the morning."""
    count = round(days * 1440)
    times = until - 60.0 * count + 60.0 * np.arange(count)
    clock = times % DAY
    awake = (clock >= 7 * HOUR) & (clock < 20 * HOUR)
    noise = np.random.default_rng(2).uniform(0.8, 1.2, count)
    return history(times, np.where(awake, 20 * noise, 0.0), until)


@lru_cache(maxsize=1)
def learnt():
    return learn(ASLEEP, office(NOW), NOW, shapes=FAST)


def night(hour: float):
    """A moment of tonight, and what was learnt by then."""
    return NOW + hour * HOUR, learnt()


def decided(now, knows, present, **more):
    observation = Observation(
        target=target(present, lowest=0, original=1), history=more.pop("history", office(now))
    )
    return decide(
        more.pop("of", ASLEEP), observation, knows, remembered(more.pop("wanted", 0), now), now
    )


def codes(decision):
    return [reason.code for reason in decision.reasons]


class TestANightWithoutAnybody:
    def test_the_last_replica_is_let_go(self):
        now, knows = night(2)
        decision = decided(now, knows, 1)
        assert decision.floor == 0
        assert decision.write
        said = next(r for r in decision.reasons if r.code is Code.ASLEEP)
        assert "waits for a cold start, about 5 min" in said.sentence

    def test_it_is_woken_a_lead_time_before_the_tide(self):
        _, knows = night(0)
        assert decided(NOW + 5 * HOUR, knows, 0).floor == 0
        first = next(
            minute
            for minute in range(5 * 60, 8 * 60, 5)
            if decided(NOW + minute * 60.0, knows, 0).floor > 0
        )
        assert 5 * 60 < first <= 7 * 60 - 5  # Ready by seven

    def test_it_stays_while_the_last_demand_is_younger_than_a_break_even(self):
        now, knows = night(20.25)
        assert decided(now, knows, 1).floor == 1

    def test_the_policy_must_ask_for_it(self):
        now, knows = night(2)
        decision = decided(now, knows, 1, of=policy(floor={"min": 1}))
        assert decision.floor == 1
        assert Code.LAST_REPLICA not in codes(decision)

    def test_the_target_must_take_it(self):
        now, knows = night(2)
        decision = decide(ASLEEP, seen(office(now), 1), knows, remembered(0, now), now)
        assert decision.floor == 1
        said = next(r for r in decision.reasons if r.code is Code.AT_MINIMUM)
        assert "takes no less" in said.sentence

    def test_one_request_wakes_it(self):
        now, knows = night(2)
        given = office(now)
        values = given.demand.values.copy()
        values[-1] = 0.01
        woken = replace(given, demand=Samples(times=given.demand.times, values=values))
        decision = decided(now, knows, 0, history=woken)
        assert decision.floor == 1


class TestWhatIsMissing:
    @pytest.mark.parametrize("missing", [1, 5, 25, 600])
    def test_a_hole_within_the_last_break_even_keeps_one(self, missing):
        now, knows = night(3)
        given = office(now)
        at = slice(-missing - 2, -2)  # the newest are known, and say nothing
        values = given.demand.values.copy()
        values[at] = np.nan
        holed = replace(given, demand=Samples(times=given.demand.times, values=values))
        assert decided(now, knows, 1, history=holed).floor == 1

    def test_no_history_leaves_what_stands(self):
        now, knows = night(3)
        for present in (0, 1):
            observation = Observation(target=target(present, lowest=0), history=None)
            decision = decide(ASLEEP, observation, knows, remembered(0, now), now)
            assert decision.floor == present

    @examples(
        hostile(),
        st.integers(1, 9),
        st.sampled_from([None, "quantile", "ahead"]),
        st.booleans(),
    )
    def test_0_is_never_reached_from_what_is_not_known(self, given, present, knows, complete):
        known = {"quantile": knowledge, "ahead": knowing_ahead}[knows]() if knows else None
        memory = remembered(0) if complete else Memory()
        now = max(NOW, given.read_at)
        observation = Observation(target=target(present, lowest=0), history=given)
        decision = decide(ASLEEP, observation, known, memory, now)
        if decision.floor == 0:
            tail = decision.series.values[-30:]
            assert len(tail) == 30
            assert (tail == 0).all()
            assert not decision.series.marks[-30:].any()
            assert not decision.doubts
            assert decision.need.order[:8].max() == 0


class TestQuiet:
    def need(self, order=0, **more):
        return Need(
            start=NOW,
            step=60.0,
            order=np.full(40, order),
            keep=np.zeros(40, np.int64),
            **{"now": 0, **more},
        )

    def series(self):
        return regular(flat(0.0), NOW)[0]

    def test_known_to_be_none(self):
        assert plan.quiet(self.series(), self.need(), LEAD, KEEP) is True

    @pytest.mark.parametrize("more", [{"now": 1}, {"recent": 1}, {"order": 1}])
    def test_some_is_near(self, more):
        assert plan.quiet(self.series(), self.need(**more), LEAD, KEEP) is False

    @pytest.mark.parametrize("mark", list(Mark))
    def test_any_mark_is_no_knowledge(self, mark):
        series = self.series()
        marks = series.marks.copy()
        marks[-10] |= np.uint8(mark)
        assert plan.quiet(replace(series, marks=marks), self.need(), LEAD, KEEP) is None

    def test_nor_is_nothing(self):
        assert plan.quiet(None, None, LEAD, KEEP) is None
        young = regular(flat(0.0, days=20 / 1440), NOW)[0]
        assert plan.quiet(young, self.need(), LEAD, KEEP) is None


def test_the_day_ahead_has_the_night_and_the_waking_in_it():
    need = np.zeros(600, dtype=np.int64)
    need[300:400] = 3
    need[500] = 1
    of = Need(start=NOW, step=60.0, order=need, keep=np.zeros(600, np.int64), now=0)
    _, changes = plan.outlook(ASLEEP, of, 1, 300.0, ceiling=9, original=1, lowest=0)
    assert [(round((c.at - NOW) / 60), c.floor) for c in changes] == [
        (0, 1),
        (10, 0),
        (295, 3),
        (410, 0),
        (495, 1),
        (511, 0),
    ]
    assert plan.outlook(ASLEEP, of, 1, 300.0, ceiling=9, original=1)[0].min() == 1


def test_a_busy_service_is_decided_as_with_a_minimum_of_1():
    for hour in range(0, 24, 3):
        now = NOW + hour * HOUR
        observation = Observation(target=target(6, lowest=0), history=tide(14, now))
        zero, one = (
            decide(policy(floor={"min": m}), observation, knowledge(), remembered(6, now), now)
            for m in (0, 1)
        )
        assert zero.floor == one.floor
