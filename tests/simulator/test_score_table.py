"""`python -m benchmarks.score`: names, schema, and what is left out, over a small folder."""

import json

import pytest

from autoscaler.world.tides import Tide, make_tide
from benchmarks.score import main


@pytest.fixture
def folder(tmp_path):
    """Two traces (one of 10-minute rows), one that is too short, one without demand."""
    traces = tmp_path / "traces"
    (traces / "deep").mkdir(parents=True)
    minutes = make_tide(Tide(peak=20.0), 9, seed=1)
    coarse = make_tide(Tide(peak=20.0), 9, seed=2, step=600.0)
    files = {
        "minutes.csv": (minutes, 60),
        "deep/coarse.csv": (coarse, 600),
        "short.csv": (minutes[:3000], 60),
        "zero.csv": (minutes * 0.0, 60),
    }
    for name, (values, step) in files.items():
        rows = "".join(f"{i * step},{value:.6g}\n" for i, value in enumerate(values))
        (traces / name).write_text("t,requests\n" + rows)
    return traces


def score(folder, out, *words):
    answer = main(["--traces", str(folder), "--out", str(out), "--no-ours", "--jobs", "1", *words])
    return answer, json.loads((out / "scores.json").read_text()) if not answer else None


@pytest.mark.slow
def test_schema_and_names(folder, tmp_path, capsys):
    code, found = score(folder, tmp_path / "out", "--peers", "hpa,week-ago", "--tuned")
    assert code == 0
    # 10-minute rows end 9 minutes before the ninth day does: 8 whole days, as much as is needed
    assert set(found["traces"]) == {"minutes", "deep_coarse"}
    row = found["traces"]["minutes"]
    assert list(row) == ["clairvoyant", "hpa", "hpa tuned"]  # no week to look back
    assert row["hpa"].keys() >= {"score", "cost_ratio", "late_fraction", "cpu_seconds"}
    assert row["clairvoyant"]["score"] == 1.0
    assert row["hpa tuned"]["score"] <= row["hpa"]["score"]
    values = [rows["hpa"]["score"] for rows in found["traces"].values()]
    assert found["mean"]["hpa"] == pytest.approx(sum(values) / 2)
    assert found["median"]["hpa"] == pytest.approx(sum(values) / 2)
    assert found["geometric_mean"]["hpa"] == pytest.approx((values[0] * values[1]) ** 0.5)
    assert found["one_minute"]["mean"]["hpa"] == pytest.approx(row["hpa"]["score"])
    told = capsys.readouterr()
    assert "short: skipped: 2.08 days of traffic; at least 8 whole days" in told.err
    assert "zero: skipped: the P99 of the traffic is 0" in told.err
    assert "| **geometric mean** |" in told.out


@pytest.mark.slow
def test_what_is_the_same_is_taken_over(folder, tmp_path):
    _, linear = score(folder, tmp_path / "linear", "--peers", "hpa")
    linear["traces"]["minutes"]["hpa"]["score"] = 99.0
    (tmp_path / "marked.json").write_text(json.dumps(linear))
    reuse = ("--reuse", str(tmp_path / "marked.json"), "--within-slot", "hold")
    _, hold = score(folder, tmp_path / "hold", "--peers", "hpa", *reuse)
    assert hold["traces"]["minutes"]["hpa"]["score"] == 99.0
    coarse = (found["traces"]["deep_coarse"]["hpa"]["score"] for found in (linear, hold))
    assert len(set(coarse)) == 2


def test_unknown_peers_and_empty_folders(folder, tmp_path, capsys):
    assert score(folder, tmp_path / "out", "--peers", "nobody")[0] == 2
    assert score(folder, tmp_path / "out", "--only", "nothing")[0] == 2
    assert "no trace could be scored" in capsys.readouterr().err


@pytest.mark.slow
def test_ours_stands_under_what_it_advises_and_peers_at_70_per_cent(folder, tmp_path):
    words = ["--traces", str(folder), "--only", "minutes,nothing", "--jobs", "1", "--peers", "hpa"]
    out = tmp_path / "out"
    assert main([*words, "--out", str(out), "--ours-at", "0.7,0.95"]) == 0
    row = json.loads((out / "scores.json").read_text())["traces"]["minutes"]
    assert list(row) == ["clairvoyant", "foretide", "foretide at 70%", "foretide at 95%", "hpa"]
    advised, low, high = (row[name]["score"] for name in list(row)[1:4])
    assert advised == pytest.approx(min(low, high))  # which, on an even tide, is the usual one
    assert advised < 0.9 * low


@pytest.mark.slow
def test_the_world_may_start_slower_and_be_of_another_size(folder, tmp_path):
    words = ("--peers", "hpa", "--only", "minutes")
    _, usual = score(folder, tmp_path / "usual", *words)
    _, slow = score(folder, tmp_path / "slow", *words, "--cold-start", "20m")
    _, small = score(folder, tmp_path / "small", *words, "--replicas", "5")
    costs = {s["traces"]["minutes"]["hpa"]["cost_ratio"] for s in (usual, slow, small)}
    assert len(costs) == 3
