"""Names of what may decide, as in `forecast.use`, scores and status: forecaster, `@`, rule.

`profile@0.95` orders on the 0.95 quantile of the weekly profile; `ahead@18` takes the
distributions ahead at a price of 18 for uncovered demand. Without a rule the replay chooses it,
and `auto` lets it choose the forecaster too. It stands below policy and forecasters, since both
must agree on names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

AUTO = "auto"
AHEAD = "ahead"
SHAPES = ("no-tide", "yesterday", "last-week", "profile", "intermittent", "autoreg")
"""Forecasters that order on a quantile."""

LEAST_LEVEL, MOST_LEVEL = 0.5, 0.998
LEAST_COVER, MOST_COVER = 0.01, 1e6

ALLOWED = (
    f"{AUTO}, {AHEAD}, {', '.join(SHAPES)}; all but {AUTO} also with a rule: {AHEAD}@18 (a price "
    f"of {LEAST_COVER:g} to 1000000), profile@0.95 (a quantile of {LEAST_LEVEL:g} to "
    f"{MOST_LEVEL:g})"
)
PATTERN = rf"^({AUTO}|({'|'.join((AHEAD, *SHAPES))})(@[0-9.]+)?)$"

_FORM = re.compile(r"([a-z-]+)(?:@([0-9]+(?:\.[0-9]+)?))?")


class CandidateUnknown(ValueError):
    """There is no candidate of that name; `near` is the forecaster that was probably meant."""

    def __init__(self, near: str) -> None:
        super().__init__(ALLOWED)
        self.near = near


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A forecaster and how replicas are ordered by it.

    Attributes
    ----------
    forecaster : name; `auto` is none in particular
    rule : quantile of a shape, price of uncovered demand of `ahead`; None leaves it open
    """

    forecaster: str
    rule: float | None = None

    @property
    def open(self) -> bool:
        """Whether the replay has everything to choose."""
        return self.forecaster == AUTO

    def __str__(self) -> str:
        """Its name, as in scores: a rule in three digits, never with an exponent."""
        if self.rule is None:
            return self.forecaster
        return f"{self.forecaster}@{float(f'{self.rule:.3g}'):.10g}"


def candidate_of(name: str) -> Candidate:
    """Read a name.

    Raises
    ------
    CandidateUnknown
    """
    match = _FORM.fullmatch(name)
    if match is None:
        raise CandidateUnknown(_near(name))
    forecaster, rule = match.groups()
    value = None if rule is None else float(rule)
    if forecaster == AUTO and value is None:
        return Candidate(forecaster=AUTO)
    if forecaster == AHEAD:
        bounds = LEAST_COVER, MOST_COVER
    elif forecaster in SHAPES:
        bounds = LEAST_LEVEL, MOST_LEVEL
    else:
        raise CandidateUnknown(_near(forecaster))
    if value is not None and not bounds[0] <= value <= bounds[1]:
        raise CandidateUnknown("")
    return Candidate(forecaster=forecaster, rule=value)


def forecaster_of(name: str) -> str:
    """Forecaster in the name of a candidate that was chosen, whose rule nobody need be able to pin.

    On a short history the usual quantile of an extreme price is ordered on, beyond those.
    """
    return name.partition("@")[0]


def _near(name: str) -> str:
    from autoscaler.schema.problems import nearest  # noqa: PLC0415  # only for an error

    return nearest(name.partition("@")[0], (AUTO, AHEAD, *SHAPES))
