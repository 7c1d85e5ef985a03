"""What only the real API server does: server-side apply beside our patches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.model import Outcome
from tests.kubernetes.world import PATIENT, World, lab
from tests.lab.api import ApiError


@pytest.fixture
def world(quiet_plane: Any) -> Iterator[World]:
    real = lab(quiet_plane)
    yield real
    real.close()


@pytest.mark.lab
def test_an_apply_by_somebody_else_gets_a_conflict_that_names_us(world: World):
    manifest = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "qwen", "namespace": world.namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "qwen"},
            "minReplicas": 2,
            "maxReplicas": 10,
        },
    }
    world.hand.apply(manifest, manager="gitops")
    targets = KubernetesTargets(world.cluster, fresh=-1.0)
    floors = KubernetesFloors(world.cluster, may_write=lambda: True, timeouts=PATIENT)
    policy = world.policy()
    assert floors.write(policy, targets.observe(policy), 7) is Outcome.WRITTEN
    with pytest.raises(ApiError, match=r'conflict with \\"foretide\\".*\.spec\.minReplicas'):
        world.hand.apply(manifest, manager="gitops", force=False)
    assert targets.observe(policy).floor == 7
    manifest["spec"]["minReplicas"] = 3  # type: ignore[index]  # a literal of mixed values
    world.hand.apply(manifest, manager="gitops")
    put_back = targets.observe(policy)
    assert (put_back.floor, put_back.original) == (3, 3)
    assert floors.write(policy, put_back, 8) is Outcome.WRITTEN
    assert targets.observe(policy).original == 3
