"""A suite that lost tests, or skipped them, does not pass for green."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.junit import count, main


def report(path: Path, *, tests: int, skipped: int = 0, failures: int = 0) -> Path:
    path.write_text(
        f'<testsuites><testsuite tests="{tests}" skipped="{skipped}" failures="{failures}"'
        ' errors="0"/></testsuites>'
    )
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["junit", *arguments])
    return main()


def test_reports_are_added_up(tmp_path: Path):
    paths = [
        report(tmp_path / "a.xml", tests=5, skipped=1),
        report(tmp_path / "b.xml", tests=2, failures=1),
    ]
    assert count(paths) == {"tests": 7, "skipped": 1, "failed": 1}


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ({"tests": 10}, 0),
        ({"tests": 9}, 1),
        ({"tests": 11, "skipped": 1}, 1),
        ({"tests": 10, "failures": 1}, 1),
    ],
)
def test_a_suite_must_be_whole(tmp_path, monkeypatch, capsys, made, code):
    path = report(tmp_path / "lab.xml", **made)
    assert run(monkeypatch, "--at-least", "10", "--skipped", "0", str(path)) == code
    assert "passed" in capsys.readouterr().out
