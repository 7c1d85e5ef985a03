"""Whole decisions: the tide that comes, what is missing, what is kept of it."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from autoscaler.decide import decide
from autoscaler.model import Code, Forecast, Knowledge, Memory, Reason, Wanted
from tests.core.given import (
    DAY,
    HOUR,
    NOW,
    flat,
    knowledge,
    policy,
    remembered,
    seen,
    tide,
)


def codes(reasons):
    return [reason.code for reason in reasons]


def test_the_order_of_the_stages_stands_on_one_page():
    assert len(inspect.getsource(decide).splitlines()) <= 60


def test_a_rise_is_ordered_before_it_comes():
    """At 06:00 demand rises by about 1.5 replicas an hour; the floor stands a lead time ahead."""
    now = NOW + 6 * HOUR
    decision = decide(policy(), seen(tide(14, now), floor=5), knowledge(), remembered(5, now), now)
    later = now + 6 * 60
    expected = 22 - 13 * math.cos(2 * math.pi * (later % DAY) / DAY)
    assert decision.floor * 3.0 >= expected
    assert decision.floor * 3.0 <= expected * 1.3 + 3
    assert decision.write == (decision.floor != 5)
    assert decision.doubts == ()
    assert codes(decision.reasons)[0] is Code.FORECAST


def test_every_stage_leaves_its_result():
    decision = decide(policy(), seen(tide(14)), knowledge(), remembered(5), NOW)
    assert decision.series.end == NOW
    assert decision.forecast.start == NOW
    assert decision.forecast.levels[0] < 0.5 < decision.forecast.levels[-1]
    assert len(decision.need.order) == decision.forecast.quantiles.shape[1] == 7 + 30 + 1
    assert decision.plan.lead == 60 + 15 + 300
    assert decision.memory.wanted[-1].floor == decision.plan.floor


def test_the_period_is_part_of_the_lead():
    slow = replace(seen(tide(14)), period=300.0)
    assert decide(policy(), slow, knowledge(), remembered(5), NOW).plan.lead == 300 + 15 + 300


def test_a_fall_is_released_slowly_and_completely():
    """Twenty stand, few are needed: held for release.after, then let go at once."""
    floor, memory, floors = 20, Memory(), []
    for minute in range(15):
        now = NOW + 60.0 * minute
        decision = decide(
            policy(floor={"min": 2}), seen(tide(14, now), floor=floor), knowledge(), memory, now
        )
        floor, memory = decision.floor, decision.memory
        floors.append(floor)
    assert floors[:10] == [20] * 10
    assert floors[-1] <= 6


@pytest.mark.parametrize("mode", ["Act", "RaiseOnly", "Observe"])
def test_without_history_everything_stays(mode):
    blind = replace(
        seen(None, floor=9), doubts=(Reason(code=Code.HISTORY_UNAVAILABLE, sentence="timeout"),)
    )
    decision = decide(policy(mode=mode), blind, knowledge(), remembered(2), NOW)
    assert decision.floor == 9
    assert not decision.write
    assert codes(decision.doubts) == [Code.HISTORY_UNAVAILABLE]


def test_without_knowledge_floors_rise_and_never_fall():
    high = decide(policy(), seen(flat(60.0), floor=5), None, remembered(5), NOW)
    assert high.floor >= 20
    assert codes(high.doubts) == [Code.NO_KNOWLEDGE]
    low = decide(policy(floor={"min": 1}), seen(flat(3.0), floor=15), None, remembered(1), NOW)
    assert low.floor == 15
    assert Code.DOUBT_HOLDS in codes(low.reasons)


@dataclass(frozen=True)
class Broken:
    """A forecaster that fails in one of the ways of numbers."""

    how: str
    name: str = "broken"

    def predict(self, series, steps, levels):
        if self.how == "raises":
            raise np.linalg.LinAlgError("singular matrix")
        if self.how == "bug":
            raise RuntimeError("a bug")
        paths = np.ones((len(levels), steps))
        paths[0, 0] = {"nan": np.nan, "infinite": np.inf, "negative": -1.0, "crossing": 2.0}[
            self.how
        ]
        return Forecast(start=series.end, step=60.0, levels=levels, quantiles=paths, by=self.name)


@pytest.mark.parametrize("how", ["raises", "nan", "infinite", "negative", "crossing"])
def test_a_forecaster_that_fails_is_a_doubt_and_the_last_minutes_take_over(how):
    known = Knowledge(fitted=Broken(how), order_level=0.95, fitted_at=NOW)
    decision = decide(policy(), seen(flat(60.0), floor=5), known, remembered(5), NOW)
    assert codes(decision.doubts) == [Code.FIT_FAILED]
    assert decision.forecast.by == "recent"
    assert decision.floor >= 20


def test_a_bug_is_not_a_doubt():
    known = Knowledge(fitted=Broken("bug"), order_level=0.95, fitted_at=NOW)
    with pytest.raises(RuntimeError, match="a bug"):
        decide(policy(), seen(flat(60.0)), known, remembered(5), NOW)


def test_nothing_known_of_the_last_day_is_a_doubt_not_a_zero():
    old = tide(3, NOW - 2 * DAY)
    decision = decide(policy(), seen(old, floor=9), None, remembered(1), NOW)
    assert decision.forecast is None
    assert decision.floor == 9
    assert {Code.HISTORY_STALE, Code.FIT_FAILED} <= set(codes(decision.doubts))


def test_paused_is_not_written_but_still_planned():
    decision = decide(
        policy(), seen(flat(60.0), floor=5, paused=True), knowledge(), remembered(5), NOW
    )
    assert decision.floor == 5
    assert not decision.write
    assert decision.plan.floor >= 20


def test_paused_below_the_minimum_is_not_written_either():
    low = policy(floor={"min": 8})
    decision = decide(low, seen(flat(60.0), floor=5, paused=True), knowledge(), Memory(), NOW)
    assert not decision.write


def test_the_shadow_of_observe_evolves_as_it_would_for_real():
    shadow, real = Memory(), Memory()
    floor = 5
    for minute in range(0, 240, 5):
        now = NOW + 5 * HOUR + 60.0 * minute
        given = tide(14, now)
        observed = decide(policy(mode="Observe"), seen(given, floor=5), knowledge(), shadow, now)
        acted = decide(policy(floor={"min": 5}), seen(given, floor=floor), knowledge(), real, now)
        assert observed.floor == acted.floor
        shadow, real, floor = observed.memory, acted.memory, acted.floor
    assert floor > 5


def test_after_a_revert_nothing_is_written_for_a_while():
    memory = replace(remembered(20), written=Wanted(at=NOW - 60, floor=20))
    decision = decide(policy(), seen(flat(60.0), floor=5), knowledge(), memory, NOW)
    assert Code.REVERTED in codes(decision.reasons)
    assert decision.floor >= 20
    assert not decision.write
    again = decide(policy(), seen(flat(60.0), floor=5), knowledge(), decision.memory, NOW + 60)
    assert again.write


def test_uncapped_says_what_a_ceiling_hides():
    decision = decide(policy(), seen(flat(60.0), ceiling=7), knowledge(), remembered(5), NOW)
    assert decision.floor == 7
    assert decision.uncapped >= 20
    assert codes(decision.reasons)[-1] is Code.AT_CEILING


def test_a_ceiling_below_the_minimum_wins():
    calm = seen(flat(3.0), floor=5, ceiling=7)
    decision = decide(policy(floor={"min": 9}), calm, knowledge(), remembered(5), NOW)
    assert (decision.uncapped, decision.floor) == (9, 7)


@pytest.mark.parametrize("spec", [{"floor": {"min": 7, "max": 9}}, {"floor": {"min": 12}}, {}])
def test_the_next_change_is_one_that_may_come(spec):
    """Over a day's rise and fall between some 3 and 12; without a minimum, the floor found."""
    for hour in range(24):
        now = NOW + hour * HOUR
        here = seen(tide(14, now), floor=6, ceiling=11)
        decision = decide(policy(**spec), here, knowledge(), remembered(6, now), now)
        least = spec.get("floor", {}).get("min", 6)
        most = spec.get("floor", {}).get("max", 11)
        told = [decision.floor, *(change.floor for change in decision.plan.changes)]
        assert all(min(least, most) <= floor <= most for floor in told)
        assert all(one != two for one, two in pairwise(told))


class TestEvents:
    def event(self, start, end, factor):
        return policy(events=[{"name": "sale", "start": start, "end": end, "factor": factor}])

    def test_an_event_raises_demand_a_lead_time_before_it(self):
        sale = self.event("2025-12-01T01:00", "2025-12-01T02:00", 3)
        floors = {}
        for minute in (50, 53, 55):
            now = NOW + 60.0 * minute
            given = tide(14, now)
            floors[minute] = decide(
                sale, seen(given), knowledge(), remembered(5, now), now
            ).plan.floor
        assert floors[50] <= 6
        assert floors[55] >= 9

    def test_it_is_a_reason_with_its_name(self):
        sale = self.event("2025-12-01T00:10", "2025-12-01T02:00", 3)
        decision = decide(sale, seen(tide(14)), knowledge(), remembered(5), NOW)
        event = next(reason for reason in decision.reasons if reason.code is Code.EVENT)
        assert "sale" in event.sentence
        assert event.numbers["factor"] == 3
