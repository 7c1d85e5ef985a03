"""The advice: within its bounds, out of sample, and no more than the replay supports."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.adapters.kubernetes.above import above_of
from autoscaler.adapters.kubernetes.advised import advised
from autoscaler.adapters.telemetry.schema import knowledge_document, text
from autoscaler.cli.advised import Stands, document_of, lines_of
from autoscaler.cli.dayahead import look_ahead
from autoscaler.forecast import FAST
from autoscaler.model import Running, Samples
from autoscaler.reactive import PlainHpa
from autoscaler.replay import clairvoyant, cost_of, late_fraction, replay, score_of
from autoscaler.report import value_text
from autoscaler.tune import Above, against, known, learn, study
from autoscaler.tune.advice import (
    ALONE,
    PRESENT,
    TARGETS,
    best_alone,
    fitting,
    helps,
    ours_under,
    room,
    target_for,
)
from tests.core.given import NOW, history, policy, tide


@lru_cache
def lesson_of(days=14.0):
    return study(policy(), tide(days), NOW, shapes=FAST)


@lru_cache
def knowledge_of(days=14.0):
    return known(policy(), lesson_of(days))


def ways(scores, targets=TARGETS):
    return tuple(
        Running(target=target, score=score, replica_hours=240.0, starts=9.0, late=0.001)
        for target, score in zip(targets, scores, strict=True)
    )


def aimless(days=14):
    """A new level every 97 minutes, out of nowhere."""
    times = NOW - 60.0 * days * 1440 + 60.0 * np.arange(days * 1440)
    levels = np.random.default_rng(7).uniform(10, 40, len(times) // 97 + 1)
    return history(times, np.repeat(levels, 97)[: len(times)])


def office_hours(days=14):
    """Ten replicas' demand from nine to six, two at night, rising within a minute."""
    times = NOW - 60.0 * days * 1440 + 60.0 * np.arange(days * 1440)
    clock = times % 86_400.0
    noise = np.random.default_rng(3).normal(0, 0.3, len(times))
    busy = (clock >= 9 * 3600) & (clock < 18 * 3600)
    return history(times, np.where(busy, 29.0, 5.0) + noise)


class TestTarget:
    @given(
        scores=st.lists(st.floats(0.9, 1e4), min_size=len(TARGETS), max_size=len(TARGETS)),
        days=st.integers(1, 7),
        tolerance=st.floats(0.0, 0.9),
    )
    def test_never_where_a_bounded_metric_would_never_ask_for_more(self, scores, days, tolerance):
        found = fitting(ways(scores), days, bounded=True, tolerance=tolerance)
        # all busy: 1 / target must be beyond the tolerance, or nothing is ever added
        assert 1 / found >= (1 + tolerance) * (1 - 1e-12)
        assert found <= 0.95
        if tolerance <= 0.4:
            assert found >= 0.7
        assert 0.7 <= fitting(ways(scores), days) <= 0.95

    def test_usual_where_the_replay_says_nothing(self):
        even = ways([1.2] * 4)
        assert fitting(even, 7) == 0.95
        assert fitting(even, 7, bounded=True) == 0.9

    def test_luck_of_a_day_moves_nothing_a_week_of_it_does(self):
        better = ways([0.95, 1.2, 1.2, 1.2])
        assert fitting(better, 1) == 0.95
        assert fitting(better, 7) == 0.7
        barely = ways([1.1, 1.2, 1.2, 1.2])
        assert fitting(barely, 7) == 0.95

    def test_metric_and_tolerance_that_stand_decide(self):
        advice = replace(knowledge_of().advice, ours=ways([1.36, 1.2, 1.1, 1.05]))
        assert target_for(advice, Above()) == 0.95
        assert target_for(advice, Above(bounded=False)) == 0.95
        assert target_for(advice, Above(bounded=True)) == 0.9
        assert target_for(advice, Above(bounded=True, tolerance=0.2)) == 0.8
        assert target_for(advice, Above(bounded=True, tolerance=0.05)) == 0.95
        assert ours_under(advice, 0.8).score == 1.2


class TestReplay:
    def test_numbers_are_those_of_the_plain_replay(self):
        lesson, advice = lesson_of(), knowledge_of().advice
        chosen = next(of for of in lesson.scores if str(of) == knowledge_of().choice.name)
        judge, trial = lesson.judge, lesson.trial_of(chosen)
        assert [way.target for way in advice.ours] == list(TARGETS)
        assert [way.target for way in advice.alone] == list(ALONE)
        assert advice.days == 7
        demand = judge.demand_on(trial.rows[-7:])
        perfect = replay(demand, clairvoyant(demand, judge.service), judge.service)
        reference = float(cost_of(perfect, judge.service)[0])
        ones = np.ones(len(demand), dtype=np.int64)
        for beneath, found in (
            (trial.floors[0, -7:].ravel(), advice.ours[1]),
            (ones, advice.alone[3]),
        ):
            run = replay(demand, beneath, judge.service, PlainHpa(target=found.target))
            late = late_fraction(run, demand)
            score = score_of(cost_of(run, judge.service), reference, late)
            assert found.score == pytest.approx(float(score[0]))
            assert found.late == pytest.approx(float(late[0]))
            assert found.replica_hours == pytest.approx(run.total.sum() / 60 / 7)
            assert found.starts == pytest.approx(run.started.sum() / 7)

    def test_spare_is_paid_twice_so_a_high_target_does_better(self):
        low, *_, high = knowledge_of().advice.ours
        assert high.score < 0.9 * low.score
        assert knowledge_of().advice.target == 0.95
        assert knowledge_of().advice.utilisation == 0.9

    def test_nothing_of_the_future_is_known(self):
        past = tide(10, NOW)
        times = np.r_[past.demand.times, NOW + 60.0 * np.arange(2880)]
        noise = np.random.default_rng(0).uniform(0, 1e6, 2880)
        noisy = replace(past, demand=Samples(times=times, values=np.r_[past.demand.values, noise]))
        one, two = (learn(policy(), given, NOW, shapes=FAST).advice for given in (past, noisy))
        assert one is not None
        assert one == two

    @pytest.mark.parametrize("given", [history([], []), tide(0.5), tide(1.5)])
    def test_without_a_whole_replayed_day_there_is_none(self, given):
        assert learn(policy(), given, NOW, shapes=FAST).advice is None

    def test_against_what_stands(self):
        found = against(knowledge_of(), lesson_of(), Above(target=0.6, bounded=True), 7).advice
        assert found.now.target == 0.6
        assert found.floor == 7
        assert found.now == next(way for way in found.alone if way.target == 0.6)
        assert found.now.replica_hours > knowledge_of().advice.now.replica_hours
        assert found.ours == knowledge_of().advice.ours
        usual = against(knowledge_of(), lesson_of(), Above(), 1).advice
        assert usual == knowledge_of().advice
        assert usual.now.target == PRESENT

    def test_a_day_that_was_not_read_advises_nothing(self):
        given = tide(14)
        times, values = given.demand.times, given.demand.values
        midnight = NOW - 3 * 86_400.0
        kept = (times < midnight) | (times >= midnight + 20 * 3600.0)
        holed = replace(given, demand=Samples(times=times[kept], values=values[kept]))
        lesson = study(policy(), holed, NOW, shapes=FAST)
        found = known(policy(), lesson)
        advice, judge = found.advice, lesson.judge
        assert advice.days == 7
        rows = np.r_[judge.whole - 8 : judge.whole - 3, judge.whole - 2, judge.whole - 1]
        demand = judge.demand_on(rows)
        floors = np.ones((1, len(demand)), dtype=np.int64)
        run = replay(demand, floors, judge.service, judge.hpa(PRESENT))
        assert advice.now.late == pytest.approx(float(late_fraction(run, demand)[0]), rel=1e-12)
        assert against(found, lesson, Above(), 1).advice.now == advice.now


class TestRoom:
    def test_more_than_was_ever_needed(self):
        advice = knowledge_of().advice
        most = math.ceil(tide().demand.values.max() / 3.0)
        assert advice.seen == most
        assert room(advice) >= max(advice.seen, advice.ahead)

    def test_an_announced_event_of_the_week_counts(self):
        event = {
            "name": "launch",
            "start": "2025-12-05T11:00",  # four days ahead
            "end": "2025-12-05T13:00",
            "factor": 5,
        }
        with_event = learn(policy(events=[event]), tide(), NOW, shapes=FAST).advice
        assert with_event.ahead > 3 * knowledge_of().advice.ahead
        assert with_event.seen == knowledge_of().advice.seen

    def test_never_below_a_floor_of_ours(self):
        # a window asks for more than any demand does
        window = {"name": "launch", "days": ["friday"], "from": "11:00", "to": "13:00", "floor": 60}
        asked = policy(recurring=[window])
        found = learn(asked, tide(), NOW, shapes=FAST)
        advice = found.advice
        assert (advice.own, room(advice)) == (60, 60)
        assert advice.ahead < 30
        plan = look_ahead(asked, tide(), found, None, NOW, horizon=7 * 86_400.0)
        assert plan.floors.max() == 60
        bounded = learn(policy(recurring=[window], floor={"max": 8}), tide(), NOW, shapes=FAST)
        assert bounded.advice.own == 8

    @pytest.mark.parametrize("use", ["profile@0.998", "ahead@40.5", "no-tide@0.998"])
    def test_nor_below_the_highest_that_is_drawn(self, use):
        asked = policy(forecast={"use": use})
        found = learn(asked, aimless(), NOW, shapes=FAST)
        plan = look_ahead(asked, aimless(), found, None, NOW, horizon=7 * 86_400.0)
        assert room(found.advice) >= plan.floors.max()

    def test_what_is_wanted_since_counts(self):
        advice = knowledge_of().advice
        said = dict(lines_of(advice, Stands(floor=77, ceiling=70)))["maxReplicas"]
        assert said.startswith("77 or more: ")
        assert said.endswith("our own floor reaches 77; 70 is too low")
        assert document_of(advice, Stands(floor=77))["maxReplicas"] == 77
        assert document_of(advice, Stands(floor=77))["highestFloor"] == 77
        assert advised(advice, 70, 77)["maxReplicas"] == 77


class TestTide:
    def test_without_one_it_is_left_to_the_hpa_with_numbers(self):
        advice = replace(
            knowledge_of().advice, tide=0.12, ours=ways([1.4] * 4), alone=ways([1.41] * 6, ALONE)
        )
        assert not helps(advice, ours_under(advice, advice.target))
        said = dict(lines_of(advice, Stands()))["Without us"]
        assert said.startswith("this service has no tide: leave it to the HPA")
        for number in ("1.40", "1.41", "0.12"):
            assert number in said
        assert document_of(advice, Stands())["leaveToHpa"]
        assert advised(advice, 10)["leaveToHpa"]

    def test_nor_is_a_tide_that_an_hpa_follows_by_itself_worth_us(self):
        advice = replace(
            knowledge_of().advice, tide=0.95, ours=ways([1.4] * 4), alone=ways([1.3] * 6, ALONE)
        )
        said = dict(lines_of(advice, Stands()))["Without us"]
        assert said.startswith("the HPA alone does as well")

    def test_a_plain_tide_is_worth_it(self):
        advice = learn(policy(), office_hours(), NOW, shapes=FAST).advice
        assert helps(advice, ours_under(advice, advice.target))
        assert best_alone(advice).score > 1.5 * ours_under(advice, advice.target).score

    def test_aimless_demand_has_none(self):
        advice = learn(policy(), aimless(), NOW, shapes=FAST).advice
        assert advice.tide < 0.3
        assert "strength of the tide 0." in dict(lines_of(advice, Stands()))["Without us"]


class TestTold:
    def test_lines_name_what_stands(self):
        advice = knowledge_of().advice
        stands = Stands(above=Above(target=0.7, bounded=True), ceiling=12, price=2.0)
        lines = dict(lines_of(advice, stands))
        assert lines["HPA target"].startswith("90% of a replica's capacity fits above our floor")
        assert "above 91% it would never ask for more" in lines["HPA target"]
        assert "now 70%" in lines["HPA target"]
        assert lines["maxReplicas"].endswith("12 is too low")
        hours = advice.now.replica_hours - ours_under(advice, 0.9).replica_hours
        assert hours > 0
        assert lines["Saving"].startswith(f"{value_text(hours)} fewer replica-hours a day (")
        assert "in money" in lines["Saving"]
        told = document_of(advice, stands)
        assert told["savedMoney"] == pytest.approx(2 * hours)
        assert told["hpaTarget"] == 0.9
        assert told["ceilingTooLow"] is True
        assert told["now"]["targetKnown"] is True

    def test_more_is_not_called_less(self):
        advice = knowledge_of().advice
        worse = replace(advice, now=replace(advice.now, replica_hours=10.0))
        lines = dict(lines_of(worse, Stands()))
        assert "more replica-hours a day" in lines["Saving"]
        assert "its own target is not known" in lines["Saving"]
        assert document_of(worse, Stands())["savedReplicaHours"] < 0

    def test_an_unknown_tide_is_no_number(self):
        advice = replace(knowledge_of().advice, tide=float("nan"))
        assert "not known yet" in dict(lines_of(advice, Stands()))["Without us"]
        assert document_of(advice, Stands())["tide"] is None
        assert "tide" not in advised(advice, 10)

    def test_status_is_small_and_rounded(self):
        advice = knowledge_of().advice
        said = advised(advice, 5)
        assert said["targetPercent"] == 95
        assert said["utilizationPercent"] == 90
        assert said["maxReplicas"] == room(advice)
        assert said["maxReplicasTooLow"] is True
        assert said["savedReplicaHoursPerDay"] == pytest.approx(
            advice.now.replica_hours - advice.ours[-1].replica_hours, abs=0.05
        )

    def test_records_keep_it_whole(self):
        document = knowledge_document(knowledge_of())["advice"]
        assert text(document)
        assert document["target"] == 0.95
        assert document["ours"][0][0] == 0.7
        assert len(document["alone"]) == len(ALONE)
        young = learn(policy(), tide(0.5), NOW, shapes=FAST)
        assert knowledge_document(young)["advice"] is None


class TestAbove:
    def hpa(self, *metrics, **spec):
        return {"spec": {"metrics": list(metrics), **spec}}

    def utilisation(self, percent):
        target = {"type": "Utilization", "averageUtilization": percent}
        return {"type": "Resource", "resource": {"name": "cpu", "target": target}}

    def queue(self):
        return {"type": "External", "external": {"target": {"averageValue": "5"}}}

    def test_a_utilisation_is_bounded_and_known(self):
        found = above_of(self.hpa(self.utilisation(80), self.utilisation(60)))
        assert found == Above(target=0.6, bounded=True)

    def test_what_can_ask_for_more_is_not_bounded(self):
        assert above_of(self.hpa(self.queue())) == Above(bounded=False)
        assert above_of(self.hpa(self.queue(), self.utilisation(80))) == Above(bounded=False)

    @pytest.mark.parametrize(
        ("given", "tolerance"), [("50m", 0.05), ("0.2", 0.2), ("what", 0.1), (None, 0.1)]
    )
    def test_its_own_tolerance(self, given, tolerance):
        behavior = {"scaleUp": {} if given is None else {"tolerance": given}}
        assert above_of(self.hpa(behavior=behavior)) == Above(tolerance=tolerance)

    @pytest.mark.parametrize("found", [{}, {"spec": None}, {"spec": {"metrics": [None, 3]}}])
    def test_odd_objects_say_nothing(self, found):
        assert above_of(found) == Above()


def test_a_pinned_rule_that_was_not_replayed_has_no_advice():
    pinned = policy(forecast={"use": "profile@0.93"})
    assert learn(pinned, tide(14), NOW, shapes=FAST).advice is None
