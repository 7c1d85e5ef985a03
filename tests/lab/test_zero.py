"""A real HPA goes to 0 by its own metric once our floor lets it; our floor alone wakes it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.policies import parse_object
from autoscaler.model import Outcome, Target
from autoscaler.policy import TidePolicy
from tests.kubernetes.world import PATIENT
from tests.lab.controllers import Controllers
from tests.lab.external_metrics import ExternalMetrics
from tests.lab.objects import scaler, tide_policy
from tests.lab.process import wait_until

pytestmark = [pytest.mark.lab, pytest.mark.slow]  # the HPA's window, two cold starts


class Ours:
    """Our own reader and writer of one target."""

    def __init__(self, controllers: Controllers, namespace: str, name: str) -> None:
        kubeconfig = yaml.safe_load(controllers.plane.kubeconfig().read_text())
        self._cluster = connect(kubeconfig=kubeconfig)
        capacity = {"perReplica": 10}
        document = tide_policy(namespace, name, mode="Act", query="up", capacity=capacity)
        self.policy: TidePolicy = parse_object(document)
        self._floors = KubernetesFloors(self._cluster, may_write=lambda: True, timeouts=PATIENT)

    def observe(self) -> Target:
        return KubernetesTargets(self._cluster).observe(self.policy)

    def write(self, floor: int) -> Outcome:
        return self._floors.write(self.policy, self.observe(), floor)

    def close(self) -> None:
        self._cluster.close()


@pytest.fixture
def ours(controllers: Controllers, namespace: str) -> Any:
    made = Ours(controllers, namespace, "night")
    yield made
    made.close()


def test_it_sleeps_and_is_woken_by_the_floor(
    controllers: Controllers, external_metrics: ExternalMetrics, namespace: str, ours: Ours
):
    load = {"now": 15.0}
    external_metrics.values["night-load"] = lambda: load["now"]
    api = controllers.plane.api
    api.create(scaler(namespace, "night", low=1, high=8, metric="night-load", target="10"))
    # before it has ever scaled (there is nothing to scale) nothing says that it could be woken
    assert ours.observe().lowest == 1
    controllers.serve(namespace, "night", replicas=1, cold_start="1s")
    wait_until(lambda: controllers.ready(namespace, "night") == 2, "15 / 10 → 2 replicas")
    wait_until(lambda: ours.observe().lowest == 0, "the condition ScaledToZero")

    load["now"] = 0.0
    assert ours.write(0) is Outcome.WRITTEN
    wait_until(lambda: _replicas(controllers, namespace) == 0, "asleep")

    assert ours.observe().floor == 0
    assert ours.write(3) is Outcome.WRITTEN  # ahead of the tide: the metric still says 0
    wait_until(lambda: controllers.ready(namespace, "night") == 3, "woken")


def _replicas(controllers: Controllers, namespace: str) -> int:
    found = controllers.plane.api.get("Deployment", "night", namespace)
    return int(found["spec"]["replicas"])
