"""Distributions ahead and the newsvendor: calibrated, blind to the future, led by the price.

A long module: what decides floors is tested from all of its sides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.capacity.newsvendor import (
    KEEP,
    LEAD_SHARE,
    PATIENCE,
    WINDOW_SHARE,
    keeping,
    least_and_most,
    uncovered,
    worth,
)
from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast import FAST, PROFILE, TidalForecaster
from autoscaler.forecast.ahead import (
    MASSES,
    TideAhead,
    fit_model,
    predict_strip,
    reach_of,
    strip_of,
    tables_of,
)
from autoscaler.forecast.ahead.features import Aim, before, recent_features, running, shared
from autoscaler.forecast.ahead.model import predict_newest
from autoscaler.forecast.ahead.regress import huber_ridge, nonnegative
from autoscaler.forecast.tidal import days_of
from autoscaler.model import Ahead, Samples
from autoscaler.tune import learn
from tests.core.given import (
    DAY,
    HOUR,
    NOW,
    history,
    knowing_ahead,
    policy,
    remembered,
    restless,
    seen,
    tide,
)

loads = st.lists(st.floats(0, 40), min_size=1, max_size=20).map(sorted).map(np.array)


def ahead_of(lead, window=None, ago=float("nan")):
    lead = np.asarray(lead, dtype=float)
    window = lead if window is None else np.asarray(window, dtype=float)
    weights = np.full(len(lead), 1 / len(lead))
    return Ahead(weights=weights, lead=lead, window=window, ago=ago, after=300.0, until=2100.0)


class TestNewsvendor:
    @examples(loads, st.floats(0.1, 500))
    def test_it_is_the_cheapest_number_of_all(self, lead, cover):
        capacity = 3.0

        def cost(k):
            share = sum(x / capacity for x in lead if x > PATIENCE * k * capacity + 1e-7)
            return k + cover * (LEAD_SHARE + WINDOW_SHARE) * share / len(lead)

        least, _ = least_and_most(ahead_of(lead), capacity, cover)
        costs = [cost(k) for k in range(int(lead[-1] / capacity) + 2)]
        assert cost(least) == pytest.approx(min(costs), rel=1e-6)

    @examples(loads, st.floats(0.1, 500), st.floats(1, 10))
    def test_a_larger_price_never_buys_less(self, lead, cover, more):
        low, high = (least_and_most(ahead_of(lead), 3.0, c) for c in (cover, cover * more))
        assert high[0] >= low[0]
        assert high[1] >= low[1]
        assert low[1] >= low[0]

    def test_a_day_like_the_one_before_is_ordered_for_but_only_up_to_what_is_kept(self):
        lead = np.r_[np.full(99, 3.0), 30.0]
        plain = least_and_most(ahead_of(lead), 3.0, 20.0)
        assert plain == (1, 10)
        assert least_and_most(ahead_of(lead, ago=12.0), 3.0, 20.0) == (4, 10)
        assert least_and_most(ahead_of(lead, ago=300.0), 3.0, 20.0) == (10, 10)

    @examples(loads, st.floats(0.1, 1e3), st.tuples(st.floats(0, 604_800), st.floats(0, 604_800)))
    def test_the_dearer_a_start_the_more_is_kept(self, lead, cover, worths):
        (least, less), (same, more) = (
            least_and_most(ahead_of(lead), 3.0, cover, keeping(worth)) for worth in sorted(worths)
        )
        assert least == same <= less <= more
        assert keeping(1800.0) == KEEP
        assert least_and_most(ahead_of(lead), 3.0, cover, keeping(0.0)) == (least, least)

    def test_rows_are_each_alone(self):
        both = uncovered(np.array([[1.0, 5.0], [9.0, 9.0]]), np.array([0.5, 0.5]), 1.0, 12)
        np.testing.assert_allclose(both[0][:6], [3.0, 2.5, 2.5, 2.5, 2.5, 0.0])
        assert list(worth(both, 10.0)) == [5, 9]


class TestDistributions:
    def test_masses_are_probabilities(self):
        assert MASSES.sum() == pytest.approx(1.0)
        assert (MASSES > 0).all()

    def test_as_much_comes_as_was_promised(self):
        """On two days after the fit, about as many loads exceed a level as its masses say."""
        whole = tide(16, NOW + 2 * DAY, seed=4)
        cut = len(whole.demand) - 2880
        past = history(whole.demand.times[:cut], whole.demand.values[:cut])
        fitted = fitted_on(past)
        exceed = {0.5: 0, 0.1: 0, 0.02: 0}
        origins = range(cut, len(whole.demand) - 6, 13)
        for n in origins:
            now = whole.demand.times[0] + 60.0 * n
            series, _ = regular(whole, now)
            ahead = fitted.predict(series, 7, (0.5,)).ahead
            beyond = np.cumsum(ahead.weights[::-1])[::-1]
            for p in exceed:
                exceed[p] += whole.demand.values[n + 5] > ahead.lead[np.searchsorted(-beyond, -p)]
        found = {p: count / len(origins) for p, count in exceed.items()}
        assert found[0.5] == pytest.approx(0.5, abs=0.15)
        assert found[0.1] == pytest.approx(0.1, abs=0.07)
        assert found[0.02] <= 0.08

    def test_the_window_is_at_least_the_lead(self):
        ahead = knowing_ahead().fitted.predict(regular(tide(14), NOW)[0], 7, (0.5,)).ahead
        assert ahead.weights @ ahead.window > ahead.weights @ ahead.lead

    def test_recent_misses_widen_it(self):
        given = tide(14)
        rng = np.random.default_rng(3)
        restless = np.repeat(rng.random(14 * 8) < 0.4, 180)  # three hours wild or calm
        noise = np.exp(rng.normal(0, 0.3, len(restless)) * restless)
        fitted = fitted_on(history(given.demand.times, given.demand.values * noise))
        width = {}
        for name, spread in (("calm", 0.0), ("wild", 0.3)):
            values = given.demand.values * noise
            values[-180:] = given.demand.values[-180:] * np.exp(rng.normal(0, spread, 180))
            series, _ = regular(history(given.demand.times, values), NOW)
            width[name] = np.ptp(fitted.predict(series, 7, (0.5,)).ahead.lead[5:50])
        assert width["wild"] > 1.5 * width["calm"]

    @pytest.mark.parametrize("step", [30.0, 60.0, 300.0, 600.0])
    def test_a_decision_knows_recent_misses_whatever_the_step(self, step):
        """What it sees in five hours is what a fit sees in two days."""
        given = tide(15, NOW + DAY, step=step)
        rng = np.random.default_rng(3)
        wild = np.repeat(rng.random(15 * 8) < 0.4, round(3 * HOUR / step))
        values = given.demand.values * np.exp(rng.normal(0, 0.3, len(wild)) * wild)
        given = history(given.demand.times, values, NOW + DAY, step=step)
        past = regular(given, NOW)[0]
        reach = reach_of(300.0, 15.0, 1800.0, step)
        days = days_of(past, "UTC")
        tidal = TidalForecaster(shape=PROFILE).fit(past, "UTC", ())
        fitted = TideAhead.of(tidal, days, tables_of(days, reach.window), reach)
        per_day = round(DAY / step)
        tables = tables_of(days_of(regular(given, NOW + DAY)[0], "UTC"), reach.window)
        strip, slots = strip_of(tables, slice(13, 15), reach.lead)
        model = fit_model(tables, 14 * per_day, reach.aims(days)[0])
        whole = np.exp(predict_strip(model, strip, slots)) - days.shift
        for hour in range(1, 24):
            series, _ = regular(given, NOW + hour * HOUR)
            ahead = fitted.predict(series, 7, (0.5,)).ahead
            seen = whole[per_day + round(hour * HOUR / step)]
            seen = np.minimum(seen, ahead.lead[-1])  # what lies beyond the largest ever is cut
            np.testing.assert_allclose(ahead.lead[[5, 20, 40]], seen[[5, 20, 40]], rtol=0.08)

    @pytest.mark.parametrize(("share", "least", "most"), [(0.02, 0.0, 0.5), (1.8, 0.85, 1.7)])
    def test_a_tenant_that_left_or_came_is_believed_after_two_hours(self, share, least, most):
        """No weight was learnt so far from what is usual: what is missed for an hour is carried."""
        given = tide(14)
        fitted = fitted_on(tide(14, NOW - 4 * HOUR))
        values = given.demand.values.copy()
        values[-180:] *= share
        series, _ = regular(history(given.demand.times, values), NOW)
        ahead = fitted.predict(series, 7, (0.5,)).ahead
        usual = given.demand.values[-60:].mean()
        middle, high = (ahead.window[np.searchsorted(np.cumsum(MASSES), p)] for p in (0.5, 0.95))
        assert least * share * usual <= middle
        assert high <= (1 + share) * most * usual

    @pytest.mark.parametrize("missing", [1, 30, 600, 2000])
    def test_holes_are_no_zeros(self, missing):
        given = tide(14)
        values = given.demand.values.copy()
        values[-missing:] = np.nan
        series, _ = regular(history(given.demand.times, values), NOW)
        ahead = knowing_ahead().fitted.predict(series, 7, (0.5,)).ahead
        assert ahead.weights @ ahead.lead > 3.0
        assert np.isfinite(ahead.lead).all()

    @pytest.mark.parametrize("minutes", [1, 2, 6, 40])
    def test_a_history_that_has_just_begun_is_enough_to_say_something(self, minutes):
        series, _ = regular(tide(minutes * 60 / DAY), NOW)
        ahead = knowing_ahead().fitted.predict(series, 7, (0.5,)).ahead
        assert len(series) == minutes
        assert np.isfinite(ahead.lead).all()
        assert ahead.weights @ ahead.lead == pytest.approx(series.values.mean(), rel=0.5)

    @pytest.mark.parametrize("age", [0.0, 6 * HOUR, 20 * HOUR, 3 * DAY])
    def test_knowledge_ages_without_falling_over(self, age):
        series, _ = regular(tide(14, NOW + age), NOW + age)
        ahead = knowing_ahead().fitted.predict(series, 7, (0.5,)).ahead
        truth = series.values[-10:].mean()
        assert ahead.weights @ ahead.lead == pytest.approx(truth, rel=0.35)

    def test_an_event_raises_what_is_ahead(self):
        sale = policy(
            events=[
                {
                    "name": "sale",
                    "start": "2025-12-01T00:03",
                    "end": "2025-12-01T03:00",
                    "factor": 4,
                }
            ]
        )
        usual, raised = (
            decide(p, seen(tide(14)), knowing_ahead(), remembered(5), NOW) for p in (policy(), sale)
        )
        np.testing.assert_allclose(raised.forecast.ahead.lead, 4 * usual.forecast.ahead.lead)
        assert raised.plan.floor >= 3 * usual.plan.floor


def aim_of(lead=5, window=None):
    return Aim(lead=lead, window=window, step=60.0, log_shift=0.0)


class TestShared:
    @pytest.mark.parametrize("window", [None, 35])
    def test_what_an_hour_of_misses_has_in_common_beyond_the_noise(self, window):
        missed = np.full(300, 0.5)
        missed[200:260] = 0.3
        aim = aim_of(window=window)
        found = shared(missed, 0.1, aim)
        known = 200 + aim.reach + 1  # the origin that first knows how the 200th forecast ended
        np.testing.assert_allclose(found[[199, known - 1, known, known + 30]], [0.4, 0.4, 0.2, 0.2])
        np.testing.assert_allclose(shared(-missed, 0.1, aim), -found)

    def test_one_miss_to_the_other_side_is_enough_to_carry_nothing(self):
        missed = np.full(300, 0.5)
        missed[150] = -0.01
        found = shared(missed, 0.1, aim_of())
        assert not found[156 : 156 + 60].any()
        assert found[155] == found[156 + 60] == pytest.approx(0.4)

    @examples(
        st.lists(st.floats(0.2, 2), min_size=120, max_size=160),
        st.lists(st.integers(0, 159), max_size=2),
        st.floats(0, 0.3),
    )
    def test_it_never_exceeds_a_finished_miss_and_knows_no_other(self, values, turned, noise):
        missed = np.array(values)
        missed[[at for at in turned if at < len(missed)]] *= -1
        found = shared(missed, noise, aim_of())
        for t in range(66, len(missed)):
            hour = missed[t - 65 : t - 5]
            assert abs(found[t]) <= max(np.abs(hour).min() - noise, 0.0) + 1e-12
            assert found[t] == 0 or np.sign(found[t]) == np.sign(hour).min() == np.sign(hour).max()
        blind = missed.copy()
        blind[-6:] = -9.0  # of which the last origin knows nothing
        assert shared(blind, noise, aim_of())[-1] == found[-1]


def fitted_on(given):
    until = given.read_at
    series, _ = regular(given, until)
    days = days_of(series, "UTC")
    reach = reach_of(300.0, 15.0, 1800.0, 60.0)
    tidal = knowing_ahead().fitted.tidal
    return TideAhead.of(tidal, days, tables_of(days, reach.window), reach)


def test_tables_of_a_day_know_only_days_before_it():
    given = tide(10)
    series, _ = regular(given, NOW)
    days = days_of(series, "UTC")
    usual = tables_of(days, 35)
    changed = days.z.copy()
    changed[6:] = 9.0
    other = tables_of(replace(days, z=changed), 35)
    for name, table in usual.by_name.items():
        # the window of a day's last minutes reaches into the next
        stop = 6 * 1440 + 1440 - 36
        np.testing.assert_array_equal(
            table.ravel()[: 7 * 1440][: stop if name.startswith("w_") else 7 * 1440],
            other.by_name[name].ravel()[: 7 * 1440][: stop if name.startswith("w_") else 7 * 1440],
            err_msg=name,
        )


def test_a_restless_service_is_steered_by_what_is_ahead():
    """The distributions do better than quantiles."""
    given, rng = restless(), np.random.default_rng(5)
    known = learn(policy(), given, NOW, shapes=FAST)
    assert known.fitted.name == "ahead"
    assert known.cover is not None
    noise = np.r_[given.demand.values, rng.uniform(0, 1e5, 500)]
    times = np.r_[given.demand.times, NOW + 60.0 * np.arange(500)]
    again = learn(
        policy(), replace(given, demand=Samples(times=times, values=noise)), NOW, shapes=FAST
    )
    assert again.scores == known.scores
    np.testing.assert_array_equal(again.fitted.tables.values, known.fitted.tables.values)


class TestRegressions:
    def test_huber_ridge_finds_weights_in_spite_of_outliers(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(3, 2000))
        y = np.array([1.0, -2.0, 0.5]) @ x + rng.normal(0, 0.1, 2000)
        y[::20] += 50
        found = huber_ridge(x, y, np.ones(2000), np.zeros(3), (100.0, 1.0))
        np.testing.assert_allclose(found, [1.0, -2.0, 0.5], atol=0.05)

    def test_without_data_the_prior_stands(self):
        x = np.zeros((2, 5))
        np.testing.assert_allclose(
            huber_ridge(x, np.zeros(5), np.ones(5), np.array([0.4, 0.6]), (300.0, 3.0)),
            [0.4, 0.6],
        )

    def test_nonnegative_weights_are_optimal(self):
        rng = np.random.default_rng(1)
        x = np.abs(rng.normal(size=(4, 500)))
        y = np.array([0.0, 1.5, 0.0, 0.3]) @ x - 0.2 * x[0] + rng.normal(0, 0.01, 500)
        found = nonnegative(x, y, np.ones(500))
        assert (found >= 0).all()
        gradient = x @ (found @ x - y)
        assert (gradient[found == 0] >= -1e-3).all()  # Kuhn and Tucker
        np.testing.assert_allclose(gradient[found > 0], 0, atol=0.1)

    def test_means_before_each_origin(self):
        sums = running(np.array([1.0, 2.0, 6.0, 4.0]))
        np.testing.assert_allclose(before(sums, 2), [1, 1, 1.5, 4, 5])


def test_a_decision_computes_the_last_row_of_what_a_fit_sees():
    series, _ = regular(tide(14), NOW)
    days = days_of(series, "UTC")
    reach = reach_of(300.0, 15.0, 1800.0, 60.0)
    tables = tables_of(days, reach.window)
    strip, slots = strip_of(tables, slice(12, 14), reach.lead)
    for aim in reach.aims(days):
        model = fit_model(tables, 14 * 1440, aim)
        whole = predict_strip(model, strip, slots)
        newest = predict_newest(model, strip, slots, recent_features(strip, aim))
        np.testing.assert_allclose(newest, whole[-1], rtol=1e-9)
