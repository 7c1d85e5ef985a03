"""A scenario file → a checked question, or every mistake in it at its line.

What can be said before anything is played is said here: a scenario whose third claim names a peer
that is not asked must not be found out after a minute. The words are those of policies
(`schema.problems`), so that a person learns them once.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from autoscaler.errors import InputError
from autoscaler.policy import TidePolicy
from autoscaler.schema.documents import Document
from autoscaler.schema.durations import format_duration
from autoscaler.schema.problems import Problem, explain, nearest, shown
from autoscaler.schema.words import Path
from autoscaler.simulator.claims import unclear
from autoscaler.simulator.peers import Peer, peers
from autoscaler.simulator.plain import DAY
from autoscaler.simulator.scenario import Scenario, policy_document, policy_of
from autoscaler.simulator.texts import read_documents

OURS = "foretide"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A scenario that can be played.

    Attributes
    ----------
    name : the file's, without its ending
    """

    name: str
    scenario: Scenario
    policy: TidePolicy
    peers: tuple[Peer, ...]


def scenarios_in(path: pathlib.Path) -> list[pathlib.Path]:
    """Give the scenario files of a folder, or the one file."""
    if path.is_file():
        return [path]
    return sorted((*path.glob("*.yaml"), *path.glob("*.yml")))


def read_questions(path: pathlib.Path) -> list[Question]:
    """Read a scenario file, or all of a folder.

    Raises
    ------
    InputError
        There is none, or one is not usable; every mistake of every file on its own line.
    """
    files = scenarios_in(path)
    if not files:
        raise InputError(f"{path}: no scenario (*.yaml) in it")
    questions, mistakes = [], []
    for file in files:
        try:
            questions.append(read_question(file))
        except InputError as error:
            mistakes.append(str(error))
    if mistakes:
        raise InputError("\n".join(mistakes))
    return questions


def read_question(path: pathlib.Path) -> Question:
    """Read one scenario file.

    Raises
    ------
    InputError
        It is not one; every mistake on its own line, in the order of the text.
    """
    document = _document(path)
    scenario, problems = _scenario(document.value)
    if scenario is not None:
        problems = [*_of_policy(scenario, path.stem), *_of_times(scenario), *_of_names(scenario)]
    spoilt = [problem.path for problem in document.problems]
    placed = [document.placed(problem) for problem in problems if problem.path not in spoilt]
    if scenario is None or placed or document.problems:
        in_order = sorted([*document.problems, *placed], key=Problem.position)
        raise InputError("\n".join(str(problem) for problem in in_order))
    known = peers()
    return Question(
        name=path.stem,
        scenario=scenario,
        policy=policy_of(scenario, path.stem),
        peers=tuple(known[name] for name in scenario.peers),
    )


def _document(path: pathlib.Path) -> Document:
    """Parse the one document of a file."""
    documents = read_documents(path)
    if len(documents) != 1:
        raise InputError(f"{path}: found {len(documents)} documents; a scenario is one")
    return documents[0]


def _scenario(value: Any) -> tuple[Scenario | None, list[Problem]]:
    """Validate the document against the schema alone."""
    if not isinstance(value, dict):
        allowed = f"a mapping with {', '.join(Scenario.model_fields)}"
        return None, [Problem(found=f"found {shown(value)}", allowed=allowed)]
    try:
        return Scenario.model_validate(value, by_alias=True, by_name=False), []
    except ValidationError as error:
        return None, list(explain(error, Scenario))


def _of_policy(scenario: Scenario, name: str) -> Iterator[Problem]:
    """Say what of `policy` no policy could have."""
    try:
        TidePolicy.model_validate(policy_document(scenario, name), by_alias=True, by_name=False)
    except ValidationError as error:
        for problem in explain(error, TidePolicy):
            yield Problem(
                path=("policy", *problem.path[1:]),
                found=problem.found,
                allowed=problem.allowed,
                near=problem.near,
                key=problem.key,
            )


def _of_times(scenario: Scenario) -> Iterator[Problem]:
    """Say which times lie where the traffic is no more."""
    world, end = scenario.world, scenario.traffic.days * DAY
    length = f"the traffic has {scenario.traffic.days} days"
    before = world.history + world.settle
    if before + DAY / 24 > end:
        found = f"history and settle take {format_duration(before)}"
        yield Problem(
            path=("world",), found=found, allowed=f"{length}, and an hour at least is evaluated"
        )
    happenings = scenario.traffic.happenings
    begins: list[tuple[Path, float]] = [
        (("traffic", "happenings", i), happening.begin) for i, happening in enumerate(happenings)
    ]
    for alias, field in (
        *(("pool", world.pool), ("metricsAway", world.metrics_away)),
        *(("metricsGaps", world.metrics_gaps), ("metricsWrong", world.metrics_wrong)),
        *(("apiAway", world.api_away), ("reverts", world.reverts), ("clock", world.clock)),
    ):
        begins += [(("world", alias, i), when.begin) for i, when in enumerate(field)]
    begins += [(("world", "restarts", i), at) for i, at in enumerate(world.restarts)]
    for path, begin in begins:
        if begin >= end:
            yield Problem(path=path, found=f"begins after {format_duration(begin)}", allowed=length)


def _of_names(scenario: Scenario) -> Iterator[Problem]:
    """Say which peers nobody knows, and which claims nobody could judge."""
    known = list(peers())
    for i, name in enumerate(scenario.peers):
        if name not in known:
            allowed, near = f"allowed: {', '.join(known)}", nearest(name, known)
            yield Problem(path=("peers", i), found=f'found "{name}"', allowed=allowed, near=near)
    for i, claim in enumerate(scenario.claims):
        problem = unclear(claim, (OURS, *scenario.peers))
        if problem is not None:
            yield Problem(
                path=("claims", i),
                found=problem.found,
                allowed=problem.allowed,
                near=problem.near,
            )
