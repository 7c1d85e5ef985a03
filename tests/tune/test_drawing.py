"""Where the distributions ahead decide, the day is drawn by whoever knows it a day ahead."""

from __future__ import annotations

import numpy as np
import pytest

from autoscaler.forecast import FAST
from autoscaler.forecast.ahead import TideAhead
from autoscaler.schema.candidates import AHEAD, Candidate
from autoscaler.tune.learn import choose
from autoscaler.tune.lesson import study
from tests.core.given import DAY, NOW, history, policy, tide

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


def test_a_shape_that_decides_draws_its_own_day():
    lesson = study(policy(), tide(14), NOW, shapes=FAST)
    pinned = Candidate(forecaster="no-tide", rule=0.95)
    assert choose(lesson, pinned) == (pinned, pinned)
