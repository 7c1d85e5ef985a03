"""The sandbox's API server as its own users see it: the world's hand, the audit, misbehaviour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.problems import ApiError, Denied, Unreachable
from autoscaler.adapters.kubernetes.resources import (
    DEPLOYMENTS,
    FIELD_MANAGER,
    HPAS,
    NAMESPACES,
    POLICIES,
    Json,
)
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.kubernetes.patches import json_patch, merge_patch, same
from autoscaler.sandbox.kubernetes.schema import Schema
from tests.kubernetes.world import BRIEF, CRD, PATIENT

NOON = 1_800_014_400.0


@pytest.fixture
def server() -> Iterator[KubernetesServer]:
    definition = yaml.safe_load(CRD.read_text())
    with KubernetesServer(clock=lambda: NOON, definitions=(definition,)) as running:
        yield running


@pytest.fixture
def cluster(server: KubernetesServer) -> Iterator[Cluster]:
    cluster = connect(kubeconfig=server.kubeconfig(), timeouts=PATIENT)
    yield cluster
    cluster.close()


def deployment(name: str = "qwen", **labels: str) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "llm", "labels": labels},
        "spec": {"replicas": 2},
        "status": {"readyReplicas": 1},
    }


def test_the_worlds_hand_makes_objects_and_moves_status(server: KubernetesServer):
    first = server.put(deployment())
    assert server.get(NAMESPACES, "", "llm")["status"] == {"phase": "Active"}
    assert first["metadata"]["creationTimestamp"] == "2027-01-15T12:00:00Z"
    assert first["metadata"]["generation"] == 1
    assert first["status"] == {"readyReplicas": 1}

    def ready(document: Json) -> None:
        document["status"]["readyReplicas"] = 2
        document["spec"]["replicas"] = 9

    moved = server.update(DEPLOYMENTS, "llm", "qwen", ready)
    assert (moved["status"]["readyReplicas"], moved["spec"]["replicas"]) == (2, 2)
    again = server.put({**deployment(), "spec": {"replicas": 5}})
    assert again["metadata"]["generation"] == 2
    assert again["metadata"]["uid"] == first["metadata"]["uid"]
    server.delete(DEPLOYMENTS, "llm", "qwen")
    with pytest.raises(KeyError, match="not found"):
        server.get(DEPLOYMENTS, "llm", "qwen")


def test_the_audit_tells_who_wrote_what_and_also_what_was_refused(
    server: KubernetesServer, cluster: Cluster
):
    reference = {"kind": "Deployment", "name": "qwen"}
    spec = {"minReplicas": 2, "maxReplicas": 9, "scaleTargetRef": reference}
    metadata = {"name": "qwen", "namespace": "llm"}
    server.put(
        {"apiVersion": "autoscaling/v2", "kind": HPAS.kind, "metadata": metadata, "spec": spec}
    )
    move = {"op": "replace", "path": "/spec/minReplicas", "value": 4}
    cluster.patch_json(HPAS, "llm", "qwen", [move])
    with pytest.raises(ApiError):
        cluster.patch_json(HPAS, "llm", "qwen", [{**move, "value": 40}])
    writes = [write for write in server.audit if write.kind == HPAS.kind]
    assert [(w.who.manager, w.verb, w.status) for w in writes] == [
        ("sandbox-world", "create", 201),
        (FIELD_MANAGER, "patch", 200),
        (FIELD_MANAGER, "patch", 422),
    ]
    assert writes[1].before is not None
    assert writes[1].after is not None
    assert writes[1].before["spec"]["minReplicas"] == 2
    assert writes[1].after["spec"]["minReplicas"] == 4
    assert {write.at for write in writes} == {NOON}


def test_what_was_handed_out_is_a_copy(server: KubernetesServer):
    server.put(deployment())
    server.get(DEPLOYMENTS, "llm", "qwen")["spec"]["replicas"] = 77
    server.list(DEPLOYMENTS)[0]["spec"]["replicas"] = 77
    assert server.get(DEPLOYMENTS, "llm", "qwen")["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("", ["a", "b"]),
        ("app=x", ["a"]),
        ("app!=x", ["b"]),
        ("app,tier==gpu", ["b"]),
        ("!tier", ["a"]),
    ],
)
def test_labels_select(server: KubernetesServer, cluster: Cluster, selector: str, names: list[str]):
    server.put(deployment("a", app="x"))
    server.put(deployment("b", app="y", tier="gpu"))
    listed = cluster.list(DEPLOYMENTS, "llm", labels=selector)
    assert [o["metadata"]["name"] for o in listed] == names


def test_denials_cover_what_they_name_and_reviews_agree(server: KubernetesServer, cluster: Cluster):
    server.put(deployment())
    server.deny(verb="patch", plural="deployments", subresource="status")
    assert cluster.patch_merge(DEPLOYMENTS, "llm", "qwen", {"spec": {"replicas": 3}})
    with pytest.raises(Denied, match='User "foretide" cannot patch resource "deployments"'):
        cluster.patch_status(DEPLOYMENTS, "llm", "qwen", {"readyReplicas": 3})
    assert cluster.can_i("patch", DEPLOYMENTS, "llm").allowed
    assert not cluster.can_i("patch", DEPLOYMENTS, "llm", subresource="status").allowed
    server.allow_all()
    assert cluster.patch_status(DEPLOYMENTS, "llm", "qwen", {"readyReplicas": 3})


def test_faults_select_requests_and_count(server: KubernetesServer, cluster: Cluster):
    server.faults.fail(503, method="GET", path="/deployments", times=2)
    for _ in range(2):
        with pytest.raises(ApiError) as caught:
            cluster.list(DEPLOYMENTS)
        assert caught.value.status == 503
    assert cluster.list(DEPLOYMENTS) == []
    server.faults.silence(path="/deployments")
    cluster.timeouts = BRIEF
    with pytest.raises(Unreachable, match="read timeout"):
        cluster.list(DEPLOYMENTS)
    cluster.timeouts = PATIENT
    assert cluster.list(HPAS) == []
    server.faults.clear()
    assert cluster.list(DEPLOYMENTS) == []


def test_a_custom_resource_is_pruned_defaulted_and_checked(
    server: KubernetesServer, cluster: Cluster
):
    reference = {"apiVersion": "autoscaling/v2", "kind": HPAS.kind, "name": "qwen"}
    body: Json = {
        "metadata": {"name": "qwen"},
        "spec": {
            "targetRef": reference,
            "demand": {"preset": "vllm"},
            "capacity": {"perReplica": 3, "unheard": 1},
        },
        "status": {"floor": 9},
    }
    stored = cluster.create(POLICIES, "default", body)
    assert stored["spec"]["capacity"] == {"perReplica": 3}
    assert stored["spec"]["mode"] == "Observe"
    assert "status" not in stored
    with pytest.raises(ApiError, match="conditions"):
        cluster.patch_status(POLICIES, "default", "qwen", {"conditions": [{"type": "Ready"}]})


SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "share": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2},
                "many": {"type": "array", "items": {"type": "boolean"}},
                "either": {
                    "type": "object",
                    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                },
            },
        }
    },
}


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"size": 1, "share": 0.5, "name": "ab", "many": [True], "either": {"a": "x"}}, []),
        ({}, ["spec.size"]),
        ({"size": 10}, ["spec.size"]),
        ({"size": True}, ["spec.size"]),
        ({"size": 1.0}, []),
        ({"size": 1, "share": 0}, ["spec.share"]),
        ({"size": 1, "name": "a"}, ["spec.name"]),
        ({"size": 1, "name": "A1"}, ["spec.name"]),
        ({"size": 1, "many": [True, "x"]}, ["spec.many[1]"]),
        ({"size": 1, "either": {"a": "x", "b": "y"}}, ["spec.either"]),
        ({"size": 1, "either": {}}, ["spec.either"]),
        ([], ["spec"]),
    ],
)
def test_schemas_find_what_is_wrong(spec: Any, fields: list[str]):
    causes = Schema(SCHEMA).validate({"spec": spec, "metadata": {}})
    assert [field for _, _, field in causes] == fields


def test_patches_follow_their_standards():
    document: Json = {"a": {"b": [1, 2]}, "x/y": {"~": 1}}
    changed = json_patch(
        document,
        [
            {"op": "add", "path": "/a/b/-", "value": 3},
            {"op": "add", "path": "/a/b/0", "value": 0},
            {"op": "remove", "path": "/a/b/1"},
            {"op": "replace", "path": "/x~1y/~0", "value": 2},
            {"op": "test", "path": "/a/b", "value": [0, 2, 3]},
        ],
    )
    assert changed == {"a": {"b": [0, 2, 3]}, "x/y": {"~": 2}}
    assert document == {"a": {"b": [1, 2]}, "x/y": {"~": 1}}
    assert merge_patch(document, {"a": {"b": None, "c": {"d": None, "e": 1}}}) == {
        "a": {"c": {"e": 1}},
        "x/y": {"~": 1},
    }
    assert not same({"a": 1}, {"a": True})
    assert same([1, {"a": None}], [1.0, {"a": None}])
