"""The controller does its whole work on a real API server with exactly the deployed role.

A right that is missing would mostly degrade quietly (no ready replicas, no status), so the
test looks at each thing that a right is for, and at the log.
"""

from __future__ import annotations

import pytest

from tests.lab.foretide import ACCOUNT, NAMESPACE, Foretide
from tests.lab.objects import scaler, tide_policy
from tests.lab.plane import ControlPlane
from tests.lab.process import wait_until

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,  # a controller's start, a few cycles
]


def narrow_account(plane: ControlPlane, namespace: str) -> str:
    """Make an account with the role in one namespace only, as docs/how-to/deploy.md says."""
    name = f"only-{namespace}"
    subject = {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    plane.api.apply(account | {"metadata": {"name": name, "namespace": NAMESPACE}})
    for kind, role, where in (
        ("ClusterRole", "foretide", namespace),
        ("Role", "foretide-leader", NAMESPACE),
    ):
        plane.api.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": name, "namespace": where},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
                "subjects": [subject],
            }
        )
    return name


@pytest.fixture(params=["everywhere", "one namespace"])
def running(request, control_plane, controllers, deployed, namespace, prometheus, tmp_path):
    controllers.serve(namespace, "chat", replicas=1, cold_start="1s")
    control_plane.api.create(scaler(namespace, "chat", low=1, high=9, metric="none", target="1"))
    # a demand of 30/s at all times, without a series behind it
    query = "time() * 0 + 30"
    policy = tide_policy(namespace, "chat", mode="Act", query=query, capacity={"perReplica": 10})
    policy["spec"]["demand"]["history"] = "2d"
    control_plane.api.create(policy)
    narrow = request.param == "one namespace"
    config = {
        "period": "1s",
        "prometheus": {"url": prometheus().url},
        "kubernetes": {"namespaces": [namespace] if narrow else []},
        "leaderElection": {"namespace": NAMESPACE},
    }
    account = narrow_account(control_plane, namespace) if narrow else ACCOUNT
    made = Foretide(control_plane, tmp_path, config, account=account)
    yield made
    made.stop()
    control_plane.api.delete("TidePolicy", "chat", namespace)


def test_everything_that_a_right_is_for_is_done(running: Foretide, control_plane, namespace: str):
    api = control_plane.api

    def floor() -> int:
        return api.get("HorizontalPodAutoscaler", "chat", namespace)["spec"]["minReplicas"]

    def status() -> dict:
        return api.get("TidePolicy", "chat", namespace).get("status") or {}

    def acting() -> str:
        conditions = status().get("conditions") or ()
        return next((c["reason"] for c in conditions if c["type"] == "Acting"), "")

    wait_until(lambda: floor() == 3, "the floor is raised to the need")
    wait_until(lambda: acting() == "Act", "the status says so")
    wait_until(lambda: status().get("readyReplicas") == 3, "the replicas are Ready")
    wait_until(lambda: api.list("Event", namespace), "an Event says so")
    api.patch(
        "Namespace", namespace, {"metadata": {"annotations": {"foretide.dev/paused": "true"}}}
    )
    wait_until(lambda: acting() == "Paused", "the pause of the namespace is seen")
    assert running.stop() == 0
    log = (running.process.log).read_text()
    assert "forbidden" not in log.lower()
    assert "cannot" not in log
