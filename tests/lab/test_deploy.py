"""The manifests of `deploy/` on a real API server: accepted strictly, with no more rights."""

from __future__ import annotations

import pytest

from tests.lab.api import ApiError
from tests.lab.controllers import Controllers
from tests.lab.foretide import ACCOUNT, NAMESPACE
from tests.lab.objects import scaler
from tests.lab.plane import ControlPlane
from tests.lab.process import wait_until

pytestmark = pytest.mark.lab


@pytest.fixture
def as_foretide(control_plane: ControlPlane, deployed):
    client = control_plane.client_for(control_plane.service_account_token(NAMESPACE, ACCOUNT))
    yield client
    client.close()


def test_every_manifest_is_accepted_with_strict_validation(control_plane: ControlPlane, deployed):
    found = {(document["kind"], document["metadata"]["name"]) for document in deployed}
    assert ("CustomResourceDefinition", "tidepolicies.foretide.dev") in found
    assert ("Deployment", "foretide") in found
    for document in deployed:
        meta = document["metadata"]
        control_plane.api.get(document["kind"], meta["name"], meta.get("namespace", "default"))


@pytest.mark.slow  # the scheduler and two pods
def test_the_pods_pass_restricted_pod_security(controllers: Controllers, deployed):
    # pods that the namespace's `restricted` level refuses are never created
    wait_until(
        lambda: len(controllers.plane.api.list("Pod", NAMESPACE)) == 2, "two controller pods"
    )


def test_targets_can_be_patched_but_neither_created_nor_deleted(
    as_foretide, control_plane: ControlPlane, namespace: str
):
    document = scaler(namespace, "target", low=1, high=4, metric="m", target="1")
    control_plane.api.create(document)
    as_foretide.patch("HorizontalPodAutoscaler", "target", {"spec": {"minReplicas": 2}}, namespace)
    document["metadata"]["name"] = "another"
    for forbidden in (
        lambda: as_foretide.create(document),
        lambda: as_foretide.delete("HorizontalPodAutoscaler", "target", namespace),
    ):
        with pytest.raises(ApiError) as refused:
            forbidden()
        assert refused.value.code == 403


@pytest.mark.parametrize("kind", ["Secret", "Pod", "ConfigMap", "Node"])
def test_nothing_else_can_be_read(as_foretide, kind: str, namespace: str):
    with pytest.raises(ApiError) as refused:
        as_foretide.list(kind, namespace)
    assert refused.value.code == 403
