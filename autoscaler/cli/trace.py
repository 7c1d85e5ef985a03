"""`foretide trace`: import, export and describe recorded traffic."""

from __future__ import annotations

from pathlib import Path

import click

from autoscaler.cli.options import (
    DURATION,
    ExitCode,
    common_options,
    configuration,
    console,
    examples,
    json_option,
    policy_option,
    print_json,
    say,
    wall_clock,
)

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW = click.Path(dir_okay=False, path_type=Path)
KINDS = (
    *("azure-2023", "azure-2024", "burstgpt", "mooncake", "servegen"),
    *("log", "prometheus", "grafana"),
)


@click.group(
    epilog=examples(
        ("a public trace", "foretide trace import burstgpt BurstGPT_1.csv burstgpt.csv.gz"),
        ("one's own", "foretide trace export -f qwen.yaml --prometheus http://:9090 own.csv.gz"),
        ("what is in it, and what suits it", "foretide trace describe own.csv.gz"),
    )
)
def command() -> None:
    """Import, export and describe recorded traffic.

    A traffic file is CSV (may be compressed): `t` in seconds or `timestamp`, then value columns,
    totals per slot unless a column's name ends in `_per_second`. A row that is not there is a
    hole, a zero is a zero.
    """


@command.command("import")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("source", type=FILE)
@click.argument("out", type=NEW)
@click.option(
    "--slot",
    type=DURATION,
    default="60s",
    show_default=True,
    metavar="DURATION",
    help="Slots into which single requests are counted.",
)
def import_(kind: str, source: Path, out: Path, slot: float) -> int:
    """Turn a public trace, a request log or a query answer into a traffic file.

    `log` is CSV or JSON lines with a timestamp, and input and output tokens where known.
    `prometheus` is an answer of /api/v1/query_range, `grafana` the CSV of a panel.
    """
    from autoscaler.cli.simulating import progress
    from autoscaler.cli.written import writing
    from autoscaler.simulator.foreign import write_traffic
    from autoscaler.simulator.formats import import_traffic

    with progress(quiet=False) as told:
        imported = import_traffic(kind, source, slot, lambda share: told(source.name, share))
    with writing(out, "OUT"):
        write_traffic(imported, out)
    for line in imported.remarks(10):
        say(f"{source}: {line}")
    say(f"{out}: {len(imported.times)} slots")
    return ExitCode.DONE


@command.command()
@policy_option()
@click.option("--days", type=click.IntRange(min=1), default=28, show_default=True, help="How many.")
@click.argument("out", type=NEW)
@common_options
def export(
    policy: Path,
    days: int,
    out: Path,
    config: Path | None,
    prometheus: str | None,
    context: str | None,
    as_json: bool,
) -> int:
    """Take a policy's own history from Prometheus into a traffic file."""
    from autoscaler.cli.simulating import one_policy
    from autoscaler.cli.written import writing
    from autoscaler.simulator.counting import Imported
    from autoscaler.simulator.foreign import from_prometheus, write_traffic

    wanted = one_policy(policy, "one is exported")
    traffic = from_prometheus(
        wanted, configuration(config, prometheus, context), wall_clock(), days
    )
    begins = traffic.start or 0.0
    columns = {"demand_per_second": traffic.values}
    with writing(out, "OUT"):
        write_traffic(Imported(times=traffic.times + begins, columns=columns, absolute=True), out)
    if as_json:
        print_json({"file": str(out), "rows": len(traffic.times), "begins": begins})
    else:
        say(f"{out}: {len(traffic.times)} rows, {traffic.times[-1] / 86_400:.1f} days")
    return ExitCode.DONE


@command.command()
@click.argument("file", type=FILE)
@click.option("--column", metavar="NAME", help="Its value column; default: the first known name.")
@click.option("--per", type=click.Choice(["slot", "second"]), help="What its values are.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also write profile.png there.",
)
@json_option
def describe(
    file: Path, column: str | None, per: str | None, out: Path | None, as_json: bool
) -> int:
    """Tell length, holes, peaks, the strength of the tide, and which kind of policy suits."""
    from dataclasses import asdict

    from autoscaler.cli.written import writing
    from autoscaler.report import terminal, write_png
    from autoscaler.simulator import described
    from autoscaler.world.traffic import Per, read_traffic

    meant: Per | None = None if per is None else "second" if per == "second" else "slot"
    traffic = read_traffic(file, column, meant)
    found = described.describe(traffic)
    report = described.report_of(found, f"{file.name}, column {traffic.column}")
    if out is not None:
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
            write_png(report, out / "profile.png")
    for line in traffic.remarks(10):
        say(f"{file}: {line}")
    if as_json:
        document = asdict(found)
        for name in ("day_profile", "week_profile"):
            document[name] = document[name].tolist()
        print_json({"file": str(file), "column": traffic.column, **document})
        return ExitCode.DONE
    for label, text in described.facts(found):
        click.echo(f"{label:<22}{text}")
    screen = console()
    for chart in report.charts:
        click.echo()
        click.echo(terminal(chart, width=min(screen.width, 100), height=10))
    click.echo(found.advice)
    return ExitCode.DONE
