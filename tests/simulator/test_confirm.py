"""For the chosen candidate, the floors of `tune` are those of the production cycle, exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from autoscaler import tune
from autoscaler.cli.tuning import tuned
from autoscaler.cycle import run_once
from autoscaler.forecast import ALL, FAST
from autoscaler.model import Memory, Mode, Outcome, Samples, Target
from autoscaler.schema.candidates import candidate_of
from autoscaler.simulator.confirm import PastDemand, confirm, shapes_for, stretch_of
from autoscaler.tune.lesson import study
from tests.core.given import DAY, NOW, history, policy, restless, tide

STEP = 300.0


def coarse(days: float):
    """A restless tide in steps of five minutes, with a hole and a saturated stretch."""
    fine = restless(days)
    values = fine.demand.values.reshape(-1, 5).mean(axis=1)
    times = fine.demand.times[::5]
    values = values.astype(np.float32).astype(np.float64)
    kept = np.ones(len(times), dtype=bool)
    kept[-400:-388] = False
    saturated = Samples(times=times[-200:-190], values=np.ones(10))
    demand = Samples(times=times[kept], values=values[kept])
    return replace(history([], [], NOW), demand=demand, saturated=saturated, step=STEP)


class Cluster:
    """Four ports in a few lines, sharing nothing with the simulator's."""

    def __init__(self, given, floor):
        self.given, self.floor, self.original = given, floor, None
        self.demand = self.targets = self.floors = self.records = self

    def read(self, policy, until):
        since = until - policy.spec.demand.history
        cut = {}
        for name in ("demand", "saturated"):
            samples = getattr(self.given, name)
            ended = (samples.times + STEP <= until) & (samples.times >= since)
            cut[name] = Samples(times=samples.times[ended], values=samples.values[ended])
        return replace(self.given, read_at=until, **cut)

    def observe(self, policy):
        return Target(uid="u", version="1", floor=self.floor, ceiling=10**6, original=self.original)

    def write(self, policy, target, floor):
        self.original = self.floor if self.original is None else self.original
        self.floor = floor
        return Outcome.WRITTEN

    def record(self, *given):
        """Keep nothing."""


def produced(wanted, given, start, count):
    """Floors that the controller's loop leaves: fits and choices when due; cycles."""
    cluster, memory, known, floors = Cluster(given, 1), Memory(), None, []
    for i in range(count):
        now = start + STEP * i
        if tune.due(wanted, known, now):
            standing = tune.standing_of(known, memory)
            known = tune.tonight(wanted, cluster.read(wanted, now), now, standing, period=STEP)
        _, memory = run_once(wanted, cluster, known, memory, now, period=STEP)
        floors.append(cluster.floor)
    return np.array(floors)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "zone"),
    [("ahead@18", "Asia/Kolkata"), ("profile@0.9", "UTC"), ("autoreg@0.95", "Europe/Berlin")],
)
def test_replayed_floors_are_those_of_the_production_cycle(name, zone):
    given, wanted = coarse(9), policy(zone)
    lesson = study(wanted, given, NOW, period=STEP, shapes=FAST)
    stretch = stretch_of(lesson.series, lesson.judge, zone, 2, 0.7)
    found = confirm(wanted, given, candidate_of(name), stretch)
    pinned = wanted.copy_with(
        forecast=wanted.spec.forecast.model_copy(update={"use": name}), mode=Mode.ACT
    )
    floors = produced(pinned, given, found.begins, len(found.run.floors))
    assert len(floors) == 2 * round(DAY / STEP)
    np.testing.assert_array_equal(found.run.floors, floors)
    assert floors.max() > floors.min() + 3  # it moved: equality says something


@pytest.mark.slow
def test_the_comparison_of_all_comes_close_to_the_cycle():
    """It approximates, and by how much is told: here within some per cent."""
    found = tuned(policy(), coarse(12), "tide", target=0.7, confirmed=3, told=lambda *_: None)
    (confirmed,) = found.confirmed
    assert confirmed.days == 3
    assert confirmed.run.account.score == pytest.approx(found.judged(confirmed), rel=0.1)
    assert not found.apart(confirmed)


class TestStretch:
    @pytest.mark.parametrize(
        ("zone", "until", "whole"),
        [
            ("UTC", NOW, 3),  # ends at midnight: that day is whole
            ("Asia/Shanghai", NOW, 3),  # ends at 08:00: today is not
            ("Europe/Berlin", 1_774_828_800.0, 3),  # 2026-03-30 02:00, after a day of 23 hours
        ],
    )
    def test_whole_local_days_at_the_end(self, zone, until, whole):
        wanted, given = policy(zone), tide(9, until)
        lesson = study(wanted, given, until, shapes=FAST)
        stretch = stretch_of(lesson.series, lesson.judge, zone, whole, None)
        ends = stretch.begins + 60.0 * len(stretch.demand)
        begins = stretch.begins + 60.0 * stretch.start
        for moment in (begins, ends):
            local = datetime.fromtimestamp(moment, ZoneInfo(zone))
            assert (local.hour, local.minute) == (0, 0)
        assert until - DAY < ends <= until
        assert abs((ends - begins) / DAY - whole) < 0.05

    def test_not_without_two_days_before(self):
        lesson = study(policy(), tide(2.5), NOW, shapes=FAST)
        assert stretch_of(lesson.series, lesson.judge, "UTC", 3, None) is None

    def test_the_past_shows_only_what_had_ended(self):
        given = coarse(4)
        shown = PastDemand(given).read(policy(), NOW - DAY + 100.0)
        assert shown.demand.times.max() == NOW - DAY - STEP
        assert shown.read_at == NOW - DAY + 100.0
        assert shown.saturated is not None
        assert len(shown.saturated) == 0


EVENT = {"name": "e", "start": "2025-12-01T00:00", "end": "2025-12-01T05:00", "factor": 2}


class TestShapes:
    """AutoReg is left out of a fit only where no floor can depend on it."""

    @pytest.mark.parametrize(
        ("name", "spec", "days", "shapes"),
        [
            ("ahead@18", {}, 25, FAST),
            ("ahead@18", {}, 9, ALL),
            ("ahead@18", {"floor": {"min": 0}}, 25, ALL),
            ("ahead@18", {"events": [EVENT]}, 25, ALL),
            ("ahead@18", {"recurring": [{"name": "n", "floor": 3}]}, 25, ALL),
            ("profile@0.9", {"events": [EVENT]}, 9, FAST),
            ("autoreg@0.9", {}, 25, ALL),
        ],
    )
    def test_by_what_a_floor_depends_on(self, name, spec, days, shapes):
        assert shapes_for(policy(**spec), candidate_of(name), days) == shapes
