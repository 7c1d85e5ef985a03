"""Which HPA stands above ours: the world's, or the one that was advised before the run began."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscaler.simulator.plain import plain_world
from autoscaler.simulator.ports import Learning
from autoscaler.simulator.production import Flight, Track, run_of, target_above
from autoscaler.world.tides import Tide, make_tide


@pytest.fixture(scope="module")
def world():
    return replace(plain_world(make_tide(Tide(peak=20.0), 9, seed=1), begins=6e8), advised=True)


def flight_of(world, *advised):
    """Floors of 3 throughout, and a fit at the start and on every day after it."""
    began = world.begins + world.start * world.service.step
    learnings = [
        Learning(at=began + 86_400.0 * day, name="x", level=0.9, scores={}, target=target)
        for day, target in enumerate(advised)
    ]
    track = Track.of(len(world.run_demand))
    track.floors[:] = 3
    return Flight(track=track, learnings=learnings, cpu_seconds=0.0, steps=len(track.floors))


def test_the_advice_of_the_first_fit_stays_for_the_whole_run(world):
    assert target_above(world, flight_of(world, 0.8, 0.95, 0.7)) == 0.8


@pytest.mark.parametrize("advised", [(), (None,), (None, 0.7)])
def test_what_was_advised_during_the_run_was_not_known_at_its_start(world, advised):
    assert target_above(world, flight_of(world, *advised)) == 0.95


def test_unless_somebody_gave_a_target_or_none(world):
    flight = flight_of(world, 0.8)
    assert target_above(replace(world, advised=False), flight) == 0.7
    assert target_above(replace(world, target=None), flight) is None


def test_a_manifest_keeps_its_own(world):
    flight = flight_of(world, 0.8)
    assert target_above(replace(world, full=lambda world, _floors: world.best()), flight) == 0.7


def test_the_run_says_under_which_target_it_was_accounted_for(world):
    runs = [run_of(world, flight_of(world, target), 1.0) for target in (0.7, 0.95)]
    assert [run.settings for run in runs] == [{"target": 0.7}, {"target": 0.95}]
    assert runs[0].account.replica_hours > 1.2 * runs[1].account.replica_hours
    np.testing.assert_array_equal(runs[0].floors, runs[1].floors)
