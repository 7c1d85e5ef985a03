"""`foretide simulate --scenario`: questions with claims; one that fails ends with exit code 1."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autoscaler.cli.options import ExitCode, print_json, say
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from autoscaler.simulator.asking import Asked


def run_scenarios(path: Path, *, out: Path | None, as_json: bool) -> int:
    """Run a scenario file or all of a folder, and print every claim with its number."""
    from autoscaler.cli.simulating import progress
    from autoscaler.simulator.asking import ask, scenarios_in

    files = scenarios_in(path)
    if not files:
        raise InputError(f"{path}: no scenario (*.yaml) in it")
    documents: list[dict[str, Any]] = []
    failed = 0
    for file in files:
        with progress(quiet=as_json) as told:
            asked = ask(file, told)
        failed += sum(not verdict.holds for verdict in asked.verdicts)
        documents.append(_document(asked))
        if not as_json:
            _show(asked)
        if out is not None:
            _write(asked, out / asked.name)
    if as_json:
        print_json({"version": 1, "scenarios": documents})
    elif len(files) > 1:
        say(f"{len(files)} scenarios, {failed} claims failed")
    return ExitCode.FAILED if failed else ExitCode.DONE


def _show(asked: Asked) -> None:
    """Print a question, its runs and its claims."""
    click.echo(f"{asked.name}: {asked.scenario.question.strip()}")
    for run in asked.simulated.runs:
        account = run.account
        click.echo(
            f"  {run.name:<28} score {account.score:7.2f}   cost {account.cost_ratio:5.2f}   "
            f"late {account.late_fraction:8.3%}   starts {account.replicas_started}"
        )
    for name in asked.left_out:
        click.echo(f"  {name:<28} not in a world with troubles: it writes replicas itself")
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
        "left_out": list(asked.left_out),
    }


def _write(asked: Asked, folder: Path) -> None:
    """Write the answer and its report."""
    from autoscaler.report import write_html, write_png
    from autoscaler.simulator.outputs import write_json
    from autoscaler.simulator.pictures import report_of

    folder.mkdir(parents=True, exist_ok=True)
    write_json(_document(asked), folder / "summary.json")
    report = report_of(asked.simulated, asked.name)
    write_html(report, folder / "report.html")
    write_png(report, folder / "report.png")
