"""The policy schema: what a service owner writes, as pydantic models.

From these models the custom resource definition, the JSON Schema and `policies/README.md` are
generated, so the docstring under a field is its documentation: meaning, unit, why this default.
A field is accepted only once it works. Inside, durations are float seconds.

One module, although it is long: half of it is the documentation of its fields.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails

from autoscaler.model import Mode
from autoscaler.schema import calendar as calendars
from autoscaler.schema import candidates, walltime
from autoscaler.schema import recurring as weekly
from autoscaler.schema.calendar import Calendar, SpecialDay
from autoscaler.schema.candidates import Candidate
from autoscaler.schema.cold_start import ColdStart
from autoscaler.schema.events import Event, EventWindow, HoldWindow, holds, problems_of, windows
from autoscaler.schema.fields import (
    Allowed,
    Count,
    CountOrNone,
    DurationIn,
    Model,
    Number,
    details,
    refusal,
)
from autoscaler.schema.price import Price
from autoscaler.schema.recurring import Recurring, RecurringWindow

GROUP = "foretide.dev"
API_VERSION: Final = "foretide.dev/v1alpha1"
KIND: Final = "TidePolicy"
PAUSED_ANNOTATION = "foretide.dev/paused"

_DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_DNS_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_LABEL = r"^[a-zA-Z_][a-zA-Z0-9_]*$"

ObjectName = Annotated[
    str,
    Allowed("a name in lower case: letters, digits, - and ."),
    Field(min_length=1, max_length=253, pattern=_DNS_NAME),
]


class TargetRef(Model):
    """The object whose floor is moved, in the policy's own namespace."""

    api_version: Literal["autoscaling/v2"]
    """API group and version of the target."""
    kind: Literal["HorizontalPodAutoscaler"]
    """Kind of the target. Its `minReplicas` is the floor, its `maxReplicas` the ceiling."""
    name: ObjectName
    """Name of the target."""


class Demand(Model):
    """What arrives at the service, and how much of its past is looked at."""

    preset: Literal["vllm"] | None = None
    """A serving engine whose metrics are known: `vllm` reads the request rate that is offered to
    vLLM, queue growth included, so that it stays true in saturation. Exactly one of `preset`
    and `query`."""
    query: Annotated[str, Field(min_length=1, max_length=8192)] | None = Field(
        default=None, validate_default=True
    )
    """PromQL for anything else; it must give one series: what *arrives* per second, in the unit
    of `capacity.perReplica` (never utilisation, never replicas, not what was served)."""
    match_labels: dict[
        Annotated[str, Field(pattern=_LABEL, max_length=128)], Annotated[str, Field(max_length=256)]
    ] = Field(default_factory=dict, max_length=16)
    """Labels that pick this service's series for a preset, beside the policy's namespace. Only
    with `preset`, since a query names its own labels."""
    backlog: Annotated[str, Field(min_length=1, max_length=8192)] | None = None
    """PromQL for what waits at the service now, beside `query`: one number, in the demand's unit
    without its "per second" (requests that wait). Read with every decision; a preset knows its own.
    Left out: what waits is not seen, and `promise.drain` has nothing to drain."""
    history: Annotated[float, DurationIn("2d", "400d")] = 28 * 86_400.0
    """How far back demand is read, as much of it as there is. Four weeks show each weekday four
    times; more helps only if the tide is the same as then."""

    @field_validator("query", mode="after")
    @classmethod
    def _one_source(cls, query: str | None, info: ValidationInfo) -> str | None:
        if "preset" not in info.data:  # it was refused and has its own error
            return query
        if query is None and info.data["preset"] is None:
            raise refusal("found neither preset nor query", "exactly one of preset, query")
        if query is not None and info.data["preset"] is not None:
            raise refusal("found query beside preset", "exactly one of preset, query")
        if query is not None and not query.strip():
            raise refusal("found only blanks", "a PromQL expression")
        return query

    @field_validator("backlog", mode="after")
    @classmethod
    def _beside_a_query(cls, backlog: str | None, info: ValidationInfo) -> str | None:
        if backlog is not None and info.data.get("preset") is not None:
            raise refusal("found backlog beside preset", "a preset reads what waits by itself")
        if backlog is not None and not backlog.strip():
            raise refusal("found only blanks", "a PromQL expression")
        return backlog

    @property
    def source(self) -> tuple[str | None, str | None, tuple[tuple[str, str], ...]]:
        """Which series it is; the same however much of it is read, and whatever waits beside it."""
        return self.preset, self.query, tuple(sorted(self.match_labels.items()))

    @property
    def waits(self) -> bool:
        """Whether what waits can be read."""
        return self.preset is not None or self.backlog is not None

    @field_validator("match_labels", mode="after")
    @classmethod
    def _labels_of_a_preset(cls, labels: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if labels and info.data.get("query") is not None:
            raise refusal(
                "found matchLabels beside query",
                "matchLabels belong to a preset: write them into the query",
            )
        reserved = sorted(name for name in labels if name.startswith("__"))
        if reserved:
            raise refusal(f"found {reserved[0]}", "labels that start with __ are Prometheus' own")
        return labels


class Capacity(Model):
    """What one replica carries."""

    per_replica: Annotated[Number, Field(gt=0, le=1e12, allow_inf_nan=False)]
    """Demand that one replica carries while it keeps the promised wait, in the demand's unit (per
    second). From a load test of the served model on the served GPU; no default, since every
    wrong guess is paid in GPUs or in late requests."""


class Floor(Model):
    """Bounds of the floor. Within them the forecast decides."""

    min: CountOrNone | None = None
    """Fewest replicas at any hour, whole. Left out: the `minReplicas` found on the target before
    Foretide first wrote to it, since somebody chose that. 0: none stand while none was needed for a
    whole `release.breakEven` and none is foreseen; they are woken a lead time before they are
    needed, and a request at an unexpected moment waits for a cold start. An HPA takes 0 from
    Kubernetes 1.37 on, beside a metric of type Object or External; on others 1 is kept."""
    max: Count | None = None
    """Most replicas that the *floor* asks for, whole; the autoscaler above may go beyond. Left
    out: the target's ceiling."""
    raise_limit: Count | None = None
    """Most replicas added to the floor in one cycle, for clusters where many starts at once
    starve each other of bandwidth. Left out: no limit, since a late rise costs more."""

    @field_validator("max", mode="after")
    @classmethod
    def _ordered(cls, most: int | None, info: ValidationInfo) -> int | None:
        least = info.data.get("min")
        if most is not None and least is not None and most < least:
            raise refusal(f"found {most}, below floor.min {least}", "max is at least min")
        return most


class Release(Model):
    """How replicas are let go."""

    after: Annotated[float, DurationIn("0s", "1d")] = 600.0
    """The floor is lowered only to the highest that was wanted within this time, so that a dip is
    waited out; where the history holds each value for longer than a step, within three of its rows
    (at most 30 minutes). An autoscaler's own window does not protect a lowered floor."""
    break_even: Annotated[float, DurationIn("0s", "7d")] = 1800.0
    """How long an idle replica may be kept for what starting it again costs (start-up, lost
    prefix and KV cache, drain): one start is worth this much of a replica's time."""


class Promise(Model):
    """What the service promises."""

    wait: Annotated[float, DurationIn("0s", "1h")] = 5.0
    """A request is *late* when it meets a backlog worth more than this wait. Five seconds are
    about what a person at a chat waits for the first word."""
    drain: Annotated[float, DurationIn("1m", "1d")] = 600.0
    """What waits, where a preset or `demand.backlog` sees it, is to be gone within this: replicas
    for it are ordered beside those for the newest demand. Only while it waits, so a cold start that
    is longer than this buys nothing. Refused where nothing says what waits."""


class Forecasting(Model):
    """Who says what comes."""

    use: Annotated[
        str,
        Allowed(candidates.ALLOWED),
        Field(min_length=1, max_length=32, pattern=candidates.PATTERN),
    ] = candidates.AUTO
    """What decides: a forecaster, with or without the rule on which it orders. `auto`: whatever
    would have done best on the service's own past, chosen once a week and fitted again each night.
    To pin it, take a name that `foretide tune` or the policy's status shows: `ahead` or `ahead@18`
    (whole distributions of what comes, and a price of demand that finds no replica), `profile` or
    `profile@0.95` (the weekly profile, ordering on that quantile), `last-week`, `yesterday`,
    `intermittent`, `autoreg`, `no-tide` likewise. Where the history is still too short for what is
    pinned, the best of the others decides and a reason says so."""

    @field_validator("use", mode="before")
    @classmethod
    def _known(cls, name: Any) -> Any:
        if not isinstance(name, str):
            return name  # refused by its type
        try:
            candidates.candidate_of(name)
        except candidates.CandidateUnknown as error:
            raise refusal(f'found "{name}"', str(error), error.near) from error
        return name

    @property
    def candidate(self) -> Candidate:
        """What is pinned, taken apart."""
        return candidates.candidate_of(self.use)


class Spec(Model):
    """What is wanted for one service."""

    mode: Mode = Mode.OBSERVE
    """What may be written. `Observe`: nothing, decisions are only shown. `RaiseOnly`: the floor
    never goes below the one that was found. `Act`: the floor moves both ways within its bounds.
    Observe is the default, so that a new policy can be watched before it is trusted."""
    time_zone: Annotated[str, Field(min_length=1, max_length=64)] = "UTC"
    """IANA zone of the tide and of event times, as `Asia/Shanghai`. People come by the clock on
    their wall, so the tide follows it through daylight saving changes."""
    target_ref: TargetRef
    """The object whose floor is moved. One policy for each target."""
    demand: Demand
    """Where demand is read."""
    capacity: Capacity
    """What one replica carries."""
    cold_start: ColdStart = ColdStart()
    """How long a new replica takes: replicas are ordered this much ahead of the need."""
    floor: Floor = Floor()
    """Bounds of the floor."""
    release: Release = Release()
    """How replicas are let go."""
    promise: Promise = Promise()
    """What counts as late."""
    forecast: Forecasting = Forecasting()
    """Who says what comes."""
    price: Price = Price()
    """What lateness is worth."""
    events: Annotated[tuple[Event, ...], Field(max_length=100)] = ()
    """Known one-off events. Where several overlap, their factors multiply, and of several
    `demand` the largest counts, whatever the factors."""
    calendar: Calendar = Calendar()
    """Days that are not like their weekday: used as what they are like, both when they come and
    as history, so that a holiday teaches no Wednesday."""
    recurring: Annotated[tuple[Recurring, ...], Field(max_length=50)] = ()
    """Windows that come back every week. Computed from the time of each cycle: a missed cycle
    loses nothing. Where several overlap, the largest floor counts and factors multiply."""

    @field_validator("time_zone", mode="after")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        try:
            walltime.zone(name)
        except ValueError as error:
            from zoneinfo import available_timezones  # noqa: PLC0415  # walks the disk

            from autoscaler.schema.problems import nearest  # noqa: PLC0415  # only for an error

            near = nearest(name, sorted(available_timezones()))
            raise refusal(f"{error}", "an IANA name such as Asia/Shanghai", near) from error
        return name

    @field_validator("promise", mode="after")
    @classmethod
    def _drains_what_is_seen(cls, promise: Promise, info: ValidationInfo) -> Promise:
        demand = info.data.get("demand")  # without it, it was refused and has its own error
        if demand is not None and not demand.waits and "drain" in promise.model_fields_set:
            raise refusal(
                "found drain, but nothing says what waits",
                "write demand.backlog beside demand.query, or leave drain out",
            )
        return promise

    @model_serializer(mode="wrap")
    def _without_what_has_no_effect(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = handler(self)
        if not self.demand.waits and "promise" in found:
            found["promise"].pop("drain", None)
        return found

    @field_validator("events", mode="wrap")
    @classmethod
    def _events_can_happen(
        cls, given: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> tuple[Event, ...]:
        # both kinds of errors are reported, so that one run of `check` shows everything
        problems: list[InitErrorDetails] = []
        events: tuple[Event, ...] = ()
        try:
            events = handler(given)
        except ValidationError as error:
            problems = details(error)
        # a refused zone has its own error; the other rules about events are then checked in UTC
        problems += problems_of(given, info.data.get("time_zone", "UTC"))
        if problems:
            raise ValidationError.from_exception_data("Spec", problems)
        return events

    @field_validator("recurring", mode="wrap")
    @classmethod
    def _windows_do_one_thing(
        cls, given: Any, handler: ValidatorFunctionWrapHandler
    ) -> tuple[Recurring, ...]:
        problems: list[InitErrorDetails] = []
        found: tuple[Recurring, ...] = ()
        try:
            found = handler(given)
        except ValidationError as error:
            problems = details(error)
        problems += weekly.problems_of(given)
        if problems:
            raise ValidationError.from_exception_data("Spec", problems)
        return found

    @property
    def cold_start_seconds(self) -> float:
        """Cold start that is reckoned with: of a spread, the quantile that the price pays for."""
        return self.cold_start.at(self.price.level)

    @property
    def event_windows(self) -> tuple[EventWindow, ...]:
        """The events about demand in POSIX seconds, in the order in which they are written."""
        return windows(self.events, self.time_zone) if self.events else ()

    @property
    def hold_windows(self) -> tuple[HoldWindow, ...]:
        """The events in which nothing is lowered, in POSIX seconds."""
        return holds(self.events, self.time_zone) if self.events else ()

    def recurring_windows(self, start: float, end: float) -> tuple[RecurringWindow, ...]:
        """Recurring windows that touch [start, end], both in POSIX seconds."""
        return weekly.windows(self.recurring, self.calendar, self.time_zone, (start, end))

    def special_days(self, start: float, end: float) -> tuple[SpecialDay, ...]:
        """Days from `start` to `end`, in POSIX seconds, that are not like their weekday."""
        first, last = (walltime.day_of(moment, self.time_zone) for moment in (start, end))
        return calendars.between(self.calendar, first, last)


# what the API server keeps in metadata besides our own fields: known, and of no meaning here
_FOREIGN_METADATA = frozenset(
    {
        "labels",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
    }
)


class Metadata(Model):
    """Name and place of the policy, as in every Kubernetes object."""

    foreign_keys: ClassVar[frozenset[str]] = _FOREIGN_METADATA

    name: ObjectName
    """Name of the policy."""
    namespace: Annotated[
        str,
        Allowed("a name in lower case: letters, digits and -"),
        Field(min_length=1, max_length=63, pattern=_DNS_LABEL),
    ] = "default"
    """Namespace of the policy *and* of its target and series."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """`foretide.dev/paused: "true"` stops all writes at once; others are of no meaning here."""
    generation: int | None = None
    """Counted by the API server; status names the generation that it was made for."""
    uid: str | None = None
    """Given by the API server."""

    @model_validator(mode="before")
    @classmethod
    def _without_foreign(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return {key: value for key, value in given.items() if key not in cls.foreign_keys}
        return given


class TidePolicy(Model):
    """A policy: which target's floor follows which demand, and within what bounds."""

    api_version: Literal["foretide.dev/v1alpha1"] = API_VERSION
    """Version of this schema."""
    kind: Literal["TidePolicy"] = KIND
    """Kind of this document."""
    metadata: Metadata
    """Name and namespace."""
    spec: Spec
    """What is wanted."""

    @model_validator(mode="before")
    @classmethod
    def _without_status(cls, given: Any) -> Any:
        # written by the controller into the custom resource, never read back as a wish
        if isinstance(given, dict) and "status" in given:
            return {key: value for key, value in given.items() if key != "status"}
        return given

    @property
    def key(self) -> str:
        """`namespace/name`, unique in a cluster."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def target_key(self) -> str:
        """Which object the policy moves; two policies must not share one."""
        ref = self.spec.target_ref
        return f"{ref.kind} {self.metadata.namespace}/{ref.name}"

    @property
    def paused(self) -> bool:
        """Whether the policy's own annotation asks for no writes.

        Any value but `false` pauses: whoever mistyped `true` wanted it to stop.
        """
        value = self.metadata.annotations.get(PAUSED_ANNOTATION, "false")
        return value.strip().lower() != "false"

    def manifest(self) -> dict[str, Any]:
        """Return the policy as the document that it was read from, defaults filled in."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def copy_with(self, **spec: Any) -> Self:
        """Return the same policy with some fields of its spec replaced (not validated again)."""
        return self.model_copy(update={"spec": self.spec.model_copy(update=spec)})
