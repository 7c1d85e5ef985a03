"""The tide, for real: what the API server's audit log and a bystander saw of one evening."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.lab import play
from tests.lab.foretide import USER
from tests.lab.play import FOUND, PERIOD, RELEASE, Evening, Play
from tests.lab.tide import RECORDING, recorded, synthetic
from tests.support.shared import SHARED

OWN = USER.replace("foretide:foretide", f"foretide:{play.OWN_ACCOUNT}")
HPA_CONTROLLER = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
SURGE = 1.8
PROMISE = 5.0  # seconds: the default of promise.wait

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,  # the evening is played in real time
    pytest.mark.timeout(3600),
]


@pytest.fixture(scope="module")
def evening(controllers, external_metrics, deployed, module_namespaces, tmp_path_factory):
    # the recording where it is at hand, else a made-up tide with the same levels
    path = SHARED.joinpath(*RECORDING)
    slots = recorded(path) if path.exists() else synthetic()
    home = tmp_path_factory.mktemp("tide")
    played = Play(controllers, external_metrics, module_namespaces, home)
    try:
        yield played.run(slots, SURGE)
    except BaseException:
        print(played.logs())  # noqa: T201 (shown by pytest with the error of the fixture)
        raise
    finally:
        played.stop()


def test_the_floor_is_written_before_the_rise(evening: Evening):
    tide = evening.tide
    before = [floor for at, floor in evening.floors("act", USER) if at < tide.rise_at]
    assert before, "no write before the rise"
    assert before[-1] >= evening.need(tide.rise_at)
    assert before[-1] > FOUND


def test_replicas_are_ready_before_the_need(evening: Evening):
    tide = evening.tide
    waits = {
        name: evening.longest_wait(name, tide.rise_at, tide.surge_at) for name in ("act", "observe")
    }
    # late is who meets a backlog worth more than promise.wait; the HPA alone comes too late
    assert waits["act"] <= PROMISE < waits["observe"]


def test_the_autoscaler_goes_above_our_floor_and_is_left_alone(evening: Evening):
    tide = evening.tide
    surge = evening.seen.between("act", tide.surge_at, tide.surge_end)
    above = [each for each in surge if each.replicas > each.floor]
    assert above, "the HPA never went above the floor"
    lowered = [
        (at, floor)
        for at, floor in evening.floors("act", USER)
        if tide.surge_at <= at < tide.surge_end and floor < above[0].floor
    ]
    assert lowered == []
    assert min(each.replicas for each in surge if each.at > above[0].at) >= above[0].floor


def test_after_the_tide_the_floor_is_let_go_in_few_steps(evening: Evening):
    floors = evening.floors("act", USER)
    pairs = pairwise(floors)
    lowerings = [(at, low) for (_, high), (at, low) in pairs if low < high]
    # what was wanted until the fall is `release.after` old only then; what the surge lets go before
    # (or a fall that is foreseen a lead ahead) is nothing that the next minute needs
    let_go = evening.tide.fall_at + RELEASE - PERIOD
    after = [(at, low) for at, low in lowerings if at >= let_go]
    assert 1 <= len(after) <= 3
    assert after[-1][1] == FOUND
    early = [(at, low) for at, low in lowerings if evening.tide.surge_end <= at < let_go]
    assert all(low >= evening.need(at) for at, low in early)


def test_only_we_write_floors_and_only_the_autoscaler_scales(evening: Evening):
    writers = {write.user for write in evening.writes if write.name == "act" and not sub(write)}
    assert writers == {"admin", USER}  # admin created it
    mine = [write for write in evening.writes if write.user == USER and sub(write)]
    assert mine == []


def test_observe_writes_nothing_to_the_target(evening: Evening):
    assert [w for w in evening.writes if w.name == "observe" and w.user == USER] == []
    floors = {each.floor for each in evening.seen.seen["observe"]}
    assert floors == {FOUND}


def test_without_prometheus_nothing_is_lowered(evening: Evening):
    floors = evening.floors("blind", OWN)
    raised = [floor for at, floor in floors if at < evening.killed_at]
    assert raised, "no floor was raised while its Prometheus was there"
    assert [floor for at, floor in floors if at >= evening.killed_at and floor < raised[-1]] == []
    assert evening.seen.last("blind").floor >= raised[-1] > FOUND


def test_who_puts_the_floor_back_is_not_fought(evening: Evening):
    floors = evening.floors("applied", USER)
    after = [(at, floor) for at, floor in floors if at > evening.applied_at]
    # quiet for a minute, then asked once more; nobody reverts it then, and the tide goes on
    assert after, "the floor was never raised again"
    assert after[0][0] >= evening.applied_at + 60 - PERIOD
    assert (
        evening.seen.between("applied", evening.tide.plateau_at, evening.tide.surge_at)[0].floor
        > FOUND
    )


def sub(write) -> bool:
    return "/" in write.resource
