"""What a cycle says in the cluster: status of policies, Events for what turned, never an error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.events import EventWriter
from autoscaler.adapters.kubernetes.policies import ClusterPolicySource
from autoscaler.adapters.kubernetes.recorder import ClusterRecorder
from autoscaler.adapters.kubernetes.resources import EVENTS, POLICIES
from autoscaler.adapters.kubernetes.status import StatusWriter
from autoscaler.errors import ObservationError
from autoscaler.model import (
    Accuracy,
    Advice,
    Change,
    Choice,
    Code,
    Forecast,
    Knowledge,
    Live,
    Memory,
    Mode,
    Outcome,
    Plan,
    Reason,
    Result,
    Running,
    Series,
    Target,
)
from autoscaler.policy import TidePolicy
from autoscaler.ports import Refusal
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.schema.candidates import candidate_of
from tests.kubernetes.world import CRD, decided, observed

TARGET = Target(uid="u", version="7", floor=2, ceiling=10, ready=2)


class Stage:
    """A sandbox with one policy, and a recorder whose right to write can be taken away."""

    def __init__(self, server: KubernetesServer) -> None:
        self.server = server
        self.leads = True
        self.now = 1_800_000_000.0
        reference = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
        server.put(
            {
                "apiVersion": "foretide.dev/v1alpha1",
                "kind": "TidePolicy",
                "metadata": {"name": "qwen", "namespace": "llm"},
                "spec": {
                    "mode": "Act",
                    "targetRef": {**reference, "name": "qwen"},
                    "demand": {"preset": "vllm"},
                    "capacity": {"perReplica": 3},
                },
            }
        )
        self.cluster = connect(kubeconfig=server.kubeconfig())
        (self.policy,) = ClusterPolicySource(self.cluster).list().policies
        may, wall = (lambda: self.leads), (lambda: self.now)
        self.recorder = ClusterRecorder(
            StatusWriter(self.cluster, may_write=may, wall=wall),
            EventWriter(self.cluster, may_write=may, instance="foretide-0", wall=wall),
        )

    def record(self, result: Result, policy: TidePolicy | None = None) -> None:
        observation = None if result.decision is None else observed(TARGET)
        self.recorder.record(policy or self.policy, observation, None, Memory(), result)

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = self.server.get(POLICIES, "llm", "qwen").get("status", {})
        return status

    def condition(self, kind: str) -> tuple[str, str]:
        found = next(c for c in self.status()["conditions"] if c["type"] == kind)
        return found["status"], found["reason"]

    def events(self) -> list[tuple[str, str, str]]:
        found = sorted(
            self.server.list(EVENTS), key=lambda e: int(e["metadata"]["resourceVersion"])
        )
        return [(e["type"], e["reason"], e["note"]) for e in found]


@pytest.fixture
def stage() -> Iterator[Stage]:
    with KubernetesServer(definitions=(yaml.safe_load(CRD.read_text()),)) as server:
        stage = Stage(server)
        yield stage
        stage.cluster.close()


def test_a_moved_floor_is_an_event_and_a_status(stage: Stage):
    reason = Reason(code=Code.FORECAST, sentence="p95 of 19.1 req/s at 08:05 needs 7")
    plan = Plan(floor=7, lead=400.0, changes=(Change(at=1_800_003_600.0, floor=9),))
    moved = decided(TARGET, 7, outcome=Outcome.WRITTEN, reasons=(reason,), plan=plan)
    stage.record(moved)
    assert stage.events() == [
        ("Normal", "FloorRaised", "floor 2 → 7: p95 of 19.1 req/s at 08:05 needs 7")
    ]
    status = stage.status()
    assert (status["floor"], status["wanted"], status["ceiling"]) == (7, 7, 10)
    assert status["next"] == {"at": "2027-01-15T09:00:00Z", "floor": 9}
    assert status["readyReplicas"] == 2
    assert "need" not in status
    assert stage.condition("Acting") == ("True", "Act")


def test_a_floor_that_somebody_else_moved_is_a_warning(stage: Stage):
    why = Reason(code=Code.REVERTED, sentence="we wrote 7, now 2 stands")
    stage.record(decided(TARGET, 2, reasons=(why,)))
    assert stage.events() == [("Warning", "Reverted", "we wrote 7, now 2 stands")]


def test_conditions_that_turn_are_events_and_those_that_stay_are_not(stage: Stage):
    doubt = Reason(code=Code.HISTORY_STALE, sentence="the newest sample is 900 s old")
    for result in [
        decided(TARGET, 2),
        decided(TARGET, 2, doubts=(doubt,)),
        decided(TARGET, 2, doubts=(doubt,)),
        decided(TARGET, 2),
    ]:
        stage.now += 60
        stage.record(result)
    assert stage.events() == [
        ("Warning", "HistoryStale", "InDoubt: the newest sample is 900 s old"),
        ("Normal", "InputsTrusted", "not InDoubt: InputsTrusted"),
    ]


def test_a_target_that_is_not_to_be_had_keeps_the_numbers_of_before(stage: Stage):
    stage.record(decided(TARGET, 2))
    error = ObservationError("HorizontalPodAutoscaler llm/qwen is not there", code="TargetNotFound")
    gone = Result(decision=None, outcome=Outcome.UNCHANGED, message=str(error), code=error.code)
    stage.record(gone)
    assert stage.condition("Ready") == ("False", "TargetNotFound")
    assert stage.condition("Capped") == ("False", "WithinBounds")
    assert stage.status()["floor"] == 2
    assert stage.events()[-1][:2] == ("Warning", "TargetNotFound")


def test_what_keeps_us_from_acting_and_what_caps_is_said(stage: Stage):
    cap = Reason(code=Code.AT_CEILING, sentence="14 wanted, maxReplicas is 10")
    stage.record(decided(TARGET, 10, uncapped=14, reasons=(cap,), outcome=Outcome.REFUSED))
    assert stage.condition("Capped") == ("True", "AtCeiling")
    assert stage.condition("Acting") == ("False", "WriteRefused")
    stage.record(decided(TARGET, 10), policy=stage.policy.copy_with(mode=Mode.OBSERVE))
    assert stage.condition("Acting") == ("False", "Observing")
    paused = replace(TARGET, paused=True)
    stage.recorder.record(stage.policy, observed(paused), None, Memory(), decided(paused, 2))
    assert stage.condition("Acting") == ("False", "Paused")


def test_a_policy_of_a_file_has_no_status_and_its_events_are_about_the_target(stage: Stage):
    manifest = stage.policy.manifest()
    del manifest["metadata"]["uid"]
    policy = TidePolicy.model_validate(manifest)
    stage.record(decided(TARGET, 7, outcome=Outcome.WRITTEN), policy=policy)
    assert stage.status() == {}
    (event,) = stage.server.list(EVENTS)
    assert (event["regarding"]["kind"], event["regarding"]["uid"]) == (
        "HorizontalPodAutoscaler",
        "u",
    )


def test_who_does_not_lead_says_nothing_and_a_failing_cluster_raises_nothing(
    stage: Stage, caplog: pytest.LogCaptureFixture
):
    before = len(stage.server.audit)
    stage.leads = False
    stage.record(decided(TARGET, 7, outcome=Outcome.WRITTEN))
    assert len(stage.server.audit) == before
    stage.leads = True
    stage.server.faults.fail(500)
    stage.record(decided(TARGET, 8, outcome=Outcome.WRITTEN))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    stage.server.faults.clear()
    stage.record(decided(TARGET, 2))
    assert stage.status()["floor"] == 2


def test_a_bad_edit_says_that_the_last_good_version_is_in_force(stage: Stage):
    stage.record(decided(TARGET, 2))
    refusal = Refusal(key="llm/qwen", message="spec.timeZone: found 'Mars'", generation=2)
    stage.recorder.refused({"llm/qwen": refusal})
    assert stage.condition("Ready") == ("True", "Decided")
    stage.record(decided(TARGET, 2))
    assert stage.condition("Ready") == ("False", "PolicyRefused")
    assert stage.condition("Acting") == ("True", "Act")
    assert stage.status()["observedGeneration"] == 2
    kind, reason, note = stage.events()[-1]
    assert (kind, reason) == ("Warning", "PolicyRefused")
    assert note == ("not Ready: the last good version stays in force: spec.timeZone: found 'Mars'")
    stage.recorder.refused({})
    stage.record(decided(TARGET, 2))
    assert stage.condition("Ready") == ("True", "Decided")


def test_a_policy_that_never_was_good_is_told_once_for_each_version(stage: Stage):
    refusal = Refusal(key="llm/qwen", message="spec.timeZone: found 'Mars'", generation=1)
    elsewhere = Refusal(key="policies/qwen.yaml", message="no YAML")
    stage.leads = False
    stage.recorder.refused({r.key: r for r in (refusal, elsewhere)})
    assert stage.status() == {}
    stage.leads = True
    for _ in range(3):
        stage.recorder.refused({r.key: r for r in (refusal, elsewhere)})
    assert stage.condition("Ready") == ("False", "PolicyRefused")
    assert len(stage.events()) == 1
    asked = stage.server.requests.total()
    stage.recorder.refused({refusal.key: refusal})
    assert stage.server.requests.total() == asked
    stage.recorder.refused({refusal.key: replace(refusal, message="another mistake")})
    assert "another mistake" in stage.status()["conditions"][0]["message"]


class Pinned:
    """A fitted forecaster of which only the name is asked."""

    name = "weekly"

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        raise NotImplementedError


def test_what_was_learnt_is_named(stage: Stage):
    knowledge = Knowledge(fitted=Pinned(), order_level=0.9, fitted_at=1_799_996_400.0)
    stage.recorder.record(stage.policy, observed(TARGET), knowledge, Memory(), decided(TARGET, 2))
    assert stage.status()["knowledge"] == {
        "version": 1,
        "forecaster": "weekly",
        "fittedAt": "2027-01-15T07:00:00Z",
    }
    stage.record(decided(TARGET, 2))
    assert "knowledge" not in stage.status()


def test_the_advice_stands_beside_it_until_the_next(stage: Stage):
    way = Running(target=0.95, score=1.2, replica_hours=90.0, starts=4.0, late=0.0)
    alone = Running(target=0.7, score=1.4, replica_hours=120.0, starts=9.0, late=0.001)
    advice = Advice(
        target=0.95, utilisation=0.95, ours=(way,), alone=(alone,), now=alone, floor=1, days=7,
        seen=18, ahead=20, own=21, tide=0.91,
    )  # fmt: skip
    knowledge = Knowledge(fitted=Pinned(), order_level=0.9, fitted_at=0.0, advice=advice)
    stage.recorder.record(stage.policy, observed(TARGET), knowledge, Memory(), decided(TARGET, 2))
    assert stage.status()["advice"] == {
        "targetPercent": 95,
        "utilizationPercent": 95,
        "maxReplicas": 22,
        "maxReplicasTooLow": True,
        "savedReplicaHoursPerDay": 30.0,
        "savedPercent": 25,
        "againstPercent": 70,
        "score": 1.2,
        "scoreOfHpaAlone": 1.4,
        "leaveToHpa": False,
        "replayedDays": 7,
        "tide": 0.91,
    }
    stage.record(decided(TARGET, 2))
    assert "advice" not in stage.status()


def test_a_choice_is_a_small_record_that_can_be_pinned(stage: Stage):
    scores = {"ahead@23.4": 1.51234, "ahead@40.5": 1.6, "profile@0.9": 2.25, "profile@0.8": 9.0}
    knowledge = Knowledge(
        fitted=Pinned(),
        order_level=0.9,
        fitted_at=1_799_996_400.0,
        span=28 * 86_400.0,
        scores=scores,
        choice=Choice(
            name="ahead@40.5", best="ahead@23.4", standing="ahead@40.5", days=14, at=1_799_651_520.0
        ),
    )
    stage.recorder.record(stage.policy, observed(TARGET), knowledge, Memory(), decided(TARGET, 2))
    said = stage.status()["knowledge"]
    assert said == {
        "version": 1,
        "forecaster": "weekly",
        "fittedAt": "2027-01-15T07:00:00Z",
        "spanDays": 28.0,
        "candidate": "ahead@40.5",
        "chosenAt": "2027-01-11T07:12:00Z",
        "best": "ahead@23.4",
        "replayedDays": 14,
        "standing": "ahead@40.5",
        "score": 1.6,
        "scores": {"ahead@23.4": 1.512, "profile@0.9": 2.25},
    }
    assert str(candidate_of(said["candidate"])) == said["candidate"]


def test_how_good_it_was_stands_beside_it_with_who_was_better(stage: Stage):
    good = Accuracy(
        horizon=300.0, count=5000.0, median=0.41386, upper=0.02849, coverage=0.99364,
        bias=0.06206, naive={"last-week": 0.557, "yesterday": 1.35},
    )  # fmt: skip
    day = replace(good, horizon=86_400.0, naive={"last-week": 0.2})
    young = replace(good, horizon=3600.0, naive={})
    known = Knowledge(fitted=Pinned(), order_level=0.9, fitted_at=0.0, accuracy=(good, young, day))
    stage.recorder.record(stage.policy, observed(TARGET), known, Memory(), decided(TARGET, 2))
    first, second, third = stage.status()["knowledge"]["accuracy"]
    numbers = {"loss": 0.414, "upperLoss": 0.0285, "coverage": 0.9936, "bias": 0.0621}
    assert first == {"horizon": "5 min", **numbers, "lastWeekLoss": 0.557}
    assert second == {"horizon": "1 h", **numbers}
    assert third == {
        "horizon": "1 d", **numbers, "lastWeekLoss": 0.2, "worseThanLastWeek": True,
    }  # fmt: skip


def test_falling_back_is_a_condition_and_a_warning_once(stage: Stage):
    usual = decided(TARGET, 2)
    for missed in (0.7, 0.8):
        live = Live(fit=0.0, missed=missed, fallen=1_800_000_000.0)
        memory = replace(usual.decision.memory, live=live)
        stage.record(replace(usual, decision=replace(usual.decision, memory=memory)))
    (said,) = (each for each in stage.status()["conditions"] if each["type"] == "FellBack")
    assert (said["status"], said["reason"]) == ("True", "FellBack")
    assert "since 2027-01-15T08:00:00Z" in said["message"]
    stage.record(usual)
    assert [event[:2] for event in stage.events()] == [
        ("Warning", "FellBack"), ("Normal", "AsLearnt"),
    ]  # fmt: skip


def test_a_cluster_without_the_definition_says_what_to_do():
    with KubernetesServer() as server:
        cluster = connect(kubeconfig=server.kubeconfig())
        with pytest.raises(
            ObservationError, match="apply the custom resource definition"
        ) as caught:
            ClusterPolicySource(cluster).list()
        cluster.close()
    assert caught.value.code == "NoCustomResources"
