"""autoscaling/v2 HorizontalPodAutoscaler: the floor is `spec.minReplicas`.

The annotation `foretide.dev/original-floor` keeps, as `4 by foretide/foretide`, the floor that was
found (the one that somebody else wrote last) and which controller wrote. When somebody moves the
floor after us (managedFields then name them and no longer us), what they wrote becomes the
original, since it is the newer wish.
"""

from __future__ import annotations

import re
from typing import Any

from autoscaler.adapters.kubernetes.marks import annotation, is_paused
from autoscaler.adapters.kubernetes.resources import (
    FIELD_MANAGER,
    HPAS,
    ORIGINAL_FLOOR,
    Json,
    Resource,
)
from autoscaler.adapters.kubernetes.targets.kind import Scaled
from autoscaler.adapters.kubernetes.targets.owners import advice, owner_of
from autoscaler.errors import TargetRefused, TargetUnavailable
from autoscaler.model import Target

_FLOOR = "/spec/minReplicas"
_CEILING = "/spec/maxReplicas"
_ANNOTATIONS = "/metadata/annotations"
_OURS = f"{_ANNOTATIONS}/{ORIGINAL_FLOOR.replace('/', '~1')}"
_DEFAULT_FLOOR = 1  # what the API server means by an absent minReplicas
_FROM_OUTSIDE = {"Object", "External"}
_WAKES = "ScaledToZero"
_MARK = re.compile(r"^(0|[1-9]\d{0,8})(?: by (\S{1,320}))?$")


class Hpa:
    """The HPA as a kind of target."""

    @property
    def resource(self) -> Resource:
        """HorizontalPodAutoscalers of autoscaling/v2."""
        return HPAS

    def read(self, found: Json) -> Target:
        """Take an HPA apart.

        Raises
        ------
        TargetRefused
            It is owned, has no ceiling, or its annotation is not a number.
        TargetUnavailable
            It is being deleted.
        """
        metadata, spec = found["metadata"], found.get("spec") or {}
        name = HPAS.named(metadata.get("namespace"), metadata["name"])
        if metadata.get("deletionTimestamp"):
            raise TargetUnavailable(f"{name} is being deleted", code="TargetDeleted")
        owner = owner_of(found)
        if owner is not None:
            raise TargetRefused(f"{name} is owned by {owner}: {advice(owner)}", code="TargetOwned")
        ceiling = spec.get("maxReplicas")
        if not isinstance(ceiling, int) or ceiling < 1:
            raise TargetRefused(f"{name} has no usable maxReplicas ({ceiling!r})", code="NoCeiling")
        floor = spec.get("minReplicas")
        status = found.get("status") or {}
        return Target(
            uid=metadata["uid"],
            version=metadata["resourceVersion"],
            floor=_DEFAULT_FLOOR if floor is None else floor,
            ceiling=ceiling,
            original=_original(found, name),
            replicas=status.get("currentReplicas"),
            paused=is_paused(found),
            floor_given=floor is not None,
            annotated="annotations" in metadata,
            controller=_controller(found),
            lowest=1 if floor != 0 and why_not_zero(found) else 0,
        )

    def scaled(self, found: Json) -> Scaled | None:
        """Workload of `scaleTargetRef`."""
        reference = (found.get("spec") or {}).get("scaleTargetRef") or {}
        if not reference.get("name"):
            return None
        return Scaled(
            api_version=reference.get("apiVersion", ""),
            kind=reference.get("kind", ""),
            name=reference["name"],
        )

    def move(self, target: Target, floor: int, controller: str = "") -> list[Json]:
        """JSON Patch that moves the floor, tested against everything that was relied on.

        What is absent cannot be tested for: then the resourceVersion stands for it.
        """
        operations = _guard(target)
        operations.append(
            {"op": "replace" if target.floor_given else "add", "path": _FLOOR, "value": floor}
        )
        if not target.annotated:
            found = {ORIGINAL_FLOOR: _mark(target.floor, controller)}
            operations.append({"op": "add", "path": _ANNOTATIONS, "value": found})
        elif target.original is None or target.original == target.floor:
            # also when somebody else moved the floor after us: theirs is the original now
            value = _mark(target.floor, controller)
            operations.append({"op": "add", "path": _OURS, "value": value})
        else:
            stood = _mark(target.original, target.controller)
            operations.append({"op": "test", "path": _OURS, "value": stood})
            if controller and controller != target.controller:
                value = _mark(target.original, controller)
                operations.append({"op": "replace", "path": _OURS, "value": value})
        return operations

    def give_back(self, target: Target) -> list[Json]:
        """JSON Patch that restores the original floor and removes our annotation.

        The original is capped by the ceiling, which somebody may have lowered meanwhile.
        """
        original = target.floor if target.original is None else target.original
        return [
            *_guard(target),
            {
                "op": "replace" if target.floor_given else "add",
                "path": _FLOOR,
                "value": min(original, target.ceiling),
            },
            {"op": "remove", "path": _OURS},
        ]

    def moved(self, observed: Target, found: Json) -> str:
        """Say what is different from what was observed."""
        metadata, spec = found["metadata"], found.get("spec") or {}
        floor, raw = spec.get("minReplicas"), annotation(found, ORIGINAL_FLOOR)
        changes = []
        if metadata["uid"] != observed.uid:
            changes.append("it was deleted and made again")
        if floor != (observed.floor if observed.floor_given else None):
            changes.append(f"minReplicas {observed.floor} → {floor}{_by(found)}")
        if spec.get("maxReplicas") != observed.ceiling:
            changes.append(f"maxReplicas {observed.ceiling} → {spec.get('maxReplicas')}")
        if raw is None or not _MARK.match(raw):
            lost = raw is not None or observed.original is not None
        else:  # read as it was observed: a floor that somebody wrote after us is the original
            ours = _original(found, metadata["name"]), _controller(found)
            lost = ours != (observed.original, observed.controller)
        if lost:
            changes.append(f"annotation {ORIGINAL_FLOOR} {observed.original} → {raw}")
        by_version = not (observed.floor_given and observed.annotated)
        if not changes and by_version and metadata["resourceVersion"] != observed.version:
            changes.append("something in it, and its resourceVersion was relied on")
        return ", ".join(changes)


def why_not_zero(found: Json) -> str:
    """Why a floor of 0 must not be written, or nothing.

    The API server takes it beside a metric that does not come from the replicas themselves, where
    the feature gate HPAScaleToZero is on. Older HPA controllers with that gate never woke a target
    at 0 when its floor rose; those that do set the condition ScaledToZero whenever they scale.
    """
    spec, status = found.get("spec") or {}, found.get("status") or {}
    kinds = {metric.get("type") for metric in spec.get("metrics") or ()}
    if not kinds & _FROM_OUTSIDE:
        return "it has no metric of type Object or External, and others say nothing at 0"
    conditions = {condition.get("type") for condition in status.get("conditions") or ()}
    if _WAKES not in conditions:
        return (
            f"its status has no condition {_WAKES}: the cluster does not scale to zero (Kubernetes "
            "below 1.37, or without the feature gate HPAScaleToZero), or it has not scaled yet"
        )
    return ""


def managers_of_floor(found: Json) -> dict[str, str]:
    """Field managers that own the floor → when they last wrote."""
    return _managers(found, ("f:spec", "f:minReplicas"))


def _managers(found: Json, path: tuple[str, ...]) -> dict[str, str]:
    """Find who owns a field, by managedFields."""
    owners: dict[str, str] = {}
    for entry in found["metadata"].get("managedFields") or ():
        node: Any = entry.get("fieldsV1") or {}
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        if node is not None:
            owners[entry.get("manager", "")] = entry.get("time", "")
    return owners


def _original(found: Json, name: str) -> int | None:
    """Floor that was found before Foretide wrote, or that somebody else wrote since."""
    raw = annotation(found, ORIGINAL_FLOOR)
    if raw is None:
        return None
    mark = _MARK.match(raw)
    if mark is None:
        raise TargetRefused(
            f"{name}: annotation {ORIGINAL_FLOOR} is {raw!r}, not a whole number; write the floor "
            "that is to be restored into it, or remove the annotation to take the present one",
            code="BadAnnotation",
        )
    writers = managers_of_floor(found)
    ours = _managers(found, ("f:metadata", "f:annotations", f"f:{ORIGINAL_FLOOR}"))
    if writers and FIELD_MANAGER not in writers and FIELD_MANAGER in ours:
        floor: int | None = (found.get("spec") or {}).get("minReplicas")
        return _DEFAULT_FLOOR if floor is None else floor
    return int(mark[1])


def _controller(found: Json) -> str | None:
    """Name of the controller that wrote our annotation, None where it bears none."""
    mark = _MARK.match(annotation(found, ORIGINAL_FLOOR) or "")
    return None if mark is None else mark[2]


def _mark(original: int, controller: str | None) -> str:
    """Text of our annotation."""
    return f"{original} by {controller}" if controller else str(original)


def _guard(target: Target) -> list[Json]:
    """Test identity and bounds, and the resourceVersion where a field was absent."""
    operations: list[Json] = [{"op": "test", "path": "/metadata/uid", "value": target.uid}]
    if not (target.floor_given and target.annotated):
        version = {"op": "test", "path": "/metadata/resourceVersion", "value": target.version}
        operations.append(version)
    if target.floor_given:
        operations.append({"op": "test", "path": _FLOOR, "value": target.floor})
    operations.append({"op": "test", "path": _CEILING, "value": target.ceiling})
    return operations


def _by(found: Json) -> str:
    """Name who wrote the floor, when managedFields tell."""
    writers = sorted(managers_of_floor(found))
    return f" by {', '.join(writers)}" if writers else ""
