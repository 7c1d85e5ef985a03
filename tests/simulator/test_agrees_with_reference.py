"""Our scorer agrees with the separate one whose table is in the reference folder.

Runs where that folder stands beside the checkout (or FORETIDE_SHARED names it).
"""

import os
import re
from pathlib import Path

import pytest

from autoscaler.simulator.peers import chosen
from autoscaler.simulator.plain import plain_world
from autoscaler.simulator.runs import best_run, play, play_tuned
from autoscaler.world.traffic import grid, read_traffic

SHARED = Path(os.environ.get("FORETIDE_SHARED", Path(__file__).parents[3] / "shared"))
TABLE = SHARED / "reference" / "scores.md"
COLUMNS = ("fixed-p99", "hpa", "day-ago", "week-ago", "crane")
TUNED = ("hpa", "day-ago", "week-ago", "crane")
CELL = re.compile(r"([\d.]+) \(([\d.]+), ([\d.]+) %, (\d+)\)")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not TABLE.exists(), reason="the reference folder is not beside the checkout"
    ),
]


def cells():
    """(version, trace, cells) for each row of the two tables."""
    if not TABLE.exists():
        return []
    found = []
    for version in ("linear", "hold"):
        part = TABLE.read_text().split(f"## {version}\n")[1].split("\n## ")[0]
        for line in part.splitlines():
            row = [cell.strip() for cell in line.strip("|").split("|")]
            if len(row) > 6 and CELL.match(row[2]):
                found.append(pytest.param(version, row[0], row[1:11], id=f"{version}-{row[0]}"))
    return found


def trace(name):
    folder = SHARED / "traces"
    for path in folder.rglob("*.csv.gz"):
        if str(path.relative_to(folder)).removesuffix(".csv.gz").replace("/", "_") == name:
            return path
    raise AssertionError(f"no trace {name}")


def test_the_table_has_27_traces_twice():
    assert len(cells()) == 54


@pytest.mark.parametrize(("version", "name", "row"), cells())
def test_every_cell_within_two_percent(version, name, row):
    world = plain_world(grid(read_traffic(trace(name)), within=version))
    best = best_run(world)
    cost = best.account.replica_hours * 3600 + 1800 * best.account.replicas_started
    hours = best.account.evaluated_hours * 3600
    assert cost / hours == pytest.approx(float(row[0]), rel=0.02)
    for peer, cell in zip(chosen(",".join(COLUMNS)), row[1:6], strict=True):
        expected = CELL.match(cell)
        if not expected:
            assert peer.history_days == 7  # the reference leaves it out where history is short
            continue
        run = play(world, peer, cost).account
        score, ratio, late, starts = (float(part) for part in expected.groups())
        assert run.score == pytest.approx(score, rel=0.02), peer.name
        assert run.cost_ratio == pytest.approx(ratio, rel=0.02, abs=0.011), peer.name
        assert 100 * run.late_fraction == pytest.approx(late, rel=0.02, abs=0.011), peer.name
        per_day = run.replicas_started * 24 / run.evaluated_hours
        assert per_day == pytest.approx(starts, rel=0.02, abs=1.0), peer.name
    for peer, score in zip(chosen(",".join(TUNED)), row[6:], strict=True):
        if score != "–":
            run = play_tuned(world, peer, cost).account
            assert run.score == pytest.approx(float(score), rel=0.02, abs=0.011), peer.name
