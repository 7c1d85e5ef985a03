"""The comparison of all candidates: plain sums by another way, nothing of the future, no favour."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from autoscaler import plan
from autoscaler.forecast import FAST
from autoscaler.model import Samples
from autoscaler.reactive import PlainHpa
from autoscaler.replay import clairvoyant, cost_of, late_fraction, replay
from autoscaler.replay.doubt import Daily, ratios
from autoscaler.schema.candidates import Candidate, candidate_of
from autoscaler.tune.compare import FIXED, REACTIVE, RELEASES, compare
from autoscaler.tune.lesson import study
from tests.core.given import CAPACITY, DAY, NOW, flat, history, policy, restless, tide


def lesson(given, of=None):
    return study(of or policy(), given, NOW, shapes=FAST)


@pytest.fixture(scope="module")
def plain():
    return lesson(tide(14))


@pytest.fixture(scope="module")
def compared(plain):
    return compare(policy(), plain, candidate_of("ahead@13.5"), 0.7)


def test_every_candidate_at_every_release_beside_the_two_without_a_forecast(plain, compared):
    ours = {str(of) for of in plain.scores if of.forecaster not in compared.left_out}
    names = [(option.name, option.release) for option in compared.options]
    assert len(names) == len(set(names)) == len(ours) * len(RELEASES) + 2
    assert {name for name, _ in names} == {*ours, FIXED, REACTIVE}
    scores = [option.score for option in compared.options]
    assert scores == sorted(scores)


def test_an_option_is_what_a_plain_replay_of_its_floors_says(plain, compared):
    """By another way: the trial's own floors, one timeline, no arrays of many."""
    judge, rows = plain.judge, compared.rows
    demand, service = judge.demand_on(rows), judge.service
    hpa = PlainHpa(target=0.7, window=plan.steps_ahead(300.0, service.step) + 1)
    best = replay(demand, clairvoyant(demand, service), service)
    for name in ("ahead@13.5", "no-tide@0.9"):
        option = next(o for o in compared.own(600.0) if o.name == name)
        trial = plain.trial_of(option.candidate)
        floors = trial.floors[0, np.isin(trial.rows, rows)].ravel()
        run = replay(demand, floors, service, hpa)
        cost, late = float(cost_of(run, service)[0]), float(late_fraction(run, demand)[0])
        ratio = cost / float(cost_of(best, service)[0])
        assert option.score == pytest.approx(ratio * (1 + 100 * late), rel=1e-12)
        assert option.late == pytest.approx(late, rel=1e-12)
        hours = run.total.sum() * service.step / 3600 / len(rows)
        assert option.replica_hours == pytest.approx(hours, rel=1e-12)
        assert option.hours.sum() == pytest.approx(hours * len(rows), rel=1e-12)
        assert option.daily.cost.sum() == pytest.approx(cost, rel=1e-12)


def unread(days=14):
    """A tide of which the day before yesterday was read from 20:00 on only: a line, elsewhere."""
    given = tide(days)
    times, values = given.demand.times, given.demand.values
    midnight = NOW - 3 * DAY
    kept = (times < midnight) | (times >= midnight + 20 * 3600.0)
    return replace(given, demand=Samples(times=times[kept], values=values[kept]))


@pytest.mark.parametrize("holding", [False, True])
def test_a_day_that_was_not_read_judges_nobody(holding):
    hold = {"name": "nothing moves", "from": "10:00", "to": "16:00", "hold": True}
    of = policy(recurring=[hold] if holding else [])
    found = lesson(unread(), of)
    compared = compare(of, found, candidate_of("ahead@13.5"), 0.7)
    judge = found.judge
    assert compared.unread == 1
    assert judge.whole - 3 not in compared.rows
    assert judge.whole - 4 in compared.rows
    assert all(len(option.hours) == len(compared.rows) for option in compared.options)
    demand = judge.demand_on(compared.rows)
    for option in compared.options:
        assert option.daily.came.sum() == pytest.approx(demand.sum())
    # the same floors as where that day counts: what is left out is its verdict
    option = next(o for o in compared.own(600.0) if o.name == "no-tide@0.9")
    trial = found.trial_of(option.candidate)
    floors = trial.floors[0, np.isin(trial.rows, compared.rows)].ravel()
    hpa = PlainHpa(target=0.7, window=plan.steps_ahead(300.0, judge.service.step) + 1)
    run = replay(demand, floors, judge.service, hpa)
    assert option.hours.sum() == pytest.approx(run.total.sum() * judge.service.step / 3600)


def test_a_longer_release_never_stands_on_less(compared):
    same = [o for o in compared.options if o.name == compared.chosen.name]
    same.sort(key=lambda option: option.release)
    assert [option.release for option in same] == sorted({600.0, *RELEASES})
    assert all(a.late >= b.late for a, b in pairwise(same))


def test_fixed_is_the_p99_of_the_seven_days_before_each(plain, compared):
    option, judge = compared.named(FIXED), plain.judge
    expected = []
    for row in compared.rows:
        before = judge.demand_on(np.arange(max(0, row - 7), row))
        expected.append(24 * np.ceil(np.percentile(before, 99) / CAPACITY))
    np.testing.assert_allclose(option.hours, expected)


def test_reactive_alone_stands_on_the_minimum():
    given = lesson(restless(), policy(floor={"min": 9}))
    found = compare(policy(floor={"min": 9}), given, candidate_of("ahead@13.5"), 0.95)
    assert found.named(REACTIVE).hours.min() >= 24 * 9


def test_nothing_above_when_that_is_asked(plain):
    alone = compare(policy(), plain, candidate_of("ahead@13.5"), None)
    assert alone.named(REACTIVE).hours.max() == 24.0
    assert alone.target is None


@pytest.mark.slow
def test_the_future_of_the_last_day_changes_no_other_day():
    """Each day is decided with what was known before it: noise in the last leaves the others."""
    past = tide(12)
    rng = np.random.default_rng(1)
    values = past.demand.values.copy()
    values[-1440:] = rng.uniform(0, 60, 1440)
    noisy = history(past.demand.times, values)
    a, b = (compare(policy(), lesson(h), candidate_of("ahead@18"), 0.7) for h in (past, noisy))
    names = [o.name for o in a.own(600.0)]
    for name in names:
        one, other = (next(o for o in c.own(600.0) if o.name == name) for c in (a, b))
        # what the noise touches: its own day, and models of `ahead` are fitted by blocks of days,
        # none of which knows a day of its own block
        np.testing.assert_allclose(one.hours[:-2], other.hours[:-2], rtol=0.02)


def test_what_stands_is_kept_within_the_noise_and_not_beyond(plain):
    free = compare(policy(), plain, Candidate(forecaster="none"), 0.7)
    own = free.own(600.0)
    assert free.standing is None
    assert free.chosen is own[0]
    for option in (own[1], own[-1]):
        found = compare(policy(), plain, option.candidate, 0.7)
        assert found.standing.name == option.name
        worth = found.lead is not None and found.lead.low > 1.01
        assert found.chosen.name == (own[0].name if worth else option.name)
    assert own[-1].score > 1.04 * own[0].score
    assert found.chosen.name == own[0].name  # the worst of all does not stand


def test_a_forecaster_with_too_short_a_history_is_left_out_and_named():
    found = compare(policy(), lesson(tide(9)), candidate_of("ahead@18"), 0.7)
    assert "last-week" in found.left_out
    assert not any(option.name.startswith("last-week") for option in found.options)


@pytest.mark.parametrize("days", [0.5, 1.5, 2.0])
def test_without_a_day_to_replay_there_is_no_comparison(days):
    assert compare(policy(), lesson(tide(days)), candidate_of("ahead@18"), 0.7) is None


def test_where_no_forecast_is_needed_that_is_the_answer(compared):
    assert compared.without is None
    level = flat(20.0, days=10)  # an HPA at 70 % above a floor that is exact is paid for nothing
    found = compare(policy(), lesson(level), candidate_of("ahead@18"), 0.7)
    assert found.without is found.named(FIXED)
    assert found.without.score < 0.9 * found.chosen.score


class TestNoise:
    def daily(self, cost, late):
        return Daily(
            cost=np.asarray(cost, dtype=float),
            late=np.asarray(late, dtype=float),
            came=np.full(len(cost), 100.0),
        )

    def test_the_same_days_for_both(self):
        """A factor that holds on every day is sure, however wild the days are."""
        wild = np.array([1.0, 50.0, 3.0, 900.0])
        one, other = self.daily(wild, wild * 0), self.daily(1.2 * wild, wild * 0)
        np.testing.assert_allclose(ratios(one, other, 1.0, seed=3), 1.2)

    def test_one_bad_day_is_no_proof(self):
        one = self.daily([10.0] * 8, [0.0] * 8)
        other = self.daily([10.0] * 8, [9.0] + [0.0] * 7)
        drawn = ratios(one, other, 1.0, seed=3)
        assert np.quantile(drawn, 0.025) == 1.0
        assert drawn.mean() > 1.5

    def test_a_single_day_says_nothing(self):
        assert not len(ratios(self.daily([1.0], [0.0]), self.daily([2.0], [0.0]), 1.0, seed=3))

    def test_no_cost_at_all_is_no_division_by_zero(self):
        nothing = self.daily([0.0, 0.0], [0.0, 0.0])
        np.testing.assert_array_equal(ratios(nothing, nothing, 1.0, seed=3), 1.0)


@pytest.mark.slow
def test_samples_after_now_are_not_looked_at():
    past = tide(10)
    more = Samples(
        times=np.r_[past.demand.times, NOW + 60.0 * np.arange(600)],
        values=np.r_[past.demand.values, np.full(600, 1e5)],
    )
    a, b = (
        compare(policy(), lesson(h), candidate_of("ahead@18"), 0.7)
        for h in (past, replace(past, demand=more))
    )
    assert [o.score for o in a.options] == [o.score for o in b.options]
    assert DAY * len(a.rows) <= 10 * DAY
