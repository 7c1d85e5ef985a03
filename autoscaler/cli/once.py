"""`foretide once`: one cycle of every policy, at a desk or in a job, as a table of decisions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autoscaler.cli.options import (
    ExitCode,
    common_options,
    console,
    examples,
    policy_option,
    print_json,
    say,
)
from autoscaler.errors import ForetideError, HistoryUnavailable, InputError

if TYPE_CHECKING:
    from autoscaler.config import Config
    from autoscaler.controller.controller import Wiring
    from autoscaler.controller.leadership import Gate
    from autoscaler.model import Knowledge, Result
    from autoscaler.policy import TidePolicy

LEASE_PATIENCE = 4.0  # seconds to wait for the lease; a leader that is alive keeps it


@click.command(
    "once",
    epilog=examples(
        (
            "what would be decided now? nothing is written",
            "foretide once -f policies/ --observe-only",
        ),
        ("the policies of the cluster, as their modes say", "foretide once --config config.yaml"),
        ("for a script", "foretide once -f policies/ --observe-only --json"),
    ),
)
@policy_option(multiple=True, required=False)
@click.option("--observe-only", is_flag=True, help="Write to no target, whatever a policy says.")
@common_options
def command(
    *,
    policies: tuple[Path, ...],
    observe_only: bool,
    config: Path | None,
    prometheus: str | None,
    context: str | None,
    as_json: bool,
) -> int:
    """Run one cycle of every policy, learning first, and show the decisions.

    Writes where a policy's mode says so and no controller is running (it would hold the lease).
    What was wanted before is not known here, so no floor is lowered: that needs `run`.

    Exit code 1: a target could not be read or written. 2: a policy could not be used.
    3: something was in doubt.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # before NumPy: many small arrays on few cores
    from autoscaler.cli import compose

    settings = compose.configuration(
        config,
        prometheus=prometheus,
        context=context,
        policies=policies,
        observeOnly=True if observe_only else None,
    )
    rows, refused = _run(settings)
    if as_json:
        print_json([row.document() for row in rows])
    else:
        _show(rows)
    return _code(rows, refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One policy's cycle."""

    policy: TidePolicy
    knowledge: Knowledge | None
    result: Result

    def document(self) -> dict[str, Any]:
        """Write the cycle as JSON."""
        from autoscaler.adapters.telemetry import schema

        return {
            "policy": self.policy.key,
            "mode": str(self.policy.spec.mode),
            "target": self.policy.target_key,
            **schema.result_document(self.result),
            "sentences": [r.sentence for r in self.told],
        }

    @property
    def told(self) -> tuple[Any, ...]:
        """Doubts and reasons."""
        decision = self.result.decision
        return () if decision is None else (*decision.doubts, *decision.reasons)


def _run(settings: Config) -> tuple[list[Row], int]:
    """Learn and run one cycle for each policy; also how many policies could not be used."""
    from autoscaler.cli import compose
    from autoscaler.controller.cycles import Cycles
    from autoscaler.controller.fleet import Tended
    from autoscaler.controller.leadership import Never

    observer = settings.observe_only
    root = compose.Root(config=settings, leadership=Never() if observer else None)
    wiring = root.wiring()
    listed = wiring.source.list()
    for refusal in listed.refused:
        say(f"{refusal.key} cannot be used: {refusal.message}")
    if not listed.policies:
        raise InputError("there is no policy that can be used")
    _lead(wiring.leadership, listed.policies, observer)
    cycles = Cycles(
        wiring.ports,
        wiring.clock,
        wiring.metrics,
        offer=lambda *_: None,
        period=wiring.period,
    )
    rows = []
    try:
        for policy in _progress(listed.policies):
            knowledge = _learn(wiring, policy)
            result = cycles.run(Tended(policy, knowledge=knowledge))
            rows.append(Row(policy=policy, knowledge=knowledge, result=result))
    finally:
        wiring.leadership.release()
        wiring.records.close()
    return rows, len(listed.refused)


def _lead(leadership: Gate, policies: Sequence[TidePolicy], observer: bool) -> None:
    """Take the lease where something may be written; say so when another has it."""
    from autoscaler.model import Mode

    if observer or all(policy.spec.mode is Mode.OBSERVE for policy in policies):
        return
    leadership.start()
    if not leadership.wait_for_leader(LEASE_PATIENCE):
        say("A controller holds the lease: it decides, and nothing is written from here.")


def _progress(policies: Sequence[TidePolicy]) -> Any:
    """Yield the policies, with progress on a terminal."""
    from rich.progress import track

    screen = console(stderr=True)
    return track(
        policies,
        "learning and deciding",
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )


def _learn(wiring: Wiring, policy: TidePolicy) -> Knowledge | None:
    """Learn from the history right here; what goes wrong leaves the decision without knowledge."""
    from autoscaler import tune

    now = wiring.clock.now()
    try:
        history = wiring.ports.demand.read(policy, now)
        knowledge = tune.learn(policy, history, now, period=wiring.period)
    except HistoryUnavailable:
        return None  # the cycle meets it again and says so
    except ForetideError as error:
        say(f"{policy.key}: nothing was learnt: {error}")
        return None
    wiring.records.learnt(policy, history, knowledge, wiring.period)
    return knowledge


def _show(rows: Sequence[Row]) -> None:
    """Print the table, and below it why."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, right in (("policy", False), ("mode", False), ("floor", True), ("wanted", True),
                        ("need", True), ("outcome", False), ("why", False)):  # fmt: skip
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        decision = row.result.decision
        numbers = ["–"] * 3
        if decision is not None:
            need = "–" if decision.need is None else str(decision.need.now)
            numbers = [str(decision.present), str(decision.floor), need]
        why = "; ".join(dict.fromkeys(r.sentence for r in row.told)) or row.result.message
        cells = [row.policy.key, str(row.policy.spec.mode), *numbers, str(row.result.outcome), why]
        table.add_row(*map(Text, cells))
    console().print(table)


def _code(rows: Sequence[Row], refused: int) -> int:
    """How it ended: failed before bad input before in doubt before done."""
    from autoscaler.model import Outcome

    outcomes = {row.result.outcome for row in rows}
    unread = any(row.result.decision is None for row in rows)
    if unread or outcomes & {Outcome.REFUSED, Outcome.UNKNOWN}:
        return ExitCode.FAILED
    if refused:
        return ExitCode.BAD_INPUT
    doubts = any(row.result.decision is not None and row.result.decision.doubts for row in rows)
    if doubts or outcomes & {Outcome.CONFLICT, Outcome.NOT_LEADER}:
        return ExitCode.IN_DOUBT
    return ExitCode.DONE
