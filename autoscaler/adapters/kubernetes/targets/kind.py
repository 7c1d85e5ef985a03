"""What a kind of target must be able to do: be read as a Target, and be moved by one JSON Patch.

A kind is one file beside this one and one line in the registry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from autoscaler.adapters.kubernetes.resources import Json, Resource
from autoscaler.model import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """The workload behind a target: whose pods count as replicas."""

    api_version: str
    kind: str
    name: str


class TargetKind(Protocol):
    """One kind of scaling target."""

    @property
    def resource(self) -> Resource:
        """Where its objects are."""
        ...

    def read(self, found: Json) -> Target:
        """Take an object apart; `ready` and the pause of its namespace are for the caller.

        Raises
        ------
        TargetRefused
            A floor must not be written to it; the message says what to target instead.
        TargetUnavailable
            It is about to go.
        """
        ...

    def scaled(self, found: Json) -> Scaled | None:
        """Workload that the target scales."""
        ...

    def move(self, target: Target, floor: int, controller: str = "") -> list[Json]:
        """JSON Patch that moves the floor if the target is still as observed.

        `controller` is noted in our annotation, so that another one knows whose floor it is.
        """
        ...

    def give_back(self, target: Target) -> list[Json]:
        """JSON Patch that restores the original floor and removes our annotation."""
        ...

    def moved(self, observed: Target, found: Json) -> str:
        """Say what is different from what was observed; "" when nothing that we rely on."""
        ...
