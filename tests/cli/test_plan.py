"""`foretide plan` against a Prometheus and a Kubernetes in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from autoscaler.adapters.kubernetes.resources import HPAS
from autoscaler.cli.main import run
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.world.tides import Tide, make_tide

NOW = 1_796_083_200.0  # Tue 1 Dec 2026 08:00 in Shanghai
DAYS = 15
ROOT = Path(__file__).resolve().parents[2]
POLICY = """
apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata: {name: chat, namespace: llm}
spec:
  timeZone: Asia/Shanghai
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: chat}
  demand: {query: "sum(demand)", history: 14d}
  capacity: {perReplica: 3.2}
  events:
    - {name: launch, start: "2026-12-01T20:00", end: "2026-12-01T22:00", factor: 3}
"""


@dataclass
class Place:
    folder: Path
    prometheus: PrometheusServer
    cluster: KubernetesServer

    def plan(self, *arguments: str, policy: str = POLICY) -> int:
        path = self.folder / "policy.yaml"
        path.write_text(policy, encoding="utf-8")
        return run(["plan", "-f", str(path), "--prometheus", self.prometheus.url, *arguments])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    start = NOW - DAYS * 86_400.0
    demand = make_tide(Tide(), DAYS, seed=3)
    with PrometheusServer(lambda: NOW) as prometheus, KubernetesServer() as cluster:
        prometheus.append("demand", {}, start + 60.0 * np.arange(len(demand)), demand)
        prometheus.append("demand", {}, [NOW], [float(demand[-1])])
        cluster.put(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "chat", "namespace": "llm"},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "c"},
                    "minReplicas": 3,
                    "maxReplicas": 30,
                },
            }
        )
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(json.dumps(cluster.kubeconfig()))
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        monkeypatch.setattr("autoscaler.controller.clock.WallClock.now", lambda _self: NOW)
        yield Place(tmp_path, prometheus, cluster)


def test_json_tells_the_day_and_the_reason_of_every_change(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.plan("--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["target"] == {"floor": 3, "ceiling": 30}
    assert told["assumed"] is None
    floors, need = np.array(told["steps"]["floor"]), np.array(told["steps"]["need"])
    assert len(floors) == 1440
    assert floors.min() >= 3
    assert floors.max() <= 30
    # the floor covers the need, but for the first minutes, in which nothing can start any more
    assert (floors >= np.minimum(need, 30))[8:].all()
    at = [change["at"] for change in told["changes"]]
    assert at == sorted(at)
    assert told["changes"][-1]["to"] == floors[-1]
    launch = [change["why"] for change in told["changes"] if "launch" in change["why"]]
    assert launch
    assert place.cluster.audit[-1].who.manager == "sandbox-world"  # nothing was written by us


def test_the_picture_shows_band_need_floor_and_reasons(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.plan("--horizon", "18h") == 0
    text = capsys.readouterr().out
    for part in ("forecast P50", "need at P", "━ floor", "Asia/Shanghai", "event launch", "18 h"):
        assert part in text
    assert max(len(line) for line in text.splitlines()) <= 120
    assert "\x1b[" not in text


def test_out_writes_page_picture_and_json(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    out = place.folder / "plan"
    assert place.plan("--out", str(out)) == 0
    assert "Written" in capsys.readouterr().err
    assert (out / "plan.png").read_bytes()[:4] == b"\x89PNG"
    assert "llm/chat" in (out / "plan.html").read_text("utf-8")
    assert json.loads((out / "plan.json").read_text())["policy"] == "llm/chat"


def test_it_advises_against_what_stands_at_the_target(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    hpa = place.cluster.get(HPAS, "llm", "chat")
    target = {"type": "Utilization", "averageUtilization": 60}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    place.cluster.put({**hpa, "spec": {**hpa["spec"], "metrics": [metric], "maxReplicas": 18}})
    assert place.plan("--json", "--replica-price", "2.5") == 0
    advice = json.loads(capsys.readouterr().out)["advice"]
    assert advice["hpaTarget"] == 0.9  # a utilisation never exceeds 100 %
    assert advice["now"]["target"] == 0.6
    assert advice["now"]["targetKnown"]
    assert advice["floorAlone"] == 3
    assert advice["ceilingTooLow"]  # the launch of tonight needs three times as much
    assert advice["savedMoney"] == pytest.approx(2.5 * advice["savedReplicaHours"])
    assert advice["savedReplicaHours"] > 0.2 * advice["now"]["replicaHours"]
    assert place.plan() == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "HPA target 90% of a replica's capacity fits above our floor" in text
    assert "18 is too low" in text
    assert "an HPA at 60% alone above minReplicas 3" in text


def test_it_learns_for_itself_and_says_whether_the_controller_chose_the_same(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    def learnt() -> str:
        assert place.plan() == 0
        text = " ".join(capsys.readouterr().out.split())
        assert place.plan("--json") == 0
        told.append(json.loads(capsys.readouterr().out))
        return text

    told: list[dict[str, Any]] = []
    alone = learnt()
    own = told[-1]["chosen"]
    line = f"Learnt for this plan, from the history up to Tue 1 Dec 08:00 +0800: chose {own}"
    assert f"{line} Capacity" in alone
    assert told[-1]["chosenByController"] is None  # a policy in a file alone
    place.cluster.put(yaml.safe_load((ROOT / "deploy" / "crd.yaml").read_text("utf-8")))
    policy = yaml.safe_load(POLICY)
    place.cluster.put({**policy, "status": {"knowledge": {"candidate": own}}})
    assert f"{line}, as the controller did Capacity" in learnt()
    place.cluster.put({**policy, "status": {"knowledge": {"candidate": "autoreg@0.9"}}})
    assert f"{line}; the controller decides on autoreg@0.9, and its floors may differ" in learnt()
    assert told[-1]["chosenByController"] == "autoreg@0.9"


def test_without_a_cluster_it_says_what_it_assumed(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(place.folder / "none"))
    assert place.plan("--json") == 0
    written = capsys.readouterr()
    assert "Target not read" in written.err
    assert json.loads(written.out)["assumed"]


def test_the_past_is_seen_from_the_past(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.plan("--json", "--at", "2026-11-30T12:00+08:00") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["at"] == NOW - 20 * 3600
    assert told["target"] is None


def test_a_stale_history_is_told_and_ends_in_doubt(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.plan("--json", "--at", "2026-12-01T09:30+08:00") == 3
    told = json.loads(capsys.readouterr().out)
    assert {doubt["code"] for doubt in told["doubts"]} == {"HistoryStale"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--at", "2026-12-01T08:00"], 2, "has no zone"),
        (["--horizon", "30m"], 2, "1h to 7d"),
        (["--horizon", "24"], 2, "without a unit"),
    ],
)
def test_flags_that_would_be_guesses_are_refused(
    place: Place, arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.plan(*arguments) == code
    assert said in capsys.readouterr().err


def test_two_policies_are_too_many(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    second = POLICY.replace("name: chat", "name: other")
    assert place.plan(policy=f"{POLICY}\n---\n{second}") == 2
    assert "2 policies (llm/chat, llm/other)" in capsys.readouterr().err


def test_a_silent_prometheus_is_a_failure_in_words(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.prometheus.faults.drop = True
    assert place.plan() == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.startswith("Error: ")


def test_no_series_is_a_failure_in_words(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.plan(policy=POLICY.replace("sum(demand)", "sum(nothing)")) == 1
    assert "no sample of llm/chat's demand" in capsys.readouterr().err
