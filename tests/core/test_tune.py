"""The choice by replay: deterministic, out of sample, and right about plain services."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.decide import decide
from autoscaler.forecast import FAST, INTERMITTENT
from autoscaler.forecast.ahead import TideAhead
from autoscaler.model import Code, Knowledge, Samples
from autoscaler.schema.price import usual_level
from autoscaler.tune import ORDER_LEVELS, due, learn
from autoscaler.tune.covering import COVERS, covers_at
from tests.core.given import DAY, HOUR, NOW, flat, history, policy, remembered, restless, seen, tide


def step_tide(days=14, until=NOW, zone_shift=0.0):
    """Ten replicas' demand from nine to six, two at night, rising within a minute."""
    times = until - 60.0 * round(days * 1440) + 60.0 * np.arange(round(days * 1440))
    clock = (times + zone_shift) % DAY
    noise = np.random.default_rng(3).normal(0, 0.3, len(times))
    return history(times, np.where((clock >= 9 * HOUR) & (clock < 18 * HOUR), 29.0, 5.0) + noise)


def drawn_by(known):
    """The fitted tide that draws the day."""
    return known.fitted.tidal if isinstance(known.fitted, TideAhead) else known.fitted


def test_a_tide_that_no_last_minute_shows_is_learnt():
    known = learn(policy(), step_tide(), NOW, shapes=FAST)
    assert known.fitted.name != "no-tide"
    assert known.tide > 0.9
    best = min(known.scores.values())
    assert best < min(score for name, score in known.scores.items() if name.startswith("no-tide"))


def test_without_a_tide_it_is_known_and_said():
    times = NOW - 60.0 * 14 * 1440 + 60.0 * np.arange(14 * 1440)
    levels = np.random.default_rng(7).uniform(10, 40, len(times) // 97 + 1)
    given = history(times, np.repeat(levels, 97)[: len(times)])  # a new one every 97 minutes
    known = learn(policy(), given, NOW, shapes=FAST)
    assert known.tide < 0.3
    decision = decide(policy(), seen(given), known, remembered(5), NOW)
    assert Code.NO_TIDE in [reason.code for reason in decision.reasons]


def test_it_is_a_pure_function_of_history_and_now():
    a, b = (learn(policy(), tide(10), NOW, shapes=FAST) for _ in range(2))
    assert a.scores == b.scores
    assert a.order_level == b.order_level
    np.testing.assert_array_equal(drawn_by(a).week, drawn_by(b).week)
    np.testing.assert_array_equal(drawn_by(a).response.spread, drawn_by(b).response.spread)


def test_the_future_changes_nothing():
    past = tide(10, NOW)
    rng = np.random.default_rng(0)
    times = np.r_[past.demand.times, NOW + 60.0 * np.arange(1440)]
    values = np.r_[past.demand.values, rng.uniform(0, 1e6, 1440)]
    noisy = replace(past, demand=Samples(times=times, values=values))
    a, b = learn(policy(), past, NOW, shapes=FAST), learn(policy(), noisy, NOW, shapes=FAST)
    assert a.scores == b.scores
    np.testing.assert_array_equal(drawn_by(a).week, drawn_by(b).week)


def test_every_candidate_and_level_has_a_score():
    known = learn(policy(), tide(28), NOW, shapes=FAST)
    # a tide is never idle: nothing for the intermittent one to learn from
    shapes = [shape.name for shape in FAST if shape is not INTERMITTENT]
    names = {f"{name}@{q:g}" for name in shapes for q in ORDER_LEVELS}
    assert set(known.scores) - names == {name for name in known.scores if name.startswith("ahead@")}
    assert names < set(known.scores)
    assert all(score >= 0.9 for score in known.scores.values())


@pytest.mark.parametrize(
    "given", [history([], []), history([NOW - 60.0], [np.nan]), tide(0.5), flat(0.0, days=0.1)]
)
def test_with_too_little_history_the_last_minutes_are_all_there_is(given):
    known = learn(policy(), given, NOW, shapes=FAST)
    assert known.fitted.name in {"recent", "no-tide"}
    assert known.scores == {}


@pytest.mark.parametrize("days", [1.5, 2.5, 3.0, 5.0, 7.3, 9.0])
def test_young_histories_learn_what_they_can(days):
    known = learn(policy(), tide(days), NOW, shapes=FAST)
    assert isinstance(known, Knowledge)
    assert known.order_level in ORDER_LEVELS
    assert known.span == pytest.approx(days * DAY, abs=60)


def test_holes_and_zeros_do_not_stop_it():
    given = tide(10)
    values = given.demand.values.copy()
    values[3000:5000] = np.nan
    values[9000:9100] = 0.0
    known = learn(policy(), history(given.demand.times, values), NOW, shapes=FAST)
    assert np.isfinite(drawn_by(known).week).all()
    assert np.isfinite(list(known.scores.values())).all()


class TestDue:
    def at(self, *parts):
        return datetime(*parts, tzinfo=UTC).timestamp()

    def known(self, at, span=28 * DAY):
        return replace(learn(policy(), history([], []), at, shapes=FAST), span=span)

    def test_without_knowledge_at_once(self):
        assert due(policy(), None, NOW)

    def test_nightly_by_the_clock_of_the_policy(self):
        shanghai = policy("Asia/Shanghai")  # 03:00 to 05:00 there is 19:00 to 21:00 UTC
        fitted = self.known(self.at(2026, 6, 10, 21))
        assert not due(shanghai, fitted, self.at(2026, 6, 11, 18, 59))
        assert due(shanghai, fitted, self.at(2026, 6, 11, 21, 0))

    def test_a_fleet_is_spread_over_the_night_and_each_keeps_its_moment(self):
        fitted, midnight = self.known(self.at(2026, 6, 10, 12)), self.at(2026, 6, 11)
        waiting = np.zeros(0)
        for i in range(40):
            one = policy()
            one = one.model_copy(
                update={"metadata": one.metadata.model_copy(update={"name": f"service-{i}"})}
            )
            minutes = [m for m in range(24 * 60) if due(one, fitted, midnight + 60.0 * m)]
            assert minutes == list(range(minutes[0], 24 * 60))
            waiting = np.append(waiting, minutes[0] / 60)
        assert waiting.min() >= 3
        assert waiting.max() <= 5 + 1 / 60
        assert np.histogram(waiting, bins=4, range=(3, 5.02))[0].min() >= 4

    @pytest.mark.parametrize("day", [(2026, 3, 29), (2026, 10, 25), (2028, 2, 29), (2026, 12, 31)])
    def test_once_a_night_also_in_odd_ones(self, day):
        berlin, start = policy("Europe/Berlin"), self.at(*day) - 12 * HOUR
        fitted, fits = self.known(start - 24 * HOUR), 0
        for minute in range(0, 36 * 60, 10):
            now = start + 60.0 * minute
            if due(berlin, fitted, now):
                fits += 1
                fitted = self.known(now)
        assert fits == 1 + (start - 24 * HOUR < self.at(*day) - 21 * HOUR)

    def test_often_while_the_history_is_young(self):
        fitted = self.known(NOW, span=2 * DAY)
        assert not due(policy(), fitted, NOW + 2 * HOUR)
        assert due(policy(), fitted, NOW + 6 * HOUR)

    def test_again_when_the_clock_went_back(self):
        assert due(policy(), self.known(NOW), NOW - HOUR)


def test_few_days_do_not_choose_an_unusual_quantile():
    """On one or two days some bold candidate is always lucky; it is not believed yet."""
    young = learn(policy(), tide(4.2, NOW, seed=4), NOW, shapes=FAST)
    luckiest = min(young.scores, key=lambda name: (young.scores[name], name))
    assert luckiest == "no-tide@0.9"
    assert young.order_level == 0.95


class TestThePriceOfLateness:
    """`price.perPercentLate`: what a choice is made by, and what it is drawn to."""

    def test_one_is_what_was_always_reckoned_with(self):
        assert usual_level(1.0) == 0.95
        assert covers_at(1.0) == COVERS
        assert policy().spec.price.per_percent_late == 1.0

    @examples(st.floats(0.01, 100), st.floats(0.01, 100))
    def test_more_of_it_never_covers_less(self, one, other):
        low, high = sorted((one, other))
        assert usual_level(low) <= usual_level(high)
        pairs = zip(covers_at(low), covers_at(high), strict=True)
        assert all(a <= b * (1 + 1e-12) for a, b in pairs)
        # one ladder: who pays more chooses among the same rungs
        rungs = 2 * np.log(np.array(covers_at(low)) / 2.6) / np.log(3)
        np.testing.assert_allclose(rungs, np.round(rungs), atol=1e-9)

    def test_what_is_chosen_by_a_higher_price_covers_more(self):
        given = restless()
        dear, usual, cheap = (
            learn(
                policy(price={"perPercentLate": price}, forecast={"use": "ahead"}),
                given,
                NOW,
                shapes=FAST,
            )
            for price in (30, 1, 0.03)
        )
        assert cheap.cover < usual.cover < dear.cover
        found = [
            decide(policy(price={"perPercentLate": price}), seen(given), known, remembered(5), NOW)
            for price, known in ((0.03, cheap), (1, usual), (30, dear))
        ]
        floors = [decision.floor for decision in found]
        assert floors == sorted(floors)
        assert floors[0] < floors[-1]

    def test_it_is_what_a_score_says(self):
        given = step_tide(8)
        low, high = (
            learn(policy(price={"perPercentLate": price}), given, NOW, shapes=FAST).scores
            for price in (1, 10)
        )
        late = low["no-tide@0.5"]
        assert high["no-tide@0.5"] > 2 * late  # the median is late at every rise


def test_days_that_were_not_read_judge_nobody():
    """37 hours without a sample: no candidate is better or worse for them."""
    given = tide(14)
    values = given.demand.values.copy()
    values[-6 * 1440 + 480 : -6 * 1440 + 480 + 37 * 60] = np.nan
    holed = history(given.demand.times, values)
    whole, part = (learn(policy(), each, NOW, shapes=FAST).scores for each in (given, holed))
    for name in ("no-tide@0.95", "profile@0.95", "yesterday@0.95"):
        assert part[name] == pytest.approx(whole[name], rel=0.1), name
