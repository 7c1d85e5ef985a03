"""Every guard: when it acts, what it leaves, and what it says. Each test dies with its guard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoscaler import guard
from autoscaler.model import Code, Memory, Reason, Wanted
from tests.core.given import NOW, paused, policy, remembered, target

DOUBT = Reason(code=Code.HISTORY_STALE, sentence="old")


def ground(
    of=None, *, present=5, original=None, memory=None, doubts=(), quiet=None, **target_fields
):
    return guard.Ground(
        policy=of or policy(),
        target=target(present, original=original, **target_fields),
        present=present,
        memory=remembered(1) if memory is None else memory,
        doubts=tuple(doubts),
        quiet=quiet,
        now=NOW,
        after=600.0,
    )


def outcome(of, floor, where):
    left, reason = of(floor, where)
    return left, None if reason is None else reason.code


class TestSlowRelease:
    def test_lowers_only_to_the_largest_wanted_within_the_window(self):
        memory = Memory(
            wanted=(Wanted(at=NOW - 540, floor=4), Wanted(at=NOW, floor=2)), since=NOW - 3600
        )
        assert outcome(guard.slow_release, 2, ground(present=8, memory=memory)) == (
            4,
            Code.RELEASE_HELD,
        )

    def test_lets_go_when_nothing_more_was_wanted(self):
        assert outcome(guard.slow_release, 2, ground(present=8, memory=remembered(2))) == (2, None)

    def test_holds_while_memory_is_incomplete(self):
        young = Memory(wanted=(Wanted(at=NOW, floor=2),), since=NOW - 300)
        assert outcome(guard.slow_release, 2, ground(present=8, memory=young)) == (
            8,
            Code.RELEASE_HELD,
        )

    @pytest.mark.parametrize("wanted", [(), (Wanted(at=NOW, floor=2),)])
    def test_holds_without_any_memory(self, wanted):
        assert outcome(guard.slow_release, 2, ground(present=8, memory=Memory(wanted=wanted))) == (
            8,
            Code.RELEASE_HELD,
        )

    def test_never_raises_to_what_was_once_wanted(self):
        assert outcome(guard.slow_release, 2, ground(present=5, memory=remembered(20)))[0] == 5

    def test_leaves_a_rise_alone(self):
        assert outcome(guard.slow_release, 9, ground(memory=Memory())) == (9, None)


class TestRaiseLimit:
    limited = policy(floor={"raiseLimit": 3})

    @pytest.mark.parametrize(("wanted", "left"), [(20, 8), (9, 8), (8, 8), (7, 7), (2, 2)])
    def test_adds_at_most_so_many_a_cycle(self, wanted, left):
        found, code = outcome(guard.raise_limit, wanted, ground(self.limited))
        assert found == left
        assert code == (Code.RAISE_LIMITED if wanted > 8 else None)

    def test_no_limit_by_default(self):
        assert outcome(guard.raise_limit, 30, ground()) == (30, None)


class TestDoubtHolds:
    def test_holds_instead_of_lowering(self):
        assert outcome(guard.doubt_holds, 2, ground(doubts=[DOUBT])) == (5, Code.DOUBT_HOLDS)

    def test_does_not_stand_in_the_way_of_a_rise(self):
        assert outcome(guard.doubt_holds, 9, ground(doubts=[DOUBT])) == (9, None)

    def test_without_doubt_nothing_is_held(self):
        assert outcome(guard.doubt_holds, 2, ground()) == (2, None)


class TestCalendarHolds:
    held = policy(
        "Europe/Berlin",
        events=[
            {"name": "demo", "start": "2025-12-01T00:30Z", "end": "2025-12-01T02:00Z", "hold": True}
        ],
        recurring=[
            {"name": "monday", "days": ["monday"], "from": "00:00", "to": "02:00", "hold": True}
        ],
    )

    def at(self, when, floor=2):
        return outcome(guard.calendar_holds, floor, replace(ground(self.held), now=NOW + when))

    def test_nothing_is_lowered_inside_a_window(self):
        assert self.at(0.0) == (5, Code.CALENDAR_HOLDS)  # 01:00 in Berlin

    @pytest.mark.parametrize(
        ("minutes", "holds"),
        [(-61, False), (-60, True), (59, True), (119, True), (120, False)],
    )
    def test_from_the_first_moment_until_before_the_last(self, minutes, holds):
        assert self.at(60.0 * minutes)[0] == (5 if holds else 2)

    def test_a_rise_passes(self):
        assert self.at(0.0, floor=9) == (9, None)

    def test_a_ceiling_that_fell_wins(self):
        where = replace(ground(self.held, present=9, ceiling=7), now=NOW)
        floor, reasons = guard.apply(guard.GUARDS, 2, where)
        assert floor == 7
        assert [r.code for r in reasons][-2:] == [Code.CALENDAR_HOLDS, Code.AT_CEILING]


class TestLastReplica:
    zero = policy(floor={"min": 0})

    def of(self, floor, **more):
        return outcome(guard.last_replica, floor, ground(self.zero, lowest=0, **more))

    def test_it_goes_when_nothing_is_needed(self):
        assert self.of(0, present=1, quiet=True) == (0, Code.ASLEEP)

    def test_it_stays_while_anything_is_needed_or_unknown(self):
        assert self.of(0, present=1, quiet=False) == (1, Code.LAST_REPLICA)
        assert self.of(0, present=1, quiet=None) == (1, Code.LAST_REPLICA)

    def test_one_is_woken_by_demand_and_not_by_a_doubt(self):
        assert self.of(0, present=0, quiet=False) == (1, Code.LAST_REPLICA)
        assert self.of(0, present=0, quiet=None) == (0, Code.ASLEEP)

    def test_more_than_none_is_not_its_business(self):
        assert self.of(3, present=1, quiet=True) == (3, None)
        assert outcome(guard.last_replica, 0, ground(quiet=True)) == (0, None)


class TestRaiseOnly:
    only = policy(mode="RaiseOnly")

    def test_never_below_what_was_found(self):
        assert outcome(guard.raise_only, 2, ground(self.only, present=8, original=6)) == (
            6,
            Code.RAISE_ONLY,
        )

    def test_above_it_moves_both_ways(self):
        assert outcome(guard.raise_only, 7, ground(self.only, present=8, original=6)) == (7, None)

    def test_in_act_it_may_go_below(self):
        assert outcome(guard.raise_only, 2, ground(present=8, original=6)) == (2, None)


class TestPause:
    def test_the_target_may_ask_for_it(self):
        assert outcome(guard.pause, 9, ground(paused=True)) == (5, Code.PAUSED)

    def test_the_policy_may_ask_for_it(self):
        assert outcome(guard.pause, 2, ground(paused(policy()))) == (5, Code.PAUSED)

    def test_without_it_nothing_is_held(self):
        assert outcome(guard.pause, 9, ground()) == (9, None)


class TestBounds:
    def test_minimum(self):
        low = policy(floor={"min": 4})
        assert outcome(guard.minimum, 2, ground(low)) == (4, Code.AT_MINIMUM)
        assert outcome(guard.minimum, 4, ground(low)) == (4, None)

    def test_no_less_than_the_target_takes(self):
        zero = policy(floor={"min": 0})
        assert outcome(guard.minimum, 0, ground(zero, present=1)) == (1, Code.AT_MINIMUM)
        assert outcome(guard.minimum, 0, ground(zero, present=1, lowest=0)) == (0, None)

    def test_minimum_is_by_default_what_was_found(self):
        assert outcome(guard.minimum, 2, ground(present=8, original=6)) == (6, Code.AT_MINIMUM)

    def test_maximum(self):
        high = policy(floor={"max": 12})
        assert outcome(guard.maximum, 13, ground(high)) == (12, Code.AT_MAXIMUM)
        assert outcome(guard.maximum, 12, ground(high)) == (12, None)

    def test_ceiling(self):
        assert outcome(guard.ceiling, 13, ground(ceiling=12)) == (12, Code.AT_CEILING)
        assert outcome(guard.ceiling, 12, ground(ceiling=12)) == (12, None)

    def test_a_ceiling_below_the_minimum_wins(self):
        low = policy(floor={"min": 10})
        floor, reasons = guard.apply(guard.GUARDS, 2, ground(low, ceiling=7))
        assert floor == 7
        assert [reason.code for reason in reasons][-2:] == [Code.AT_MINIMUM, Code.AT_CEILING]


def test_guards_stand_from_the_weakest_to_the_strongest():
    assert [of.__name__ for of in guard.GUARDS] == [
        "slow_release",
        "raise_limit",
        "doubt_holds",
        "calendar_holds",
        "last_replica",
        "raise_only",
        "pause",
        "minimum",
        "maximum",
        "ceiling",
    ]


def test_every_reason_has_its_numbers_in_words():
    where = ground(
        policy(
            mode="RaiseOnly",
            floor={"min": 7, "max": 8, "raiseLimit": 1},
            recurring=[{"name": "always", "hold": True}],
        ),
        original=6,
        doubts=[DOUBT],
        memory=Memory(),
        paused=True,
        ceiling=3,
    )
    zero = ground(policy(floor={"min": 0}), present=1, lowest=0)
    said = {}
    for of in guard.GUARDS:
        for wanted in (1, 20):
            reason = of(wanted, where)[1] or of(0, zero)[1]
            if reason is not None:
                said[reason.code] = reason
    assert len(said) == len(guard.GUARDS)
    for reason in said.values():
        assert reason.numbers
        for name in ("held", "limit", "found", "minimum", "maximum", "ceiling"):
            if name in reason.numbers and name != "found":
                assert str(int(reason.numbers[name])) in reason.sentence
