"""`foretide check`: what is wrong with policies, what they say, and whether the world agrees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autoscaler.cli.options import (
    ExitCode,
    common_options,
    configuration,
    console,
    examples,
    policy_option,
    print_json,
    say,
    wall_clock,
)
from autoscaler.errors import ConfigError, ForetideError, InputError

if TYPE_CHECKING:
    from autoscaler.adapters.policies import Reading
    from autoscaler.adapters.prometheus import PrometheusDemand
    from autoscaler.cli.livecheck import Answer, Surroundings
    from autoscaler.config import Config
    from autoscaler.model import Target
    from autoscaler.policy import TidePolicy

Answers = dict[str, "tuple[Answer, ...]"]


@click.command(
    epilog=examples(
        ("before a commit; exit code 2 when something is wrong", "foretide check -f policies/"),
        (
            "against the real Prometheus and the cluster of the kubeconfig",
            "foretide check -f qwen-32b.yaml --live --prometheus http://localhost:9090",
        ),
        ("for a program", "foretide check -f policies/ --json"),
    )
)
@policy_option(multiple=True)
@click.option("--live", is_flag=True, help="Ask Prometheus and the cluster as well.")
@common_options
def command(
    policies: tuple[Path, ...],
    live: bool,
    config: Path | None,
    prometheus: str | None,
    context: str | None,
    as_json: bool,
) -> int:
    """Check policy files, and show what they were understood to say.

    Every mistake is told at once, as FILE:LINE:COLUMN: FIELD: what was found; what is allowed; the
    nearest valid name. Documents of another kind are passed over, in words.

    With --live: is the metric there, as one series, how far back, how fine and how fresh? Is the
    target there, who owns it, may we patch it, does something put it back, and does its ceiling
    suffice for the forecast? Nothing is written. Exit code 3 means warnings, 1 that a policy cannot
    work as things stand.
    """
    from autoscaler.adapters.policies import NO_POLICY, read_paths

    if not live and (config or prometheus or context):
        raise InputError("--config, --prometheus and --context are used only with --live")
    reading = read_paths(policies)
    told = [*reading.skipped, *map(str, reading.problems)]
    if not reading.found and not reading.problems:
        told.append(f"{', '.join(map(str, policies))}: {NO_POLICY}")
    # printed and not raised, so that every line begins with its file, as editors expect
    for line in told:
        say(line)
    wrong = bool(reading.problems) or not reading.found
    answers: Answers = {}
    if live and not wrong:
        answers = _ask(reading, _surroundings(configuration(config, prometheus, context)))
    if as_json:
        print_json(_document(reading, answers))
    elif not wrong:
        _show(reading, answers)
    return ExitCode.BAD_INPUT if wrong else _exit_code(answers)


def _surroundings(settings: Config) -> Surroundings:
    """Set up whom to ask; what cannot be set up is an answer too."""
    from autoscaler.adapters.kubernetes.access import connect
    from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
    from autoscaler.adapters.prometheus import PrometheusDemand
    from autoscaler.cli.livecheck import Surroundings

    demand: PrometheusDemand | str
    cluster: Cluster | str
    try:
        demand = PrometheusDemand(settings.prometheus, step=settings.step)
    except ConfigError as error:
        demand = str(error)
    kubernetes = settings.kubernetes
    try:
        cluster = connect(
            kubeconfig=kubernetes.kubeconfig,
            context=kubernetes.context,
            timeouts=Timeouts(connect=kubernetes.connect_timeout, read=kubernetes.read_timeout),
        )
    except ConfigError as error:
        cluster = str(error)
    now = wall_clock()

    def foresee(
        policy: TidePolicy, source: PrometheusDemand, target: Target | None
    ) -> tuple[int, float]:
        return _greatest_need(policy, source, target, now, settings.period)

    return Surroundings(
        demand=demand, cluster=cluster, foresee=foresee, now=now, step=settings.step
    )


def _greatest_need(
    policy: TidePolicy, source: PrometheusDemand, target: Target | None, now: float, period: float
) -> tuple[int, float]:
    """Greatest need of the next day and its moment, as `foretide plan` sees it."""
    from autoscaler import tune
    from autoscaler.cli.dayahead import look_ahead
    from autoscaler.forecast import FAST

    history = source.read(policy, now)
    knowledge = tune.learn(policy, history, now, period=period, shapes=FAST)
    day = look_ahead(policy, history, knowledge, target, now, period=period)
    at = int(day.need.order.argmax())
    return int(day.need.order[at]), float(day.times[at])


def _ask(reading: Reading, around: Surroundings) -> Answers:
    """Ask about every policy; one that goes wrong does not keep the others from being asked."""
    from autoscaler.cli.livecheck import Answer, Level, ask

    answers: Answers = {}
    for found in reading.found:
        try:
            answers[found.policy.key] = ask(found.policy, around)
        except ForetideError as error:
            failed = Answer(level=Level.FAILS, question="asking", sentence=str(error))
            answers[found.policy.key] = (failed,)
    return answers


def _exit_code(answers: Answers) -> int:
    """1 when a policy cannot work, 3 when something is in doubt."""
    from autoscaler.cli.livecheck import Level

    levels = {answer.level for told in answers.values() for answer in told}
    if Level.FAILS in levels:
        return ExitCode.FAILED
    return ExitCode.IN_DOUBT if Level.WARNS in levels else ExitCode.DONE


def _show(reading: Reading, answers: Answers) -> None:
    """Print a table for each policy, and a sentence about all."""
    from autoscaler.cli.printing import print_table
    from autoscaler.cli.understood import understood
    from autoscaler.report import Table

    for found in reading.found:
        rows = tuple(
            (row.name, row.value, "" if row.given else "default")
            for row in understood(found.policy)
        )
        click.echo(f"{found.policy.key} ({found.where})")
        print_table(Table(columns=("field", "value", ""), rows=rows, sentences=(1, 2)))
        told = answers.get(found.policy.key)
        if told:
            asked = tuple((a.question, str(a.level), a.sentence) for a in told)
            print_table(Table(columns=("asked", "", ""), rows=asked, sentences=(1, 2)))
    count = len(reading.found)
    said = "as asked above" if answers else "nothing was asked of Prometheus or the cluster"
    console().print(f"{count} {'policy' if count == 1 else 'policies'} without a mistake; {said}.")


def _document(reading: Reading, answers: Answers) -> dict[str, Any]:
    """Everything for a program."""
    from autoscaler.cli.understood import understood
    from autoscaler.schema.problems import dotted

    return {
        "policies": [
            {
                "key": found.policy.key,
                "where": found.where,
                "policy": found.policy.manifest(),
                "defaults": [row.name for row in understood(found.policy) if not row.given],
                "answers": [
                    {"question": a.question, "level": str(a.level), "sentence": a.sentence}
                    for a in answers.get(found.policy.key, ())
                ],
            }
            for found in reading.found
        ],
        "problems": [
            {
                "where": problem.where,
                "field": dotted(problem.path),
                "found": problem.found,
                "allowed": problem.allowed,
                "near": problem.near,
            }
            for problem in reading.problems
        ],
        "skipped": list(reading.skipped),
    }
