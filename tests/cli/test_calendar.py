"""`foretide calendar`: which days, from which source, drawn and as JSON; what is not published."""

from __future__ import annotations

import json
from pathlib import Path

from autoscaler.cli.dayahead import look_ahead
from autoscaler.cli.main import run
from autoscaler.forecast import FAST
from autoscaler.tune import learn
from tests.core.given import HOUR, NOW, policy, target, tide
from tests.support.shared import ROOT

HEAD = """\
apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata: {name: qwen, namespace: llm}
spec:
  timeZone: Asia/Shanghai
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: qwen}
  demand: {preset: vllm}
  capacity: {perReplica: 3}
"""


def file(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "policy.yaml"
    path.write_text(HEAD + "".join(f"  {line}\n" for line in lines))
    return str(path)


def test_it_draws_the_weeks_and_names_the_sources(tmp_path: Path, capsys) -> None:
    given = file(
        tmp_path,
        "calendar: {country: CN, days: [{date: 2026-10-12, like: 2026-10-01}]}",
        "events:",
        '  - {name: sale, start: "2026-09-21T20:00", end: "2026-09-23T00:00", factor: 3}',
        '  - {name: board, start: "2026-09-22T09:00", end: "2026-09-22T18:00", hold: true}',
        'recurring: [{name: office, days: [monday], from: "08:00", to: "20:00", floor: 4}]',
    )
    assert run(["calendar", "-f", given, "--at", "2026-09-17T23:00Z", "--days", "26"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "llm/qwen: 2026-09-18 to 2026-10-13, by the clock of Asia/Shanghai"
    week = next(line for line in lines if line.startswith("Sep 2026"))
    assert week.split() == ["Sep", "2026", "18", "19", "20w"]
    assert "         21*  22*! 23   24   25o  26   27" in lines  # it ended at midnight
    assert "Oct 2026 28   29   30    1o   2o   3o   4" in lines
    assert "         12=  13" in lines
    assert "holidays CN" in out
    assert "calendar.days" in out
    assert "2026-10-06 is off for it" in " ".join(out.split())
    assert "× 3" in out
    assert "nothing is lowered" in out
    assert "at least 4" in out
    assert "Warning" not in out


def test_a_ramp_is_told_and_no_sign_of_a_day_is_lost(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    given = file(
        tmp_path,
        "calendar: {days: [{date: 2026-09-23, like: sunday}]}",
        "events:",
        '  - {name: sale, start: "2026-09-23T08:00", end: "2026-09-23T20:00", factor: 3,'
        " ramp: {before: 4h, after: 90m}}",
        '  - {name: again, start: "2026-09-26T08:00", end: "2026-09-26T20:00", like: sale}',
        '  - {name: board, start: "2026-09-23T09:00", end: "2026-09-23T18:00", hold: true}',
    )
    assert run(["calendar", "-f", given, "--at", "2026-09-21T00:00+08:00", "--days", "7"]) == 0
    out = capsys.readouterr().out
    assert "Sep 2026 21   22   23o*!24   25   26*  27" in out
    assert "× 3, ramp 4h before and 1h30m after" in out
    assert "as sale, ramp 4h before and 1h30m after" in out


def test_what_is_not_published_is_a_doubt(tmp_path: Path, capsys) -> None:
    given = file(tmp_path, "calendar: {country: CN}")
    at = ["--at", "2058-12-01T00:00+08:00"]  # three years with swaps before it there are not
    assert run(["calendar", "-f", given, *at]) == 0
    at = ["--at", "2101-06-01T00:00+08:00"]  # where the package knows nothing at all
    assert run(["calendar", "-f", given, *at]) == 3
    assert "knows no holidays of CN in 2101" in " ".join(capsys.readouterr().out.split())


def test_json_tells_moments_with_their_zone(tmp_path: Path, capsys) -> None:
    given = file(
        tmp_path,
        'recurring: [{name: n, days: [friday], from: "22:00", to: "06:00", hold: true}]',
        "events:",
        '  - {name: sale, start: "2026-09-21T20:00", end: "2026-09-23T00:00", factor: 3,'
        " ramp: {before: 4h}}",
    )
    at = ["--at", "2026-09-19T00:00+08:00", "--days", "3"]
    assert run(["calendar", "-f", given, "--json", *at]) == 0
    (found,) = json.loads(capsys.readouterr().out)["policies"]
    assert found["recurring"] == [
        {
            "name": "n",
            "start": "2026-09-18T22:00:00+08:00",
            "end": "2026-09-19T06:00:00+08:00",
            "floor": None,
            "factor": None,
            "hold": True,
        }
    ]
    (event,) = found["events"]
    assert event["first"] == "2026-09-21T16:00:00+08:00"
    assert found["days"] == []
    assert found["doubts"] == []


def test_without_any_calendar_it_says_so(tmp_path: Path, capsys) -> None:
    assert run(["calendar", "-f", file(tmp_path)]) == 0
    assert "Every day is like its weekday" in capsys.readouterr().out


def test_all_examples_can_be_shown(capsys) -> None:
    assert run(["calendar", "-f", str(ROOT / "policies")]) in (0, 3)
    assert "office/office-assistant" in capsys.readouterr().out


def test_the_day_ahead_names_the_window_that_raises() -> None:
    of = policy(recurring=[{"name": "office", "from": "08:00", "to": "20:00", "floor": 30}])
    known = learn(of, tide(14), NOW, shapes=FAST)
    day = look_ahead(of, tide(14), known, target(5), NOW)
    (raised,) = [change for change in day.changes if change.floor == 30]
    assert NOW + 7.8 * HOUR < raised.at < NOW + 8 * HOUR
    assert raised.why == "office: at least 30 from Mon 08:00 to Mon 20:00"
