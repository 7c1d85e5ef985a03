"""When a bolder candidate takes the place of the usual one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autoscaler.forecast import FAST
from autoscaler.replay.doubt import Daily
from autoscaler.schema.candidates import AHEAD
from autoscaler.tune.evidence import BLIND, CALM, ENOUGH, WORTHWHILE, saved
from autoscaler.tune.learn import choose
from autoscaler.tune.lesson import study
from tests.core.given import NOW, history, policy, tide

CAME = 1000.0


def account(cost: object, late: object = 0.0, days: int = 14) -> Daily:
    return Daily(
        cost=np.broadcast_to(np.asarray(cost, dtype=float), days).copy(),
        late=np.broadcast_to(np.asarray(late, dtype=float), days).copy(),
        came=np.full(days, CAME),
    )


def test_what_it_must_save_is_taken_off():
    """By hand: 0.9 of the cost, and one request of a thousand late against two."""
    found = saved(account(10.0, 2.0), account(9.0, 1.0), 1.0)
    assert found == pytest.approx(math.log(0.9 * 1.1 / 1.2) + WORTHWHILE)


def test_a_little_less_is_not_worth_what_may_yet_come():
    assert saved(account(10.0), account(9.9), 1.0) > 0
    assert saved(account(10.0), account(9.7), 1.0) < 0


def test_the_days_count_together():
    wild = [4.0, 15.0] * 7
    assert saved(account(10.0), account(wild), 1.0) == saved(account(10.0), account(9.5), 1.0)


def test_late_requests_end_it():
    hour = np.where(np.arange(14) == 5, CAME * 14 * CALM * 1.01, 0.0)
    assert saved(account(10.0), account(5.0, hour), 1.0) == math.inf
    assert saved(account(10.0), account(5.0, 0.5 * hour), 1.0) < math.inf


def test_lateness_has_its_price():
    late = account(8.0, 0.5)
    found = [saved(account(10.0), late, price) for price in (0.5, 1.0, 4.0)]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_few_days_tell_nothing():
    few = ENOUGH - 1
    assert saved(account(10.0, days=few), account(5.0, days=few), 1.0) == math.inf
    assert saved(account(10.0, days=ENOUGH), account(5.0, days=ENOUGH), 1.0) < 0


def test_a_quantile_asks_for_more_days():
    found = [
        saved(account(10.0, days=days), account(5.0, days=days), 1.0, BLIND)
        for days in (ENOUGH, BLIND - 1, BLIND)
    ]
    assert found[:2] == [math.inf, math.inf]
    assert found[2] < 0


def test_nothing_came_and_nothing_was_late():
    idle = Daily(cost=np.full(14, 10.0), late=np.zeros(14), came=np.zeros(14))
    assert saved(idle, idle, 1.0) == WORTHWHILE


def learnt(given):
    lesson = study(policy(floor={"min": 1}), given, NOW, shapes=FAST)
    return lesson, lesson.best(lesson.drawn)


def test_a_clean_tide_needs_no_more_than_its_profile():
    lesson, best = learnt(tide(28))
    assert best.forecaster != AHEAD
    usual = next(of for of in lesson.scores if of.forecaster == AHEAD and round(of.rule, 1) == 23.4)
    assert lesson.scores[best] < lesson.scores[usual]


def test_flashes_that_nobody_foresees_keep_the_usual_one():
    given = tide(28)
    drawn = np.random.default_rng(5)
    values = given.demand.values.copy()
    for at in drawn.integers(0, len(values) - 60, size=40):
        values[at : at + 30] *= 3.0
    _, best = learnt(history(given.demand.times, values))
    assert best.forecaster == AHEAD
    assert round(best.rule, 1) == 23.4


def test_on_a_week_the_usual_one_stands():
    lesson, best = learnt(tide(8))
    assert lesson.replayed < ENOUGH
    assert best.forecaster == AHEAD


@pytest.mark.parametrize(("flash", "stays"), [(1.0, True), (1.5, False)])
def test_what_stands_on_evidence_gives_way_once_its_requests_come_late(flash, stays):
    """Twenty minutes of half as much again on one of ten days, which nobody foresaw."""
    given = tide(14)
    values = given.demand.values.copy()
    values[round(11.6 * 1440) :][:20] *= flash
    lesson, _ = learnt(history(given.demand.times, values))
    bold = min((of for of in lesson.scores if of.forecaster == AHEAD), key=lambda of: of.rule)
    trial = lesson.trial_of(bold)
    found = lesson.judge.daily(trial, trial.rows)
    assert bool(found.late.sum() <= CALM * found.came.sum()) is stays
    chosen, _ = choose(lesson, policy().spec.forecast.candidate, standing=str(bold))
    assert (chosen == bold) is stays
    assert stays or round(chosen.rule, 1) == 23.4
