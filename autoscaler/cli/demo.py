"""`foretide demo`: what Foretide does, seen in a minute, without a cluster or a Prometheus."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

import click

from autoscaler.cli.options import (
    ExitCode,
    console,
    examples,
    json_option,
    print_json,
    say,
    version,
)
from autoscaler.cli.written import writing
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

    from autoscaler.sandbox.demo import Moment, Shown
    from autoscaler.sandbox.story import Story
    from autoscaler.world.traffic import Per


@click.command(
    epilog=examples(
        ("three generated days, report in demo-report/", "foretide demo"),
        ("another week's weather", "foretide demo --seed 11"),
        (
            "on traffic of your own (CSV: t or timestamp, then values)",
            "foretide demo --trace my.csv",
        ),
        (
            "values per second rather than per row",
            "foretide demo --trace my.csv.gz --column requests --per second",
        ),
    )
)
@click.option(
    "--days",
    type=click.IntRange(1, 14),
    metavar="N",
    default=3,
    show_default=True,
    help="Days shown.",
)
@click.option(
    "--seed", type=int, metavar="N", default=7, show_default=True, help="Of the generated tide."
)
@click.option(
    "--trace",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Recorded traffic instead: its last days are shown, the days before are history.",
)
@click.option("--column", metavar="NAME", help="Column of the file that is the demand.")
@click.option(
    "--per",
    type=click.Choice(["slot", "second"]),
    help="Whether values are totals of a row's slot (default) or rates per second.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo-report"),
    show_default=True,
    metavar="DIR",
    help="Where the report goes.",
)
@json_option
def command(
    days: int,
    seed: int,
    trace: Path | None,
    column: str | None,
    per: str | None,
    out: Path,
    as_json: bool,
) -> int:
    """Run three days of an LLM service in about a minute, and compare.

    The real controller cycle reads history from a small Prometheus server and moves minReplicas
    in a small Kubernetes API server, both in this process on free loopback ports, on an accelerated
    clock. The same traffic meets the same HPA without Foretide, and above a fixed floor. The
    servers count replica-hours and late requests; the controller does not judge itself.

    Ctrl-C ends it early with what was run until then (exit code 130).
    """
    _without_proxy()
    story = _story(days, seed, trace, column, per)
    records = _prepared(out) / "decisions.jsonl"
    if not as_json:
        _introduce(story, days)
    shown = _run(story, records, seed, quiet=as_json)
    if len(shown.times) < 2:
        say("Interrupted before there was anything to compare.")
        return ExitCode.INTERRUPTED
    _write(shown, out, seed)
    if as_json:
        from autoscaler.cli.demoshown import document_of

        print_json(document_of(shown, seed))
    else:
        _show(shown, out)
    return ExitCode.DONE if shown.whole else ExitCode.INTERRUPTED


def _without_proxy() -> None:
    """Reach the servers of this process directly: a proxy of the desk does not lead to them."""
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1")))


def _story(days: int, seed: int, trace: Path | None, column: str | None, per: str | None) -> Story:
    """Generate or read the traffic."""
    from autoscaler.sandbox.story import generated, recorded

    if trace is None:
        if column or per:
            raise InputError("--column and --per say how to read a --trace, and there is none")
        return generated(seed, days)
    ways: dict[str | None, Per | None] = {None: None, "slot": "slot", "second": "second"}
    return recorded(trace, column, ways[per], days)


def _prepared(out: Path) -> Path:
    """Make the folder, and take away what an earlier demo recorded there."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        (out / "decisions.jsonl").unlink(missing_ok=True)
    return out


def _introduce(story: Story, days: int) -> None:
    """Say what is going to happen."""
    from autoscaler.cli.options import duration_text
    from autoscaler.sandbox.story import HPA_TARGET

    cold = duration_text(story.policy.spec.cold_start_seconds)
    long = "1 day" if days == 1 else f"{days} days"
    say(f"foretide demo: {long} on a fast clock, nothing outside this process is touched.\n")
    width = min(get_terminal_size((80, 24)).columns, 100)
    say(fill(f"  Traffic   {story.told}", width, subsequent_indent=" " * 12))
    say(f"  Service   one replica carries {story.capacity:g}/s and takes {cold} to start")
    say(f"  Above     the same HPA for everyone, target {HPA_TARGET:.0%} of a replica's capacity")
    say("  Foretide  reads history from Prometheus' API, moves minReplicas in Kubernetes' API\n")
    for line in story.refused[:3]:
        say(f"  Left out: {line}")


def _run(story: Story, records: Path, seed: int, *, quiet: bool) -> Shown:
    """Run it, with progress on stderr."""
    from autoscaler.sandbox.demo import run_demo

    if quiet:
        return run_demo(story, records, seed=seed)
    screen = console(stderr=True)
    if not screen.is_terminal:
        return run_demo(story, records, seed=seed, progress=_in_lines(story))
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("  {task.fields[clock]}", justify="left"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=screen, transient=True, expand=True) as bar:
        return run_demo(story, records, seed=seed, progress=_in_bar(bar, story))


def _in_bar(bar: Progress, story: Story) -> Callable[[Moment], None]:
    """Progress on a terminal: a bar with the simulated time and what is ready."""
    from autoscaler.report import local_time

    zone = story.policy.spec.time_zone
    learning = f"learning from {story.history / 1440:.0f} days of history"
    task = bar.add_task("", total=1.0, clock=learning, state="")

    def tell(moment: Moment) -> None:
        state = (
            f"{moment.demand:5.1f}/s  need {moment.need:2d}  "
            f"floor {moment.floor:2d}  ready {moment.ready:2d}"
        )
        clock = local_time(moment.now, zone).rpartition(" ")[0]
        bar.update(task, completed=moment.share, clock=clock, state=state)

    return tell


def _in_lines(story: Story) -> Callable[[Moment], None]:
    """Progress in a log: one line every four simulated hours."""
    from autoscaler.report import local_time

    zone = story.policy.spec.time_zone
    said = {"at": 0.0}

    def tell(moment: Moment) -> None:
        if moment.now - said["at"] >= 4 * 3600:
            said["at"] = moment.now
            say(
                f"  {local_time(moment.now, zone)}: demand {moment.demand:.1f}/s needs "
                f"{moment.need}, floor {moment.floor}, ready {moment.ready}"
            )

    return tell


def _write(shown: Shown, out: Path, seed: int) -> None:
    """Write page, picture, policy and summary beside the decisions."""
    import json

    import yaml

    from autoscaler.cli.demoshown import document_of, report_of
    from autoscaler.report import write_html, write_png

    page = report_of(shown, seed, version())
    with writing(out):
        write_html(page, out / "index.html")
        write_png(page, out / "report.png")
        (out / "summary.json").write_text(json.dumps(document_of(shown, seed), indent=2) + "\n")
        (out / "policy.yaml").write_text(
            yaml.safe_dump(shown.story.policy.manifest(), sort_keys=False), encoding="utf-8"
        )


def _show(shown: Shown, out: Path) -> None:
    """Print pictures, table, how to read them, and what to do next."""
    from autoscaler.cli.demoshown import reading_of, sentence_of, table_of, terminal_charts
    from autoscaler.cli.printing import picture, print_table, print_wrapped

    click.echo()
    for chart in terminal_charts(shown):
        click.echo(picture(chart) + "\n")
    print_table(table_of(shown))
    print_wrapped(sentence_of(shown))
    click.echo()
    for line in reading_of(shown):
        click.echo(f"  {line}")
    click.echo("\nNext")
    for what, line in (
        ("look closer: zoom, hover for reasons", f"{out / 'index.html'}  (open it in a browser)"),
        ("one decision, stage by stage", f"foretide explain {out / 'decisions.jsonl'}"),
        ("your own traffic", "foretide demo --trace FILE"),
        ("your own service, writing nothing", "foretide plan -f POLICY --prometheus URL"),
    ):
        click.echo(f"  {what:<38}{line}")
