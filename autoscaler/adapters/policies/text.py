"""Text or a custom resource → policies, or all that is wrong with them at once. No I/O.

A document is taken whole or not at all: a policy with one mistake is no policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from autoscaler.errors import PolicyError
from autoscaler.policy import API_VERSION, GROUP, KIND, TidePolicy
from autoscaler.ports import Listed, Refusal
from autoscaler.schema.documents import Document, UnreadableTextError, parse
from autoscaler.schema.problems import Problem, explain, nearest, shown
from autoscaler.schema.words import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A policy and where it stands (`file:line:column`)."""

    policy: TidePolicy
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A document that should be a policy, and why it is none.

    Attributes
    ----------
    key : `namespace/name`, or "" when that much could not be read
    where : the file, and the line and column of the document when there is one
    """

    key: str
    where: str
    problems: tuple[Problem, ...]

    @property
    def message(self) -> str:
        """One line for each problem."""
        return "\n".join(str(problem) for problem in self.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one or several texts came to.

    Attributes
    ----------
    skipped : a sentence for each document of another kind
    """

    found: tuple[Found, ...] = ()
    broken: tuple[Broken, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong, in the order of the text."""
        return tuple(problem for broken in self.broken for problem in broken.problems)

    def __add__(self, other: Reading) -> Reading:
        """Put two readings together; what clashes between them is for `unique` to say."""
        return Reading(
            found=self.found + other.found,
            broken=self.broken + other.broken,
            skipped=self.skipped + other.skipped,
        )


def parse_object(given: Mapping[str, Any]) -> TidePolicy:
    """Take a policy from a custom resource or another decoded document.

    Raises
    ------
    PolicyError
        With one line `path: found; allowed; nearest` for each problem.
    """
    policy, problems = _policy(dict(given))
    if policy is None:
        raise PolicyError("\n".join(str(problem) for problem in problems))
    return policy


def read_text(raw: bytes, source: str) -> Reading:
    """Take all policies from the bytes of a YAML text, named `source` in messages."""
    try:
        documents = parse(raw, source)
    except UnreadableTextError as error:
        return Reading(broken=(Broken(key="", where=source, problems=(error.problem,)),))
    reading = Reading()
    for document in documents:
        if document.value is not None or document.problems:
            reading += _read_document(document)
    return reading


def _read_document(document: Document) -> Reading:
    """Take one document: a policy, a broken one, or something else."""
    where = document.where(())
    kind = _other_kind(document.value)
    if kind:
        note = f"{where}: skipped a document of kind {kind}; only {KIND} is read"
        return Reading(skipped=(note,))
    policy, problems = _policy(document.value)
    spoilt = [problem.path for problem in document.problems]
    # what the text itself spoilt has been said already, at the very place
    placed = [document.placed(problem) for problem in problems if problem.path not in spoilt]
    if policy is None or placed or document.problems:
        in_order = sorted([*document.problems, *placed], key=Problem.position)
        broken = Broken(key=_key(document.value), where=where, problems=tuple(in_order))
        return Reading(broken=(broken,))
    return Reading(found=(Found(policy=policy, where=where),))


def _other_kind(value: Any) -> str:
    """Return `kind (apiVersion)` of a document that is surely no policy, else "".

    What only looks like another kind by a slip of the hand (TidePolcy) is not passed over.
    """
    if not isinstance(value, dict):
        return ""
    kind, version = value.get("kind"), value.get("apiVersion")
    ours = isinstance(version, str) and version.split("/", maxsplit=1)[0] == GROUP
    if not isinstance(kind, str) or ours or nearest(kind, [KIND]):
        return ""
    return f"{kind} ({version})" if isinstance(version, str) else kind


def _policy(value: Any) -> tuple[TidePolicy | None, list[Problem]]:
    """Validate one document; problems carry paths, not places."""
    if not isinstance(value, dict):
        allowed = "a mapping with apiVersion, kind, metadata, spec"
        return None, [Problem(found=f"found {shown(value)}", allowed=allowed)]
    problems = [
        Problem(path=(name,), found="missing", allowed=f"required: {expected}")
        for name, expected in (("apiVersion", API_VERSION), ("kind", KIND))
        if value.get(name) is None
    ]
    problems += [
        Problem(path=path, found="found nothing (null)", allowed="a value, or leave the key out")
        for path in _nulls(value.get("spec"), ("spec",))
    ]
    try:
        policy = TidePolicy.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        said = {problem.path for problem in problems}
        problems += [p for p in explain(error, TidePolicy) if p.path not in said]
        return None, problems
    return (None if problems else policy), problems


def _nulls(value: Any, path: Path) -> Iterator[Path]:
    """Paths of nulls, which the API server would refuse or drop."""
    inner = value.items() if isinstance(value, dict) else enumerate(value or ())
    for key, item in inner:
        if item is None:
            yield (*path, key)
        elif isinstance(item, dict | list):
            yield from _nulls(item, (*path, key))


def _key(value: Any) -> str:
    """`namespace/name` of a broken document, as far as it can be read."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return ""
    namespace = metadata.get("namespace", "default")
    return f"{namespace}/{metadata['name']}" if isinstance(namespace, str) else ""


def unique(reading: Reading) -> Reading:
    """Refuse what clashes: a second policy of the same name, or on the same target.

    The first one in the order given stays, so that adding a policy never stops another.
    """
    kept: list[Found] = []
    broken = list(reading.broken)
    keys: dict[str, Found] = {}
    targets: dict[str, Found] = {}
    for found in reading.found:
        policy = found.policy
        if policy.key in keys:
            problem = Problem(
                where=found.where,
                path=("metadata", "name"),
                found=f"found a second policy {policy.key}",
                allowed=f"the first is at {keys[policy.key].where or 'hand'}; rename one",
            )
        elif policy.target_key in targets:
            first = targets[policy.target_key]
            problem = Problem(
                where=found.where,
                path=("spec", "targetRef"),
                found=f"found a second policy on {policy.target_key}",
                allowed=f"one policy for each target, and {first.policy.key} "
                f"{f'({first.where}) ' if first.where else ''}has it",
            )
        else:
            keys[policy.key] = targets[policy.target_key] = found
            kept.append(found)
            continue
        broken.append(Broken(key=policy.key, where=found.where, problems=(problem,)))
    return replace(reading, found=tuple(kept), broken=tuple(broken))


def listed(reading: Reading) -> Listed:
    """Turn a reading into what a policy source answers."""
    # a second document of one name must not refuse the first, which is in force
    keys = {found.policy.key for found in reading.found}
    return Listed(
        policies=tuple(found.policy for found in reading.found),
        refused=tuple(
            Refusal(key=broken.key or broken.where, message=broken.message)
            for broken in reading.broken
            if broken.key not in keys
        ),
        complete=all(broken.key for broken in reading.broken),
    )


def one_per_target(policies: Iterable[TidePolicy]) -> Listed:
    """Keep the first policy of each target, oldest first as given; the others are refused."""
    reading = unique(Reading(found=tuple(Found(policy=p, where="") for p in policies)))
    return Listed(
        policies=tuple(found.policy for found in reading.found),
        refused=tuple(Refusal(key=broken.key, message=broken.message) for broken in reading.broken),
    )
