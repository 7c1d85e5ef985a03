"""Tables on a terminal keep every column, whatever their names are as long as."""

from __future__ import annotations

import pytest

from autoscaler.cli.printing import print_facts, print_table, print_wrapped
from autoscaler.report import Table

TABLE = Table(
    title="What it cost",
    columns=("run", "replica-hours", "vs. HPA", "late requests", "longest wait", "floor writes"),
    rows=(
        ("Foretide + HPA", "1,074", "0%", "0.00%", "3s", "181"),
        ("Fixed floor P99 (20)", "1,494", "+39%", "0.51%", "1m3s", "–"),
    ),
    strong=0,
    note="Counted by the cluster.",
)


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_every_cell_stands_in_one_piece(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE)
    text = capsys.readouterr().out
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= 80
    for row in TABLE.rows:
        assert any(line.split() == " ".join(row).split() for line in lines)
    for word in " ".join(TABLE.columns).replace("-", "- ").split():
        assert word in text
    assert "\x1b" not in text


def test_sentences_are_wrapped_beside_their_row(capsys: pytest.CaptureFixture[str]) -> None:
    why = " ".join(["because"] * 30)
    print_table(Table(columns=("time", "why"), rows=(("08:00", why),), sentences=(1,)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert " ".join(lines).count("because") == 30


def test_markup_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts((("Doubt", "[bold]not markup[/bold] [/]"),))
    print_wrapped("[red]neither[/red]")
    text = capsys.readouterr().out
    assert "[bold]not markup[/bold] [/]" in text
    assert "[red]neither[/red]" in text
