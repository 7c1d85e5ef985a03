"""DESIGN's invariants over hostile histories, targets, memories and knowledge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.decide import decide
from autoscaler.forecast import FAST
from autoscaler.model import Code, Memory, Mode, Reason, Samples, Wanted
from autoscaler.policy import Price
from autoscaler.tune import learn
from tests.core.given import (
    CAPACITY,
    DAY,
    HOUR,
    NOW,
    flat,
    history,
    hostile,
    knowing_ahead,
    knowledge,
    paused,
    policy,
    remembered,
    seen,
    target,
    tide,
)

floors = st.integers(1, 30)
known = st.sampled_from([None, "quantile", "ahead"]).map(
    lambda k: {None: lambda: None, "quantile": knowledge, "ahead": knowing_ahead}[k]()
)
doubts = st.sampled_from([(), (Reason(code=Code.HISTORY_UNAVAILABLE, sentence="timeout"),)])


# windows around `NOW`, which is a Monday's midnight in UTC
_WHEN = {"start": "2025-11-30T12:00:00Z", "end": "2025-12-01T12:00:00Z"}
calendars = st.fixed_dictionaries(
    {},
    optional={
        "recurring": st.lists(
            st.sampled_from(
                [
                    {"name": "floor", "from": "22:00", "to": "09:00", "floor": 7},
                    {"name": "factor", "factor": 1.7},
                    {"name": "hold", "days": ["monday", "sunday"], "hold": True},
                ]
            ),
            unique_by=lambda window: window["name"],
        ),
        "events": st.lists(
            st.sampled_from(
                [
                    {"name": "factor", "factor": 0.2, "ramp": {"before": "1h"}, **_WHEN},
                    {"name": "demand", "demand": 25, **_WHEN},
                    {"name": "hold", "hold": True, **_WHEN},
                ]
            ),
            unique_by=lambda event: event["name"],
        ),
        "calendar": st.sampled_from(
            [{"country": "CN"}, {"days": [{"date": "2025-12-01", "like": "2025-11-24"}]}]
        ),
    },
)


@st.composite
def policies(draw):
    least = draw(st.none() | st.integers(1, 12))
    most = draw(st.none() | st.integers(least or 1, 20))
    limit = draw(st.none() | st.integers(1, 5))
    bounds = {"min": least, "max": most, "raiseLimit": limit}
    made = policy(
        draw(st.sampled_from(["UTC", "Europe/Berlin", "Asia/Shanghai"])),
        mode=draw(st.sampled_from([mode.value for mode in Mode])),
        floor={name: value for name, value in bounds.items() if value is not None},
        release={"after": draw(st.sampled_from(["0s", "10m", "1h"]))},
        **draw(calendars),
    )
    return paused(made) if draw(st.integers(0, 9)) == 0 else made


@st.composite
def memories(draw):
    if draw(st.booleans()):
        return remembered(draw(floors))
    wanted = draw(
        st.lists(st.tuples(st.integers(-90, 5), floors), max_size=12).map(
            lambda pairs: tuple(Wanted(at=NOW + 60.0 * m, floor=f) for m, f in sorted(pairs))
        )
    )
    return Memory(
        wanted=wanted,
        since=draw(st.none() | st.integers(-90, 5).map(lambda m: NOW + 60.0 * m)),
        shadow=draw(st.none() | floors),
        written=draw(st.none() | floors.map(lambda f: Wanted(at=NOW - 60, floor=f))),
        reverts=draw(st.integers(0, 3)),
    )


@st.composite
def observations(draw):
    # half of the time all is known: then a floor does move, in either direction
    calm = st.sampled_from([0.0, 9.0, 40.0, 75.0]).map(lambda level: flat(level, 14))
    history = draw(st.one_of(st.none(), hostile(), calm, st.just(tide(14))))
    return replace(
        seen(history, draw(floors), draw(floors), original=draw(st.none() | floors)),
        doubts=draw(doubts),
    )


def bounds(of, decision_target):
    original = (
        decision_target.floor if decision_target.original is None else decision_target.original
    )
    least = original if of.spec.floor.min is None else of.spec.floor.min
    most = decision_target.ceiling if of.spec.floor.max is None else of.spec.floor.max
    return least, most


@examples(policies(), observations(), known, memories())
def test_the_floor_lies_within_its_bounds(of, observation, knows, memory):
    decision = decide(of, observation, knows, memory, NOW)
    least, most = bounds(of, observation.target)
    assert decision.floor <= observation.target.ceiling
    if most >= least:
        assert min(least, observation.target.ceiling) <= decision.floor <= most
    assert decision.write <= (decision.floor != decision.present)


@examples(policies(), observations(), known, memories())
def test_doubt_never_lowers(of, observation, knows, memory):
    decision = decide(of, observation, knows, memory, NOW)
    assume(decision.doubts)
    _, most = bounds(of, observation.target)
    assert decision.floor >= min(decision.present, most, observation.target.ceiling)


@examples(policies(), hostile() | st.just(tide(14)), floors)
def test_lost_memory_never_lowers(of, given, floor):
    assume(of.spec.release.after > 0)
    observation = seen(given, floor)
    decision = decide(of, observation, knowledge(), Memory(), NOW)
    assert decision.floor >= min(decision.present, bounds(of, observation.target)[1])


@examples(policies(), hostile() | st.just(tide(14)), floors, memories())
def test_lost_knowledge_never_lowers(of, given, floor, memory):
    decision = decide(of, seen(given, floor), None, memory, NOW)
    _, most = bounds(of, target(floor))
    assert decision.floor >= min(decision.present, most)


@examples(policies(), floors, floors, memories(), known)
def test_an_outage_of_the_source_never_lowers(of, floor, original, memory, knows):
    blind = replace(
        seen(None, floor, original=original),
        doubts=(Reason(code=Code.HISTORY_UNAVAILABLE, sentence="refused"),),
    )
    decision = decide(of, blind, knows, memory, NOW)
    assert decision.floor >= min(decision.present, bounds(of, blind.target)[1])


@examples(policies(), observations(), known, memories(), st.booleans())
def test_what_is_paused_is_not_written_and_stays(of, observation, knows, memory, by_policy):
    if by_policy:
        of = paused(of)
    else:
        observation = replace(observation, target=replace(observation.target, paused=True))
    decision = decide(of, observation, knows, memory, NOW)
    assert not decision.write
    least, most = bounds(of, observation.target)
    assert decision.floor == min(
        max(decision.present, least),
        observation.target.ceiling if of.spec.floor.max is None else most,
        observation.target.ceiling,
    )


@examples(policies(), observations(), known, memories())
def test_raise_only_never_goes_below_what_it_found(of, observation, knows, memory):
    assume(not of.paused)  # then the present floor stays, wherever it is
    only = of.copy_with(mode=Mode.RAISE_ONLY)
    decision = decide(only, observation, knows, memory, NOW)
    found = observation.target.original
    found = observation.target.floor if found is None else found
    _, most = bounds(only, observation.target)
    assert decision.floor >= min(found, most, observation.target.ceiling)


@examples(
    policies(),
    hostile() | st.sampled_from([0, 6, 9, 15, 20]).map(lambda h: tide(14, NOW + h * HOUR)),
    floors,
    memories(),
    st.tuples(st.floats(0.06, 0.99), st.floats(0.06, 0.99)),
)
def test_a_higher_order_quantile_never_gives_a_lower_floor(of, given, floor, memory, levels):
    now = max(NOW, given.read_at)
    low, high = (
        decide(of, seen(given, floor), replace(knowledge(), order_level=q), memory, now)
        for q in sorted(levels)
    )
    assert high.floor >= low.floor
    assert (high.need.order >= low.need.order).all() if high.need and low.need else True


@examples(
    policies(),
    hostile() | st.sampled_from([0, 6, 9, 15, 20]).map(lambda h: tide(14, NOW + h * HOUR)),
    floors,
    memories(),
    st.tuples(st.floats(0.01, 1e4), st.floats(0.01, 1e4)),
)
def test_a_higher_price_of_lateness_never_gives_a_lower_floor(of, given, floor, memory, covers):
    now = max(NOW, given.read_at)
    low, high = (
        decide(of, seen(given, floor), replace(knowing_ahead(), cover=c), memory, now)
        for c in sorted(covers)
    )
    assert high.floor >= low.floor


@examples(
    policies(),
    hostile() | st.sampled_from([0, 6, 9, 15, 20]).map(lambda h: tide(14, NOW + h * HOUR)),
    floors,
    memories(),
    st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)),
)
def test_nor_does_it_where_nothing_was_learnt(of, given, floor, memory, prices):
    now = max(NOW, given.read_at)
    low, high = (
        decide(of.copy_with(price=Price(per_percent_late=p)), seen(given, floor), None, memory, now)
        for p in sorted(prices)
    )
    assert high.floor >= low.floor


@examples(policies(), observations(), known, memories())
def test_the_same_inputs_give_the_same_decision(of, observation, knows, memory):
    a, b = (decide(of, observation, knows, memory, NOW) for _ in range(2))
    assert (a.floor, a.write, a.uncapped) == (b.floor, b.write, b.uncapped)
    assert (a.reasons, a.doubts, a.memory, a.plan) == (b.reasons, b.doubts, b.memory, b.plan)


@examples(policies(), observations(), known, memories())
def test_every_decision_explains_itself(of, observation, knows, memory):
    decision = decide(of, observation, knows, memory, NOW)
    for reason in (*decision.reasons, *decision.doubts):
        assert reason.sentence
        assert all(np.isfinite(number) for number in reason.numbers.values())
    if decision.floor != (decision.plan.floor if decision.plan else decision.present):
        assert decision.reasons
    if decision.forecast is not None:
        assert np.isfinite(decision.forecast.quantiles).all()
        assert (decision.forecast.quantiles >= 0).all()
        assert (np.diff(decision.forecast.quantiles, axis=0) >= 0).all()


@examples(st.integers(0, 9), st.integers(1, 23))
def test_the_future_of_a_trace_changes_no_decision(seed, hour):
    now = NOW + hour * HOUR
    whole = tide(16, NOW + DAY, seed=1)
    rng = np.random.default_rng(seed)
    past = whole.demand.times < now
    noise = np.where(past, whole.demand.values, rng.uniform(0, 1e5, len(past)))
    noisy = replace(whole, demand=Samples(times=whole.demand.times, values=noise))
    for knows in (knowledge(), knowing_ahead()):
        a, b = (
            decide(policy(), seen(given), knows, remembered(5, now), now)
            for given in (whole, noisy)
        )
        assert (a.floor, a.reasons, a.plan, a.doubts) == (b.floor, b.reasons, b.plan, b.doubts)


@pytest.mark.parametrize(
    "now",
    [1_774_747_800.0, 1_792_891_800.0, 1_835_395_200.0, 1_798_675_200.0],
    ids=["spring", "autumn", "leap day", "week 53"],
)
def test_odd_nights_are_nights_like_others(now):
    """Four hours through a DST night, a leap day, week 53: floors stay near the need."""
    of, memory, floor = policy("Europe/Berlin", floor={"min": 1}), Memory(), 6
    knows = learn(of, tide(14, now), now, shapes=FAST)
    for minute in range(0, 240, 2):
        at = now + 60.0 * minute
        given = tide(15, at)
        decision = decide(of, seen(given, floor), knows, memory, at)
        assert decision.doubts == ()
        memory, floor = decision.memory, decision.floor
        assert floor >= given.demand.values[-1] / CAPACITY
        assert floor <= 2.5 * given.demand.values[-30:].max() / CAPACITY + 2


@settings(max_examples=50)
@examples(hostile())
def test_learning_survives_anything(given):
    knows = learn(policy(), given, NOW, shapes=FAST)
    forecast = decide(policy(), seen(given), knows, Memory(), NOW).forecast
    assert forecast is None or np.isfinite(forecast.quantiles).all()


def test_a_restart_in_the_middle_of_a_fall_holds():
    """Memory and knowledge are lost while demand falls: the floor stays until both are back."""
    now = NOW + 18 * HOUR
    floor, memory, seen_floors = 14, Memory(), []
    for minute in range(60):
        at = now + 60.0 * minute
        decision = decide(
            policy(floor={"min": 1}),
            seen(tide(14, at), floor),
            None if minute < 30 else knowledge(),
            memory,
            at,
        )
        floor, memory = decision.floor, decision.memory
        seen_floors.append(floor)
    assert seen_floors[:30] == [14] * 30
    assert seen_floors[-1] < 14


def test_history_with_a_counter_reset_is_not_read_as_a_fall():
    """What a reset leaves behind (a negative rate) is refused, never a reason to lower."""
    given = tide(14)
    values = given.demand.values.copy()
    values[-1] = -1e6
    decision = decide(
        policy(floor={"min": 1}), seen(history(given.demand.times, values), 14),
        knowledge(), remembered(1), NOW,
    )  # fmt: skip
    assert decision.floor == 14
    assert Code.SAMPLES_REFUSED in [doubt.code for doubt in decision.doubts]
