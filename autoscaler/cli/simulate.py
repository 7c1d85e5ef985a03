"""`foretide simulate`: what a policy would have done and cost, against what people use instead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from autoscaler.cli.options import (
    DURATION,
    ExitCode,
    console,
    examples,
    json_option,
    policy_option,
    print_json,
    say,
)
from autoscaler.cli.simulating import (
    POSITIVE,
    TARGET,
    number,
    one_policy,
    progress,
    switches_of,
    traffic_of,
    traffic_options,
    whole,
)
from autoscaler.cli.written import writing
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from autoscaler.policy import TidePolicy
    from autoscaler.simulator.outputs import Asked
    from autoscaler.simulator.plain import PlainWorld
    from autoscaler.simulator.simulation import Simulated

# columns of the table on a terminal; the report has all of them
BRIEF = ("run", "score", "95 %", "cost", "late", "hours", "money", "starts")
# what may stand beside --scenario
BESIDE_SCENARIOS = ("scenario", "out", "as_json", "jobs")


@click.command(
    epilog=examples(
        (
            "what would last month have been, and what do others do with it",
            "foretide simulate -f qwen-32b.yaml --prometheus http://localhost:9090 --days 28",
        ),
        (
            "on recorded traffic, everything in a folder",
            "foretide simulate -f qwen-32b.yaml --trace march.csv.gz --against all --out march/",
        ),
        (
            "the questions that are asked of every change",
            "foretide simulate --scenario simulations/",
        ),
        ("who is there to compare with", "foretide simulate --list-peers"),
    )
)
@policy_option(required=False)
@traffic_options
@click.option(
    "--days",
    type=click.IntRange(min=8),
    metavar="N",
    default=28,
    show_default=True,
    help="How many days from Prometheus.",
)
@click.option(
    "--scenario",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="A question with its claims, or a folder of them.",
)
@click.option(
    "--against",
    default="hpa,fixed-p99",
    show_default=True,
    metavar="NAMES",
    help="Peers: names with commas, all, or none.",
)
@click.option(
    "--tuned", is_flag=True, help="Each peer also with the settings that hindsight chooses."
)
@click.option(
    "--frontier", is_flag=True, help="Sweep a margin on every floor: the cost-lateness curve."
)
@click.option("--list-peers", is_flag=True, help="Print each peer with its source, and end.")
@click.option(
    "--cold-start",
    type=DURATION,
    metavar="DURATION",
    help="The world's; the policy's too unless it says its own.",
)
@click.option(
    "--step",
    type=DURATION,
    default="60s",
    show_default=True,
    metavar="DURATION",
    help="Step of the world.",
)
@click.option(
    "--hpa-target",
    type=TARGET,
    metavar="SHARE",
    help="Target of the HPA above everyone. Default: 0.7 above peers, above ours what it advises.",
)
@click.option("--no-hpa", is_flag=True, help="Nothing above the floors.")
@click.option(
    "--hpa",
    "hpa_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A real autoscaling/v2 manifest above everyone.",
)
@click.option(
    "--from",
    "since",
    type=DURATION,
    metavar="DURATION",
    help="Evaluate from this long after the first row.",
)
@click.option(
    "--to", "until", type=DURATION, metavar="DURATION", help="End this long after the first row."
)
@click.option(
    "--gpus", type=POSITIVE, metavar="N", default=1.0, show_default=True, help="GPUs of a replica."
)
@click.option("--gpu-price", type=POSITIVE, metavar="PRICE", help="Price of a GPU-hour.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write summary, timelines, decisions, report there.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    default=1,
    show_default=True,
    help="Processes.",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    default=0,
    show_default=True,
    help="Of everything that is drawn.",
)
@json_option
def command(**given: object) -> int:
    """Replay traffic through the production decision, and through what people use instead.

    The same cycle that runs in the cluster runs on a stepped clock, with an HPA above it; so do
    the peers. The score is cost against a clairvoyant's, times one plus a hundred times the share
    of late requests: 1.0 is perfect, one per cent late doubles it. What is not known at a moment
    is shown to nobody.

    Exit code 1 when a scenario's claim fails, 130 with a valid partial result after Ctrl-C.
    """
    if given["list_peers"]:
        return _list_peers(as_json=bool(given["as_json"]))
    _one_source(given)
    if given["scenario"] is not None:
        from autoscaler.cli.scenarios import run_scenarios

        path = given["scenario"]
        folder = given["out"]
        return run_scenarios(
            Path(str(path)),
            out=folder if isinstance(folder, Path) else None,
            as_json=bool(given["as_json"]),
            jobs=whole(given["jobs"]),
        )
    return _one(given)


def _one_source(given: dict[str, object]) -> None:
    """Refuse two answers to one question: where the traffic, the policy and the world come from."""
    sources = [f"--{name}" for name in ("trace", "prometheus", "scenario") if given[name]]
    if len(sources) > 1:
        raise InputError(f"found {' and '.join(sources)}; one of them says what arrives")
    context = click.get_current_context()
    if given["trace"] and context.get_parameter_source("days") is ParameterSource.COMMANDLINE:
        raise InputError("found --trace and --days; of a file, --from and --to say which part")
    if given["scenario"] is None:
        return
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is ParameterSource.COMMANDLINE and parameter.name not in BESIDE_SCENARIOS:
            raise InputError(
                f"found --scenario and {parameter.opts[0]}; a scenario brings its own policy, "
                "world and peers"
            )


def _list_peers(*, as_json: bool) -> int:
    """Print every peer with a line of source."""
    from autoscaler.simulator.peers import peers

    rows = [(peer.name, peer.source) for peer in peers().values()]
    if as_json:
        print_json([{"name": name, "source": source} for name, source in rows])
        return ExitCode.DONE
    for name, source in rows:
        click.echo(f"{name:<28}{source}")
    return ExitCode.DONE


def _one(given: dict[str, object]) -> int:
    """Answer one question about one policy."""
    from autoscaler.interruption import Interrupted, interruption
    from autoscaler.simulator.outputs import Asked
    from autoscaler.simulator.peers import chosen
    from autoscaler.simulator.simulation import lay

    policy = one_policy(given["policy"])
    chosen(str(given["against"]))  # an unknown name is told before anything is read
    traffic, name = traffic_of(policy, given)
    policy, world = lay(policy, traffic, switches_of(given))
    out = given["out"]
    folder = out if isinstance(out, Path) else None
    if folder is not None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
    with interruption() as noted:
        try:
            simulated = _simulated(given, policy, world, folder)
        except Interrupted:
            say("interrupted before the evaluation began: there is no result")
            return ExitCode.INTERRUPTED
        asked = Asked(
            traffic=traffic,
            name=name,
            seed=whole(given["seed"]),
            gpus=number(given["gpus"]) or 1.0,
            price=number(given["gpu_price"]),
        )
        if folder is not None:
            with writing(folder):
                write(simulated, asked, folder)
        _show(simulated, asked, as_json=bool(given["as_json"]))
    if noted.came and not simulated.partial:
        say("interrupted when everything had been played: nothing is missing")
    return ExitCode.INTERRUPTED if noted.came else ExitCode.DONE


def _simulated(
    given: dict[str, object], policy: TidePolicy, world: PlainWorld, folder: Path | None
) -> Simulated:
    """Play it, with progress, and with decision records where there is a folder."""
    from autoscaler.simulator.peers import chosen
    from autoscaler.simulator.simulation import simulate

    with progress(quiet=bool(given["as_json"])) as told:
        return simulate(
            policy,
            world,
            chosen(str(given["against"])),
            tuned=bool(given["tuned"]),
            swept=bool(given["frontier"]),
            seed=whole(given["seed"]),
            jobs=whole(given["jobs"]),
            records=None if folder is None else folder / "decisions.jsonl",
            progress=told,
        )


def write(simulated: Simulated, asked: Asked, folder: Path) -> None:
    """Write summary, timelines and report of a simulation."""
    from autoscaler.report import write_html, write_png
    from autoscaler.simulator.outputs import file_name, summary, write_json, write_timeline
    from autoscaler.simulator.pictures import report_of

    write_json(summary(simulated, asked), folder / "summary.json")
    (folder / "timelines").mkdir(exist_ok=True)
    for run in (*simulated.runs, simulated.best):
        write_timeline(simulated, run, folder / "timelines" / file_name(run))
    report = report_of(simulated, asked.name, gpus=asked.gpus, price=asked.price)
    write_html(report, folder / "report.html")
    write_png(report, folder / "report.png")


def _show(simulated: Simulated, asked: Asked, *, as_json: bool) -> None:
    """Print the table, or the summary as JSON."""
    from autoscaler.simulator.outputs import summary
    from autoscaler.simulator.pictures import evaluated, lead_of, table_of

    if as_json:
        print_json(summary(simulated, asked))
        return
    from rich.box import SIMPLE
    from rich.table import Table

    from autoscaler.cli.printing import print_wrapped

    shown = table_of(simulated, gpus=asked.gpus, price=asked.price)
    table = Table(title=shown.title, box=SIMPLE)
    for index, column in enumerate(shown.columns):
        if column in BRIEF:
            width = max(len(column), *(len(row[index]) for row in shown.rows))
            table.add_column(column, justify="right" if index else "left", min_width=width)
    for index, row in enumerate(shown.rows):
        cells = (cell for column, cell in zip(shown.columns, row, strict=True) if column in BRIEF)
        table.add_row(*cells, style="bold" if index == shown.strong else None)
    console().print(table)
    print_wrapped(lead_of(simulated))
    print_wrapped(
        f"Evaluated: {evaluated(simulated)}. cost is against the clairvoyant's, late a share of "
        "the requests, hours are replica-hours, starts replicas started; 95 %: bootstrap over days."
    )
    if simulated.unwritten:
        say(f"decisions.jsonl: {simulated.unwritten} records could not be written")
    if simulated.partial:
        say("interrupted: this is what was done until then")
