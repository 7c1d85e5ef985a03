"""`foretide plan`: the day ahead of one policy from its real history; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autoscaler.cli.options import (
    DURATION,
    TIME,
    ExitCode,
    common_options,
    configuration,
    examples,
    policy_option,
    print_json,
    say,
    version,
    wall_clock,
)
from autoscaler.cli.simulating import one_policy
from autoscaler.errors import ForetideError, InputError

if TYPE_CHECKING:
    from autoscaler.cli.dayahead import DayAhead
    from autoscaler.config import Config
    from autoscaler.model import Target
    from autoscaler.policy import TidePolicy
    from autoscaler.tune import Above


@click.command(
    epilog=examples(
        ("the next 24 hours, as a picture", "foretide plan -f policies/vllm.yaml"),
        (
            "as seen yesterday morning, to compare with what came",
            "foretide plan -f policies/vllm.yaml --at 2026-11-29T06:00+08:00",
        ),
        (
            "PNG, HTML and JSON for a ticket",
            "foretide plan -f policies/vllm.yaml --prometheus http://localhost:9090 --out plan/",
        ),
    )
)
@policy_option()
@click.option("--at", type=TIME, metavar="TIME", help="See it from this moment; default: now.")
@click.option(
    "--horizon",
    type=DURATION,
    default="24h",
    show_default=True,
    metavar="DURATION",
    help="How far to look ahead, 1h to 7d.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also write plan.html, plan.png and plan.json there.",
)
@click.option(
    "--replica-price",
    type=click.FloatRange(min=0, min_open=True),
    metavar="PRICE",
    help="Price of a replica-hour: what is saved is told in money too.",
)
@common_options
def command(  # noqa: PLR0913, PLR0917 - one argument an option
    policy: Path,
    at: float | None,
    horizon: float,
    out: Path | None,
    replica_price: float | None,
    config: Path | None,
    prometheus: str | None,
    context: str | None,
    as_json: bool,
) -> int:
    """Show the day ahead of a policy: demand, need, floor, when it changes and why.

    Reads the demand history from Prometheus and the present floor from the cluster; writes to
    neither. Where the cluster cannot be asked, the policy's bounds stand for the target, and it
    says so. Exit code 3 means that the inputs are in doubt.
    """
    if not 3600 <= horizon <= 7 * 86_400:
        raise InputError(f"--horizon: found {horizon / 3600:g} h; allowed: 1h to 7d")
    settings = configuration(config, prometheus, context)
    wanted = one_policy(policy, "plan shows one")
    now = wall_clock() if at is None else at
    day = replace(_look(wanted, settings, now, horizon, past=at is not None), price=replica_price)
    if out is not None:
        _write(day, out)
    if as_json:
        from autoscaler.cli.dayshown import document_of

        print_json(document_of(day))
    else:
        _show(day)
    return ExitCode.IN_DOUBT if day.doubts else ExitCode.DONE


def _look(
    policy: TidePolicy, settings: Config, now: float, horizon: float, *, past: bool
) -> DayAhead:
    """Fetch history and target, learn, and look ahead."""
    from autoscaler import tune
    from autoscaler.adapters.prometheus import PrometheusDemand
    from autoscaler.cli.dayahead import look_ahead
    from autoscaler.forecast import FAST
    from autoscaler.tune.advice import UNKNOWN

    history = PrometheusDemand(settings.prometheus, step=settings.step).read(policy, now)
    # AutoReg is left out: statsmodels alone takes 4 s to import; the controller, which learns in
    # the background, tries it too
    lesson = tune.study(policy, history, now, period=settings.period, shapes=FAST)
    knowledge = tune.known(policy, lesson)
    target, above, chosen = (None, UNKNOWN, "") if past else _target(policy, settings)
    if target is not None:
        floor = target.floor if target.original is None else target.original
        knowledge = tune.against(knowledge, lesson, above, floor)
    day = look_ahead(
        policy, history, knowledge, target, now, horizon=horizon, period=settings.period
    )
    return replace(day, above=above, chosen=chosen)


def _target(policy: TidePolicy, settings: Config) -> tuple[Target | None, Above, str]:
    """Observe the target and what scales it, or say why not: a plan needs no cluster.

    And what the controller chose, where the policy is in that cluster.
    """
    from autoscaler.adapters.kubernetes.above import above_of
    from autoscaler.adapters.kubernetes.access import connect
    from autoscaler.adapters.kubernetes.reading import KubernetesTargets
    from autoscaler.cli.instatus import chosen_in
    from autoscaler.tune.advice import UNKNOWN

    try:
        cluster = connect(
            kubeconfig=settings.kubernetes.kubeconfig, context=settings.kubernetes.context
        )
        targets = KubernetesTargets(cluster)
        target, above = targets.observe(policy), above_of(targets.found(policy))
    except ForetideError as error:
        say(f"Target not read: {error}")
        return None, UNKNOWN, ""
    try:
        return target, above, chosen_in(cluster, policy)
    except ForetideError:
        return target, above, ""  # a policy in a file alone, or no right to read policies


def _write(day: DayAhead, out: Path) -> None:
    """Write the three files."""
    from autoscaler.cli.dayshown import document_of, report_of
    from autoscaler.cli.written import write_answer

    write_answer(report_of(day, version()), document_of(day), out, "plan")


def _show(day: DayAhead) -> None:
    """Print sentence, pictures and the table of changes."""
    from autoscaler.cli.dayshown import advice_of, charts_of, facts_of, sentence_of, table_of
    from autoscaler.cli.printing import picture, print_facts, print_table, print_wrapped

    print_wrapped(f"{day.policy.key}: {sentence_of(day)}")
    click.echo()
    for chart in charts_of(day):
        click.echo(picture(chart) + "\n")
    if day.changes:
        print_table(table_of(day))
    print_facts((*facts_of(day), *advice_of(day)))
