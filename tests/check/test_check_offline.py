"""`foretide check` without a network: every mistake, or what was understood, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from autoscaler.cli.main import run
from tests.policy.making import EXAMPLES, GOOD, ROOT, with_spec

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run `foretide check` and return (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "120")

    def go(*arguments: str) -> tuple[int, str, str]:
        code = run(["check", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return go


def test_good_policies_are_shown_with_what_was_filled_in(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(with_spec("release: {after: 7m}"))
    code, out, err = check("-f", str(path))
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert ["release.after", "7m"] in rows
    assert ["release.breakEven", "30m", "default"] in rows
    assert ["mode", "Observe", "default"] in rows
    assert ["timeZone", "Europe/Berlin"] in rows
    assert "the minReplicas found on the target" in out
    assert out.splitlines()[0].startswith(f"llm/qwen ({path}:1:1)")
    assert "1 policy without a mistake; nothing was asked" in out


def test_an_event_is_shown_in_moments(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(
        with_spec(
            "events:",
            "  - {name: long night, start: 2026-10-25T00:00, end: 2026-10-26T00:00, factor: 1.5}",
        )
    )
    _, out, _ = check("-f", str(path))
    assert (
        "long night: × 1.5 from Sun 2026-10-25 00:00 +0200 to Mon 2026-10-26 00:00 +0100, 1d1h"
        in " ".join(out.split())
    )


def test_a_ramp_is_shown_and_a_spread_of_cold_starts_stands_for_the_duration(
    check: Check, tmp_path: Path
) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(
        with_spec(
            "coldStart: {p50: 3m, p90: 4m, p99: 6m}",
            "events:",
            "  - {name: sale, start: 2026-10-20T00:00, end: 2026-10-21T00:00, factor: 2,",
            "     ramp: {before: 2h, after: 30m}}",
        )
    )
    _, out, _ = check("-f", str(path))
    assert ", 1d, ramp 2h before and 30m after" in " ".join(out.split())
    assert "coldStart.p90" in out
    assert "coldStart.duration" not in out  # 5m would not be what counts


def test_what_has_no_effect_is_not_shown_as_if_it_had(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    window = "  - {name: day, from: '08:00', to: '20:00', floor: 9}"
    text = with_spec("floor: {max: 3}", "recurring:", window)
    text = text.replace("demand: {preset: vllm}", "demand: {query: up}")
    path.write_text(text)
    code, out, _ = check("-f", str(path))
    out = " ".join(out.split())
    assert code == 0
    assert "promise.wait" in out
    assert "promise.drain" not in out  # nothing says what waits
    assert "at least 9, every day, 08:00 to 20:00; but floor.max is 3, so no more than that" in out
    path.write_text(text.replace("query: up", "query: up, backlog: up"))
    assert "promise.drain" in check("-f", str(path))[1]


def test_all_mistakes_of_all_files_go_to_stderr_one_on_a_line(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(with_spec("mode: act", "colStart: {duration: 5m}"))
    (tmp_path / "b.yaml").write_text("a: [")
    (tmp_path / "c.yaml").write_text(GOOD)
    code, out, err = check("-f", str(tmp_path))
    assert (code, out) == (2, "")
    assert [line.split(": ")[0] for line in err.splitlines()] == [
        f"{tmp_path}/a.yaml:11:9",
        f"{tmp_path}/a.yaml:12:3",
        f"{tmp_path}/b.yaml:2:1",
    ]


def test_two_policies_on_one_target_in_two_files(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD.replace("  name: qwen\n", "  name: other\n"))
    code, _, err = check("-f", str(tmp_path / "a.yaml"), "-f", str(tmp_path / "b.yaml"))
    assert code == 2
    assert err.strip() == (
        f"{tmp_path}/b.yaml:1:1: spec.targetRef: found a second policy on "
        "HorizontalPodAutoscaler llm/qwen; one policy for each target, and llm/qwen "
        f"({tmp_path}/a.yaml:1:1) has it"
    )


def test_another_kind_is_passed_over_in_words(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "mixed.yaml"
    path.write_text("kind: Service\napiVersion: v1\n---\n" + GOOD)
    code, out, err = check("-f", str(path))
    assert code == 0
    assert f"{path}:1:1: skipped a document of kind Service (v1)" in err
    assert "llm/qwen" in out


def test_no_policy_at_all_is_a_mistake(check: Check, tmp_path: Path) -> None:
    code, _, err = check("-f", str(tmp_path))
    assert code == 2
    assert f"{tmp_path}: no TidePolicy in it" in err


def test_where_to_ask_without_asking_is_a_mistake(check: Check) -> None:
    code, _, err = check("-f", str(EXAMPLES[0]), "--prometheus", "http://p")
    assert code == 2
    assert "only with --live" in err


def test_the_shipped_examples_pass_together(check: Check) -> None:
    code, out, err = check("-f", str(ROOT / "policies"), "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert len(document["policies"]) == len(EXAMPLES)
    assert document["problems"] == document["skipped"] == []
    minimal = next(p for p in document["policies"] if p["key"] == "llm/chat")
    assert "coldStart.duration" in minimal["defaults"]
    assert minimal["policy"]["spec"]["coldStart"]["duration"] == "5m"
    assert minimal["answers"] == []


def test_mistakes_for_a_program(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(with_spec("mode: act"))
    code, out, _ = check("-f", str(path), "--json")
    assert code == 2
    assert json.loads(out)["problems"] == [
        {
            "where": f"{path}:11:9",
            "field": "spec.mode",
            "found": 'found "act"',
            "allowed": "allowed: Observe | RaiseOnly | Act",
            "near": "Act",
        }
    ]
