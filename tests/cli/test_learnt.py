"""When was chosen and when fitted, as plan, tune and explain say it."""

from __future__ import annotations

from dataclasses import replace

from autoscaler.cli.accuracyshown import learnt_when
from autoscaler.forecast import FAST
from autoscaler.model import Memory
from autoscaler.tune import learn, refit, standing_of
from tests.core.given import DAY, HOUR, NOW, history, policy, tide


def test_both_moments_with_their_zone():
    chosen = learn(policy(), tide(9, NOW), NOW, shapes=FAST)
    again = refit(policy(), tide(12, NOW + 3 * DAY), NOW + 3 * DAY, standing_of(chosen, Memory()))
    assert learnt_when(chosen, "UTC") == "chosen and fitted Mon 1 Dec 00:00 +0000"
    said = "chosen Mon 1 Dec 05:30 +0530, fitted Thu 4 Dec 05:30 +0530"
    assert learnt_when(again, "Asia/Kolkata") == said
    later = replace(again, fitted_at=NOW + 9 * HOUR)
    assert learnt_when(later, "UTC").endswith("fitted Mon 1 Dec 09:00 +0000")


def test_nothing_is_chosen_from_next_to_nothing():
    known = learn(policy(), history([], []), NOW, shapes=FAST)
    assert learnt_when(known, "UTC") == "nothing chosen yet, learnt Mon 1 Dec 00:00 +0000"
