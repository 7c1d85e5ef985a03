"""`foretide tune`: which candidate fits a service, by replaying its past; nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autoscaler.cli.options import (
    ExitCode,
    examples,
    json_option,
    policy_option,
    print_json,
    say,
    version,
    wall_clock,
)
from autoscaler.cli.simulating import (
    TARGET,
    number,
    one_policy,
    progress,
    target_of,
    text,
    traffic_options,
    whole,
)
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from autoscaler.cli.tuning import Tuned
    from autoscaler.model import History
    from autoscaler.policy import TidePolicy


@click.command(
    epilog=examples(
        (
            "what would each candidate have cost on our last four weeks",
            "foretide tune -f qwen-32b.yaml --prometheus http://localhost:9090",
        ),
        (
            "on recorded traffic, with pictures and JSON in a folder",
            "foretide tune -f qwen-32b.yaml --trace march.csv.gz --out tuned/",
        ),
        (
            "with the HPA that stands above, and what stands now",
            "foretide tune -f qwen-32b.yaml --prometheus http://localhost:9090 "
            "--hpa-target 0.9 --standing ahead@23.4",
        ),
    )
)
@policy_option()
@traffic_options
@click.option(
    "--days",
    type=click.IntRange(min=4, max=400),
    metavar="N",
    help="Days of history to learn from; the newest, 14 at most, are replayed. "
    "Default: the policy's demand.history.",
)
@click.option(
    "--hpa-target",
    type=TARGET,
    metavar="SHARE",
    help="Target of the HPA above every floor, a share of a replica's capacity. Default: 0.7.",
)
@click.option("--no-hpa", is_flag=True, help="Nothing above the floors.")
@click.option(
    "--standing",
    metavar="NAME",
    help="Candidate in use, preferred within the noise. Default: the pinned one, else what the "
    "controller would choose now.",
)
@click.option(
    "--context",
    metavar="NAME",
    help="Take it from the policy's status in the cluster of this context of the kubeconfig.",
)
@click.option(
    "--confirm",
    type=click.IntRange(min=0, max=14),
    default=2,
    show_default=True,
    metavar="DAYS",
    help="Newest days on which the finalists fly again through the production cycle itself.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also write tune.png, tune.html and tune.json there.",
)
@json_option
def command(**given: object) -> int:
    """Compare every candidate on a service's own past, and say which fits and why.

    Each day is decided with what was known before it. Compared are all forecasters with all rules
    of ordering and several slow releases, beside a fixed number of replicas and the HPA alone. The
    score is cost against a clairvoyant's, times one plus a hundred times the price of lateness
    times the share of late requests. What stands is kept unless another is better by more than the
    noise.

    To pin a candidate, write its name as `forecast.use` into the policy. Exit code 130 with a valid
    partial result after Ctrl-C.
    """
    from autoscaler.cli.tuning import tuned

    out = given["out"]
    policy = _asked(one_policy(given["policy"]), given)
    folder = out if isinstance(out, Path) else None
    with progress(quiet=bool(given["as_json"])) as told:
        told("reading the past", 0.0)
        policy, history, source = _past(policy, given)
        found = tuned(
            policy,
            history,
            source,
            standing=text(given["standing"]) or _in_status(policy, given),
            target=target_of(given),
            confirmed=whole(given["confirm"]),
            told=told,
        )
    if folder is not None:
        _write(found, folder)
    _show(found, as_json=bool(given["as_json"]))
    if found.partial:
        say("interrupted: the finalists were not all confirmed")
    return ExitCode.INTERRUPTED if found.partial else ExitCode.DONE


def _asked(policy: TidePolicy, given: dict[str, object]) -> TidePolicy:
    """Give the policy with as much history as was asked for."""
    if given["days"] is None:
        return policy
    history = whole(given["days"]) * 86_400.0
    demand = policy.spec.demand.model_copy(update={"history": history})
    return policy.copy_with(demand=demand)


def _past(policy: TidePolicy, given: dict[str, object]) -> tuple[TidePolicy, History, str]:
    """Read the past, and take the capacity from it where that was asked for."""
    import numpy as np

    history, source = _traffic(policy, given) if given["trace"] else _own(policy, given)
    replicas = number(given["replicas_at_p99"])
    if replicas is None:
        return policy, history, source
    known = history.demand.values[np.isfinite(history.demand.values)]
    capacity = float(np.percentile(known, 99)) / replicas if len(known) else 0.0
    if not capacity > 0:
        raise InputError(f"{source}: its P99 is 0: no capacity can be taken from it")
    update = policy.spec.capacity.model_copy(update={"per_replica": capacity})
    return policy.copy_with(capacity=update), history, source


def _traffic(policy: TidePolicy, given: dict[str, object]) -> tuple[History, str]:
    """Read a traffic file as the history that its service would have had."""
    import numpy as np

    from autoscaler.cli.simulating import traffic_of
    from autoscaler.simulator.ports import RecordedDemand
    from autoscaler.world.traffic import beginning, grid, unread

    if given["prometheus"] is not None:
        raise InputError("--trace and --prometheus exclude each other")
    traffic, name = traffic_of(policy, given)
    demand = grid(traffic, within="hold" if given["within_slot"] == "hold" else "linear")
    demand[unread(traffic)] = np.nan  # a missing number is none, here as in a metric
    begins = beginning(traffic, 60.0)
    ends = begins + 60.0 * len(demand)
    return RecordedDemand(demand, begins, 60.0).read(policy, ends), name


def _own(policy: TidePolicy, given: dict[str, object]) -> tuple[History, str]:
    """Read the policy's own history from Prometheus."""
    from autoscaler.adapters.prometheus import PrometheusDemand
    from autoscaler.cli.options import configuration

    config = given["config"]
    settings = configuration(
        config if isinstance(config, Path) else None, text(given["prometheus"]), None
    )
    if settings.prometheus.url is None:
        raise InputError("--prometheus URL, --config FILE or --trace FILE: one is needed")
    history = PrometheusDemand(settings.prometheus, step=settings.step).read(policy, wall_clock())
    return history, settings.prometheus.url


def _in_status(policy: TidePolicy, given: dict[str, object]) -> str:
    """Read what was chosen last; "" when nobody asked or there was none."""
    context = text(given["context"])
    if context is None:
        return ""
    from autoscaler.adapters.kubernetes.access import connect
    from autoscaler.cli.instatus import chosen_in

    candidate = chosen_in(connect(context=context), policy)
    if not candidate:
        say(f"{policy.key}: its status names no candidate yet")
    return candidate


def _write(found: Tuned, out: Path) -> None:
    """Write the three files."""
    from autoscaler.cli.tunedpage import report_of
    from autoscaler.cli.tunedshown import document_of
    from autoscaler.cli.written import write_answer

    write_answer(report_of(found, version()), document_of(found), out, "tune")


def _show(found: Tuned, *, as_json: bool) -> None:
    """Print the answer, the bars and the table; or all of it as JSON."""
    from autoscaler.cli.printing import print_facts, print_table, print_wrapped
    from autoscaler.cli.tunedshown import (
        advice_of,
        bars_of,
        document_of,
        facts_of,
        sentence_of,
        table_of,
    )

    if as_json:
        print_json(document_of(found))
        return
    print_wrapped(f"{found.policy.key}: {sentence_of(found)}")
    click.echo()
    click.echo(bars_of(found) + "\n")
    print_table(table_of(found))
    print_facts((*facts_of(found), *advice_of(found)))
