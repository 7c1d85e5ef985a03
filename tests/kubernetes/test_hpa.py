"""The HPA as a kind of target: what is read, what is tested for, who owns it. Without a server."""

from __future__ import annotations

from typing import Any

import pytest

from autoscaler.adapters.kubernetes.marks import is_paused
from autoscaler.adapters.kubernetes.resources import ORIGINAL_FLOOR
from autoscaler.adapters.kubernetes.targets import kind_of
from autoscaler.adapters.kubernetes.targets.hpa import Hpa, why_not_zero
from autoscaler.errors import TargetRefused, TargetUnavailable
from autoscaler.model import Target
from autoscaler.policy import TargetRef

Json = dict[str, Any]


def hpa(spec: Json | None = None, **metadata: Any) -> Json:
    return {
        "metadata": {
            "name": "qwen",
            "namespace": "llm",
            "uid": "u",
            "resourceVersion": "7",
            **metadata,
        },
        "spec": {"minReplicas": 2, "maxReplicas": 10} if spec is None else spec,
    }


def test_the_registry_knows_the_hpa():
    reference = TargetRef(api_version="autoscaling/v2", kind="HorizontalPodAutoscaler", name="x")
    assert isinstance(kind_of(reference), Hpa)


def test_an_absent_floor_is_guarded_by_the_resource_version():
    target = Hpa().read(hpa({"maxReplicas": 10}))
    assert (target.floor, target.floor_given, target.annotated) == (1, False, False)
    assert Hpa().move(target, 5) == [
        {"op": "test", "path": "/metadata/uid", "value": "u"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "test", "path": "/spec/maxReplicas", "value": 10},
        {"op": "add", "path": "/spec/minReplicas", "value": 5},
        {"op": "add", "path": "/metadata/annotations", "value": {ORIGINAL_FLOOR: "1"}},
    ]


def test_everything_that_was_relied_on_is_tested():
    target = Hpa().read(hpa(annotations={ORIGINAL_FLOOR: "1"}))
    tests = {op["path"]: op["value"] for op in Hpa().move(target, 5) if op["op"] == "test"}
    assert tests == {
        "/metadata/uid": "u",
        "/spec/minReplicas": 2,
        "/spec/maxReplicas": 10,
        "/metadata/annotations/foretide.dev~1original-floor": "1",
    }
    back = Hpa().give_back(target)
    assert back[-2:] == [
        {"op": "replace", "path": "/spec/minReplicas", "value": 1},
        {"op": "remove", "path": "/metadata/annotations/foretide.dev~1original-floor"},
    ]


@pytest.mark.parametrize("ceiling", [None, 0, -1, "10"])
def test_a_target_without_a_ceiling_is_refused(ceiling: object):
    with pytest.raises(TargetRefused) as caught:
        Hpa().read(hpa({"minReplicas": 2, "maxReplicas": ceiling}))
    assert caught.value.code == "NoCeiling"


def test_a_target_that_is_being_deleted_is_not_there():
    with pytest.raises(TargetUnavailable, match="being deleted"):
        Hpa().read(hpa(deletionTimestamp="2026-11-30T00:00:00Z"))


@pytest.mark.parametrize(
    ("version", "kind", "words"),
    [
        ("keda.sh/v1alpha1", "ScaledObject", r"spec\.minReplicaCount"),
        (
            "serving.kserve.io/v1beta1",
            "InferenceService",
            r"spec\.predictor\.minReplicas.*external",
        ),
        ("serving.kserve.io/v1alpha2", "LLMInferenceService", r"spec\.scaling\.minReplicas"),
        ("autoscaling.aibrix.ai/v1alpha1", "PodAutoscaler", r"spec\.minReplicas"),
        ("apps.nvidia.com/v1alpha1", "NIMService", r"spec\.scale\.hpa\.minReplicas"),
        ("example.com/v1", "Thing", "the owner's own minimum"),
    ],
)
def test_an_owned_target_names_its_owner_and_its_owners_floor(version: str, kind: str, words: str):
    reference = {"apiVersion": version, "kind": kind, "name": "owner", "controller": True}
    with pytest.raises(TargetRefused, match=f"owned by {kind} owner.*{words}") as caught:
        Hpa().read(hpa(ownerReferences=[reference]))
    assert caught.value.code == "TargetOwned"


def test_kedas_label_counts_without_a_reference_and_a_plain_reference_does_not():
    with pytest.raises(TargetRefused, match="ScaledObject qwen-so"):
        Hpa().read(hpa(labels={"scaledobject.keda.sh/name": "qwen-so"}))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "for-collection"}
    assert Hpa().read(hpa(ownerReferences=[reference])).floor == 2


@pytest.mark.parametrize(
    ("value", "paused"),
    [
        ("true", True),
        ("True", True),
        ("ture", True),
        ("", True),
        ("false", False),
        ("False", False),
    ],
)
def test_a_mistyped_pause_pauses(value: str, paused: bool):
    document = hpa(annotations={"foretide.dev/paused": value})
    assert is_paused(document) is paused
    assert Hpa().read(document).paused is paused


def test_what_moved_is_said_in_words():
    observed = Target(uid="u", version="7", floor=2, ceiling=10, original=1)
    found = hpa({"minReplicas": 3, "maxReplicas": 8}, uid="v")
    assert Hpa().moved(observed, found) == (
        "it was deleted and made again, minReplicas 2 → 3, maxReplicas 10 → 8, "
        f"annotation {ORIGINAL_FLOOR} 1 → None"
    )
    assert Hpa().moved(observed, hpa(annotations={ORIGINAL_FLOOR: "1"})) == ""
    by_version = Target(uid="u", version="6", floor=2, ceiling=10, annotated=False)
    assert "resourceVersion" in Hpa().moved(by_version, hpa())


OUTSIDE: Json = {"type": "External", "external": {"metric": {"name": "queue"}}}
INSIDE: Json = {"type": "Resource", "resource": {"name": "cpu"}}


def measured(*metrics: Json, floor: int = 2, scaled: bool = True) -> Json:
    found = hpa({"minReplicas": floor, "maxReplicas": 10, "metrics": list(metrics)})
    conditions = [{"type": "ScaledToZero", "status": "False"}] if scaled else []
    return {**found, "status": {"conditions": [{"type": "AbleToScale"}, *conditions]}}


@pytest.mark.parametrize(
    ("found", "lowest", "why"),
    [
        (hpa(), 1, "no metric of type Object or External"),
        (measured(INSIDE), 1, "no metric of type Object or External"),
        (measured(OUTSIDE, scaled=False), 1, "Kubernetes below 1.37"),
        (measured(OUTSIDE), 0, ""),
        (measured(INSIDE, {**OUTSIDE, "type": "Object"}), 0, ""),
        (measured(INSIDE, floor=0, scaled=False), 0, "no metric"),  # somebody chose that
    ],
    ids=["none", "resource", "not yet", "external", "object", "stands"],
)
def test_a_floor_of_zero_needs_something_that_wakes(found: Json, lowest: int, why: str) -> None:
    assert Hpa().read(found).lowest == lowest
    said = why_not_zero(found)
    assert why in said
    assert bool(said) == bool(why)


def test_the_annotation_names_who_wrote() -> None:
    found = hpa(annotations={ORIGINAL_FLOOR: "1 by a/foretide"})
    target = Hpa().read(found)
    assert (target.original, target.controller) == (1, "a/foretide")
    stood = {
        "op": "test",
        "path": "/metadata/annotations/foretide.dev~1original-floor",
        "value": "1 by a/foretide",
    }
    assert stood in Hpa().move(target, 5, "a/foretide")
    assert Hpa().move(target, 5, "b/foretide")[-2:] == [
        stood,
        {**stood, "op": "replace", "value": "1 by b/foretide"},
    ]
    other = hpa(annotations={ORIGINAL_FLOOR: "1 by b/foretide"})
    assert "original-floor 1 → 1 by b/foretide" in Hpa().moved(target, other)
    assert Hpa().moved(target, found) == ""
