"""Where the distributions ahead decide, the day is drawn by whoever knows it a day ahead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast import FAST, Drawn
from autoscaler.forecast.ahead import TideAhead
from autoscaler.schema.candidates import AHEAD, Candidate
from autoscaler.tune.learn import choose, known
from autoscaler.tune.lesson import study
from autoscaler.tune.standing import Standing, refit
from tests.core.given import DAY, NOW, history, policy, remembered, seen, tide

EVERY = Candidate(forecaster=AHEAD)


def noise(days=12):
    """Nothing of a day is known from those before it."""
    times = NOW - days * DAY + 60.0 * np.arange(days * 1440)
    return history(times, np.random.default_rng(4).uniform(10, 30, days * 1440))


def weekly(days=21):
    """Working days and quiet ones, each exactly as a week before, and a day's own level."""
    times = NOW - days * DAY + 60.0 * np.arange(days * 1440)
    number = ((times // DAY) + 3) % 7
    clock = 1.2 - np.cos(2 * np.pi * (times % DAY) / DAY)
    noise = np.random.default_rng(5).normal(1, 0.05, len(times))
    return history(times, 20 * clock * noise * np.where(number < 5, 1.0, 0.2))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (tide(14), {"profile", "yesterday", "last-week"}),
        (weekly(), {"last-week"}),
        (noise(), {"no-tide"}),
    ],
    ids=["a tide", "a week", "no tide"],
)
def test_the_day_is_drawn_by_whoever_knows_it_a_day_ahead(given, names):
    lesson = study(policy(), given, NOW, shapes=FAST)
    assert lesson.draws() in names
    best, beneath = choose(lesson, EVERY)
    assert best.forecaster == AHEAD
    assert beneath.forecaster in names
    fitted = lesson.fitted(best, beneath)
    assert isinstance(fitted, TideAhead)
    assert fitted.tidal.name in names


@pytest.mark.parametrize(
    ("others", "drawn"),
    [
        ({"profile": 0.5, "yesterday": 0.45, "no-tide": 1.0}, "profile"),
        ({"profile": 0.5, "yesterday": 0.3, "no-tide": 1.0}, "yesterday"),
        ({"profile": 1.2, "yesterday": 0.95, "no-tide": 1.0}, "no-tide"),
        ({"profile": 1.2, "yesterday": 0.6, "no-tide": 1.0}, "yesterday"),
        ({"yesterday": 0.95, "no-tide": 1.0}, "no-tide"),
    ],
)
def test_only_what_is_clearly_better_draws_in_place_of_the_profile(lesson, others, drawn):
    """In a week or two, some shape misses by a little less than the profile by chance."""
    shape, misses = lesson.learnt["no-tide"]
    missed = np.ones_like(misses.missed)
    learnt = {name: (shape, replace(misses, missed=size * missed)) for name, size in others.items()}
    assert replace(lesson, learnt=learnt).draws() == drawn


def test_a_shape_that_is_pinned_draws_its_own_day():
    lesson = study(policy(), tide(14), NOW, shapes=FAST)
    pinned = Candidate(forecaster="no-tide", rule=0.95)
    assert choose(lesson, pinned) == (pinned, pinned)
    assert choose(lesson, Candidate(forecaster="no-tide"))[1].forecaster == "no-tide"


@pytest.fixture(scope="module")
def lesson():
    found = study(policy(), weekly(), NOW, shapes=FAST)
    best = Candidate(forecaster="no-tide", rule=0.95)
    return replace(found, drawn=found.drawn | {best: -1.0})


@pytest.fixture(scope="module")
def found(lesson):
    return known(policy(), lesson)


class TestADayThatAnotherDraws:
    """ "No tide" decides on the last minutes as well as any; of tomorrow it knows nothing."""

    def test_what_decides_and_what_draws_are_two(self, found):
        assert (found.choice.name, found.choice.drawn) == ("no-tide@0.95", "last-week")
        assert isinstance(found.fitted, Drawn)
        assert (found.fitted.name, found.fitted.far.name) == ("no-tide", "last-week")
        assert found.order_level == 0.95

    def test_a_decision_is_that_of_the_one_alone(self, found):
        alone = replace(found, fitted=found.fitted.near)
        for hours in (0.0, 7.5, 13.0):
            now = NOW + hours * 3600.0
            observed = seen(history(*_shown(now), now), 5)
            ours, other = (
                decide(policy(), observed, knowledge, remembered(5, now), now)
                for knowledge in (found, alone)
            )
            assert ours.floor == other.floor
            np.testing.assert_array_equal(ours.forecast.quantiles, other.forecast.quantiles)
            assert ours.forecast.quantiles.shape[1] == found.fitted.reach

    def test_the_day_is_the_others_from_there_on(self, found):
        series, _ = regular(weekly(), NOW)
        both, near, far = (
            of.predict(series, 1440, (0.5, 0.95)).quantiles
            for of in (found.fitted, found.fitted.near, found.fitted.far)
        )
        reach = found.fitted.reach
        np.testing.assert_array_equal(both[:, :reach], near[:, :reach])
        np.testing.assert_array_equal(both[:, reach:], far[:, reach:])
        assert np.abs(both[0] - near[0]).max() > 5.0

    def test_accuracy_is_that_of_whoever_says_it(self, lesson, found):
        alone, drawer = (
            known(policy(forecast={"use": name}), lesson) for name in ("no-tide@0.95", "last-week")
        )
        lead, _, day = found.accuracy
        assert lead == alone.accuracy[0]
        assert found.usual == alone.usual
        assert day == drawer.accuracy[2]
        assert day.median < alone.accuracy[2].median / 2

    def test_a_night_that_fits_only_fits_both(self, found):
        standing = Standing(
            choice=found.choice, order_level=found.order_level, cover=None, scores=found.scores
        )
        again = refit(policy(), weekly(), NOW, standing)
        series, _ = regular(weekly(), NOW)
        ours, other = (
            of.fitted.predict(series, 1440, (0.5, 0.95)).quantiles for of in (found, again)
        )
        np.testing.assert_allclose(ours, other, rtol=1e-6)


def _shown(now):
    """Times and values of the weekly tide as they were at a moment, its days once more."""
    given = weekly()
    ahead = round((now - NOW) / 60.0)
    times = NOW - 14 * DAY + 60.0 * np.arange(14 * 1440 + ahead)
    values = given.demand.values
    return times, np.r_[values[-14 * 1440 :], values[:ahead]]
