"""`forecast.use`: names, what is honoured, what is said, and what stands through the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscaler.adapters.policies.text import read_text
from autoscaler.adapters.telemetry.chain import fit
from autoscaler.adapters.telemetry.replay import Replayer
from autoscaler.decide import decide
from autoscaler.forecast import ALL, FAST
from autoscaler.model import Code, Memory
from autoscaler.schema import candidates
from autoscaler.schema.candidates import Candidate, CandidateUnknown, candidate_of
from autoscaler.tune import learn, standing_of, tonight
from autoscaler.tune.lesson import study
from autoscaler.tune.nights import FEW
from tests.core.given import DAY, NOW, policy, remembered, restless, seen, tide
from tests.policy.making import with_spec


def pinned(use, **more):
    return policy(forecast={"use": use}, **more)


class TestNames:
    def test_every_shape_has_one(self):
        assert tuple(shape.name for shape in ALL) == candidates.SHAPES

    @pytest.mark.parametrize(
        "name", ["auto", "ahead", "ahead@18", "ahead@0.01", "profile@0.995", "last-week", "no-tide"]
    )
    def test_a_name_comes_back_as_it_was_written(self, name):
        assert str(candidate_of(name)) == name
        (found,) = read_text(with_spec(f"forecast: {{use: {name}}}").encode(), "p.yaml").found
        assert found.policy.spec.forecast.use == name

    @pytest.mark.parametrize("rule", [0.010001, 0.998, 2.6, 13.51, 631.8, 153_527.4, 1e6])
    def test_a_name_in_three_digits_is_one_that_can_be_pinned(self, rule):
        name = str(Candidate(forecaster="ahead", rule=rule))
        assert str(candidate_of(name)) == name
        assert candidate_of(name).rule == pytest.approx(rule, rel=5e-3)

    @pytest.mark.parametrize(
        ("name", "near"),
        [
            ("prophet", ""),
            ("profle", "profile"),
            ("profile@0.2", ""),
            ("ahead@0", ""),
            ("auto@3", "auto"),
            ("ahead@1.2.3", "ahead"),
            ("ahead@", "ahead"),
        ],
    )
    def test_another_is_refused_with_all_that_are_allowed(self, name, near):
        with pytest.raises(CandidateUnknown) as refused:
            candidate_of(name)
        assert refused.value.near == near
        (problem,) = read_text(with_spec(f"forecast: {{use: {name}}}").encode(), "p.yaml").problems
        assert str(problem).startswith("p.yaml:11:19: spec.forecast.use: found ")
        for allowed in ("auto", "ahead@18", *candidates.SHAPES):
            assert allowed in str(problem)


class TestHonoured:
    @pytest.mark.parametrize("use", ["profile@0.9", "yesterday@0.8", "no-tide@0.98"])
    def test_a_shape_and_its_level(self, use):
        known = learn(pinned(use), tide(10), NOW, shapes=FAST)
        name, _, level = use.partition("@")
        assert (known.fitted.name, known.order_level) == (name, float(level))
        assert known.cover is None
        assert known.choice.name == use

    def test_a_shape_whose_level_the_replay_chooses(self):
        known = learn(pinned("profile"), tide(10), NOW, shapes=FAST)
        own = {name: score for name, score in known.scores.items() if name.startswith("profile@")}
        assert known.choice.name in own
        assert known.fitted.name == "profile"

    @pytest.mark.parametrize("cover", [18.0, 23.4, 999.0])
    def test_the_distributions_ahead_and_their_price(self, cover):
        known = learn(pinned(f"ahead@{cover:g}"), tide(10), NOW, shapes=FAST)
        assert (known.fitted.name, known.cover) == ("ahead", pytest.approx(cover, rel=1e-3))
        assert known.choice.best.startswith("ahead@")

    def test_what_cannot_be_learnt_yet_is_replaced_and_said_so(self):
        given, wanted = tide(3), pinned("last-week")
        known = learn(wanted, given, NOW, shapes=FAST)
        assert known.fitted.name != "last-week"
        decision = decide(wanted, seen(given), known, remembered(5), NOW)
        (reason,) = [reason for reason in decision.reasons if reason.code is Code.PINNED]
        assert "last-week is pinned" in reason.sentence
        assert "speaks in its place" in reason.sentence
        assert reason.numbers == {"held": 0.0}

    def test_a_pinned_one_is_told_in_every_decision_and_auto_is_not(self):
        given = tide(10)
        for use, told in (("ahead@40", 1), ("auto", 0)):
            wanted = pinned(use)
            known = learn(wanted, given, NOW, shapes=FAST)
            reasons = decide(wanted, seen(given), known, remembered(5), NOW).reasons
            assert [reason.code for reason in reasons].count(Code.PINNED) == told

    @pytest.mark.slow
    def test_a_higher_price_pinned_never_gives_a_lower_floor(self):
        given = restless()
        floors = []
        for cover in (3, 18, 150):
            wanted = pinned(f"ahead@{cover}")
            known = learn(wanted, given, NOW, shapes=FAST)
            floors.append(decide(wanted, seen(given), known, remembered(1), NOW).floor)
        assert floors == sorted(floors)
        assert floors[0] < floors[-1]


def undecided():
    """A price of lateness whose usual price of uncovered demand lies between two of the ladder."""
    return policy(price={"perPercentLate": 0.76})


class TestStanding:
    """The replay chooses what stands as long as the best is not better by more than the noise."""

    @pytest.mark.slow
    def test_within_the_noise_it_stays_and_a_clear_loser_goes(self):
        given, wanted = tide(10), undecided()
        lesson = study(wanted, given, NOW, shapes=FAST)
        best = lesson.best(lesson.drawn)
        drawn = sorted(lesson.drawn, key=lambda of: lesson.drawn[of])
        second, last = drawn[1], drawn[-1]
        assert lesson.close(second, best)
        assert not lesson.close(last, best)
        for standing, chosen in ((second, second), (last, best), (best, best)):
            known = learn(wanted, given, NOW, shapes=FAST, standing=str(standing))
            assert known.choice.name == str(chosen)
            assert known.choice.best == str(best)
            assert known.choice.standing == str(standing)
            assert standing_of(known, Memory()).choice.name == str(chosen)

    def test_a_name_that_is_none_any_more_is_no_obstacle(self):
        known = learn(policy(), tide(8), NOW, shapes=FAST, standing="prophet@0.9")
        assert known.choice.name == known.choice.best

    @pytest.mark.parametrize("price", [0.01, 100])
    def test_the_usual_quantile_of_an_extreme_price_is_fitted_again(self, price):
        """It lies beyond what may be pinned; on a week `last-week` was replayed on no day."""
        of = policy(price={"perPercentLate": price}, forecast={"use": "last-week"})
        known = learn(of, tide(8), NOW, shapes=FAST)
        assert known.choice.days > FEW
        again = tonight(
            of, tide(9, NOW + DAY), NOW + DAY, standing_of(known, Memory()), shapes=FAST
        )
        assert again.choice.name.startswith("last-week@")

    def test_a_pin_is_stronger(self):
        known = learn(pinned("profile@0.9"), tide(8), NOW, shapes=FAST, standing="no-tide@0.9")
        assert known.choice.name == "profile@0.9"

    @pytest.mark.slow
    def test_a_record_knows_what_stood(self):
        """Else a recorded night could not be learnt again to the same."""
        given, wanted = tide(10), undecided()
        lesson = study(wanted, given, NOW)
        second = sorted(lesson.drawn, key=lambda of: lesson.drawn[of])[1]
        known = learn(wanted, given, NOW, standing=str(second))
        kept = fit(wanted, given, known, 60.0)
        again = Replayer().knowledge(kept)
        assert again.choice == known.choice
        assert again.choice.name == str(second)
        forgotten = fit(
            wanted, given, replace(known, choice=replace(known.choice, standing="")), 60.0
        )
        assert Replayer().knowledge(forgotten).choice.name == str(lesson.best(lesson.drawn))

    def test_the_same_past_gives_the_same_answer(self):
        lesson = study(policy(), tide(10), NOW, shapes=FAST)
        best = lesson.best(lesson.drawn)
        answers = [[lesson.close(of, best) for of in lesson.drawn] for _ in range(2)]
        assert answers[0] == answers[1]
        assert np.any(answers[0])
