"""Claims of a scenario: read, judged, and told with the number.

`METRIC OP NUMBER [%]`, or `METRIC OP [NUMBER ×] RUN` with the same metric of another run; METRIC is
a field of a run's account (ours), or of what production did (`writes`). Two more in words:
`no floor lowered while metrics are away`, `no floor lowered after a restart`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from autoscaler.errors import InputError
from autoscaler.simulator.runs import Run

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CLAIM = re.compile(
    r"^(?P<metric>[a-z_]+)\s*(?P<op><=|>=|<|>)\s*"
    r"(?:(?P<number>[0-9.]+)\s*(?P<percent>%)?)?\s*(?:[×x*]\s*)?(?P<run>[a-z][a-z0-9 -]*)?$"
)
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


def judge(claim: str, evidence: Evidence) -> Verdict:
    """Judge one claim.

    Raises
    ------
    InputError
        It cannot be read, or names a metric or a run that is not there.
    """
    if claim in {AWAY, RESTART}:
        times = evidence.lowered_in_doubt if claim == AWAY else evidence.lowered_after_restart
        return Verdict(claim=claim, holds=times == 0, found=f"lowered {times} times")
    parts = _CLAIM.match(claim.strip())
    if parts is None or (parts["number"] is None and parts["run"] is None):
        raise InputError(
            f"claims: {claim!r} cannot be read; write `late_fraction <= 0.1 %`, "
            f"`score < 0.8 × hpa`, `{AWAY}` or `{RESTART}`"
        )
    value = _metric(parts["metric"], evidence, evidence.runs[0])
    limit = 1.0 if parts["number"] is None else float(parts["number"])
    if parts["percent"]:
        limit /= 100
    against = ""
    if parts["run"]:
        other = _named(parts["run"].strip(), evidence.runs)
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
    if name not in numbers:
        raise InputError(f"claims: no metric {name!r}; known are {', '.join(numbers)}")
    return float(numbers[name])


def _named(name: str, runs: Sequence[Run]) -> Run:
    """Find a run."""
    for run in runs:
        if run.name == name:
            return run
    raise InputError(f"claims: no run {name!r}; there are {', '.join(run.name for run in runs)}")
