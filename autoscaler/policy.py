"""The policy schema: what a service owner writes, as pydantic models.

From these models the custom resource definition, the JSON Schema and `policies/README.md` are
generated. A field is accepted only once it works.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from autoscaler.model import Mode

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "y": 31536000.0}
_DURATION = re.compile(r"^(?:\d+(?:y|w|d|h|ms|m|s))+$")


def parse_duration(text: object) -> float:
    """Seconds of a Prometheus duration such as `5m` or `1h30m`.

    Raises
    ------
    ValueError
        It is not such a duration; a bare number is refused, since its unit would be a guess.
    """
    if not isinstance(text, str) or not _DURATION.match(text):
        raise ValueError(f"{text!r} is not a duration; write a number with a unit, such as 30s, 5m, 1h30m, 28d")
    return sum(
        int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)(y|w|d|h|ms|m|s)", text)
    )


Duration = Annotated[float, BeforeValidator(parse_duration)]


class Model(BaseModel):
    """Base of every part of a policy: camelCase outside, unknown keys refused, immutable."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )


class TargetRef(Model):
    api_version: Literal["autoscaling/v2"]
    kind: Literal["HorizontalPodAutoscaler"]
    name: str


class Demand(Model):
    preset: Literal["vllm"] | None = None
    query: str | None = None
    match_labels: dict[str, str] = Field(default_factory=dict)
    history: Duration = 28 * 86400.0


class Capacity(Model):
    per_replica: float = Field(gt=0, allow_inf_nan=False)


class ColdStart(Model):
    duration: Duration = 300.0


class Floor(Model):
    min: int | None = Field(default=None, ge=1)
    max: int | None = Field(default=None, ge=1)
    raise_limit: int | None = Field(default=None, ge=1)


class Release(Model):
    after: Duration = 600.0
    break_even: Duration = 1800.0


class Promise(Model):
    wait: Duration = 5.0


class Event(Model):
    name: str
    start: str
    end: str
    factor: float = Field(gt=0, allow_inf_nan=False)


class Spec(Model):
    mode: Mode = Mode.OBSERVE
    time_zone: str = "UTC"
    target_ref: TargetRef
    demand: Demand
    capacity: Capacity
    cold_start: ColdStart = ColdStart()
    floor: Floor = Floor()
    release: Release = Release()
    promise: Promise = Promise()
    events: tuple[Event, ...] = ()


class Metadata(Model):
    # the API server adds many more fields; only these are ours
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, alias_generator=to_camel)
    name: str
    namespace: str = "default"
    annotations: dict[str, str] = Field(default_factory=dict)
    generation: int | None = None
    uid: str | None = None


class TidePolicy(Model):
    api_version: Literal["foretide.dev/v1alpha1"] = "foretide.dev/v1alpha1"
    kind: Literal["TidePolicy"] = "TidePolicy"
    metadata: Metadata
    spec: Spec

    @property
    def key(self) -> str:
        """`namespace/name`, unique in a cluster."""
        return f"{self.metadata.namespace}/{self.metadata.name}"
