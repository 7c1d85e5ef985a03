"""The lab is what the other suites take it for."""

from __future__ import annotations

import time

import pytest

from tests.lab.api import ApiError
from tests.lab.controllers import Controllers
from tests.lab.external_metrics import ExternalMetrics
from tests.lab.objects import scaler
from tests.lab.plane import ControlPlane
from tests.lab.process import wait_until
from tests.lab.prometheus import Exporter, openmetrics

pytestmark = pytest.mark.lab


def test_the_api_server_is_the_pinned_version(control_plane: ControlPlane):
    assert control_plane.api.call("GET", "/version")["gitVersion"] == "v1.37.2"


def test_rbac_refuses_who_has_no_role(control_plane: ControlPlane):
    client = control_plane.client_for("nobody-token")
    with pytest.raises(ApiError) as refused:
        client.list("HorizontalPodAutoscaler")
    client.close()
    assert refused.value.code == 403


def test_the_audit_log_says_who_wrote_what(control_plane: ControlPlane, namespace: str):
    began = time.time()
    api = control_plane.api
    api.create(
        scaler(namespace, "audited", low=1, high=4, metric="m", target="1"), manager="somebody"
    )
    api.patch("HorizontalPodAutoscaler", "audited", {"spec": {"minReplicas": 2}}, namespace)
    writes = control_plane.audit(resource="horizontalpodautoscalers", name="audited")
    assert [(write.verb, write.user) for write in writes] == [
        ("create", "admin"),
        ("patch", "admin"),
    ]
    assert writes[1].body == {"spec": {"minReplicas": 2}}
    assert writes[0].at > began - 1


@pytest.mark.slow  # a cold start and two syncs of the HPA
def test_a_raised_floor_becomes_ready_replicas_after_the_cold_start(
    controllers: Controllers, external_metrics: ExternalMetrics, namespace: str
):
    api = controllers.plane.api
    external_metrics.values["tide-raised"] = lambda: 1.0
    controllers.serve(namespace, "qwen", replicas=1, cold_start="3s")
    api.create(scaler(namespace, "qwen", low=1, high=8, metric="tide-raised", target="10"))
    wait_until(lambda: controllers.ready(namespace, "qwen") == 1, "first replica")
    api.patch("HorizontalPodAutoscaler", "qwen", {"spec": {"minReplicas": 3}}, namespace)
    wait_until(lambda: controllers.ready(namespace, "qwen") == 3, "three replicas")


@pytest.mark.slow  # two syncs of the HPA
def test_the_hpa_scales_on_the_external_metric(
    controllers: Controllers, external_metrics: ExternalMetrics, namespace: str
):
    external_metrics.values["tide-live"] = lambda: 33.0
    controllers.serve(namespace, "glm", replicas=1, cold_start="1s")
    controllers.plane.api.create(
        scaler(namespace, "glm", low=1, high=8, metric="tide-live", target="10")
    )
    wait_until(lambda: controllers.ready(namespace, "glm") == 4, "33 / 10 → 4 replicas")


def test_history_and_scrapes_form_one_series(prometheus):
    now = int(time.time()) // 60 * 60
    exporter = Exporter(lambda: 'tide{model="m"} 7\n')
    times = [now - 60 * back for back in range(120, 0, -1)]
    labels = {"model": "m", "job": "lab", "instance": exporter.address}
    past = openmetrics("gauge", "tide", [(labels, times, [5.0] * len(times))])
    try:
        server = prometheus(past=[past], scrape={"lab": exporter.address}, interval=0.5)

        def answered() -> list[dict]:
            return server.query("tide")

        wait_until(lambda: [each["value"][1] for each in answered()] == ["7"], "a scrape")
    finally:
        exporter.stop()
    span = server.query("count_over_time(tide[3h])")
    assert len(span) == 1
    assert int(span[0]["value"][1]) >= 121
