"""The definition and the shipped policies on a real API server, which checks with its own eyes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from tests.lab.api import ApiError
from tests.lab.process import wait_until
from tests.policy.making import EXAMPLES, GOOD, ROOT

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def api(control_plane: Any) -> Any:
    """The plane's client, once it serves our kind."""
    crd = yaml.safe_load((ROOT / "deploy" / "crd.yaml").read_text())
    control_plane.api.apply(crd)
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd['metadata']['name']}"

    def established() -> bool:
        answer = control_plane.api.call("GET", path)
        conditions = {c["type"]: c["status"] for c in answer["status"].get("conditions") or []}
        assert conditions.get("NonStructuralSchema") != "True", answer["status"]
        return conditions.get("Established") == "True"

    wait_until(established, "the definition is established")
    return control_plane.api


def put(api: Any, namespace: str, document: dict[str, Any]) -> dict[str, Any]:
    """Create a policy with strict field validation, in the test's namespace."""
    document = copy.deepcopy(document)
    document["metadata"]["namespace"] = namespace
    path = f"/apis/foretide.dev/v1alpha1/namespaces/{namespace}/tidepolicies"
    answer = api.call("POST", f"{path}?fieldValidation=Strict", document)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_taken_and_kept_whole(api: Any, namespace: str, path: Any) -> None:
    document = yaml.safe_load(path.read_text())
    kept = put(api, namespace, document)
    expected = copy.deepcopy(document["spec"])
    expected.setdefault("mode", "Observe")  # the only default of the definition
    assert kept["spec"] == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"demand": {"preset": "vllm", "query": "up"}}, "exactly one of preset, query"),
        ({"demand": {"history": "7d"}}, "exactly one of preset, query"),
        ({"demand": {"query": "up", "matchLabels": {"a": "b"}}}, "matchLabels belong to a preset"),
        ({"demand": {"preset": "vllm", "matchLabels": {"__a": "b"}}}, "a label name"),
        ({"demand": {"preset": "vllm", "matchLabels": {"a-b": "b"}}}, "a label name"),
        ({"demand": {"preset": "vllm", "backlog": "up"}}, "reads what waits by itself"),
        ({"demand": {"query": "up"}, "promise": {"drain": "5m"}}, "nothing says what waits"),
        ({"demand": {"preset": "vlm"}}, "Unsupported value"),
        ({"floor": {"min": 4, "max": 2}}, "max is at least min"),
        ({"floor": {"min": -1}}, "greater than or equal to 0"),
        ({"floor": {"max": 0}}, "greater than or equal to 1"),
        ({"coldStart": {"p50": "3m", "p90": "6m"}}, "all of p50, p90, p99"),
        ({"recurring": [{"name": "a", "cron": "0 8 * * 1-5", "floor": 2}]}, "cron and duration"),
        ({"coldStart": {"duration": "5m", "p50": "3m", "p90": "6m", "p99": "9m"}}, "one way"),
        ({"capacity": {"perReplica": 0}}, "greater than 0"),
        ({"coldStart": {"duration": 300}}, "must be of type string"),
        ({"coldStart": {"duration": "5min"}}, "should match"),
        ({"mode": "observe"}, "Unsupported value"),
        ({"colStart": {"duration": "5m"}}, "unknown field"),
        ({"recurring": [{"name": "a"}]}, "exactly one of floor, factor, hold"),
        (
            {"recurring": [{"name": "a", "floor": 2, "hold": True}]},
            "exactly one of floor, factor, hold",
        ),
        ({"recurring": [{"name": "a", "floor": 2, "from": "8:00"}]}, "should match"),
        ({"recurring": [{"name": "a", "floor": 2, "days": ["mon"]}]}, "Unsupported value"),
        ({"calendar": {"days": [{"date": "2026-02-14", "like": "sun"}]}}, "should match"),
        (
            {
                "events": [
                    {"name": "a", "start": "2026-11-10T00:00", "end": "2026-11-11T00:00"},
                ]
            },
            "exactly one of factor, demand, like, hold",
        ),
        (
            {"events": [{"name": "a", "start": "2026-11-10", "end": "2026-11-11", "factor": 2}]},
            "should match",
        ),
        (
            {
                "events": [
                    {
                        "name": "a",
                        "start": "2026-11-10T00:00",
                        "end": "2026-11-11T00:00",
                        "factor": 2,
                    }
                ]
                * 2
            },
            "Duplicate value",
        ),
    ],
)
def test_the_api_server_refuses_by_itself(
    api: Any, namespace: str, change: dict[str, Any], message: str
) -> None:
    document = yaml.safe_load(GOOD)
    document["spec"] |= change
    with pytest.raises(ApiError, match=message):
        put(api, namespace, document)


def test_status_is_a_subresource_and_keeps_its_shape(api: Any, namespace: str) -> None:
    kept = put(api, namespace, yaml.safe_load(GOOD) | {"status": {"floor": 9}})
    assert "status" not in kept
    status = {
        "observedGeneration": 1,
        "floor": 3,
        "wanted": 4,
        "need": 3,
        "ceiling": 20,
        "readyReplicas": 2,
        "next": {"at": "2026-11-30T08:00:00Z", "floor": 8},
        "knowledge": {"forecaster": "week", "fittedAt": "2026-11-30T02:00:00Z", "score": 1.7},
        "lastDecision": "2026-11-30T07:00:00Z",
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "Decided",
                "message": "",
                "lastTransitionTime": "2026-11-30T07:00:00Z",
                "observedGeneration": 1,
            }
        ],
    }
    path = f"/apis/foretide.dev/v1alpha1/namespaces/{namespace}/tidepolicies/qwen/status"
    written = api.call("PUT", f"{path}?fieldValidation=Strict", kept | {"status": status})
    assert written["status"] == status
    assert written["metadata"]["generation"] == kept["metadata"]["generation"]
