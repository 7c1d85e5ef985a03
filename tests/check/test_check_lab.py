"""`foretide check --live` on a real API server and a real Prometheus."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from autoscaler.cli.main import run
from autoscaler.controller.clock import WallClock
from tests.policy.making import GOOD

pytestmark = pytest.mark.lab
DAY = 86_400.0


@pytest.fixture
def source(prometheus: Callable[..., Any]) -> Any:
    """A real Prometheus with sixteen days of a tide, up to the last whole minute."""
    from tests.lab.prometheus import openmetrics  # noqa: PLC0415  # only where a lab runs

    now = float(int(WallClock().now() // 60) * 60)
    times = np.arange(now - 16 * DAY, now + 1, 60.0)
    values = 10 + 6 * np.sin(2 * np.pi * times / DAY) + 0.1 * np.sin(times)
    line = ({"service": "chat"}, times.tolist(), values.tolist())
    return prometheus(past=[openmetrics("gauge", "tide", [line])])


@pytest.fixture
def check(
    control_plane: Any,
    namespace: str,
    source: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, dict[str, tuple[str, str]]]]:
    """Check a policy with a query as one of the plane's users: exit code, answer by question."""

    def go(user: str = "admin") -> tuple[int, dict[str, tuple[str, str]]]:
        document = yaml.safe_load(GOOD)
        document["metadata"]["namespace"] = namespace
        document["spec"] |= {"demand": {"query": "tide"}, "mode": "Act"}
        (tmp_path / "p.yaml").write_text(yaml.safe_dump(document))
        monkeypatch.setenv("FORETIDE_KUBERNETES_KUBECONFIG", str(control_plane.kubeconfig(user)))
        arguments = ["-f", str(tmp_path / "p.yaml"), "--prometheus", source.url]
        code = run(["check", "--live", "--json", *arguments])
        (policy,) = json.loads(capsys.readouterr().out)["policies"]
        answers = {a["question"]: (a["level"], a["sentence"]) for a in policy["answers"]}
        return code, answers

    return go


def hpa(namespace: str, low: int = 2) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "qwen", "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "qwen"},
            "minReplicas": low,
            "maxReplicas": 10,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 80},
                    },
                }
            ],
        },
    }


def test_a_policy_is_checked_against_the_real_things(
    check: Any, control_plane: Any, namespace: str
) -> None:
    code, answers = check()
    assert answers["target"][0] == "failure"
    assert "is not there" in answers["target"][1]

    control_plane.api.create(hpa(namespace))
    code, answers = check()
    assert {question: level for question, (level, _) in answers.items()} == dict.fromkeys(
        ["metric", "series", "history", "resolution", "newest", "target", "others", "rights",
         "need"], "ok",
    ), answers  # fmt: skip
    assert code == 0
    assert answers["history"][1].startswith("16.0 days")

    code, answers = check(user="nobody")
    assert code == 1
    assert answers["target"][0] == "failure"
    assert answers["metric"][0] == "ok"


def test_who_applies_the_floor_is_named(check: Any, control_plane: Any, namespace: str) -> None:
    control_plane.api.apply(hpa(namespace), manager="argocd-controller")
    code, answers = check()
    assert (code, answers["others"][0]) == (3, "warning")
    assert "minReplicas is in what argocd-controller applies" in answers["others"][1]
