"""How often the API server is asked: one LIST for all policies, one timeout for all failures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.problems import Unreachable
from autoscaler.adapters.kubernetes.reading import Fresh, KubernetesTargets
from autoscaler.adapters.kubernetes.resources import DEPLOYMENTS, HPAS, NAMESPACES
from autoscaler.adapters.policies import parse_object
from autoscaler.errors import TargetUnavailable
from autoscaler.policy import TidePolicy
from autoscaler.sandbox.kubernetes import KubernetesServer
from tests.kubernetes.world import BRIEF, PATIENT


def policy(name: str, namespace: str = "llm") -> TidePolicy:
    return parse_object(
        {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": name,
                },
                "demand": {"preset": "vllm"},
                "capacity": {"perReplica": 1.5},
            },
        }
    )


def put(server: KubernetesServer, name: str, ready: int | None = 2, kind: str = "Deployment"):
    metadata = {"name": name, "namespace": "llm"}
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    server.put(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": metadata,
            "spec": {"scaleTargetRef": reference, "minReplicas": 2, "maxReplicas": 9},
        }
    )
    status = {"observedGeneration": 1} | ({} if ready is None else {"readyReplicas": ready})
    server.put({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "status": status})


@pytest.fixture
def server() -> Iterator[KubernetesServer]:
    with KubernetesServer() as running:
        yield running


@pytest.fixture
def cluster(server: KubernetesServer) -> Iterator[Cluster]:
    cluster = connect(kubeconfig=server.kubeconfig(), timeouts=PATIENT)
    yield cluster
    cluster.close()


def test_200_policies_cost_three_requests(server: KubernetesServer, cluster: Cluster):
    names = [f"model-{i}" for i in range(200)]
    for name in names:
        put(server, name)
    targets = KubernetesTargets(cluster, fresh=60)
    with ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(lambda name: targets.observe(policy(name)), names))
    assert {(target.floor, target.ready) for target in seen} == {(2, 2)}
    assert dict(server.requests) == {
        f"GET {HPAS.path('llm')}": 1,
        f"GET {DEPLOYMENTS.path('llm')}": 1,
        f"GET {NAMESPACES.path(None, 'llm')}": 1,
    }


def test_a_listing_is_renewed_by_age_and_after_a_write(server: KubernetesServer, cluster: Cluster):
    put(server, "qwen")
    now = [0.0]
    targets = KubernetesTargets(cluster, fresh=5, clock=lambda: now[0])

    def move(floor: int) -> None:
        def change(document: dict) -> None:
            document["spec"]["minReplicas"] = floor

        server.update(HPAS, "llm", "qwen", change, subresource="")

    assert targets.observe(policy("qwen")).floor == 2
    move(3)
    now[0] = 5.0
    assert targets.observe(policy("qwen")).floor == 2
    now[0] = 5.1
    assert targets.observe(policy("qwen")).floor == 3
    move(4)
    targets.forget(policy("qwen"))
    assert targets.observe(policy("qwen")).floor == 4


def test_a_silent_server_costs_one_timeout_for_all(server: KubernetesServer, cluster: Cluster):
    server.faults.silence()
    cluster.timeouts = BRIEF
    targets = KubernetesTargets(cluster, fresh=60)

    def fails(i: int) -> bool:
        with pytest.raises(TargetUnavailable, match="no answer within the read timeout"):
            targets.observe(policy(f"model-{i}"))
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(fails, range(50)))
    assert sum(server.requests.values()) == 1


def test_a_failure_is_forgotten_when_it_is_old(server: KubernetesServer, cluster: Cluster):
    put(server, "qwen")
    now = [0.0]
    targets = KubernetesTargets(cluster, fresh=5, clock=lambda: now[0])
    server.faults.fail(503, times=1)
    with pytest.raises(TargetUnavailable) as caught:
        targets.observe(policy("qwen"))
    assert caught.value.code == "Busy"
    now[0] = 6.0
    assert targets.observe(policy("qwen")).floor == 2


def test_ready_pods_that_cannot_be_read_are_unknown_and_no_failure(
    server: KubernetesServer, cluster: Cluster, caplog: pytest.LogCaptureFixture
):
    put(server, "zero", ready=None)
    put(server, "set", kind="StatefulSet", ready=3)
    targets = KubernetesTargets(cluster, fresh=-1.0)
    assert targets.observe(policy("zero")).ready == 0
    assert targets.observe(policy("set")).ready == 3
    server.deny(plural="deployments")
    server.deny(plural="namespaces")
    for _ in range(3):
        target = targets.observe(policy("zero"))
        assert (target.ready, target.paused) == (None, False)
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "cannot read deployments of llm",
        "cannot read namespace llm, so its pause is not seen",
    ]


def test_a_pause_that_cannot_be_known_is_not_taken_for_none(
    server: KubernetesServer, cluster: Cluster
):
    put(server, "qwen")
    server.faults.fail(500, path=NAMESPACES.path(None, "llm") + "?")
    server.faults.fail(500, path="/api/v1/namespaces/llm")
    with pytest.raises(TargetUnavailable):
        KubernetesTargets(cluster).observe(policy("qwen"))


def test_a_slow_answer_of_one_key_does_not_delay_another():
    fresh: Fresh[str] = Fresh(60.0, lambda: 0.0)
    asked, go = threading.Event(), threading.Event()

    def slow() -> str:
        asked.set()
        assert go.wait(180)
        return "slow"

    def broken() -> str:
        raise Unreachable("no")

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(fresh.get, "a", slow)
        assert asked.wait(180)
        assert fresh.get("b", lambda: "fast") == "fast"
        with pytest.raises(Unreachable):
            fresh.get("c", broken)
        go.set()
        assert waiting.result(30) == "slow"
    with pytest.raises(Unreachable):
        fresh.get("c", lambda: "not asked while the failure is fresh")
