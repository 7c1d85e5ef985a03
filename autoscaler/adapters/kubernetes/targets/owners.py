"""Who owns a target, and where its owner keeps the floor: an owned object is put back by its owner.

From reference material on each controller (KEDA 2.21, KServe, AIBrix, NIM, OME, production-stack).
"""

from __future__ import annotations

from dataclasses import dataclass

from autoscaler.adapters.kubernetes.resources import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The controller of an object, by its ownerReference."""

    group: str
    kind: str
    name: str

    def __str__(self) -> str:
        """Kind, name and group, as messages call it."""
        return (
            f"{self.kind} {self.name} ({self.group})" if self.group else f"{self.kind} {self.name}"
        )


# (group, kind) → the field of the owner that is the floor
_FLOORS = {
    ("keda.sh", "ScaledObject"): "spec.minReplicaCount",
    ("serving.kserve.io", "InferenceService"): (
        "spec.predictor.minReplicas; or set its annotation serving.kserve.io/autoscalerClass to "
        "external and bring an HPA of your own for Foretide"
    ),
    ("serving.kserve.io", "LLMInferenceService"): "spec.scaling.minReplicas",
    ("autoscaling.aibrix.ai", "PodAutoscaler"): "spec.minReplicas",
    ("apps.nvidia.com", "NIMService"): "spec.scale.hpa.minReplicas",
    ("ome.io", "InferenceService"): "spec.engine.minReplicas",
    ("production-stack.vllm.ai", "VLLMRuntime"): "spec.autoscalingConfig.minReplicas",
}


def owner_of(found: Json) -> Owner | None:
    """Find the controller that owns an object, or None when nobody does."""
    metadata = found.get("metadata") or {}
    for reference in metadata.get("ownerReferences") or ():
        if reference.get("controller"):
            group = str(reference.get("apiVersion", "")).rpartition("/")[0]
            return Owner(
                group=group, kind=reference.get("kind", ""), name=reference.get("name", "")
            )
    # KEDA's own mark, for when the reference was stripped (backups, migrations)
    scaled_object = (metadata.get("labels") or {}).get("scaledobject.keda.sh/name")
    if scaled_object:
        return Owner(group="keda.sh", kind="ScaledObject", name=scaled_object)
    return None


def advice(owner: Owner) -> str:
    """Say what to do instead of writing to what `owner` owns."""
    floor = _FLOORS.get((owner.group, owner.kind))
    where = f"its {floor}" if floor else "the owner's own minimum"
    return (
        f"an edit would be reverted by its owner; the floor is kept in {owner}: {where}. "
        "This version of Foretide moves only an HPA that nobody owns"
    )
