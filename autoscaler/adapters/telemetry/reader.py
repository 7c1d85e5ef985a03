"""Records back into the nouns that a decision was made from, one after the other.

What cannot be read is not skipped in silence: a damaged line becomes a `Damage`, and a record whose
inputs no longer have their fingerprint names them in `altered`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from autoscaler.adapters.telemetry import schema
from autoscaler.adapters.telemetry.chain import USUAL_PERIOD, Chain, Fit, Kept, fit_of, sealed
from autoscaler.adapters.telemetry.schema import Document
from autoscaler.adapters.telemetry.strips import Patch, RecordDamaged, Strip, apply, unblock
from autoscaler.adapters.telemetry.writer import PREFIX, SUFFIX
from autoscaler.errors import InputError
from autoscaler.model import Memory, Observation, Outcome, Reason
from autoscaler.policy import TidePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a line stands."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A line that cannot be read back, and why."""

    source: Source
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One cycle as it was recorded.

    Attributes
    ----------
    at : POSIX seconds
    policy : the policy in force then
    observation : what was seen; None when the target was not to be had
    fit : what the knowledge was learnt from; None without knowledge, or when that is not recorded
    replayable : why the decision cannot be replayed, or nothing
    memory : what the decision was handed
    result : outcome, message and the decision's numbers and codes
    remembers : the memory that it handed on
    altered : inputs that are not what was written
    """

    source: Source
    at: float
    policy: TidePolicy
    observation: Observation | None
    fit: Fit | None
    memory: Memory
    result: Document
    remembers: Document
    replayable: str = ""
    altered: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name` of the policy."""
        return self.policy.key

    @property
    def outcome(self) -> Outcome:
        """What became of the write."""
        return Outcome(self.result["outcome"])

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Recorded reasons: codes and numbers, no sentences."""
        return schema.reasons_of(self.result.get("reasons", ()))


@dataclass
class _Told:
    """What the records so far have told of one policy by one writer."""

    chain: Chain = field(default_factory=Chain)
    documents: dict[str, Document] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)


def files(path: Path) -> list[Path]:
    """Record files of a folder, oldest first, or its one file as `demo` writes it; or the one file.

    Raises
    ------
    InputError
        There is none.
    """
    if path.is_file():
        return [path]
    alone = path / f"{PREFIX.rstrip('-')}{SUFFIX}"
    found = sorted(path.glob(f"{PREFIX}*{SUFFIX}")) or [alone] * alone.is_file()
    if not found:
        raise InputError(
            f"{path}: no decision records; expected a file, or a folder with {PREFIX}*{SUFFIX}"
        )
    return found


def iterate(path: Path, key: str | None = None) -> Iterator[Record | Damage]:
    """Every record of a file or folder in the order of writing, of one policy or of all."""
    wanted = None if key is None else f'"policy":{json.dumps(key, ensure_ascii=False)}'
    for file in files(path):
        told: dict[tuple[str, str], _Told] = {}
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip() or (wanted is not None and wanted not in line):
                    continue
                source = Source(path=file, line=number)
                try:
                    document = json.loads(line)
                    _known_version(document)
                    about = (document["run"], document["policy"])
                    yield _read(told.setdefault(about, _Told()), document, source)
                except (RecordDamaged, KeyError, TypeError, ValueError, IndexError) as error:
                    yield Damage(source=source, message=_why(error))


def _why(error: Exception) -> str:
    """Sentence about a line that cannot be read."""
    if isinstance(error, RecordDamaged):
        return str(error)
    if isinstance(error, ValidationError):
        return f"the policy in it is not one: {error.errors()[0]['msg']}"
    return f"not a decision record: {error!r}"


def _known_version(document: Any) -> None:
    """Refuse a record of another schema rather than misread it."""
    found = document["v"]
    if found != schema.VERSION:
        raise RecordDamaged(f"schema version {found!r}; this release reads {schema.VERSION}")


def _read(told: _Told, document: Document, source: Source) -> Record:
    """One record; `told` moves on with it."""
    prints = dict(part.split("=", 1) for part in document["inputs"].split())
    altered: list[str] = []

    def check(name: str, found: str) -> None:
        if prints.get(name) != found:
            altered.append(name)

    if "document" in document:
        told.documents[prints["policy"]] = document["document"]
    if prints["policy"] not in told.documents:
        raise RecordDamaged("the policy document that it refers to is not in the file before it")
    manifest = told.documents[prints["policy"]]
    check("policy", schema.digest(manifest))
    observation = _observation(told, document, check)
    fit, why = _fit(told, document, check)
    given = schema.memory_changed(told.chain.memory, document.get("memory", {}))
    check("memory", schema.digest(given))
    handed = schema.memory_changed(given, document.get("remembers", {}))
    told.chain = replace(told.chain, memory=handed)
    return Record(
        source=source,
        at=float(document["at"]),
        policy=TidePolicy.model_validate(manifest),
        observation=observation,
        fit=fit,
        memory=schema.memory_of(given),
        result=document["result"],
        remembers=handed,
        replayable=why,
        altered=tuple(altered),
    )


def _observation(told: _Told, document: Document, check: Any) -> Observation | None:
    """Target, history and doubts as they were seen."""
    if "target" not in document:
        return None
    target = {**(told.chain.target or {}), **document["target"]}
    check("target", schema.digest(target))
    doubts = document.get("doubts", [])
    if doubts:
        check("doubts", schema.digest(doubts))
    period = document.get("period", USUAL_PERIOD)
    if "period" in document:
        check("period", schema.digest(period))
    told.chain = replace(told.chain, target=target)
    history = None
    if "history" in document:
        kept = read_history(told.chain.kept, document["history"])
        check("history", kept.digest)
        told.chain = replace(told.chain, kept=kept)
        history = kept.history()
    return Observation(
        target=schema.target_of(target),
        history=history,
        doubts=schema.reasons_of(doubts),
        period=period,
    )


def _fit(told: _Told, document: Document, check: Any) -> tuple[Fit | None, str]:
    """Find what the knowledge was learnt from, or why that is not known."""
    knowledge = document.get("knowledge")
    if knowledge is None:
        return None, ""
    if isinstance(knowledge, str):
        if knowledge not in told.fits:
            raise RecordDamaged(f"the knowledge {knowledge} is not in the file before it")
        check("knowledge", told.fits[knowledge].id)
        return told.fits[knowledge], ""
    if "unknown" in knowledge:
        return None, "what its knowledge was learnt from was not recorded"
    if "document" in knowledge:
        told.documents[knowledge["policy"]] = knowledge["document"]
    kept = read_history(told.chain.kept, knowledge["history"])
    manifest = told.documents[knowledge["policy"]]
    fit = fit_of(knowledge["learnt"], manifest, kept, knowledge["period"])
    told.fits[knowledge["id"]] = fit
    check("knowledge", fit.id)
    return fit, ""


def read_history(before: Kept | None, document: Document) -> Kept:
    """History of what `chain.history_document` wrote."""
    header = {} if before is None else dict(before.header)
    header |= {k: v for k, v in document.items() if k not in {"demand", "saturated"}}
    step = header["step"]
    demand = _strip(None if before is None else before.demand, document["demand"], step)
    saturated = None
    if "saturated" in document:
        was = None if before is None else before.saturated
        saturated = _strip(was, document["saturated"], step)
    return sealed(demand, saturated, header)


def _strip(before: Strip | None, document: Document, step: float) -> Strip:
    """Strip of what `chain` wrote."""
    if "all" in document:
        return unblock(document["all"], step)
    if before is None:
        raise RecordDamaged("a history builds on one that is not in the file before it")
    skip, take = document["keep"]
    front = unblock(document.get("front", []), step)
    add = unblock(document.get("add", []), step)
    return apply(before, Patch(before=front, skip=skip, take=take, after=add))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the table of contents: who decided when, and where that stands."""

    key: str
    at: float
    source: Source


_HEAD = re.compile(r'"at":(-?[0-9.eE+-]+),"policy":"((?:[^"\\]|\\.)*)"')


def contents(path: Path) -> Iterator[Entry]:
    """List what is recorded, without reading back what it says; damaged lines are left out."""
    for file in files(path):
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                found = _HEAD.search(line, 0, 400)
                if found is not None:
                    key = json.loads(f'"{found[2]}"')
                    yield Entry(key=key, at=float(found[1]), source=Source(path=file, line=number))
