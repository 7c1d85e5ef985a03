"""The alerts: on metrics that exist, and each rings when it should and only then."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from autoscaler.adapters.telemetry.metrics import Metrics
from tests.deploy.manifests import one
from tests.lab.build import find

CASES = Path(__file__).with_name("alerts.yaml")
RULE = one("components/monitoring/prometheus-rule.yaml")
RULES = [rule for group in RULE["spec"]["groups"] for rule in group["rules"]]


def names() -> set[str]:
    """Names of all series that the controller can have."""
    found = set()
    for family in Metrics().registry.collect():
        ends = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
        found |= {family.name + end for end in ends.get(family.type, ("",))}
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_exist(rule):
    asked = set(re.findall(r"\bforetide_\w+", rule["expr"]))
    assert asked
    assert asked <= names()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_happened_and_what_to_do(rule):
    assert set(rule["annotations"]) == {"summary", "runbook"}
    assert all(text.endswith((".", "}}.")) for text in rule["annotations"].values())
    assert rule["labels"]["severity"] in ("critical", "warning")


def test_every_alert_has_a_case_that_rings_and_one_that_does_not():
    tests = yaml.safe_load(CASES.read_text())["tests"]
    said = [case for test in tests for case in test["alert_rule_test"]]
    rings = {case["alertname"] for case in said if case.get("exp_alerts")}
    silent = {case["alertname"] for case in said if not case.get("exp_alerts")}
    assert rings == silent == {rule["alert"] for rule in RULES}


@pytest.mark.lab
def test_the_alerts_ring_when_they_should(lab_programs: None, tmp_path: Path):
    promtool = find("promtool")
    assert promtool is not None
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULE["spec"]))
    cases = yaml.safe_load(CASES.read_text())
    for test in cases["tests"]:
        for case in test["alert_rule_test"]:
            for expected in case.get("exp_alerts") or ():
                expected["exp_annotations"] = annotations(case["alertname"], expected)
                expected.pop("value", None)
                rule = rule_of(case["alertname"])
                expected["exp_labels"] = {**rule["labels"], **(expected.get("exp_labels") or {})}
    file = tmp_path / "cases.yaml"
    file.write_text(yaml.safe_dump(cases))
    done = subprocess.run(
        [str(promtool), "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def rule_of(name: str):
    return next(rule for rule in RULES if rule["alert"] == name)


def annotations(name: str, expected) -> dict[str, str]:
    """The rule's own texts with the labels filled in: what is tested is when, not how it reads."""
    labels = expected.get("exp_labels") or {}

    def filled(text: str) -> str:
        text = re.sub(r"{{ \$labels\.(\w+) }}", lambda match: labels[match.group(1)], text)
        return text.replace("{{ $value }}", str(expected.get("value", "")))

    return {key: filled(text) for key, text in rule_of(name)["annotations"].items()}
