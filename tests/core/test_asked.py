"""The replay that chooses knows the calendar's floors and holds, as production does."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from autoscaler.demand import regular
from autoscaler.forecast import FAST
from autoscaler.forecast.tidal import days_of
from autoscaler.tune import study
from autoscaler.tune.asked import asked_of
from tests.core.given import HOUR, NOW, policy, tide

OFFICE = {"name": "office", "days": ["tuesday"], "from": "09:00", "to": "17:00", "floor": 20}
HOLD = {"name": "night", "from": "22:00", "to": "02:00", "hold": True}


def asked(of, zone="UTC", until=NOW, days=14, lead=7):
    return asked_of(of.spec, days_of(regular(tide(days, until), until)[0], zone), lead)


def test_nothing_asked_is_nothing_done():
    found = asked(policy())
    assert (found.floors, found.holding) == (None, None)
    floors = np.arange(2 * 1440).reshape(1, -1)[:, ::-1]
    rows = np.array([3, 4])
    assert found.ordered(floors, rows) is floors
    assert found.held(floors, rows) is floors


def test_a_floor_is_ordered_a_lead_before_and_asked_until_its_end():
    found = asked(policy(recurring=[OFFICE]))
    day = found.floors[8 * 1440 : 9 * 1440]  # the history begins on a Monday
    assert set(np.flatnonzero(day == 20)) == set(range(9 * 60 - 7, 17 * 60))
    assert not found.floors[7 * 1440 : 8 * 1440].any()
    wanted = np.full((2, 2 * 1440), 5)
    assert found.ordered(wanted, np.array([8, 9])).max(axis=1).tolist() == [20, 20]
    assert found.ordered(wanted, np.array([9, 10])).max() == 5


def test_nothing_falls_while_something_holds():
    found = asked(policy(recurring=[HOLD]))
    falling = np.tile(np.arange(2 * 1440)[::-1], (2, 1))
    kept = found.held(falling, np.array([4, 5]))
    late, early = slice(22 * 60, 1440 + 2 * 60), slice(2 * 60, 22 * 60)
    assert np.unique(kept[:, late]).tolist() == [falling[0, 22 * 60 - 1]]
    np.testing.assert_array_equal(kept[:, early], falling[:, early])
    assert falling[0, 22 * 60] == 1440 * 2 - 1 - 22 * 60  # what was given is not written to


@pytest.mark.parametrize("night", ["2026-03-30T00:00", "2026-10-26T00:00"])
def test_windows_stand_where_the_clock_says_through_the_nights_that_are_odd(night):
    until = datetime.fromisoformat(night).replace(tzinfo=UTC).timestamp() + 12 * HOUR
    office = {"name": "o", "from": "08:00", "to": "10:00", "floor": 9}
    found = asked(policy("Europe/Berlin", recurring=[office]), "Europe/Berlin", until, 6, lead=0)
    days = found.floors.reshape(-1, 1440)
    for day in days[1:-1]:
        assert set(np.flatnonzero(day)) == set(range(8 * 60, 10 * 60))


def test_every_candidate_is_replayed_under_it():
    of = policy(recurring=[{**OFFICE, "floor": 40}, HOLD])
    lesson = study(of, tide(10), NOW, shapes=FAST)
    plain = study(policy(), tide(10), NOW, shapes=FAST)
    trial = lesson.tried.trial
    tuesday = trial.floors[:, (trial.rows + lesson.days.first) % 7 == 1]
    assert tuesday[:, :, 9 * 60 : 17 * 60].min() == 40
    night = trial.floors[:, :, 22 * 60 :]
    assert (np.diff(night, axis=2) >= 0).all()
    assert all(score > 1.02 * plain.scores[of] for of, score in lesson.scores.items())
