"""A real manifest above the floors."""

import numpy as np
import pytest

from autoscaler.errors import InputError
from autoscaler.simulator.hpa_file import read_hpa

HEAD = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\n"
EXTERNAL = (
    HEAD
    + """spec:
  minReplicas: 2
  maxReplicas: 30
  metrics:
    - type: External
      external: {metric: {name: rps}, target: {type: AverageValue, averageValue: 500m}}
"""
)
SLOW = (
    EXTERNAL
    + """  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies: [{type: Pods, value: 1, periodSeconds: 60}]
    scaleDown: {selectPolicy: Disabled}
"""
)


def manifest(tmp_path, text):
    path = tmp_path / "hpa.yaml"
    path.write_text(text)
    return read_hpa(path)


def test_external_average_value(tmp_path, world_of):
    demand = np.full(1440, 4.0)
    run = manifest(tmp_path, EXTERNAL)(world_of(demand, 0.5), np.ones(720, dtype=np.int64))
    assert run.total[0, -1] == 8  # 4 /s at 0.5 a replica
    assert run.total[0].min() >= 2


def test_ceiling_and_floor(tmp_path, world_of):
    world = world_of(np.full(1440, 90.0), 0.5)
    run = manifest(tmp_path, EXTERNAL)(world, np.ones(720, dtype=np.int64))
    assert run.total[0].max() == 30
    high = manifest(tmp_path, EXTERNAL)(world_of(np.ones(1440), 0.5), np.full(720, 50))
    assert set(high.total[0]) == {30}


def test_behavior_bounds_each_minute(tmp_path, world_of):
    demand = np.concatenate([np.full(730, 1.0), np.full(710, 8.0)])
    run = manifest(tmp_path, SLOW)(world_of(demand, 0.5), np.ones(720, dtype=np.int64))
    assert np.diff(run.total[0]).max() == 1
    assert np.diff(run.total[0]).min() == 0


def test_utilisation_cannot_exceed_what_there_is(tmp_path, world_of):
    text = (
        HEAD
        + """spec:
  maxReplicas: 100
  metrics:
    - type: Resource
      resource: {name: gpu, target: {type: Utilization, averageUtilization: 95}}
"""
    )
    world = world_of(np.concatenate([np.full(721, 1.0), np.full(719, 50.0)]), 0.5)
    run = manifest(tmp_path, text)(world, np.full(720, 3))
    assert run.total[0].max() == 3  # 100 / 95 is within the tolerance


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Deployment\n", "not a HorizontalPodAutoscaler of autoscaling/v2"),
        (HEAD + "spec: {metrics: []}\n", "maxReplicas is missing"),
        (EXTERNAL.replace("External", "Magic"), "metric type 'Magic'; allowed are External"),
        (EXTERNAL.replace("AverageValue", "Mean"), "target type 'Mean'; allowed are Value"),
        (SLOW.replace("type: Pods", "type: Eggs"), "policy type 'Eggs'; allowed are Pods"),
        (SLOW.replace("Disabled", "Never"), "selectPolicy 'Never'; allowed are Max"),
        ("{", "hpa.yaml:2:1: no YAML"),
        (EXTERNAL.replace("maxReplicas: ", "maxReplicas: -"), "1 <= min <= max"),
        (HEAD + "spec: {maxReplicas: 3, metrics: []}\n", "metrics is empty"),
        (EXTERNAL.replace("averageValue: ", "averageValue: -"), "a number above 0"),
        (EXTERNAL + "spec: {}\n", "spec: found the key a second time"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        manifest(tmp_path, text)


def test_the_hpa_is_found_among_other_documents(tmp_path):
    found = manifest(tmp_path, "kind: Deployment\n---\n" + EXTERNAL)
    assert found == manifest(tmp_path, EXTERNAL)
