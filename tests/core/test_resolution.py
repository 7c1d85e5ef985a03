"""For how long a history holds one value, and what a release makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscaler import plan
from autoscaler.decide import decide
from autoscaler.demand import regular
from autoscaler.forecast import FAST
from autoscaler.forecast.resolution import resolution
from autoscaler.forecast.tidal import days_of
from autoscaler.model import Code, Memory, Wanted
from autoscaler.tune import learn
from tests.core.given import NOW, history, knowledge, policy, seen, tide

NOISE = np.random.default_rng(3).lognormal(0.0, 0.2, size=40_000)


def held(minutes: int, days: int = 14):
    """A noisy tide that comes in rows of some minutes."""
    given = tide(days)
    values = given.demand.values * NOISE[: len(given.demand.values)]
    rows = np.floor(given.demand.times / (60.0 * minutes)).astype(np.int64)
    first = np.searchsorted(rows, rows)
    return history(given.demand.times, values[first])


def found(given, zone="UTC"):
    return resolution(days_of(regular(given, NOW)[0], zone))


@pytest.mark.parametrize("minutes", [1, 2, 5, 10, 15, 30, 60])
def test_rows_are_found(minutes):
    assert found(held(minutes)) == (60.0 * minutes if minutes > 1 else 0.0)


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Australia/Lord_Howe", "America/New_York"])
def test_in_any_zone(zone):
    assert found(held(10), zone) == 600.0  # at :05 of the zone's hour in the first of them


def test_holes_do_not_hide_them():
    given = held(10)
    values = given.demand.values.copy()
    values[5_000:7_300] = np.nan
    assert found(history(given.demand.times, values)) == 600.0


def test_lines_between_rows_are_no_rows():
    given = held(10)
    times = given.demand.times
    at = np.arange(0, len(times), 10)
    values = np.interp(times, times[at], given.demand.values[at])
    assert found(history(times, values)) == 0.0


def test_a_batch_on_the_hour_has_none():
    times = tide(14).demand.times
    hour = times // 3600 % 24
    assert found(history(times, np.where((hour >= 1) & (hour < 5), 40.0, 0.0))) == 0.0


def test_nothing_is_read_from_a_load_that_never_changes():
    times = tide(14).demand.times
    assert found(history(times, np.full(len(times), 4.0))) == 0.0


@pytest.mark.parametrize(
    ("after", "row", "back"),
    [
        (600.0, 0.0, 600.0),
        (600.0, 300.0, 900.0),
        (600.0, 600.0, 1800.0),
        (600.0, 3600.0, 1800.0),
        (7200.0, 3600.0, 7200.0),
        (0.0, 0.0, 0.0),
        (0.0, 120.0, 360.0),
    ],
)
def test_a_release_looks_back_over_three_rows(after, row, back):
    assert plan.looking_back(after, row) == back


def test_one_low_row_lowers_nothing():
    memory = Memory(
        wanted=(
            *(Wanted(at=NOW - 60.0 * m, floor=9) for m in range(29, 14, -1)),
            *(Wanted(at=NOW - 60.0 * m, floor=2) for m in range(14, 0, -1)),
        ),
        since=NOW - 7200.0,
    )
    fine = decide(policy(floor={"min": 1}), seen(tide(14), 9), knowledge(), memory, NOW)
    coarse = decide(
        policy(floor={"min": 1}), seen(tide(14), 9), replace(knowledge(), row=600.0), memory, NOW
    )
    assert fine.floor < 9
    assert coarse.floor == 9
    said = next(r for r in coarse.reasons if r.code is Code.RELEASE_HELD)
    assert "wanted within the last 1800 s" in said.sentence


def test_what_was_learnt_knows_its_rows():
    assert learn(policy(), held(10), NOW, shapes=FAST).row == 600.0
    assert learn(policy(), held(1), NOW, shapes=FAST).row == 0.0
