"""The kinds that the sandbox knows: their paths, defaults, and what the API server would refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autoscaler.adapters.kubernetes.resources import (
    DEPLOYMENTS,
    EVENTS,
    HPAS,
    LEASES,
    NAMESPACES,
    STATEFUL_SETS,
    Json,
    Resource,
)
from autoscaler.sandbox.kubernetes.answers import Cause
from autoscaler.sandbox.kubernetes.schema import Schema

PODS = Resource(group="", version="v1", plural="pods", kind="Pod")
CRDS = Resource(
    group="apiextensions.k8s.io",
    version="v1",
    plural="customresourcedefinitions",
    kind="CustomResourceDefinition",
    namespaced=False,
)


def _nothing(_: Json) -> list[Cause]:
    return []


def _as_it_is(_: Json) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the sandbox does with one kind of object.

    Attributes
    ----------
    status : whether status is a subresource (writes of the object leave it, and the reverse)
    counted : whether `metadata.generation` counts changes of the spec
    guarded : whether a PUT must carry a resourceVersion
    default : fills in what was left out, in place
    validate : what is wrong with a document
    schema : structural schema of a custom resource
    """

    resource: Resource
    status: bool = False
    counted: bool = False
    guarded: bool = False
    default: Callable[[Json], None] = _as_it_is
    validate: Callable[[Json], list[Cause]] = _nothing
    schema: Schema | None = None


def _default_hpa(document: Json) -> None:
    spec = document.setdefault("spec", {})
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    document.setdefault("status", {"desiredReplicas": 0, "currentMetrics": None})


def _validate_hpa(document: Json) -> list[Cause]:
    """Check bounds and scale target as validation of autoscaling/v2 does."""
    spec = document.get("spec") or {}
    causes: list[Cause] = []
    metrics = spec.get("metrics") or []
    lowest = 0 if any(m.get("type") in ("Object", "External") for m in metrics) else 1
    floor, ceiling = spec.get("minReplicas", 1), spec.get("maxReplicas")
    if not isinstance(ceiling, int) or ceiling < 1:
        causes.append(_must("spec.maxReplicas", ceiling or 0, "must be greater than 0"))
    elif isinstance(floor, int) and floor > ceiling:
        text = "must be greater than or equal to `minReplicas`"
        causes.append(_must("spec.maxReplicas", ceiling, text))
    if floor < lowest:
        text = f"must be greater than or equal to {lowest}"
        causes.append(_must("spec.minReplicas", floor, text))
    target = spec.get("scaleTargetRef") or {}
    causes += [_required(f"spec.scaleTargetRef.{k}") for k in ("kind", "name") if not target.get(k)]
    return causes


def _validate_lease(document: Json) -> list[Cause]:
    duration = (document.get("spec") or {}).get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        return [_must("spec.leaseDurationSeconds", duration, "must be greater than 0")]
    return []


def _validate_event(document: Json) -> list[Cause]:
    needed = ("eventTime", "reportingController", "reportingInstance", "action", "reason")
    causes = [_required(key) for key in needed if not document.get(key)]
    if len((document.get("note") or "").encode()) > 1024:
        causes.append(_must("message", '""', "can have at most 1024 characters"))
    return causes


def _must(path: str, value: Any, text: str) -> Cause:
    return "FieldValueInvalid", f"Invalid value: {value}: {text}", path


def _required(path: str) -> Cause:
    return "FieldValueRequired", "Required value", path


BUILT_IN = (
    Kind(resource=HPAS, status=True, counted=True, default=_default_hpa, validate=_validate_hpa),
    Kind(resource=DEPLOYMENTS, status=True, counted=True),
    Kind(resource=STATEFUL_SETS, status=True, counted=True),
    Kind(resource=PODS, status=True),
    Kind(resource=NAMESPACES, status=True),
    Kind(resource=LEASES, guarded=True, validate=_validate_lease),
    Kind(resource=EVENTS, validate=_validate_event),
    Kind(resource=CRDS, status=True, counted=True),
)


def custom(definition: Json) -> list[Kind]:
    """Kinds of a CustomResourceDefinition, one for each served version."""
    spec = definition["spec"]
    return [
        Kind(
            resource=Resource(
                group=spec["group"],
                version=version["name"],
                plural=spec["names"]["plural"],
                kind=spec["names"]["kind"],
                namespaced=spec["scope"] == "Namespaced",
            ),
            status="status" in (version.get("subresources") or {}),
            counted=True,
            guarded=True,
            schema=Schema((version.get("schema") or {}).get("openAPIV3Schema") or {}),
        )
        for version in spec["versions"]
        if version.get("served")
    ]
