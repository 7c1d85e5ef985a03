"""`foretide simulate --scenario`: questions with claims; one that fails ends with exit code 1."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autoscaler.cli.options import ExitCode, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autoscaler.interruption import Interruption
    from autoscaler.simulator.asking import Asked
    from autoscaler.simulator.reading import Question


def run_scenarios(path: Path, *, out: Path | None, as_json: bool, jobs: int = 1) -> int:
    """Run a scenario file or all of a folder, and print every claim with its number."""
    from autoscaler.cli.written import writing
    from autoscaler.interruption import Interrupted, interruption
    from autoscaler.simulator.reading import read_questions

    questions = read_questions(path)
    answers: list[Asked] = []
    with interruption() as noted, contextlib.suppress(Interrupted):
        for asked in _asked(questions, jobs, noted, quiet=as_json):
            answers.append(asked)
            if not as_json:
                _show(asked)
            if out is not None:
                with writing(out):
                    _write(asked, out / asked.name)
    interrupted = noted.came
    failed = sum(not verdict.holds for asked in answers for verdict in asked.verdicts)
    if as_json:
        documents = [_document(asked) for asked in answers]
        print_json({"version": 1, "partial": interrupted, "scenarios": documents})
    elif len(questions) > 1 and not interrupted:
        say(f"{len(questions)} scenarios, {failed} claims failed")
    if interrupted:
        say(f"interrupted: {len(answers)} of {len(questions)} scenarios were played")
        return ExitCode.INTERRUPTED
    return ExitCode.FAILED if failed else ExitCode.DONE


def _asked(
    questions: Sequence[Question], jobs: int, noted: Interruption, *, quiet: bool
) -> Iterator[Asked]:
    """Play the questions in their order, several at once when asked, until somebody interrupts."""
    from autoscaler.cli.simulating import progress
    from autoscaler.simulator.asking import ask, ask_all

    if jobs <= 1 or len(questions) < 2:
        for question in questions:
            if noted.came:
                return
            with progress(quiet=quiet) as told:
                asked = ask(question, told)
            yield asked
        return
    answers = ask_all(questions, jobs, lambda: noted.came)
    for done in range(len(questions)):
        with progress(quiet=quiet) as told:
            told(questions[done].name, done / len(questions))
            asked = next(answers)
        yield asked


def _show(asked: Asked) -> None:
    """Print a question, its runs and its claims."""
    click.echo(f"{asked.name}: {asked.scenario.question.strip()}")
    for run in asked.simulated.runs:
        account = run.account
        click.echo(
            f"  {run.name:<28} score {account.score:7.2f}   cost {account.cost_ratio:5.2f}   "
            f"late {account.late_fraction:8.3%}   starts {account.replicas_started}"
        )
    for verdict in asked.verdicts:
        sign = "holds " if verdict.holds else "FAILED"
        click.echo(f"  {sign} {verdict.claim}: {verdict.found}")


def _document(asked: Asked) -> dict[str, Any]:
    """Give a scenario's answer as JSON."""
    return {
        "name": asked.name,
        "question": asked.scenario.question,
        "holds": asked.holds,
        "runs": [{"name": run.name, **asdict(run.account)} for run in asked.simulated.runs],
        "claims": [asdict(verdict) for verdict in asked.verdicts],
    }


def _write(asked: Asked, folder: Path) -> None:
    """Write the answer and its report."""
    from autoscaler.report import write_html, write_png
    from autoscaler.simulator.outputs import write_json
    from autoscaler.simulator.pictures import report_of

    folder.mkdir(parents=True, exist_ok=True)
    write_json(_document(asked), folder / "summary.json")
    report = report_of(asked.simulated, asked.traffic)
    write_html(report, folder / "report.html")
    write_png(report, folder / "report.png")
