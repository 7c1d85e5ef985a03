"""foretide simulate and foretide trace, as a person calls them."""

import csv
import json

import pytest
from click.testing import CliRunner

from autoscaler.cli.main import cli
from autoscaler.errors import InputError
from autoscaler.simulator.peers import peers
from autoscaler.world.tides import Tide, make_tide
from tests.support.policies import SMALL

OUT_OF_REACH = ("--step", "10m", "--out", "policy.yaml/x")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "policy.yaml").write_text(SMALL)
    demand = make_tide(Tide(peak=20.0), 8, seed=1, step=600.0)
    rows = "".join(f"{i * 600},{value:.6g}\n" for i, value in enumerate(demand))
    (tmp_path / "traffic.csv").write_text("t,load_per_second\n" + rows + "600000,1\n")
    return tmp_path


def call(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)


def test_list_peers():
    answer = call("simulate", "--list-peers")
    assert [line.split()[0] for line in answer.stdout.splitlines()] == list(peers())
    found = json.loads(call("simulate", "--list-peers", "--json").stdout)
    assert found[0].keys() == {"name", "source"}


@pytest.mark.slow
def test_everything_in_a_folder(files):
    out = files / "out"
    answer = call(
        *("simulate", "-f", files / "policy.yaml", "--trace", files / "traffic.csv", "--out", out),
        *("--against", "hpa,kpa", "--tuned", "--frontier", "--step", "10m", "--gpu-price", "2"),
        *("--within-slot", "hold", "--json"),
    )
    assert answer.return_value == 0, answer.exception
    summary = json.loads(answer.stdout)
    assert summary == json.loads((out / "summary.json").read_text())
    assert summary["version"] == 1
    assert not summary["partial"]
    assert summary["evaluated"] == {"from": 7 * 86400.0, "to": 8 * 86400.0, "steps": 144}
    assert summary["clairvoyant"].keys() == {"cost", "replica_hours", "replicas_started"}
    names = [run["name"] for run in summary["runs"]]
    assert names == ["foretide", "hpa", "hpa tuned", "kpa", "kpa tuned"]
    ours = summary["runs"][0]
    assert ours["money"] == pytest.approx(2 * ours["gpu_hours"])
    # ours under what it advises, peers under what people have
    assert 0.7 <= ours["settings"]["target"] <= 0.95
    assert summary["world"]["hpa_target"] == summary["runs"][1]["settings"]["target"] == 0.7
    assert ours["frontier"][0].keys() == {"margin", "cost_ratio", "late_fraction", "score"}
    for name in (*names, "clairvoyant"):
        with (out / "timelines" / f"{name.replace(' ', '-')}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 3 * 144
        assert rows[0]["t"] == "432000"
    assert (out / "decisions.jsonl").read_text().count("\n") == 3 * 144
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    assert (out / "report.png").read_bytes().startswith(b"\x89PNG")
    # the account can be recomputed from the timeline and the rules
    with (out / "timelines" / "foretide.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if float(row["t"]) >= 7 * 86400]
    hours = sum(int(row["desired"]) for row in rows) * 600 / 3600
    assert hours == pytest.approx(ours["replica_hours"])
    came = sum(float(row["demand"]) for row in rows)
    late = sum(float(row["demand"]) for row in rows if row["late"] == "1")
    assert late / came == pytest.approx(ours["late_fraction"], abs=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "a policy is needed"),
        (("-f", "policy.yaml"), "one is needed"),
        (("-f", "policy.yaml", "--trace", "traffic.csv", "--against", "hpaa"), "no peer hpaa"),
        (
            ("-f", "policy.yaml", "--trace", "traffic.csv", "--from", "30d", "--step", "10m"),
            "--from: found 30 days after the first row; allowed 5 to 8",
        ),
        (
            ("-f", "policy.yaml", "--trace", "traffic.csv", "--to", "6d"),
            "6 days of traffic; at least 8",
        ),
        (("--trace", "traffic.csv", "--prometheus", "http://:1"), "one of them says what arrives"),
        (("--trace", "traffic.csv", "--days", "9"), "--from and --to say which part"),
        (
            ("-f", "policy.yaml", "--trace", "traffic.csv", "--no-hpa", "--hpa-target", "0.9"),
            "--no-hpa and --hpa-target exclude each other",
        ),
        (("--scenario", ".", "--step", "5m"), "found --scenario and --step"),
        (("-f", "policy.yaml", "--scenario", "."), "found --scenario and -f"),
        (("-f", "policy.yaml", "--trace", "traffic.csv", "--step", "7m"), "--step: found 420 s"),
        (("-f", "policy.yaml", "--trace", "traffic.csv", "--step", "0s"), "--step: found 0 s"),
        (
            ("-f", "policy.yaml", "--trace", "traffic.csv", "--replicas-at-p99", "nan"),
            "--replicas-at-p99: found nan",
        ),
        (
            ("-f", "policy.yaml", "--trace", "traffic.csv", *OUT_OF_REACH),
            "--out policy.yaml/x: policy.yaml/x cannot be written: Not a directory",
        ),
    ],
)
def test_bad_questions_are_refused_in_words(files, words, message, monkeypatch):
    monkeypatch.chdir(files)
    answer = call("simulate", *words)
    assert isinstance(answer.exception, InputError)
    assert message in str(answer.exception)


def test_trace_import_and_describe(files):
    log = files / "log.csv"
    rows = (f"2026-03-{2 + i // 24:02d}T{i % 24:02d}:30:00Z" for i in range(24 * 20))
    log.write_text("timestamp\n" + "\n".join(rows) + "\nyesterday\n")
    answer = call("trace", "import", "log", log, files / "own.csv.gz", "--slot", "1h")
    assert answer.return_value == 0
    assert "line 482: " in answer.stderr
    assert ": 1 row was not used\n" in answer.stderr
    assert answer.stderr.endswith(": 480 slots\n")
    found = json.loads(call("trace", "describe", files / "own.csv.gz", "--json").stdout)
    assert (found["days"], found["slot"], found["holes"]) == (20.0, 3600.0, 0.0)


@pytest.mark.parametrize(
    "words",
    [
        ("import", "servegen", "traffic.csv", "policy.yaml/x.csv"),
        ("describe", "traffic.csv", "--out", "policy.yaml/x"),
    ],
)
def test_a_place_that_cannot_be_written_is_told(files, words, monkeypatch):
    monkeypatch.chdir(files)
    answer = call("trace", *words)
    assert isinstance(answer.exception, InputError)
    assert "cannot be written: Not a directory" in str(answer.exception)


def test_describe_sees_no_demand(files):
    (files / "none.csv").write_text("t,value\n" + "".join(f"{3600 * i},0\n" for i in range(400)))
    answer = call("trace", "describe", files / "none.csv")
    assert "There is no demand in it" in answer.stdout


def test_describe_sees_a_tide(files):
    answer = call("trace", "describe", files / "traffic.csv", "--out", files / "pictures")
    assert answer.return_value == 0
    assert "A clear" in answer.stdout
    assert "Mean day" in answer.stdout
    assert (files / "pictures" / "profile.png").exists()


@pytest.mark.slow
def test_scenarios_end_with_1_when_a_claim_fails(files):
    text = (
        "question: Small?\ntraffic: {peak: 20, days: 4}\n"
        "world: {step: 10m, history: 3d, settle: 1h}\nclaims: ['score >= 1', 'score < 0.5']\n"
    )
    (files / "small.yaml").write_text(text)
    answer = call("simulate", "--scenario", files / "small.yaml", "--out", files / "out")
    assert answer.return_value == 1
    assert "holds  score >= 1: score is" in answer.stdout
    assert "FAILED score < 0.5: score is" in answer.stdout
    assert (files / "out" / "small" / "report.html").exists()


@pytest.mark.slow
def test_scenarios_in_processes_give_the_same_answer(files):
    (files / "asked").mkdir()
    for name in ("a", "b", "c"):
        (files / "asked" / f"{name}.yaml").write_text(
            f"question: {name}?\ntraffic: {{peak: 20, days: 4, seed: {ord(name)}}}\n"
            "world: {step: 10m, history: 3d, settle: 1h}\nclaims: [score >= 1]\npeers: [kpa]\n"
        )
    one = call("simulate", "--scenario", files / "asked", "--json").stdout
    two = call("simulate", "--scenario", files / "asked", "--json", "--jobs", "2").stdout
    assert [each["name"] for each in json.loads(one)["scenarios"]] == ["a", "b", "c"]
    assert one == two
