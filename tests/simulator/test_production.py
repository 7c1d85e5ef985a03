"""Production in the plain world: same bytes, replayable records, an interrupt in the middle."""

import json
import signal
from dataclasses import replace

import numpy as np
import pytest

from autoscaler.adapters.telemetry.reader import iterate
from autoscaler.adapters.telemetry.replay import Replayer
from autoscaler.replay import Service
from autoscaler.simulator.peers import chosen
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.production import default_policy, fly
from autoscaler.simulator.simulation import simulate
from autoscaler.world.tides import Tide, make_tide
from autoscaler.world.traffic import Traffic, grid

pytestmark = pytest.mark.slow

SLOT = 600.0
MONDAY = 1_704_067_200.0


def rows_of(seed, days):
    return make_tide(Tide(peak=30.0), days, seed=seed, step=SLOT)


def world_of(rows, days, step=300.0):
    traffic = Traffic(times=np.arange(len(rows)) * SLOT, values=rows, column="x", slot=SLOT)
    per_day = round(86400 / step)
    demand = grid(traffic, step, "hold")[: days * per_day]
    return PlainWorld(
        demand=demand,
        service=Service(capacity=3.0, cold=1, step=step),
        start=5 * per_day,
        measured=5 * per_day + per_day // 2,
        begins=MONDAY,
    )


def test_the_same_question_gives_the_same_bytes(tmp_path):
    world = world_of(rows_of(3, 7), 6)
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    answers = [simulate(default_policy(world), world, [], records=file) for file in files]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert answers[0].runs[0].account == answers[1].runs[0].account


def test_records_replay_to_the_same_decisions_and_altered_ones_do_not(tmp_path):
    world = world_of(rows_of(4, 7), 6)
    file = tmp_path / "decisions.jsonl"
    simulate(default_policy(world), world, [], records=file)
    replayer = Replayer()
    records = list(iterate(file))
    assert len(records) == len(world.run_demand)
    for record in records[:: len(records) // 12]:
        assert replayer.differences(record) == ()
    text = file.read_text().splitlines()
    document = json.loads(text[-1])
    assert document["result"]["floor"] >= 1
    record = records[-1]
    other = replace(record, at=record.at + 86_400.0)
    assert replayer.differences(other) != ()


def test_interrupted_in_the_middle_it_tells_what_was_flown():
    """The clock's owner interrupts at the 200th step, as Ctrl-C does."""
    world = world_of(rows_of(5, 7), 6)

    def interrupt(done, of):
        if done > 180:
            signal.raise_signal(signal.SIGINT)

    flight = fly(world, default_policy(world), progress=interrupt)
    assert 180 < flight.steps < len(world.run_demand)

    def tell(what, share):
        if share > 180 / 288:
            signal.raise_signal(signal.SIGINT)

    answer = simulate(default_policy(world), world, [], progress=tell)
    assert answer.partial
    assert len(answer.world.run_demand) == len(answer.runs[0].replayed.total[0]) == flight.steps


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_between_peers_it_tells_who_was_played(jobs):
    world = world_of(rows_of(6, 7), 6)

    def tell(what, share):
        if what == "hpa":
            signal.raise_signal(signal.SIGINT)

    against = chosen("hpa,day-ago,kpa")
    answer = simulate(default_policy(world), world, against, jobs=jobs, progress=tell)
    assert answer.partial
    assert [run.name for run in answer.runs] == ["foretide", "hpa"]
    assert answer.intervals.keys() == {"foretide", "hpa"}
