"""Claims of a scenario: read, judged, and told with the number.

`METRIC OP NUMBER [%]`, or `METRIC OP [NUMBER ×] RUN` with the same metric of another run; METRIC is
a field of a run's account (ours), or of what production did (`writes`). Two more in words:
`no floor lowered while metrics are away`, `no floor lowered after a restart`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from autoscaler.errors import InputError
from autoscaler.schema.problems import nearest
from autoscaler.simulator.plain import Account
from autoscaler.simulator.runs import Run

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CLAIM = re.compile(
    r"^(?P<metric>[a-z_]+)\s*(?P<op><=|>=|<|>)\s*"
    r"(?:(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%)?)?"
    r"\s*(?:[×x*]\s*)?(?P<run>[a-z][a-z0-9-]*)?$"
)
COUNTS = ("writes",)
"""What is counted of ours beside the account."""
AWAY = "no floor lowered while metrics are away"
RESTART = "no floor lowered after a restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a claim."""

    claim: str
    holds: bool
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What claims are judged by.

    Attributes
    ----------
    runs : ours first, by name
    counts : further metrics of ours, such as `writes`
    lowered_in_doubt, lowered_after_restart : how many floors were lowered when they must not be
    """

    runs: Sequence[Run]
    counts: Mapping[str, float]
    lowered_in_doubt: int = 0
    lowered_after_restart: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """Why a claim cannot be judged: what was found, what is allowed, the nearest name."""

    found: str
    allowed: str
    near: str = ""


def unclear(claim: str, runs: Sequence[str]) -> Unclear | None:
    """Say why a claim could not be judged beside runs of those names, None when it can be.

    Told before anything is played, since a world takes its time.
    """
    if claim in {AWAY, RESTART}:
        return None
    parts = _parts(claim)
    if parts is None:
        allowed = f"allowed: `late_fraction <= 0.1 %`, `score < 0.8 × hpa`, `{AWAY}`, `{RESTART}`"
        return Unclear(found=f'found "{claim}", which cannot be read', allowed=allowed)
    metrics = [field.name for field in fields(Account)] + list(COUNTS)
    metric, run = parts["metric"], parts["run"] or runs[0]
    if metric not in metrics:
        return _unknown("metric", metric, metrics)
    if run not in runs:
        return _unknown("run", run, runs)
    if metric in COUNTS and run != runs[0]:
        return Unclear(
            found=f"found {metric} of {run}", allowed=f"{metric} is counted of ours only"
        )
    return None


def _unknown(kind: str, name: str, names: Sequence[str]) -> Unclear:
    """Say that a name is none of those that are known."""
    return Unclear(
        found=f'found the {kind} "{name}"',
        allowed=f"allowed: {', '.join(names)}",
        near=nearest(name, names),
    )


def _parts(claim: str) -> re.Match[str] | None:
    """Take a claim apart; None when it says no number and no run."""
    parts = _CLAIM.match(claim.strip())
    return None if parts is None or (parts["number"] is None and parts["run"] is None) else parts


def judge(claim: str, evidence: Evidence) -> Verdict:
    """Judge one claim.

    Raises
    ------
    InputError
        It cannot be read, or names a metric or a run that is not there.
    """
    problem = unclear(claim, [run.name for run in evidence.runs])
    if problem is not None:
        raise InputError(f"claims: {problem.found}; {problem.allowed}")
    if claim in {AWAY, RESTART}:
        times = evidence.lowered_in_doubt if claim == AWAY else evidence.lowered_after_restart
        return Verdict(claim=claim, holds=times == 0, found=f"lowered {times} times")
    parts = _parts(claim)
    assert parts is not None  # `unclear` would have said so
    value = _metric(parts["metric"], evidence, evidence.runs[0])
    limit = 1.0 if parts["number"] is None else float(parts["number"])
    if parts["percent"]:
        limit /= 100
    against = ""
    if parts["run"]:
        other = next(run for run in evidence.runs if run.name == parts["run"])
        theirs = _metric(parts["metric"], evidence, other)
        against = f" ({other.name}: {theirs:.6g})"
        limit *= theirs
    holds = _OPERATORS[parts["op"]](value, limit)
    return Verdict(claim=claim, holds=holds, found=f"{parts['metric']} is {value:.6g}{against}")


def _metric(name: str, evidence: Evidence, run: Run) -> float:
    """Give a metric of a run."""
    numbers = asdict(run.account)
    if run is evidence.runs[0]:
        numbers.update(evidence.counts)
    return float(numbers[name])
