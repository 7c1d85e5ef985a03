"""The demo tells the same story for the same seed, and lets the servers count."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autoscaler.cli.demoshown import document_of, report_of, sentence_of, table_of, terminal_charts
from autoscaler.cli.main import run as foretide
from autoscaler.errors import TraceError
from autoscaler.model import Outcome
from autoscaler.report import terminal
from autoscaler.report.html import page
from autoscaler.sandbox.demo import Moment, Shown, run_demo
from autoscaler.sandbox.story import STEP, Story, generated, recorded
from tests.support.processes import PATIENCE, ended

MINUTES = 90
ROOT = Path(__file__).resolve().parent.parent.parent


def morning(seed: int) -> Story:
    """From 07:30, when the demand rises most; five days of history."""
    story = generated(seed, 1)
    first, begins = story.history - 5 * 1440, story.history + 450
    return replace(
        story,
        values=story.values[first : begins + MINUTES],
        history=begins - first,
        start=story.start + first * STEP,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    records = tmp_path_factory.mktemp("demo") / "decisions.jsonl"
    return run_demo(morning(7), records, seed=7)


# ninety cycles over HTTP, and statsmodels once; a whole day where a command is run
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def test_the_servers_count_what_the_controller_did(shown: Shown) -> None:
    ours, alone, careful, fixed = shown.runs
    assert shown.whole
    assert shown.told.outcomes.get(Outcome.WRITTEN, 0) == ours.floor_writes > 0
    assert [run.floor_writes for run in (alone, careful, fixed)] == [0, 0, 0]
    for run in shown.runs:
        assert len(run.total) == MINUTES
        hours = run.total.sum() * STEP / 3600
        assert run.world.replica_seconds / 3600 == pytest.approx(hours, rel=0.03)
        assert run.world.requests == pytest.approx(shown.demand.sum() * STEP)
        assert (run.ready <= run.total).all()
        assert (run.total >= run.floor).all()


def test_the_floor_leads_the_demand(shown: Shown) -> None:
    ours, alone = shown.runs[0], shown.runs[1]
    assert ours.floor[-1] > ours.floor[0]
    assert ours.world.late_fraction <= alone.world.late_fraction
    for move in shown.told.moves:
        assert move.before != move.floor
        assert move.why


def test_same_seed_same_table_and_another_another(shown: Shown, tmp_path: Path) -> None:
    again = run_demo(morning(7), tmp_path / "a.jsonl", seed=7)
    assert document_of(again, 7) == document_of(shown, 7)
    assert table_of(again) == table_of(shown)
    other = run_demo(morning(8), tmp_path / "b.jsonl", seed=8)
    assert table_of(other) != table_of(shown)


def test_every_decision_is_recorded(tmp_path: Path) -> None:
    story = morning(7)
    story = replace(story, values=story.values[: story.history + 20])
    records = tmp_path / "decisions.jsonl"
    run_demo(story, records)
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    assert len(lines) == 20


def test_an_interruption_keeps_what_was_run(tmp_path: Path) -> None:
    def stop(moment: Moment) -> None:
        if moment.share > 0.1:
            signal.raise_signal(signal.SIGINT)

    shown = run_demo(morning(7), tmp_path / "decisions.jsonl", progress=stop)
    assert not shown.whole
    assert 2 < len(shown.times) < 30
    assert all(len(run.total) == len(shown.times) for run in shown.runs)
    assert "interrupted" in report_of(shown, 7, "0").title


def test_it_is_told_in_text_and_as_a_page(shown: Shown) -> None:
    for chart in terminal_charts(shown):
        assert "ready with Foretide" in terminal(chart)
    table = table_of(shown)
    assert table.rows[0][0] == "Foretide + HPA"
    assert "HPA alone" in sentence_of(shown)
    text = page(report_of(shown, 7, "0"))
    assert "Foretide + HPA" in text
    assert shown.told.moves[0].why in text


def test_the_command_on_recorded_traffic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # a desk whose way out is a proxy that knows nothing of our loopback servers
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "example.org")
    monkeypatch.delenv("NO_PROXY", raising=False)
    trace = tmp_path / "mine.csv"
    hours = np.arange(4 * 24 + 1)
    rows = [f"{h * 3600},{3600 * (20 + 15 * np.sin(h / 24 * 2 * np.pi)):.0f}" for h in hours]
    trace.write_text("t,requests\n" + "\n".join(rows) + "\n")
    out = tmp_path / "report"
    arguments = ["demo", "--trace", str(trace), "--days", "1", "--out", str(out), "--json"]
    assert foretide(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((out / "summary.json").read_text())
    assert [r["name"] for r in told["runs"]][:2] == ["Foretide + HPA", "HPA alone at 85%"]
    for name in ("index.html", "report.png", "decisions.jsonl", "policy.yaml"):
        assert (out / name).stat().st_size > 100
    assert foretide(["check", "-f", str(out / "policy.yaml")]) == 0


def test_a_trace_that_is_too_short_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "short.csv"
    trace.write_text("t,requests\n" + "\n".join(f"{60 * i},5" for i in range(3 * 1440)))
    with pytest.raises(TraceError, match=r"3\.0 days; 3 days of demo need at least 5"):
        recorded(trace, None, None, 3)
    assert foretide(["demo", "--trace", str(trace), "--out", str(tmp_path / "out")]) == 2
    assert "need at least 5" in capsys.readouterr().err


def test_options_of_a_trace_without_one_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert foretide(["demo", "--column", "requests"]) == 2
    assert "there is none" in capsys.readouterr().err


def test_ctrl_c_ends_it_early_with_a_report(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with ended(
        subprocess.Popen(
            [sys.executable, "-m", "autoscaler.cli.main", "demo", "--out", str(out)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
    ) as demo:
        assert demo.stderr is not None
        progress = 0
        while progress < 2:  # the second line comes four simulated hours after the first
            line = demo.stderr.readline()
            assert line
            progress += "floor" in line.partition("demand")[2]
        demo.send_signal(signal.SIGINT)
        text, errors = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 130
    assert "Traceback" not in errors
    assert "What it cost" in text
    assert json.loads((out / "summary.json").read_text())["whole"] is False
