"""`foretide check --live`: each question with each of its answers, over HTTP to both servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from autoscaler.adapters.kubernetes.resources import HPAS
from autoscaler.cli.livecheck import Level, about_others
from autoscaler.cli.main import run
from autoscaler.controller.clock import WallClock
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer
from tests.policy.making import GOOD

DAY = 86_400.0
Answers = dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def prometheus() -> Iterator[PrometheusServer]:
    """Tides up to now: of 15 days, of one, as two series, ended, standing still."""
    now = float(int(WallClock().now() // 60) * 60)
    with PrometheusServer() as server:

        def add(name: str, days: float, *, until: float = 0.0, **labels: str) -> None:
            times = np.arange(now - days * DAY, now - until + 1, 60.0)
            values = 10 + 6 * np.sin(2 * np.pi * times / DAY) + 0.1 * np.sin(times)
            server.append(name, labels, times.tolist(), values.tolist())

        add("tide", 15)
        add("young", 1)
        add("twins", 3, pod="a")
        add("twins", 3, pod="b")
        add("late", 3, until=1800.0)
        add("gone", 3, until=2 * 3600.0)
        times = np.arange(now - 3 * DAY, now + 1, 60.0)
        server.append("flat", {}, times.tolist(), [5.0] * len(times))
        yield server


@pytest.fixture
def cluster() -> Iterator[KubernetesServer]:
    tokens = {"admin": "admin", "reader": "reader"}
    with KubernetesServer(tokens=tokens) as server:
        server.namespace("llm")
        server.deny(user="reader", verb="patch")
        yield server


def hpa(cluster: KubernetesServer, *, low: int = 2, high: int = 10, **metadata: Any) -> None:
    cluster.put(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "qwen", "namespace": "llm", **metadata},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "qwen"},
                "minReplicas": low,
                "maxReplicas": high,
            },
        },
        manager="kubectl-create",
    )


@pytest.fixture
def check(
    prometheus: PrometheusServer,
    cluster: KubernetesServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, Answers]]:
    """Run `check --live --json` on a policy with this query; exit code and answers by question."""

    def go(
        query: str = "tide", *, history: str = "2d", user: str = "admin", **spec: Any
    ) -> tuple[int, Answers]:
        # two days by default: what is learnt is not what most of these tests are about
        document = yaml.safe_load(GOOD)
        document["spec"] |= {"demand": {"query": query, "history": history}, **spec}
        (tmp_path / "p.yaml").write_text(yaml.safe_dump(document))
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(cluster.kubeconfig(user)))
        monkeypatch.setenv("FORETIDE_KUBERNETES_KUBECONFIG", str(tmp_path / "kubeconfig"))
        arguments = ["-f", str(tmp_path / "p.yaml"), "--prometheus", prometheus.url]
        code = run(["check", "--live", "--json", *arguments])
        (policy,) = json.loads(capsys.readouterr().out)["policies"]
        answers: Answers = {}
        for answer in policy["answers"]:
            told = (answer["level"], answer["sentence"])
            answers.setdefault(answer["question"], []).append(told)
        return code, answers

    return go


def test_all_is_well(check: Any, cluster: KubernetesServer) -> None:
    hpa(cluster)
    code, answers = check(history="28d")
    assert {level for told in answers.values() for level, _ in told} == {"ok"}, answers
    assert code == 0
    assert answers["series"] == [("ok", "one")]
    assert answers["history"][0][1].startswith("15.0 days, 100.0% of them known")
    assert answers["resolution"] == [("ok", "a new value every 1m")]
    assert answers["target"][0][1] == (
        "HorizontalPodAutoscaler llm/qwen: floor 2, ceiling 10; nobody owns it"
    )
    assert answers["rights"] == [("ok", "the present user may get, list and patch it")]
    assert answers["others"] == [
        ("ok", "nothing is seen to put the floor back (last written by kubectl-create)")
    ]
    assert "below the ceiling 10" in answers["need"][0][1]


def test_a_ceiling_below_the_forecast(check: Any, cluster: KubernetesServer) -> None:
    hpa(cluster, high=3)
    code, answers = check()
    ((level, sentence),) = answers["need"]
    assert (code, level) == (3, "warning")
    assert "and the ceiling is 3: raise maxReplicas" in sentence


@pytest.mark.parametrize(
    ("query", "question", "level", "words"),
    [
        ("nothing_like_it", "metric", "failure", "no sample in the last 2 days at"),
        ("tide{", "metric", "failure", ""),
        ("twins", "series", "warning", "2 series, told apart by pod = a, b: pick one, or"),
        ("young", "history", "warning", "1.0 days, 100.0% of them known; below 2 days"),
        ("late", "newest", "warning", "s old"),
        ("gone", "newest", "failure", "no value in the last hour"),
        ("flat", "resolution", "warning", "the value stood still for the last hour"),
    ],
)
def test_what_prometheus_may_say(
    check: Any, cluster: KubernetesServer, query: str, question: str, level: str, words: str
) -> None:
    hpa(cluster)
    code, answers = check(query)
    assert code == (1 if level == "failure" else 3)
    assert [told for told in answers[question] if told[0] == level and words in told[1]], answers
    assert answers["target"][0][0] == "ok", "the cluster is asked all the same"


def test_a_target_that_is_not_there(check: Any) -> None:
    code, answers = check()
    ((level, sentence),) = answers["target"]
    assert (code, level) == (1, "failure")
    assert "HorizontalPodAutoscaler llm/qwen is not there" in sentence
    assert answers["metric"][0][0] == "ok", "Prometheus is asked all the same"


def test_an_owned_target(check: Any, cluster: KubernetesServer) -> None:
    owner = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "name": "qwen",
        "uid": "1",
        "controller": True,
    }
    hpa(cluster, ownerReferences=[owner])
    code, answers = check()
    ((level, sentence),) = answers["target"]
    assert (code, level) == (1, "failure")
    assert "is owned by ScaledObject qwen (keda.sh)" in sentence
    assert "spec.minReplicaCount" in sentence


@pytest.mark.parametrize(
    ("mode", "level", "code"), [("Observe", "warning", 3), ("Act", "failure", 1)]
)
def test_no_right_to_patch(
    check: Any, cluster: KubernetesServer, mode: str, level: str, code: int
) -> None:
    hpa(cluster)
    returned, answers = check(user="reader", mode=mode)
    assert returned == code
    ((told, sentence),) = answers["rights"]
    assert told == level
    assert sentence.startswith("the present user may not patch")


def test_bounds_above_the_ceiling(check: Any, cluster: KubernetesServer) -> None:
    hpa(cluster, high=10)
    code, answers = check(floor={"min": 11})
    assert answers["bounds"] == [("failure", "floor.min 11 is above the ceiling 10")]
    assert code == 1
    code, answers = check(floor={"max": 24})
    assert answers["bounds"] == [("warning", "floor.max 24 is above the ceiling 10")]
    assert code == 3


def _wakes(cluster: KubernetesServer) -> None:
    """Give the HPA a metric from outside, and the mark of a controller that scales to zero."""
    found = cluster.get(HPAS, "llm", "qwen")
    external = {"type": "External", "external": {"metric": {"name": "queue"}}}
    found["spec"]["metrics"] = [external]
    found["status"] = {"conditions": [{"type": "ScaledToZero", "status": "False"}]}
    cluster.put(found)


def test_a_floor_of_zero(check: Any, cluster: KubernetesServer) -> None:
    hpa(cluster)
    code, answers = check(floor={"min": 0})
    ((level, sentence),) = answers["zero"]
    assert (code, level) == (3, "warning")
    assert sentence.startswith("1 is kept instead of floor.min 0: it has no metric")

    _wakes(cluster)
    ((level, sentence),) = check(floor={"min": 0})[1]["zero"]
    assert (level, sentence) == (
        "ok",
        "a floor of 0 can be had; who comes unexpected waits about 5m",
    )
    assert "zero" not in check()[1]


def test_a_paused_target(check: Any, cluster: KubernetesServer) -> None:
    hpa(cluster, annotations={"foretide.dev/paused": "true"})
    code, answers = check()
    assert (code, answers["paused"][0][0]) == (3, "warning")


def test_kubectl_apply_would_put_the_floor_back(check: Any, cluster: KubernetesServer) -> None:
    applied = json.dumps({"spec": {"minReplicas": 2, "maxReplicas": 10}})
    hpa(cluster, annotations={"kubectl.kubernetes.io/last-applied-configuration": applied})
    code, answers = check()
    ((level, sentence),) = answers["others"]
    assert (code, level) == (3, "warning")
    assert sentence.startswith("minReplicas is in what kubectl apply applies, which puts it back")


def test_a_cluster_that_cannot_be_reached(
    check: Any, cluster: KubernetesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.close()
    code, answers = check()
    assert code == 1
    assert answers["target"][0][0] == "failure"
    assert answers["metric"][0][0] == "ok"


def test_nothing_is_written(check: Any, cluster: KubernetesServer) -> None:
    hpa(cluster)
    before = cluster.get(HPAS, "llm", "qwen")
    written = len(cluster.audit)
    check(mode="Act")
    assert cluster.get(HPAS, "llm", "qwen") == before
    assert {write.kind for write in cluster.audit[written:]} <= {"SelfSubjectAccessReview"}


def _managed(manager: str, operation: str) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": operation,
        "time": "2026-11-30T08:00:00Z",
        "fieldsV1": {"f:spec": {"f:minReplicas": {}}},
    }


@pytest.mark.parametrize(
    ("entries", "annotations", "level", "words"),
    [
        ([_managed("helm", "Update")], {}, Level.OK, "last written by helm"),
        ([_managed("argocd-controller", "Apply")], {}, Level.WARNS, "argocd-controller applies"),
        ([_managed("foretide", "Update")], {}, Level.OK, "last written by nobody"),
        (
            [_managed("kubectl-edit", "Update")],
            {"foretide.dev/original-floor": "2"},
            Level.WARNS,
            "moved after Foretide wrote it: kubectl-edit at 2026-11-30T08:00:00Z",
        ),
        (
            [_managed("kubectl-client-side-apply", "Update")],
            {"kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"maxReplicas":3}}'},
            Level.OK,
            "last written by kubectl-client-side-apply",
        ),
        ([], {"kubectl.kubernetes.io/last-applied-configuration": "{"}, Level.OK, "nobody"),
    ],
)
def test_who_else_keeps_the_floor(
    entries: list[dict[str, Any]], annotations: dict[str, str], level: Level, words: str
) -> None:
    answer = about_others({"metadata": {"managedFields": entries, "annotations": annotations}})
    assert answer.level is level
    assert words in answer.sentence
