"""`foretide restore`: give the floors back that were found, before uninstalling."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autoscaler.cli.options import ExitCode, common_options, examples, print_json, say
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from autoscaler.adapters.kubernetes.giving_back import Returned
    from autoscaler.config import Config


@click.command(
    "restore",
    epilog=examples(
        ("what would be given back?", "foretide restore --all --dry-run"),
        ("everything, after the controller was stopped", "foretide restore --all"),
        ("one service", "foretide restore --policy llm/qwen-32b"),
    ),
)
@click.option("--all", "everything", is_flag=True, help="Every target that carries our annotation.")
@click.option(
    "--policy",
    "keys",
    multiple=True,
    metavar="NAMESPACE/NAME",
    help="The target of this policy (or, when the policy is gone, of this name); may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be given back.")
@common_options
def command(
    *,
    everything: bool,
    keys: tuple[str, ...],
    dry_run: bool,
    config: Path | None,
    prometheus: str | None,
    context: str | None,
    as_json: bool,
) -> int:
    """Give targets the floor back that stood before Foretide first wrote, at once.

    Stop the controller, or delete the policies, before: what a running controller follows, it moves
    again. Each target is written once, guarded by what was found, and its annotation is taken away.
    """
    from autoscaler.adapters.kubernetes.giving_back import restore
    from autoscaler.cli import compose

    if everything == bool(keys):
        raise InputError("give either --all or --policy NAMESPACE/NAME")
    settings = compose.configuration(config, prometheus=prometheus, context=context)
    cluster = compose.cluster_of(settings)
    only = None if everything else _targets(settings, keys)
    found = restore(
        cluster, namespaces=settings.kubernetes.namespaces, write=not dry_run, only=only
    )
    if as_json:
        print_json([_document(one, dry_run) for one in found])
    else:
        _show(found, dry_run)
    failed = [one for one in found if not one.done]
    return ExitCode.FAILED if failed and not dry_run else ExitCode.DONE


def _targets(settings: Config, keys: Sequence[str]) -> frozenset[str]:
    """Targets of the policies; of a policy that is gone, the target that has its name."""
    from autoscaler.cli import compose
    from autoscaler.errors import ObservationError

    wrong = [key for key in keys if key.count("/") != 1 or not all(key.split("/"))]
    if wrong:
        raise InputError(f"--policy: found {wrong[0]!r}; allowed: NAMESPACE/NAME")
    known = {}
    try:
        listed = compose.policies_of(settings, compose.cluster_of(settings)).list()
        known = {policy.key: policy.target_key for policy in listed.policies}
    except ObservationError as error:
        say(f"The policies cannot be read, so targets are taken by name: {error}")
    for key in keys:
        if key in known:
            say(f"The policy {key} still exists: a running controller moves its floor again.")
    return frozenset(known.get(key, f"HorizontalPodAutoscaler {key}") for key in keys)


def _show(found: Sequence[Returned], dry_run: bool) -> None:
    """Print one line for each target."""
    if not found:
        click.echo("Nothing to give back: no such target carries our annotation.")
    for one in found:
        done = "would be given back" if dry_run else "given back" if one.done else "NOT given back"
        why = f": {one.message}" if one.message else ""
        click.echo(f"{one.what}: floor {one.floor} → {one.original}: {done}{why}")


def _document(one: Returned, dry_run: bool) -> dict[str, object]:
    """One target as JSON."""
    return {
        "target": one.what,
        "floor": one.floor,
        "original": one.original,
        "done": one.done,
        "dry_run": dry_run,
        "message": one.message or None,
    }
