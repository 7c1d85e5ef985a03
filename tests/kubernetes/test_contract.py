"""The contract between the adapter and an API server: the same tests on sandbox and real one.

One file by intent, although it is long: what is in it holds for both servers, nothing else is.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.events import EventWriter, Happening
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.giving_back import GivingBack, restore
from autoscaler.adapters.kubernetes.policies import ClusterPolicySource
from autoscaler.adapters.kubernetes.problems import (
    ApiError,
    Conflict,
    Denied,
    Invalid,
    NotFound,
    Unreachable,
)
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.kubernetes.resources import (
    DEPLOYMENTS,
    EVENTS,
    HPAS,
    LEASES,
    ORIGINAL_FLOOR,
    POLICIES,
)
from autoscaler.adapters.kubernetes.status import StatusWriter
from autoscaler.adapters.kubernetes.targets.hpa import managers_of_floor
from autoscaler.errors import (
    ObservationError,
    TargetRefused,
    TargetUnavailable,
    WriteConflict,
    WriteRefused,
    WriteUnavailable,
)
from autoscaler.model import Code, Outcome, Reason, Target
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed, Refusal
from tests.kubernetes.world import BRIEF, PATIENT, World, decided, observed
from tests.lab.process import wait_until
from tests.support.proxy import SilentProxy

Json = dict[str, Any]


def always() -> bool:
    return True


def targets(world: World) -> KubernetesTargets:
    """Without any cache: a test sees what stands."""
    return KubernetesTargets(world.cluster, fresh=-1.0)


def floors(world: World, cluster: Cluster | None = None) -> KubernetesFloors:
    return KubernetesFloors(cluster or world.cluster, may_write=always, timeouts=PATIENT)


def observe(world: World, policy: TidePolicy | None = None) -> Target:
    return targets(world).observe(policy or world.policy())


def foreign(document: Json) -> Json:
    """All of an object that is not ours to change."""
    rest = copy.deepcopy(document)
    rest["spec"].pop("minReplicas")
    for name in ("resourceVersion", "generation", "managedFields"):
        rest["metadata"].pop(name)
    annotations = rest["metadata"].pop("annotations", {})
    annotations.pop(ORIGINAL_FLOOR, None)
    return {**rest, "annotations": annotations}


# --- reading -------------------------------------------------------------------------------------


def test_a_target_is_read_with_its_ready_pods(world: World):
    world.hpa(annotations={"team": "llm"})
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "qwen", "namespace": world.namespace},
        "spec": {
            "selector": {"matchLabels": {"app": "qwen"}},
            "template": {
                "metadata": {"labels": {"app": "qwen"}},
                "spec": {"containers": [{"name": "engine", "image": "engine"}]},
            },
        },
    }
    world.hand.create(deployment)
    status = {"replicas": 3, "readyReplicas": 2, "observedGeneration": 1}
    world.cluster.patch_status(DEPLOYMENTS, world.namespace, "qwen", status)
    scaled = {"currentReplicas": 3, "desiredReplicas": 3}
    world.cluster.patch_status(HPAS, world.namespace, "qwen", scaled)
    target = observe(world)
    assert (target.floor, target.ceiling, target.original) == (2, 10, None)
    assert (target.replicas, target.ready) == (3, 2)
    assert target.annotated
    assert target.floor_given
    assert not target.paused


def test_what_was_not_observed_is_not_zero(world: World):
    world.hpa()
    target = observe(world)
    assert target.ready is None
    assert target.replicas is None
    assert not target.annotated


def test_an_absent_floor_is_the_default_of_the_api(world: World):
    document = world.hpa()
    document["spec"].pop("minReplicas")
    document["metadata"] = {"name": "bare", "namespace": world.namespace}
    world.hand.create(document)
    assert observe(world, world.policy("bare")).floor == 1


def test_an_absent_target_says_what_there_is(world: World):
    world.hpa("other")
    with pytest.raises(TargetUnavailable, match=r"qwen is not there.*other") as caught:
        observe(world)
    assert caught.value.code == "TargetNotFound"


def test_an_owned_target_is_refused_with_its_owner_and_what_to_target(world: World):
    owner = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "name": "qwen-scaled",
        "uid": "0b5e6b32-0000-4000-8000-000000000000",
        "controller": True,
    }
    world.hpa(ownerReferences=[owner])
    with pytest.raises(TargetRefused, match=r"ScaledObject qwen-scaled.*spec\.minReplicaCount"):
        observe(world)


def test_a_list_is_read_in_pages(world: World):
    names = [f"hpa-{i}" for i in range(7)]
    for name in names:
        world.hpa(name)
    world.cluster.page = 3
    listed = world.cluster.list(HPAS, world.namespace)
    assert sorted(o["metadata"]["name"] for o in listed) == names


def test_who_has_no_right_is_told_so(world: World):
    world.hpa(annotations={"team": "llm"})
    nobody = world.connect("nobody")
    with pytest.raises(Denied, match='User "nobody" cannot list resource'):
        nobody.list(HPAS, world.namespace)
    with pytest.raises(TargetUnavailable) as caught:
        KubernetesTargets(nobody).observe(world.policy())
    assert caught.value.code == "Denied"
    assert not nobody.can_i("patch", HPAS, world.namespace, "qwen").allowed
    assert world.cluster.can_i("patch", HPAS, world.namespace, "qwen").allowed
    target = observe(world)
    with pytest.raises(WriteRefused, match="cannot patch"):
        floors(world, nobody).write(world.policy(), target, 5)
    assert world.get_hpa()["spec"]["minReplicas"] == 2


# --- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("annotations", [None, {"team": "llm", "example.com/a.b_c": "~1 / {}"}])
def test_a_write_changes_the_floor_and_our_annotation_only(
    world: World, annotations: dict[str, str] | None
):
    before = world.hpa(**({} if annotations is None else {"annotations": annotations}))
    assert floors(world).write(world.policy(), observe(world), 7) is Outcome.WRITTEN
    after = world.get_hpa()
    assert after["spec"]["minReplicas"] == 7
    assert after["metadata"]["annotations"] == {**(annotations or {}), ORIGINAL_FLOOR: "2"}
    assert foreign(after) == foreign(before)
    assert list(managers_of_floor(after)) == ["foretide"]
    ours = [e for e in after["metadata"]["managedFields"] if e["manager"] == "foretide"]
    assert [set(e["fieldsV1"]) for e in ours] == [{"f:metadata", "f:spec"}]
    assert ours[0]["fieldsV1"]["f:spec"] == {"f:minReplicas": {}}


def test_a_second_write_keeps_the_original(world: World):
    world.hpa()
    floors(world).write(world.policy(), observe(world), 7)
    second = observe(world)
    assert (second.floor, second.original) == (7, 2)
    floors(world).write(world.policy(), second, 4)
    assert observe(world).original == 2
    assert world.get_hpa()["spec"]["minReplicas"] == 4


def test_status_in_between_does_not_disturb(world: World):
    world.hpa()
    target = observe(world)
    status = {"currentReplicas": 5, "desiredReplicas": 5}
    world.cluster.patch_status(HPAS, world.namespace, "qwen", status)
    assert floors(world).write(world.policy(), target, 7) is Outcome.WRITTEN
    assert world.get_hpa()["status"]["currentReplicas"] == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"minReplicas": 3}, "minReplicas 2 → 3 by somebody"),
        ({"maxReplicas": 20}, "maxReplicas 10 → 20"),
    ],
)
@pytest.mark.parametrize("annotated", [False, True])
def test_a_target_that_moved_is_a_conflict(
    world: World, change: dict[str, int], words: str, annotated: bool
):
    world.hpa(**({"annotations": {"team": "llm"}} if annotated else {}))
    target = observe(world)
    world.move(change)
    with pytest.raises(WriteConflict, match=words):
        floors(world).write(world.policy(), target, 7)
    assert world.get_hpa()["spec"]["minReplicas"] == change.get("minReplicas", 2)
    assert ORIGINAL_FLOOR not in world.get_hpa()["metadata"].get("annotations", {})


@pytest.mark.parametrize("again", [False, True])
def test_a_target_that_was_deleted_is_a_conflict(world: World, again: bool):
    world.hpa(annotations={"team": "llm"})
    target = observe(world)
    world.hand.delete("HorizontalPodAutoscaler", "qwen", world.namespace)
    if again:
        world.hpa(annotations={"team": "llm"})
    with pytest.raises(WriteConflict, match="made again" if again else "not found"):
        floors(world).write(world.policy(), target, 7)


def test_a_lost_annotation_is_a_conflict(world: World):
    world.hpa()
    floors(world).write(world.policy(), observe(world), 7)
    target = observe(world)
    world.annotate("HorizontalPodAutoscaler", "qwen", {ORIGINAL_FLOOR: None})
    with pytest.raises(WriteConflict, match="annotation"):
        floors(world).write(world.policy(), target, 8)


def test_a_floor_above_the_ceiling_is_refused_by_name(world: World):
    world.hpa(annotations={"team": "llm"})
    with pytest.raises(WriteRefused, match=r"spec\.maxReplicas.*must be greater than or equal"):
        floors(world).write(world.policy(), observe(world), 11)


def test_what_somebody_else_writes_becomes_the_original(world: World):
    world.hpa()
    floors(world).write(world.policy(), observe(world), 7)
    world.move({"minReplicas": 5})
    target = observe(world)
    assert (target.floor, target.original) == (5, 5)
    floors(world).write(world.policy(), target, 8)
    assert observe(world).original == 5
    assert world.get_hpa()["metadata"]["annotations"][ORIGINAL_FLOOR] == "5"


def test_a_manifest_restored_with_our_annotation_keeps_it(world: World):
    world.hpa(low=7, annotations={ORIGINAL_FLOOR: "2"})
    assert observe(world).original == 2


def test_an_annotation_that_is_no_number_is_refused_not_guessed(world: World):
    world.hpa(annotations={ORIGINAL_FLOOR: "two"})
    with pytest.raises(TargetRefused, match="'two', not a whole number"):
        observe(world)


def test_a_pause_of_the_namespace_stops_the_write_that_was_decided_before(world: World):
    world.hpa()
    target = observe(world)
    world.annotate("Namespace", world.namespace, {"foretide.dev/paused": "true"})
    with pytest.raises(WriteConflict, match="paused"):
        floors(world).write(world.policy(), target, 7)
    assert observe(world).paused
    world.annotate("Namespace", world.namespace, {"foretide.dev/paused": "false"})
    assert not observe(world).paused


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metadata": {"annotations": {"foretide.dev/paused": "true"}}}, "paused"),
        ({"spec": {"mode": "Observe"}}, "changed"),
        (None, "not found"),
    ],
)
def test_a_policy_that_changed_since_it_was_read_writes_nothing(
    world: World, change: Json | None, words: str
):
    world.hpa()
    world.hand.create(world.manifest())
    policy = in_cluster(world)
    if change is None:
        world.hand.delete("TidePolicy", "qwen", world.namespace)
    else:
        world.hand.patch("TidePolicy", "qwen", change, world.namespace)
    with pytest.raises(WriteConflict, match=words):
        floors(world).write(policy, observe(world), 7)
    assert world.get_hpa()["spec"]["minReplicas"] == 2


# --- connections that go silent ------------------------------------------------------------------


def test_a_silent_connection_ends_in_an_unknown_write_and_nothing_hangs(world: World):
    world.hpa(annotations={"team": "llm"})
    with SilentProxy(world.url) as proxy:
        cluster = world.connect(url=proxy.url, timeouts=PATIENT)
        writer = KubernetesFloors(cluster, may_write=always, timeouts=BRIEF)
        target = KubernetesTargets(cluster).observe(world.policy())
        proxy.go_silent()
        with pytest.raises(Unreachable, match="no answer within the read timeout"):
            cluster.get(HPAS, world.namespace, "qwen", timeouts=BRIEF)
        cluster.timeouts = BRIEF
        with pytest.raises(WriteUnavailable):
            writer.write(world.policy(), target, 7)
        with pytest.raises(TargetUnavailable) as caught:
            KubernetesTargets(cluster).observe(world.policy())
        assert caught.value.code == "Unreachable"
        proxy.resume()
        cluster.timeouts = PATIENT
        assert KubernetesTargets(cluster).observe(world.policy()).ceiling == 10


def test_a_write_whose_answer_was_lost_is_unknown_and_found_out_by_reading(world: World):
    world.hpa(annotations={"team": "llm"})
    target = observe(world)
    patch = [{"op": "replace", "path": "/spec/minReplicas", "value": 7}]
    with SilentProxy(world.url) as proxy:
        cluster = world.connect(url=proxy.url, timeouts=PATIENT)
        cluster.get(HPAS, world.namespace, "qwen")
        proxy.swallow_answers()
        with pytest.raises(Unreachable):
            cluster.patch_json(HPAS, world.namespace, "qwen", patch, timeouts=BRIEF)
        # the server may take longer to do it than we waited
        wait_until(lambda: observe(world).floor == 7, "the write is done")
    with pytest.raises(WriteConflict, match="minReplicas 2 → 7 by foretide"):
        floors(world).write(world.policy(), target, 7)


# --- giving back ---------------------------------------------------------------------------------


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def giving_back(world: World, clock: Clock, **options: Any) -> GivingBack:
    options = {"may_write": always, "namespaces": [world.namespace], "clock": clock} | options
    return GivingBack(world.cluster, **options)


def raised(world: World, name: str = "qwen", floor: int = 7) -> TidePolicy:
    """An HPA whose floor was raised from 2."""
    world.hpa(name)
    policy = world.policy(name)
    floors(world).write(policy, observe(world, policy), floor)
    return policy


def test_a_removed_policy_gives_back_after_its_release(world: World):
    policy, other = raised(world), raised(world, "other")
    clock = Clock()
    giving = giving_back(world, clock)
    giving.seen([policy, other])
    assert giving.sweep(Listed(policies=(policy, other))) == ()
    (waiting,) = giving.sweep(Listed(policies=(other,)))
    assert not waiting.done
    clock.now += policy.spec.release.after - 1
    assert not giving.sweep(Listed(policies=(other,)))[0].done
    assert world.get_hpa()["spec"]["minReplicas"] == 7
    clock.now += 1
    (returned,) = giving.sweep(Listed(policies=(other,)))
    assert (returned.done, returned.floor, returned.original) == (True, 7, 2)
    after = world.get_hpa()
    assert after["spec"]["minReplicas"] == 2
    assert ORIGINAL_FLOOR not in after["metadata"].get("annotations", {})
    assert world.get_hpa("other")["spec"]["minReplicas"] == 7
    assert giving.sweep(Listed(policies=(other,))) == ()


def test_a_policy_that_goes_before_any_sweep_is_released_as_it_asked(world: World):
    policy, other = raised(world), raised(world, "other")
    clock = Clock()
    giving = giving_back(world, clock, after=policy.spec.release.after + 3600)
    giving.seen([policy])  # the controller's listing saw it, no sweep did
    assert not giving.sweep(Listed(policies=(other,)))[0].done
    clock.now += policy.spec.release.after
    assert giving.sweep(Listed(policies=(other,)))[0].done


def test_a_source_that_is_empty_or_unreadable_removes_nothing(world: World):
    policy, other = raised(world), world.policy("other")
    clock = Clock()
    giving = giving_back(world, clock)
    broken = Refusal(key=f"{world.namespace}/qwen", message="bad edit")
    for listed in (
        Listed(policies=()),
        Listed(policies=(other,), complete=False),
        Listed(policies=(other,), refused=(broken,)),
    ):
        for _ in range(2):
            assert giving.sweep(listed) == ()
            clock.now += 10_000
    assert giving.sweep(Listed(policies=(other,), refused=(broken,)), in_force=[policy]) == ()
    assert world.get_hpa()["spec"]["minReplicas"] == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [({"observe_only": True}, "observing only"), ({"may_write": lambda: False}, "not the leader")],
)
def test_who_may_not_write_gives_nothing_back(world: World, options: Json, message: str):
    raised(world)
    clock = Clock()
    giving = giving_back(world, clock, **options)
    giving.sweep(Listed(policies=(world.policy("other"),)))
    clock.now += 10_000
    (returned,) = giving.sweep(Listed(policies=(world.policy("other"),)))
    assert (returned.done, returned.message) == (False, message)
    assert world.get_hpa()["spec"]["minReplicas"] == 7


def test_what_another_controller_wrote_is_its_own_to_give_back(world: World):
    policy, other = raised(world), raised(world, "other")
    ours = KubernetesFloors(
        world.cluster, may_write=always, timeouts=PATIENT, controller="a/foretide"
    )
    ours.write(policy, observe(world, policy), 8)
    assert world.get_hpa()["metadata"]["annotations"][ORIGINAL_FLOOR] == "2 by a/foretide"
    clock = Clock()
    theirs, mine = (
        giving_back(world, clock, controller=name) for name in ("b/foretide", "a/foretide")
    )
    for _ in range(2):
        assert theirs.sweep(Listed(policies=(other,))) == ()
        found = mine.sweep(Listed(policies=(other,)))
        clock.now += 10_000
    assert [(returned.done, returned.original) for returned in found] == [(True, 2)]
    assert ORIGINAL_FLOOR not in world.get_hpa()["metadata"].get("annotations", {})
    # what was written before anybody put a name on it is anyone's, as ever
    assert [returned.done for returned in theirs.sweep(Listed(policies=(policy,)))] == [False]


def test_who_takes_a_target_over_puts_its_name_on_it(world: World):
    world.hpa()
    policy = world.policy()
    for name, floor in (("a/foretide", 5), ("b/foretide", 6), ("b/foretide", 7)):
        writer = KubernetesFloors(
            world.cluster, may_write=always, timeouts=PATIENT, controller=name
        )
        assert writer.write(policy, observe(world, policy), floor) is Outcome.WRITTEN
        assert observe(world, policy).controller == name
    assert observe(world, policy).original == 2


def test_a_floor_below_the_original_is_raised_at_once(world: World):
    raised(world, floor=1)
    (returned,) = giving_back(world, Clock()).sweep(Listed(policies=(world.policy("other"),)))
    assert returned.done
    assert world.get_hpa()["spec"]["minReplicas"] == 2


def test_restore_gives_everything_back_and_caps_by_a_lowered_ceiling(world: World):
    before = world.hpa("low", low=5, annotations={"team": "llm"})
    policy = world.policy("low")
    floors(world).write(policy, observe(world, policy), 3)
    world.move({"maxReplicas": 4}, "low")
    raised(world)
    assert [r.done for r in restore(world.cluster, namespaces=[world.namespace], write=False)] == [
        False,
        False,
    ]
    results = restore(world.cluster, namespaces=[world.namespace])
    assert {r.what.rpartition("/")[2]: (r.floor, r.original, r.done) for r in results} == {
        "low": (3, 4, True),
        "qwen": (7, 2, True),
    }
    after = world.get_hpa("low")
    assert after["metadata"]["annotations"] == {"team": "llm"}
    assert {**after["spec"], "minReplicas": 5, "maxReplicas": 10} == before["spec"]
    assert restore(world.cluster, namespaces=[world.namespace]) == ()


# --- policies, status, events --------------------------------------------------------------------


def in_cluster(world: World) -> TidePolicy:
    (policy,) = ClusterPolicySource(world.cluster, namespaces=[world.namespace]).list().policies
    return policy


def test_policies_of_the_cluster_are_read_with_generation_and_uid(world: World):
    stored = world.hand.create(world.manifest(), strict=True)
    policy = in_cluster(world)
    assert policy.key == f"{world.namespace}/qwen"
    assert policy.metadata.uid == stored["metadata"]["uid"]
    assert policy.metadata.generation == 1
    assert policy.spec == world.policy().spec


def test_the_definition_refuses_what_the_schema_refuses(world: World):
    wrong = world.manifest()
    wrong["metadata"] = {"name": "wrong", "namespace": world.namespace}
    wrong["spec"]["mode"] = "Sometimes"
    wrong["spec"]["capacity"]["perReplica"] = 0
    with pytest.raises(Invalid) as caught:
        world.cluster.create(POLICIES, world.namespace, wrong)
    # the real one adds that rules were not evaluated
    fields = {field for field, _ in caught.value.causes}
    assert fields - {"<nil>"} == {"spec.mode", "spec.capacity.perReplica"}
    unknown = world.manifest("unknown", flor={})
    with pytest.raises(Exception, match=r'unknown field \\?"spec\.flor'):
        world.hand.create(unknown, strict=True)


def test_one_bad_policy_does_not_hide_the_others_and_the_older_has_the_target(world: World):
    world.hand.create(world.manifest("good"))
    second = world.manifest("second")
    second["spec"]["targetRef"]["name"] = "good"
    world.hand.create(second)
    bad = world.manifest("bad", timeZone="Mars/Olympus")
    world.hand.create(bad)
    listed = ClusterPolicySource(world.cluster, namespaces=[world.namespace]).list()
    assert [policy.metadata.name for policy in listed.policies] == ["good"]
    messages = {r.key.partition("/")[2]: r.message for r in listed.refused}
    assert set(messages) == {"bad", "second"}
    assert "Mars/Olympus" in messages["bad"]


def test_a_source_that_may_not_be_read_is_not_an_empty_one(world: World):
    nobody = world.connect("nobody")
    with pytest.raises(ObservationError) as caught:
        ClusterPolicySource(nobody).list()
    assert caught.value.code == "Denied"


def test_status_is_written_once_and_again_only_when_it_changed(world: World):
    world.hpa()
    world.hand.create(world.manifest())
    policy, target = in_cluster(world), observe(world)
    now = [1_800_000_000.0]
    writer = StatusWriter(world.cluster, may_write=always, wall=lambda: now[0])
    doubt = Reason(code=Code.HISTORY_STALE, sentence="the newest sample is 900 s old")
    assert writer.write(policy, observed(target), None, decided(target, 2))
    first = world.hand.get("TidePolicy", "qwen", world.namespace)
    now[0] += 60
    later = decided(target, 2, at=now[0])
    assert not writer.write(policy, observed(target), None, later)
    again = StatusWriter(world.cluster, may_write=always, wall=lambda: now[0])
    assert not again.write(policy, observed(target), None, later)
    assert world.hand.get("TidePolicy", "qwen", world.namespace) == first
    assert writer.write(policy, observed(target), None, decided(target, 7, doubts=(doubt,)))
    second = world.hand.get("TidePolicy", "qwen", world.namespace)
    assert second["spec"] == first["spec"]
    assert second["metadata"]["generation"] == 1
    assert (second["status"]["floor"], second["status"]["wanted"]) == (2, 7)
    assert second["status"]["observedGeneration"] == 1
    conditions = {c["type"]: c for c in second["status"]["conditions"]}
    assert {kind: c["status"] for kind, c in conditions.items()} == {
        "Ready": "True",
        "Acting": "True",
        "InDoubt": "True",
        "Capped": "False",
        "FellBack": "False",
    }
    assert conditions["InDoubt"]["reason"] == "HistoryStale"
    assert conditions["InDoubt"]["lastTransitionTime"] == "2027-01-15T08:01:00Z"
    assert conditions["Ready"]["lastTransitionTime"] == "2027-01-15T08:00:00Z"


def test_status_forgets_what_is_no_longer_known(world: World):
    world.hpa()
    world.hand.create(world.manifest())
    policy, target = in_cluster(world), observe(world)
    writer = StatusWriter(world.cluster, may_write=always, wall=lambda: 1_800_000_000.0)
    known = replace(target, ready=4)
    writer.write(policy, observed(known), None, decided(known, 2))
    status = world.hand.get("TidePolicy", "qwen", world.namespace)["status"]
    assert status["readyReplicas"] == 4
    writer.write(policy, observed(target), None, decided(target, 2))
    assert "readyReplicas" not in world.hand.get("TidePolicy", "qwen", world.namespace)["status"]
    refusal = Refusal(key=policy.key, message="spec.mode: found 'X'", generation=2)
    assert writer.write(policy, observed(target), None, decided(target, 2), refusal)
    status = world.hand.get("TidePolicy", "qwen", world.namespace)["status"]
    assert (status["observedGeneration"], status["floor"]) == (2, 2)
    ready = next(c for c in status["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "PolicyRefused")


def test_an_event_is_made_once_and_counted_after_that(world: World):
    world.hand.create(world.manifest())
    policy, clock = in_cluster(world), Clock()
    writer = EventWriter(
        world.cluster,
        may_write=always,
        instance="foretide-0",
        wall=lambda: 1_800_000_000.0,
        clock=clock,
    )
    what = Happening(reason="FloorRaised", action="MoveFloor", note="floor 2 → 7: " + "×" * 2000)
    assert writer.emit(policy, None, what)
    for _ in range(5):
        assert not writer.emit(policy, None, what)
    clock.now += 61
    assert writer.emit(policy, None, what)
    (event,) = world.hand.list("Event", world.namespace)
    assert event["regarding"]["uid"] == policy.metadata.uid
    assert event["series"]["count"] == 7
    assert 1020 < len(event["note"].encode()) <= 1024
    for i in range(100):
        writer.emit(policy, None, replace(what, note=str(i)))
    # a burst of 20, one more after a minute; one of them was the count
    assert len(world.hand.list("Event", world.namespace)) == 20
    world.hand.call("DELETE", EVENTS.path(world.namespace, event["metadata"]["name"]))
    clock.now += 400
    assert writer.emit(policy, None, what)


# --- the server's own words ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "kind", "words"),
    [
        ([{"op": "test", "path": "/spec/minReplicas", "value": 3}], Invalid, "due to an error in"),
        (
            [{"op": "add", "path": "/metadata/annotations/x", "value": "1"}],
            Invalid,
            "due to an err",
        ),
        ([{"op": "remove", "path": "/metadata/annotations"}], Invalid, "due to an error in"),
        (
            [{"op": "replace", "path": "/spec/minReplicas", "value": -1}],
            Invalid,
            "is invalid: spec.",
        ),
        ([{"op": "test", "path": "/spec/minReplicas", "value": 2}], None, ""),
    ],
)
def test_json_patches_are_answered_alike(
    world: World, patch: list[Json], kind: type[ApiError] | None, words: str
):
    version = world.hpa()["metadata"]["resourceVersion"]
    if kind is None:
        after = world.cluster.patch_json(HPAS, world.namespace, "qwen", patch)
        assert after["metadata"]["resourceVersion"] == version
        return
    with pytest.raises(kind, match=words) as caught:
        world.cluster.patch_json(HPAS, world.namespace, "qwen", patch)
    assert bool(caught.value.causes) == words.startswith("is invalid")


def test_a_stale_put_a_second_create_and_what_is_not_there_are_answered_alike(world: World):
    lease = {"metadata": {"name": "foretide"}, "spec": {"holderIdentity": "a"}}
    first = world.cluster.create(LEASES, world.namespace, lease)
    first["spec"]["holderIdentity"] = "b"
    second = world.cluster.replace(LEASES, world.namespace, "foretide", first)
    assert second["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    with pytest.raises(Conflict, match="the object has been modified"):
        world.cluster.replace(LEASES, world.namespace, "foretide", first)
    with pytest.raises(Conflict, match=r'leases\.coordination.k8s\.io "foretide" already exists'):
        world.cluster.create(LEASES, world.namespace, lease)
    del second["metadata"]["resourceVersion"]
    with pytest.raises(Invalid, match="must be specified for an update"):
        world.cluster.replace(LEASES, world.namespace, "foretide", second)
    with pytest.raises(NotFound, match=r'horizontalpodautoscalers\.autoscaling "no" not found'):
        world.cluster.get(HPAS, world.namespace, "no")
    with pytest.raises(NotFound, match='namespaces "no-such" not found'):
        world.cluster.create(LEASES, "no-such", lease)
