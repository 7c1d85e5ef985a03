"""Ctrl-C of `foretide simulate`: the real process, a real SIGINT, and what it leaves behind."""

import csv
import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

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


def interrupted(folder, reached, *more):
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
            process_group=0,  # the signal is for it alone
        )
    ) as process:
        end = time.monotonic() + PATIENCE
        while not reached():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        process.send_signal(signal.SIGINT)
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
