"""The full HPA on sequences worked by hand from the controller's source."""

import pytest

from autoscaler.reactive import (
    Direction,
    ExternalMetric,
    Hpa,
    HpaState,
    Look,
    PodSeen,
    PodsMetric,
    ResourceMetric,
    Rule,
    hpa_step,
)
from autoscaler.reactive.metrics import Standing


class Service:
    """A target that takes what the HPA writes, at once."""

    def __init__(self, replicas, hpa=None, floor=1, ceiling=100):
        self.replicas, self.hpa, self.state = replicas, hpa or Hpa(), HpaState()
        self.floor, self.ceiling, self.now = floor, ceiling, 0.0

    def sync(self, *metrics, after=15.0, ready=None):
        self.now += after
        standing = Standing(
            spec=self.replicas,
            status=self.replicas,
            ready=self.replicas if ready is None else ready,
            now=self.now,
        )
        look = Look(standing=standing, metrics=metrics, floor=self.floor, ceiling=self.ceiling)
        self.replicas, self.state = hpa_step(self.hpa, self.state, look)
        return self.replicas


def load(value, target=10.0):
    return ExternalMetric(value=value, target=target)


def test_tolerance_is_a_tenth_both_ways():
    service = Service(10)
    assert service.sync(load(110.0)) == 10
    assert service.sync(load(110.1)) == 12  # ceil(11.01)
    service = Service(10)
    service.sync(load(90.0), after=400)
    assert service.sync(load(89.9), after=400) == 9


def test_up_at_most_double_or_four_in_15_s():
    service = Service(3)
    assert service.sync(load(1000.0)) == 7  # 3 + 4 beats 3 * 2
    assert service.sync(load(1000.0)) == 14
    assert service.sync(load(1000.0), after=5.0) == 14  # 7 of them came 5 s ago: limit is still 14
    assert service.sync(load(1000.0), after=10.0) == 28


def test_down_only_to_the_largest_wish_of_300_s():
    service = Service(10)
    assert service.sync(load(100.0)) == 10
    assert service.sync(load(40.0)) == 10
    for _ in range(18):
        assert service.sync(load(30.0)) == 10
    # 300 s after the last wish of 10 only 4 and 3 are in the window
    assert service.sync(load(30.0)) == 4
    assert service.sync(load(30.0)) == 3


def test_a_lowered_floor_is_not_protected_by_the_window():
    """The window holds what the *metric* wished: 2, all along."""
    service = Service(20, floor=20)
    for _ in range(40):
        assert service.sync(load(15.0)) == 20
    service.floor = 2
    assert service.sync(load(15.0)) == 2


def test_a_raised_floor_acts_at_once_even_without_metrics():
    service = Service(2)
    service.floor = 30
    assert service.sync(load(None)) == 30


def test_no_metric_no_move_and_half_of_them_no_shrinking():
    service = Service(8)
    assert service.sync(load(None)) == 8
    assert service.sync(load(None), load(10.0), after=400) == 8
    assert service.sync(load(None), load(100.0)) == 10


def test_ceiling_binds_and_zero_is_disabled():
    service = Service(8, ceiling=9)
    assert service.sync(load(500.0)) == 9
    service.ceiling = 5
    assert service.sync(load(500.0)) == 5
    assert Service(0).sync(load(500.0)) == 0


def test_value_target_counts_ready_pods():
    service = Service(4)
    assert service.sync(ExternalMetric(value=30.0, target=10.0, average=False), ready=2) == 6


def test_rate_policies_smallest_change_and_disabled():
    slow = Direction(
        rules=(Rule(kind="Pods", value=1, period=60), Rule(kind="Percent", value=50, period=60)),
        window=0.0,
        select="Min",
    )
    service = Service(10, Hpa(down=slow))
    assert service.sync(load(10.0)) == 9  # one pod a minute beats half
    assert service.sync(load(10.0)) == 9
    assert service.sync(load(10.0), after=45.0) == 8
    frozen = Direction(rules=(), window=0.0, select="Disabled")
    assert Service(10, Hpa(down=frozen)).sync(load(10.0)) == 10


def test_up_window_takes_the_smallest_wish():
    patient = Direction(rules=(Rule(kind="Percent", value=100, period=15),), window=60.0)
    service = Service(10, Hpa(up=patient))
    assert [service.sync(load(200.0)) for _ in range(5)] == [10, 10, 10, 10, 20]


def test_without_behavior_the_older_rules_hold():
    service = Service(1, Hpa(behavior=False))
    assert service.sync(load(1000.0)) == 4
    assert service.sync(load(1000.0)) == 8
    assert service.sync(load(10.0)) == 16  # the raw wish of 100 is still in the window


def test_tolerance_per_direction():
    service = Service(10, Hpa(down=Direction(rules=Hpa().down.rules, window=0.0, tolerance=0.5)))
    assert service.sync(load(60.0)) == 10
    assert service.sync(load(40.0)) == 4


def pods(*values, **others):
    return tuple(PodSeen(value=value, request=1.0, **others) for value in values)


def test_utilisation_is_whole_per_cent():
    # 0.809 of the requests is 80 per cent, on a target of 74: 1.081 is within the tolerance
    assert Service(10).sync(ResourceMetric(pods=pods(*[0.809] * 10), target=74, cpu=False)) == 10
    assert Service(10).sync(ResourceMetric(pods=pods(*[0.9] * 10), target=74, cpu=False)) == 13


def test_missing_pods_damp_both_ways():
    # up: 4 at 2.0 of a target 1.0 is ratio 2; the missing one at 0 makes 8 / 5 = 1.6, ceil(1.6 * 5)
    assert Service(5).sync(PodsMetric(pods=pods(2.0, 2.0, 2.0, 2.0, None), target=1.0)) == 8
    # down: 4 at 0.5; the missing one on target makes 3 / 5 = 0.6, ceil(3.0)
    service = Service(5, Hpa(down=Direction(rules=Hpa().down.rules, window=0.0)))
    assert service.sync(PodsMetric(pods=pods(0.5, 0.5, 0.5, 0.5, None), target=1.0)) == 3
    # one missing of two at 1.5: the ratio falls to 0.75, another direction: no move
    assert Service(2).sync(PodsMetric(pods=pods(1.5, None), target=1.0)) == 2


def test_starting_pods_count_as_idle_when_growing():
    """Of 4 pods 2 are in their first 5 minutes and not ready: CPU 1.8 of 0.6 becomes 1.5 of it."""
    busy = pods(1.8, 1.8, started=-1000.0)
    young = pods(0.1, 0.1, started=10.0, ready=False)
    metric = ResourceMetric(pods=busy + young, target=60)
    assert Service(4).sync(metric) == 6
    assert Service(4).sync(ResourceMetric(pods=busy, target=60)) == 6
    assert Service(4).sync(ResourceMetric(pods=young, target=60)) == 4  # nothing measured


@pytest.mark.parametrize(("phase", "deleted"), [("Failed", False), ("Running", True)])
def test_failed_and_deleted_pods_are_nowhere(phase, deleted):
    gone = pods(9.0, phase=phase, deleted=deleted)
    assert Service(2).sync(PodsMetric(pods=pods(1.0, 1.0) + gone, target=1.0)) == 2
