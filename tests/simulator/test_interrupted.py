"""Ctrl-C of `foretide simulate`: the real process, a real SIGINT, and what it leaves behind."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from autoscaler.simulator.peers import peers
from autoscaler.world.tides import Tide, make_tide
from tests.support.policies import SMALL
from tests.support.processes import PATIENCE, ended

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DAY = 144  # steps of ten minutes
HISTORY, SETTLED, DAYS = 7, 9, 55


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "policy.yaml").write_text(SMALL)
    demand = make_tide(Tide(peak=20.0), DAYS, seed=1, step=600.0)
    rows = "".join(f"{i * 600},{value:.6g}\n" for i, value in enumerate(demand))
    (tmp_path / "traffic.csv").write_text("t,load_per_second\n" + rows)
    return tmp_path


def interrupted(folder, reached, *more, whole_group=False):
    """Send SIGINT to a simulation as soon as it is where we want it; its code, stdout, stderr."""
    words = ["simulate", *more, "--out", "out"]
    with ended(
        subprocess.Popen(
            [sys.executable, "-m", "autoscaler.cli.main", *words],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,  # the signal is for it alone, or for it and its processes
        )
    ) as process:
        end = time.monotonic() + PATIENCE
        while not reached():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err


def decided(folder):
    records = folder / "out" / "decisions.jsonl"
    return records.read_bytes().count(b"\n") if records.exists() else 0


RUN = ("-f", "policy.yaml", "--trace", "traffic.csv", "--step", "10m")


def test_a_partial_result_is_valid_and_says_so(folder):
    settled = (SETTLED - HISTORY) * DAY
    code, out, err = interrupted(
        folder, lambda: decided(folder) > settled + 10, *RUN, "--against", "hpa"
    )
    assert code == 130, err
    assert "interrupted: this is what was done until then" in out + err
    assert "Traceback" not in out + err
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["partial"] is True
    assert [run["name"] for run in summary["runs"]] == ["foretide"]
    steps = summary["evaluated"]["steps"]
    assert 10 < steps < (DAYS - SETTLED) * DAY
    assert summary["evaluated"]["to"] == SETTLED * 86400 + steps * 600
    with (folder / "out" / "timelines" / "foretide.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == settled + steps
    records = (folder / "out" / "decisions.jsonl").read_text().splitlines()
    # the cycle that the signal met may have written its record before it was cut short
    assert 0 <= len(records) - len(rows) <= 1
    assert all(json.loads(record) for record in records)
    hours = sum(int(row["desired"]) for row in rows[settled:]) * 600 / 3600
    assert hours == pytest.approx(summary["runs"][0]["replica_hours"])
    report = (folder / "out" / "report.html").read_text()
    assert "interrupted: what was done until then" in report


SHORT_DAYS, SHORT_HISTORY = 9, 5
SHORT = ("-f", "policy.yaml", "--trace", "short.csv", "--step", "10m")


@pytest.fixture
def short(folder):
    """The same with few days, for those who wait until all are flown."""
    rows = (folder / "traffic.csv").read_text().splitlines(keepends=True)
    (folder / "short.csv").write_text("".join(rows[: 2 + SHORT_DAYS * DAY]))
    return folder


@pytest.mark.parametrize("whole_group", [False, True])
def test_while_peers_play_side_by_side(short, whole_group):
    """Whether one process is told, or all of a terminal's: who was played is told, at once."""
    flown = (SHORT_DAYS - SHORT_HISTORY) * DAY

    def reached():
        return decided(short) >= flown

    words = (*SHORT, "--against", "all", "--tuned", "--jobs", "2")
    code, out, err = interrupted(short, reached, *words, whole_group=whole_group)
    assert code == 130, err
    assert "interrupted: this is what was done until then" in out + err
    assert "Traceback" not in out + err
    summary = json.loads((short / "out" / "summary.json").read_text())
    assert summary["partial"] is True
    names = [run["name"] for run in summary["runs"]]
    assert names[0] == "foretide"
    assert len(names) < 1 + 2 * len(peers())
    for name in names:
        file = name.replace(" ", "-") + ".csv"
        with (short / "out" / "timelines" / file).open() as rows:
            assert sum(1 for _ in rows) == 1 + flown


def test_once_everything_was_played_the_answer_is_written_whole(short):
    reached = (short / "out" / "summary.json").exists
    code, out, err = interrupted(short, reached, *SHORT, "--against", "none")
    assert code == 130, err
    assert "interrupted when everything had been played: nothing is missing" in out + err
    assert json.loads((short / "out" / "summary.json").read_text())["partial"] is False
    assert (short / "out" / "report.png").stat().st_size > 10_000


def test_before_the_evaluation_there_is_nothing_to_tell(folder):
    code, out, err = interrupted(folder, lambda: decided(folder) > 2, *RUN, "--json")
    assert code == 130
    assert out == ""
    assert "interrupted before the evaluation began" in err
    assert not (folder / "out" / "summary.json").exists()


def test_scenarios_say_how_many_were_played(folder):
    world = {"a": "{step: 10m, history: 3d, settle: 1h}", "b": "{step: 1m}"}
    (folder / "asked").mkdir()
    for name, days in (("a", 4), ("b", 60)):
        (folder / "asked" / f"{name}.yaml").write_text(
            f"question: q?\nclaims: [score >= 1]\npeers: []\ntraffic: {{days: {days}}}\n"
            f"world: {world[name]}\n"
        )
    done = (folder / "out" / "a" / "report.png").exists
    code, out, err = interrupted(folder, done, "--scenario", "asked", "--json")
    assert code == 130, err
    answer = json.loads(out)
    assert answer["partial"] is True
    assert [scenario["name"] for scenario in answer["scenarios"]] == ["a"]
    assert "interrupted: 1 of 2 scenarios were played" in err
