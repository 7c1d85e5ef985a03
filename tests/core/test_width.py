"""How wide a forecast is: a scale that follows the moment, and tails that hours lend each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler.forecast.base import LEVELS
from autoscaler.forecast.response import Misses, behind, fall_back, learn_response
from autoscaler.forecast.width import (
    FEATURES,
    HOURS,
    Widths,
    bounded,
    features,
    scales_of,
    unit_quantiles,
    unrest,
)

PER_DAY, STEP = 288, 300.0
HIGH, MIDDLE = LEVELS.index(0.99), LEVELS.index(0.5)


def misses_like(missed, expected=None):
    """Misses of whole days, with the means before each slot that go with them."""
    recent = np.stack(
        [behind(missed.ravel(), window, STEP) for window in (300.0, 3600.0, 10_800.0)]
    )
    return Misses(
        rows=np.arange(len(missed)),
        expected=np.zeros_like(missed) if expected is None else expected,
        missed=missed,
        recent=fall_back(recent).reshape(3, *missed.shape),
    )


def learnt(misses, days=None):
    return learn_response(misses, np.arange(len(misses.rows) if days is None else days), STEP)


def calm_mornings(rng, days):
    missed = rng.normal(0, 1, (days, PER_DAY))
    missed[:, : PER_DAY // 2] *= 0.1
    return missed


class TestTails:
    def test_of_one_hour_they_are_order_statistics_with_the_finite_sample_correction(self):
        errors = np.arange(1.0, 100.0)[::-1]  # 1 ... 99
        found = unit_quantiles(errors, np.full(99, 3))[3]
        expected = {0.05: 5, 0.2: 20, 0.5: 50, 0.8: 80, 0.9: 90, 0.95: 95, 0.98: 98, 0.99: 99}
        assert dict(zip(LEVELS[:8], found[:8], strict=True)) == expected

    def test_near_hours_lend_more_than_far_ones(self):
        kinds = np.repeat(np.arange(HOURS), 100)
        errors = np.where(kinds == 6, 10.0, 0.0) + np.tile(np.linspace(0, 1, 100), HOURS)
        at = LEVELS.index(0.9)
        found = unit_quantiles(errors, kinds)[:, at]
        assert found[6] > 10.5
        assert found[5] == found[7] > 10  # a neighbour: a fifth of its weight is the hour beside it
        assert found[0] < 1.0
        middle = unit_quantiles(errors, kinds)[:, MIDDLE]
        assert middle[0] == pytest.approx(0.5, abs=0.1)

    def test_the_clock_is_round(self):
        rng = np.random.default_rng(1)
        errors, kinds = rng.normal(0, 1, 600), rng.integers(0, HOURS, 600)
        turned = unit_quantiles(errors, (kinds + 5) % HOURS)
        np.testing.assert_array_equal(np.roll(unit_quantiles(errors, kinds), 5, axis=0), turned)

    def test_an_hour_that_was_never_seen_has_those_of_the_others(self):
        found = unit_quantiles(np.linspace(-1, 1, 50), np.zeros(50, dtype=np.int64))
        np.testing.assert_array_equal(found, np.broadcast_to(found[0], found.shape))

    def test_nothing_seen_is_no_width(self):
        assert not unit_quantiles(np.empty(0), np.empty(0, dtype=np.int64)).any()

    def test_an_hour_in_which_nobody_comes_is_lent_nothing(self):
        rng = np.random.default_rng(2)
        kinds = np.repeat(np.arange(HOURS), 400)
        errors = np.where(kinds < 3, rng.choice([-1e-12, 0.0, 1e-12], len(kinds)), 0.0)
        errors = np.where(kinds >= 3, rng.normal(0, 1, len(kinds)), errors)
        errors[:10] = 1.0  # one in forty of the first hour
        found = unit_quantiles(errors, kinds)
        assert not found[1:3].any()
        assert not found[0, : LEVELS.index(0.95) + 1].any()
        assert (found[0, LEVELS.index(0.98) :] > 0.9).all()
        assert (found[3:, LEVELS.index(0.8)] > 0.5).all()

    @examples(st.integers(1, 200), st.floats(0, 1), st.integers(0, 2**32 - 1))
    def test_quantiles_rise(self, count, idle, seed):
        rng = np.random.default_rng(seed)
        errors = rng.standard_t(2, count) * (rng.uniform(size=count) >= idle)
        found = unit_quantiles(errors, rng.integers(0, HOURS, count))
        assert (np.diff(found, axis=1) >= 0).all()


class TestScale:
    def told(self, rng, count=4000):
        usual, below = rng.uniform(0, 1, count), rng.uniform(0, 2, count)
        return features(usual, below, rng.normal(0, 0.3, (3, count)))

    def test_what_widens_errors_is_found(self):
        rng = np.random.default_rng(2)
        told = self.told(rng)
        size = 0.1 + 2.0 * told[1] + 0.5 * told[3]
        (found,) = scales_of((told @ told.T)[None], (told @ size)[None])
        assert (found >= 0).all()
        error = found @ told - size
        assert np.abs(error).mean() < 0.1 * size.mean()
        # noise makes it no less
        noisy = np.abs(rng.normal(0, 1, len(size))) * size * np.sqrt(np.pi / 2)
        (again,) = scales_of((told @ told.T)[None], (told @ noisy)[None])
        assert np.corrcoef(again @ told, size)[0, 1] > 0.95

    def test_leads_are_learnt_apart(self):
        rng = np.random.default_rng(3)
        told = self.told(rng)
        grams = np.stack([told @ told.T] * 2)
        targets = np.stack([told @ told[1], told @ told[2]])
        both = scales_of(grams, targets)
        for i in range(2):
            alone = scales_of(grams[i : i + 1], targets[i : i + 1])[0]
            np.testing.assert_allclose(both[i], alone, rtol=1e-9)

    def test_of_a_past_without_errors_it_is_nothing(self):
        assert not scales_of(np.zeros((1, FEATURES, FEATURES)), np.zeros((1, FEATURES))).any()
        least, most, scale = bounded(np.zeros(FEATURES), np.zeros((FEATURES, 5)), np.zeros(5))
        assert 0 < least == most < 1e-9
        assert (scale == least).all()

    def test_no_scale_is_wider_than_one_that_was_learnt_from(self):
        response = learnt(misses_like(np.random.default_rng(4).normal(0, 1, (8, PER_DAY))))
        lead, slots = np.zeros(1), np.zeros(1, dtype=np.int64)
        usual, wild = (
            response.widths(np.zeros(1), slots, np.full(3, size), lead)[0] for size in (0.0, 1e6)
        )
        assert usual <= wild < 10.0

    def test_the_usual_miss_of_a_day_is_that_of_the_others(self):
        missed = np.random.default_rng(5).normal(0, 1, (6, PER_DAY))
        changed = missed.copy()
        changed[2] *= 50
        one, other = (Widths.of(rows, np.zeros_like(rows), STEP) for rows in (missed, changed))
        np.testing.assert_allclose(one.others[2], other.others[2])
        assert (other.others[1] > 2 * one.others[1]).all()
        assert (other.usual > 2 * one.usual).all()

    def test_unrest_is_how_far_minutes_lie_off_and_how_they_jump(self):
        np.testing.assert_allclose(unrest(np.array([1.0, -2.0, 0.5])), [1.0, 2.0, 0.5, 3.0, 2.5])


class TestAForecast:
    def test_calm_hours_are_narrow_a_day_ahead_and_both_are_covered(self):
        rng = np.random.default_rng(6)
        response = learnt(misses_like(calm_mornings(rng, 14)))
        slots = np.arange(PER_DAY)
        _, spread = response.path(np.zeros(PER_DAY), slots, np.zeros(3))
        assert np.median(spread[: PER_DAY // 3, HIGH]) < 0.5
        assert spread[200, HIGH] > 1.5
        fresh = calm_mornings(rng, 50)
        covered = fresh <= spread[:, HIGH]
        for part in (covered[:, 12 : PER_DAY // 2 - 12], covered[:, PER_DAY // 2 + 12 : -12]):
            assert 0.98 < part.mean() < 0.999

    def test_a_restless_hour_widens_the_next(self):
        rng = np.random.default_rng(7)
        size = np.repeat(np.where(rng.uniform(size=20 * 12) < 0.2, 1.0, 0.05), PER_DAY // 12)
        walk = np.convolve(rng.normal(0, 1, len(size)), np.ones(4) / 2, mode="same")
        response = learnt(misses_like((size * walk).reshape(20, PER_DAY)))
        expected, slots = np.zeros(12), np.full(12, 100)
        calm, restless = (
            response.path(expected, slots, np.array(recent))[1][6, HIGH]
            for recent in ([0.01, 0.0, 0.0], [1.0, 0.3, 0.1])
        )
        assert restless > 2 * calm

    @examples(st.integers(0, 2**32 - 1))
    def test_quantiles_rise_wherever_the_last_minutes_lie(self, seed):
        rng = np.random.default_rng(seed)
        missed = rng.standard_t(2, (rng.integers(1, 6), PER_DAY))
        missed[rng.uniform(size=missed.shape) < 0.1] = np.nan
        response = learnt(misses_like(missed, rng.normal(0, 1, missed.shape)))
        z, spread = response.path(
            rng.normal(0, 3, PER_DAY), np.arange(PER_DAY), rng.standard_t(1, 3)
        )
        assert np.isfinite(z).all()
        assert np.isfinite(spread).all()
        assert (np.diff(spread, axis=1) >= 0).all()

    def test_one_origin_is_told_what_many_are(self):
        rng = np.random.default_rng(8)
        response = learnt(misses_like(calm_mornings(rng, 6), rng.normal(0, 1, (6, PER_DAY))))
        expected, slots, recent = rng.normal(0, 1, 40), np.arange(200, 240), rng.normal(0, 1, 3)
        z, spread = response.path(expected, slots, recent)
        leads = np.arange(40.0)
        np.testing.assert_allclose(z, expected + response.correction(recent, leads))
        wide = response.widths(z, slots, recent, leads)
        units = response.spreads(slots * HOURS // PER_DAY, leads)
        np.testing.assert_allclose(spread, wide[:, None] * units)
        many = response.widths(
            np.repeat(z[:, None], 3, axis=1), slots[:, None], np.stack([recent] * 3, axis=1), leads
        )
        np.testing.assert_allclose(many, np.repeat(wide[:, None], 3, axis=1))

    def test_what_comes_after_the_days_that_are_learnt_from_is_not_looked_at(self):
        rng = np.random.default_rng(9)
        whole = misses_like(calm_mornings(rng, 10), rng.normal(0, 1, (10, PER_DAY)))
        nights = np.roll(whole.missed, -1, axis=0)[:, :24], whole.expected[:, :24]
        misses = replace(
            whole,
            missed=np.concatenate([whole.missed, nights[0]], axis=1),
            expected=np.concatenate([whole.expected, nights[1]], axis=1),
        )
        noise = replace(misses, missed=misses.missed.copy(), expected=misses.expected.copy())
        noise.missed[6:] = rng.normal(5, 9, noise.missed[6:].shape)
        noise.missed[5, PER_DAY:] = rng.normal(5, 9, 24)  # of the seventh day
        noise.expected[6:] = rng.normal(5, 9, noise.expected[6:].shape)
        one, other = learnt(misses, 6), learnt(noise, 6)
        for name in ("weights", "scale", "spread", "usual", "top"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
