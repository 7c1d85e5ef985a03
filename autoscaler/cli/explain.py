"""`foretide explain`: one recorded decision, stage by stage, made again and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autoscaler.cli.options import (
    TIME,
    ExitCode,
    examples,
    json_option,
    print_json,
)
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from autoscaler.adapters.telemetry.reader import Entry, Record
    from autoscaler.adapters.telemetry.replay import Replayer


@click.command(
    "explain",
    epilog=examples(
        ("the newest decision", "foretide explain /var/lib/foretide/records"),
        (
            "why was the floor like that this morning?",
            "foretide explain records/ --policy llm/qwen-32b --at 2026-11-30T08:00+08:00",
        ),
        (
            "does every recorded decision still come out the same?",
            "foretide explain --all records/",
        ),
    ),
)
@click.argument("records", type=click.Path(exists=True, path_type=Path))
@click.option("--at", type=TIME, metavar="TIME", help="The last decision up to then; default: now.")
@click.option("--policy", "key", metavar="NAMESPACE/NAME", help="Of which policy.")
@click.option("--all", "everything", is_flag=True, help="Make all decisions again; only compare.")
@json_option
def command(
    *, records: Path, at: float | None, key: str | None, everything: bool, as_json: bool
) -> int:
    """Explain one recorded decision, and check that it can be made again.

    RECORDS is a file or folder of decision records. In a fresh process, from the records alone, the
    knowledge is learnt again and the decision made again: SAME means that the floor, every reason
    and every number (within 1e-9) are as recorded. DIFFERENT (exit code 1) names what is not: an
    input that was altered, or a release that decides otherwise. Exit code 3: the record does not
    hold all that the decision was made from.
    """
    from autoscaler.adapters.telemetry.replay import Replayer

    replayer = Replayer()
    if everything:
        return _all(replayer, records, key, as_json)
    return _one(replayer, _read(_choose(records, at, key)), as_json)


def _choose(path: Path, at: float | None, key: str | None) -> Entry:
    """Find the last decision up to `at`, or say which there are."""
    from autoscaler.adapters.telemetry.reader import contents
    from autoscaler.report import local_time

    found: Entry | None = None
    first: Entry | None = None
    keys: set[str] = set()
    for entry in contents(path):
        keys.add(entry.key)
        if key is not None and entry.key != key:
            continue
        first = first or entry
        if (at is None or entry.at <= at) and (found is None or entry.at >= found.at):
            found = entry
    if found is not None:
        return found
    if first is not None:
        raise InputError(
            f"{path}: no decision up to --at; the first is of {local_time(first.at, 'UTC')}"
        )
    if not keys:
        raise InputError(
            f"{path}: no decision records in it; give a file or folder that `foretide run` wrote "
            "(`records.directory`), or the decisions.jsonl of a demo or a simulation"
        )
    there = ", ".join(sorted(keys)[:10])
    raise InputError(f"{path}: no decision{f' of {key}' if key else ''}; policies there: {there}")


def _read(entry: Entry) -> Record:
    """Read one record back, with all that its file told before it."""
    from autoscaler.adapters.telemetry.reader import Damage, Record, iterate
    from autoscaler.adapters.telemetry.strips import RecordDamaged

    for item in iterate(entry.source.path, entry.key):
        if item.source != entry.source:
            continue
        if isinstance(item, Damage):
            raise RecordDamaged(f"{item.source}: {item.message}")
        if isinstance(item, Record):
            return item
    raise InputError(f"{entry.source}: the file changed while it was read; try again")


def _one(replayer: Replayer, record: Record, as_json: bool) -> int:
    """Explain one decision."""
    from autoscaler.cli.explained import Explanation, document_of, text_of

    why = _cannot(record)
    decision = None if why else replayer.replay(record)
    told = Explanation(
        record=record,
        decision=decision,
        knowledge=None if why or record.fit is None else replayer.knowledge(record.fit),
        differences=() if why else replayer.differences(record),
        why_not=why,
    )
    if as_json:
        print_json(document_of(told))
    else:
        click.echo(text_of(told))
    if why:
        return ExitCode.IN_DOUBT
    return ExitCode.FAILED if told.differences else ExitCode.DONE


def _cannot(record: Record) -> str:
    """Say why a decision cannot be made again, or nothing."""
    if "floor" not in record.result:
        return f"there was no decision: {record.result.get('message', 'the target was not read')}"
    return record.replayable


def _all(replayer: Replayer, path: Path, key: str | None, as_json: bool) -> int:
    """Make all decisions again and count."""
    from autoscaler.adapters.telemetry.reader import Damage, iterate

    same, without, different = 0, 0, []
    for item in iterate(path, key):
        if isinstance(item, Damage):
            different.append({"where": str(item.source), "differences": [item.message]})
        elif _cannot(item):
            without += 1
        elif found := replayer.differences(item):
            different.append({"where": str(item.source), "differences": list(found)})
        else:
            same += 1
    if as_json:
        print_json({"same": same, "not_replayable": without, "different": different})
    else:
        for one in different[:20]:
            click.echo(f"{one['where']}: DIFFERENT: {'; '.join(one['differences'][:3])}")
        click.echo(f"{same} SAME, {len(different)} DIFFERENT, {without} that cannot be replayed")
    if different:
        return ExitCode.FAILED
    return ExitCode.DONE if same or not without else ExitCode.IN_DOUBT
