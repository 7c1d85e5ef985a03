"""What decisions hand to each other: windows, clock jumps, reverts, the shadow of Observe."""

from __future__ import annotations

import pytest

from autoscaler import remember
from autoscaler.model import Code, Memory, Mode, Outcome, Wanted
from tests.core.given import HOUR, NOW, knowledge, remembered, target


def test_wanted_floors_are_kept_for_the_window_only():
    memory = Memory()
    for minute in range(30):
        memory = remember.wanted(memory, minute, 600.0, 60.0, NOW + 60.0 * minute)
    assert [wanted.floor for wanted in memory.wanted] == list(range(19, 30))
    assert memory.since == NOW


@pytest.mark.parametrize(("gap", "forgotten"), [(300.0, False), (301.0, True), (7200.0, True)])
def test_a_hole_between_decisions_starts_memory_anew(gap, forgotten):
    memory = remember.wanted(remembered(3), 3, 600.0, 60.0, NOW)
    later = remember.wanted(memory, 3, 600.0, 60.0, NOW + gap)
    assert (later.since == NOW + gap) is forgotten


def test_long_periods_have_longer_holes():
    memory = remember.wanted(Memory(), 3, 3600.0, 600.0, NOW)
    assert remember.wanted(memory, 3, 3600.0, 600.0, NOW + 1200.0).since == NOW


def test_a_clock_that_goes_back_is_a_doubt_and_memory_starts_anew():
    memory = remembered(9)
    earlier = NOW - 2 * HOUR
    doubts = remember.doubts_of(memory, None, earlier)
    assert [doubt.code for doubt in doubts] == [Code.CLOCK_BACKWARDS, Code.NO_KNOWLEDGE]
    fresh = remember.wanted(memory, 2, 600.0, 60.0, earlier)
    assert fresh.since == earlier
    assert fresh.wanted == (Wanted(at=earlier, floor=2),)


@pytest.mark.parametrize(
    ("age", "codes"),
    [(0.0, []), (3 * 86_400.0, []), (3 * 86_400.0 + 1, [Code.KNOWLEDGE_STALE]),
     (-60.0, [Code.CLOCK_BACKWARDS])],
)  # fmt: skip
def test_knowledge_has_an_age(age, codes):
    found = remember.doubts_of(Memory(), knowledge(), NOW + age)
    assert [doubt.code for doubt in found] == codes


def test_no_knowledge_is_a_doubt():
    assert [doubt.code for doubt in remember.doubts_of(Memory(), None, NOW)] == [Code.NO_KNOWLEDGE]


class TestReverts:
    written = Memory(written=Wanted(at=NOW, floor=8))

    def test_what_stands_as_written_says_nothing(self):
        assert remember.reverted(target(8), self.written, NOW + 60) == (self.written, ())

    def test_what_was_moved_is_said_and_quiets_us(self):
        memory, reasons = remember.reverted(target(3), self.written, NOW + 60)
        assert [reason.code for reason in reasons] == [Code.REVERTED]
        assert "8" in reasons[0].sentence
        assert "3" in reasons[0].sentence
        assert memory.written is None
        assert memory.quiet_until == NOW + 60 + remember.PATIENCE

    def test_each_revert_in_a_row_doubles_the_quiet_up_to_half_an_hour(self):
        memory, now, quiets = self.written, NOW, []
        for _ in range(8):
            now += 60
            memory, _ = remember.reverted(target(3), memory, now)
            quiets.append(memory.quiet_until - now)
            now = memory.quiet_until
            memory = remember.actuated(memory, Outcome.WRITTEN, 8, now)
        assert quiets == [60, 120, 240, 480, 960, 1800, 1800, 1800]

    def test_a_floor_that_stood_for_an_hour_is_accepted(self):
        memory = Memory(written=Wanted(at=NOW, floor=8), reverts=5)
        assert remember.reverted(target(8), memory, NOW + 3599)[0].reverts == 5
        assert remember.reverted(target(8), memory, NOW + 3600)[0].reverts == 0

    @pytest.mark.parametrize(
        "outcome", [Outcome.CONFLICT, Outcome.REFUSED, Outcome.UNKNOWN, Outcome.NOT_LEADER]
    )
    def test_a_write_that_may_not_have_happened_is_nobodys_revert(self, outcome):
        memory = remember.actuated(self.written, outcome, 8, NOW)
        assert remember.reverted(target(3), memory, NOW + 60) == (memory, ())

    def test_a_clock_that_jumped_ahead_does_not_silence_us_for_ever(self):
        memory = Memory(quiet_until=NOW + 10 * 86_400.0)
        after = remember.wanted(memory, 3, 600.0, 60.0, NOW)
        assert after.quiet_until == NOW + remember.LONGEST_QUIET


class TestShadow:
    def test_in_observe_the_shadow_stands(self):
        assert remember.present_floor(Mode.OBSERVE, target(5), Memory(shadow=9)) == 9
        assert remember.present_floor(Mode.OBSERVE, target(5), Memory()) == 5

    @pytest.mark.parametrize("mode", [Mode.ACT, Mode.RAISE_ONLY])
    def test_a_change_to_acting_starts_from_the_real_floor(self, mode):
        assert remember.present_floor(mode, target(5), Memory(shadow=9)) == 5
        assert remember.decided(Memory(shadow=9), mode, 7).shadow is None
