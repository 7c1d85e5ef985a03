"""Accuracy: proper losses, out of sample, against what anybody knows; and the same in life."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.forecast import FAST
from autoscaler.forecast.accuracy import (
    UPPER,
    accuracy_of,
    demand_at,
    expected_at,
    horizon_name,
    pinball,
    relative_loss,
    worse_than_last_week,
)
from autoscaler.forecast.followed import EVERY, Followed
from autoscaler.model import Accuracy, Code, Expected, Forecast, Mark, Samples, Series
from autoscaler.tune import learn
from tests.core.given import DAY, HOUR, MINUTE, NOW, history, knowledge, policy, tide

demand = st.floats(0, 1e6)


class TestLosses:
    @examples(st.lists(demand, min_size=1, max_size=60), st.sampled_from([0.5, 0.9, UPPER]))
    def test_no_number_is_better_than_the_quantile(self, values, level):
        y = np.array(values)
        quantile = np.quantile(y, level, method="inverted_cdf")
        best = pinball(y, np.full(len(y), quantile), level).mean()
        for other in y:
            found = pinball(y, np.full(len(y), other), level).mean()
            assert best <= found + 1e-9 * (1 + found)

    @examples(demand, demand, demand, st.floats(0.01, 100), st.floats(0.1, 1000))
    def test_the_relative_loss_has_no_unit_and_a_bound(self, y, median, more, capacity, unit):
        given = np.array([[y], [median], [median + more]])
        found = relative_loss(*given, capacity)[0]
        assert found >= 0
        if y >= median:
            assert found <= 1.5 + 0.01 * more / capacity
        again = relative_loss(*(unit * given), unit * capacity)[0]
        assert again == pytest.approx(found, rel=1e-6)

    def test_by_hand(self):
        found = accuracy_of(
            300.0,
            np.array([10.0, 20.0, np.nan, 30.0]),
            np.array([12.0, 18.0, 5.0, 30.0]),
            np.array([15.0, 19.0, 9.0, 31.0]),
            {"yesterday": np.array([10.0, 10.0, 1.0, 10.0]), "last-week": np.full(4, np.nan)},
        )
        assert found == Accuracy(
            horizon=300.0,
            count=3.0,
            median=pytest.approx((1 + 1 + 0) / 3),
            upper=pytest.approx((0.05 + 0.99 + 0.01) / 3),
            coverage=pytest.approx(2 / 3),
            bias=0.0,
            naive={"yesterday": pytest.approx((0 + 5 + 10) / 3)},
        )

    def test_nothing_known_is_no_accuracy(self):
        nothing = np.full(3, np.nan)
        assert accuracy_of(300.0, nothing, np.zeros(3), np.zeros(3), {}) is None

    @pytest.mark.parametrize(
        ("seconds", "name"), [(315.0, "5.25 min"), (3600.0, "1 h"), (86_400.0, "1 d")]
    )
    def test_horizons_have_names(self, seconds, name):
        assert horizon_name(seconds) == name


class TestBacktest:
    def test_every_horizon_is_judged_and_no_worse_than_a_guess(self):
        found = {each.horizon: each for each in knowledge().accuracy}
        assert set(found) == {300.0, HOUR, DAY}
        for each in found.values():
            assert each.count >= 2 * 1440
            assert each.coverage > 0.95
            assert each.median < each.naive["last-value"]
        assert abs(found[300.0].bias) < found[300.0].median
        assert found[300.0].coverage == pytest.approx(UPPER, abs=0.008)

    def test_the_range_is_of_the_lead(self):
        usual = knowledge().usual
        assert 0 < usual.loss < 0.5
        assert 0.6 <= usual.share <= 0.9

    def test_the_future_changes_nothing(self):
        past = tide(9)
        rng = np.random.default_rng(0)
        times = np.r_[past.demand.times, NOW + MINUTE * np.arange(1440)]
        values = np.r_[past.demand.values, rng.uniform(0, 1e6, 1440)]
        noisy = replace(past, demand=Samples(times=times, values=values))
        one, two = (learn(policy(), of, NOW, shapes=FAST) for of in (past, noisy))
        assert one.accuracy == two.accuracy
        assert one.usual == two.usual

    def test_what_is_judged_was_not_known(self):
        """Noise nobody can foresee costs what it must: half of its mean absolute deviation."""
        times = NOW - 12 * DAY + MINUTE * np.arange(12 * 1440)
        noise = np.random.default_rng(2).normal(0, 3.0, len(times))
        known = learn(policy(), history(times, 40 + noise), NOW, shapes=FAST)
        for each in known.accuracy:
            least = 0.5 * 3.0 * np.sqrt(2 / np.pi)
            assert 0.97 * least < each.median < 1.1 * least

    @pytest.mark.parametrize("days", [0.5, 1.2, 2.5, 4.0])
    def test_young_histories_say_what_they_can(self, days):
        known = learn(policy(), tide(days), NOW, shapes=FAST)
        assert (known.usual is None) == (known.accuracy == ())
        assert all("last-week" not in each.naive for each in known.accuracy)


class TestWorse:
    def accuracy(self, median, naive, count=5000.0, horizon=HOUR):
        return Accuracy(
            horizon=horizon, count=count, median=median, upper=0.1, coverage=0.99, bias=0.0,
            naive=naive,
        )  # fmt: skip

    def test_it_says_so_with_numbers_by_horizon(self):
        (reason,) = worse_than_last_week(
            (self.accuracy(1.0, {"last-week": 2.0}), self.accuracy(3.0, {"last-week": 2.0}))
        )
        assert reason.code is Code.WORSE_THAN_LAST_WEEK
        assert "1 h ahead (3 against 2)" in reason.sentence
        assert reason.numbers == {"3600": 1.5}

    def test_of_weeks_that_repeat_exactly_there_is_no_ratio(self):
        (reason,) = worse_than_last_week(
            (self.accuracy(1.0, {"last-week": 0.0}), self.accuracy(3.0, {"last-week": 2.0}))
        )
        assert "1 h ahead (1 against 0)" in reason.sentence
        assert reason.numbers == {"3600": 1.5}

    def test_constant_demand_is_missed_by_nobody(self):
        """Its forecast is a rounding beside it, and every naive one is exact."""
        times = NOW - 10 * DAY + MINUTE * np.arange(10 * 1440)
        known = learn(policy(), history(times, np.full(len(times), 20.0)), NOW, shapes=FAST)
        assert len(known.accuracy) == 3
        for each in known.accuracy:
            assert (each.median, each.upper, each.coverage) == (0.0, 0.0, 1.0)
        assert worse_than_last_week(known.accuracy) == ()

    @pytest.mark.parametrize(
        ("median", "naive", "count"),
        [
            (1.04, {"last-week": 1.0}, 5000.0),  # noise
            (2.0, {"yesterday": 1.0}, 5000.0),  # last week is not known
            (2.0, {"last-week": 1.0}, 10.0),  # a handful
        ],
    )
    def test_otherwise_nothing(self, median, naive, count):
        assert worse_than_last_week((self.accuracy(median, naive, count),)) == ()


def series_of(values, end):
    values = np.asarray(values, dtype=float)
    return Series(
        start=end - MINUTE * len(values), step=MINUTE, values=values,
        marks=np.where(np.isnan(values), 1, 0).astype(np.uint8),
    )  # fmt: skip


class TestInLife:
    def run(self, hours, came, said, horizon=HOUR):
        """Follow forecasts for so many hours; a week of history lies before them."""
        followed, before = Followed((horizon,)), 8 * 1440
        values = np.array([came(minute) for minute in range(-before, hours * 60)])
        for minute in range(0, hours * 60, 5):
            end = NOW + MINUTE * minute
            followed.look(series_of(values[minute : before + minute], end))
            if followed.due(end):
                expected = Expected(at=end + horizon, median=said, upper=said + 1.0)
                followed.note(end, {horizon: expected}, values[before + minute - 1])
        return followed.accuracy()

    def test_by_hand(self):
        (found,) = self.run(9, lambda minute: 10.0, 12.0)
        assert found.horizon == HOUR
        assert 30 < found.count <= 32  # one a quarter of an hour, from the second hour on
        assert found.median == pytest.approx(1.0)
        assert found.upper == pytest.approx(0.03)
        assert (found.coverage, found.bias) == (pytest.approx(1.0), pytest.approx(2.0))
        assert found.naive == {"last-value": 0.0, "yesterday": 0.0, "last-week": 0.0}

    def test_naive_forecasts_look_where_they_say(self):
        def came(minute):
            return float(minute // 1440 + 20)  # one more each day, from midnight on

        (found,) = self.run(5, came, 20.0)
        # the first of them was made at midnight, when the newest value was yesterday's
        assert found.naive["last-value"] == pytest.approx(0.5 / found.count, rel=0.1)
        assert found.naive["yesterday"] == pytest.approx(0.5)
        assert found.naive["last-week"] == pytest.approx(3.5)

    def test_what_is_unknown_is_not_judged(self):
        assert self.run(4, lambda minute: 10.0 if minute < 0 else float("nan"), 12.0) == ()

    def test_old_results_fade(self):
        (found,) = self.run(24 * 9, lambda minute: 10.0 if minute < 2 * 1440 else 14.0, 14.0)
        assert found.median < 0.4
        assert found.count < 2 * DAY / EVERY / np.log(2) + 1

    def test_before_anything_came_nothing_is_said(self):
        assert Followed((HOUR, DAY)).accuracy() == ()

    def test_a_clock_that_goes_back_does_not_stop_it(self):
        followed = Followed((HOUR,))
        followed.note(NOW, {}, 1.0)
        assert not followed.due(NOW + 60.0)
        assert followed.due(NOW + EVERY)
        assert followed.due(NOW - DAY)


def test_only_what_is_known_for_certain_judges():
    marks = np.array([0, Mark.FILLED, Mark.OUTAGE, Mark.SATURATED], dtype=np.uint8)
    series = Series(start=0.0, step=MINUTE, values=np.array([1.0, 2.0, 3.0, 4.0]), marks=marks)
    found = [demand_at(series, MINUTE * i) for i in range(-1, 5)]
    np.testing.assert_array_equal(found, [np.nan, 1.0, np.nan, np.nan, np.nan, np.nan])


def test_a_forecast_that_ends_before_expects_nothing():
    paths = np.stack([np.arange(5.0), np.arange(5.0) + 1])
    forecast = Forecast(start=NOW, step=MINUTE, levels=(0.5, 0.99), quantiles=paths, by="x")
    assert expected_at(forecast, 240.0) == Expected(at=NOW + 240.0, median=4.0, upper=5.0)
    assert expected_at(forecast, 300.0) is None
