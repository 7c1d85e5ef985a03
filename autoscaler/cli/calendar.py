"""`foretide calendar`: the days that a policy believes in, and from which source it has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autoscaler.cli.options import (
    TIME,
    ExitCode,
    examples,
    json_option,
    policy_option,
    print_json,
    wall_clock,
)

if TYPE_CHECKING:
    from autoscaler.cli.calendarshown import CalendarAhead


@click.command(
    epilog=examples(
        ("holidays, events and windows of two months", "foretide calendar -f policies/full.yaml"),
        ("a year, for a program", "foretide calendar -f policies/full.yaml --days 365 --json"),
        (
            "as of another day",
            "foretide calendar -f policies/full.yaml --at 2027-01-20T00:00+08:00",
        ),
    )
)
@policy_option(multiple=True)
@click.option(
    "--days",
    type=click.IntRange(1, 400),
    metavar="N",
    default=60,
    show_default=True,
    help="How many days, from today on.",
)
@click.option("--at", type=TIME, metavar="TIME", help="From the day of this moment; default: now.")
@json_option
def command(policies: tuple[Path, ...], days: int, at: float | None, as_json: bool) -> int:
    """Show the days that a policy's calendar makes different, and from which source.

    Asks neither Prometheus nor the cluster. Exit code 3 means that holidays of a year that is
    shown do not seem to be published yet: write them into `calendar.days`.
    """
    from autoscaler.adapters.policies import load
    from autoscaler.cli.calendarshown import document_of, look_at

    now = wall_clock() if at is None else at
    ahead = [look_at(policy, now, days) for policy in load(policies)]
    if as_json:
        print_json({"policies": [document_of(each) for each in ahead]})
    else:
        for each in ahead:
            _show(each)
    return ExitCode.IN_DOUBT if any(each.doubts for each in ahead) else ExitCode.DONE


def _show(ahead: CalendarAhead) -> None:
    """Print the weeks, the tables, and what is in doubt."""
    from autoscaler.cli.calendarshown import picture_of, tables_of
    from autoscaler.cli.printing import print_table, print_wrapped

    click.echo(f"{ahead.policy.key}: {ahead.first} to {ahead.last}, by the clock of {ahead.zone}\n")
    click.echo(picture_of(ahead) + "\n")
    tables = tables_of(ahead)
    for table in tables:
        print_table(table)
    if not tables:
        click.echo("Every day is like its weekday; there are no events and no windows.\n")
    for doubt in ahead.doubts:
        print_wrapped(f"Warning: {doubt}. Write them into calendar.days when you know them.")
