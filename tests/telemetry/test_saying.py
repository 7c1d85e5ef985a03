"""Metrics, log lines, and several recorders as one."""

from __future__ import annotations

import io
import json
import logging
import re
from dataclasses import replace

import pytest
from prometheus_client.exposition import generate_latest

from autoscaler.adapters.telemetry import logs
from autoscaler.adapters.telemetry.composite import Together, WhenLeading
from autoscaler.adapters.telemetry.logs import DecisionLog
from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.model import Code, Memory, Outcome, Reason, Result
from tests.telemetry.making import (
    START,
    decision,
    history,
    knowledge,
    observation,
    policy,
    result,
)

OWN = {"namespace": "llm", "policy": "qwen"}
DOUBT = Reason(code=Code.HISTORY_STALE, sentence="newest sample is 400 s old", numbers={"age": 400})


def sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"foretide_{name}", labels)


def record(recorder: object, done: Result, *, name: str = "qwen", seen: object = None) -> None:
    recorder.record(
        policy(name), seen or observation(history(0, 50)), knowledge(START), Memory(), done
    )


def test_a_decision_is_in_the_metrics() -> None:
    metrics = Metrics()
    record(metrics, result(START + 3600, Memory()))
    assert sample(metrics, "floor_replicas", **OWN) == 5  # written just now
    assert sample(metrics, "floor_wanted_replicas", **OWN) == 5
    assert sample(metrics, "floor_written_replicas", **OWN) == 5
    assert sample(metrics, "ceiling_replicas", **OWN) == 20
    assert sample(metrics, "ready_replicas", **OWN) == 4
    assert sample(metrics, "need_replicas", **OWN) == 4
    assert sample(metrics, "lead_time_seconds", **OWN) == 361.25
    assert sample(metrics, "forecast_demand_per_second", **OWN, quantile="0.9") == 14.7
    assert sample(metrics, "history_age_seconds", **OWN) == 3600 - 49 * 60
    assert sample(metrics, "decisions_total", **OWN, outcome="Written") == 1


def test_doubts_come_and_go() -> None:
    metrics = Metrics()
    done = result(START, Memory())
    doubtful = replace(done, decision=replace(done.decision, doubts=(DOUBT,)))
    record(metrics, doubtful)
    assert sample(metrics, "doubt", **OWN, code="HistoryStale") == 1
    record(metrics, done)
    assert sample(metrics, "doubt", **OWN, code="HistoryStale") is None


def test_what_is_not_known_has_no_series() -> None:
    metrics = Metrics()
    record(metrics, result(START, Memory()))
    blind = observation(None, ready=None)
    bare = replace(decision(START, Memory()), forecast=None, need=None, plan=None)
    record(metrics, Result(decision=bare, outcome=Outcome.UNCHANGED), seen=blind)
    assert sample(metrics, "demand_per_second", **OWN) is None
    assert sample(metrics, "ready_replicas", **OWN) is None
    assert sample(metrics, "need_replicas", **OWN) is None
    assert sample(metrics, "forecast_demand_per_second", **OWN, quantile="0.5") is None


def test_the_series_of_a_removed_policy_go() -> None:
    metrics = Metrics()
    record(metrics, result(START, Memory()))
    record(metrics, result(START, Memory()), name="other")
    metrics.forget(policy())
    text = generate_latest(metrics.registry).decode()
    assert 'policy="qwen"' not in text
    assert 'policy="other"' in text


def test_names_follow_the_conventions() -> None:
    metrics = Metrics()
    record(metrics, result(START, Memory()))
    for family in metrics.registry.collect():
        assert re.fullmatch(r"foretide_[a-z_]+", family.name)
        assert family.documentation.endswith(".")
        assert not family.name.endswith(("_count", "_sum", "_bucket", "_minutes", "_ms"))
        if family.type == "counter":
            assert all(s.name.endswith("_total") for s in family.samples)
        for one in family.samples:
            assert set(one.labels) <= {
                "namespace", "policy", "quantile", "code", "outcome", "stage", "le", "result",
                "kind", "timer", "state", "dependency",
            }  # fmt: skip


@pytest.fixture
def lines():
    """Log lines as JSON, and the logging of the process put back afterwards."""
    stream = io.StringIO()
    root = logging.getLogger()
    before, levels = list(root.handlers), (root.level, logging.getLogger("autoscaler").level)
    handler = logs.configure("json", "debug", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)
    for old in before:
        root.addHandler(old)
    root.setLevel(levels[0])
    logging.getLogger("autoscaler").setLevel(levels[1])


def test_one_line_a_decision_at_info_when_something_changed(lines) -> None:
    log = DecisionLog()
    for outcome in (Outcome.WRITTEN, Outcome.UNCHANGED, Outcome.UNCHANGED, Outcome.REFUSED):
        record(log, result(START, Memory(), outcome=outcome))
    found = lines()
    assert [line["level"] for line in found] == ["info", "info", "debug", "error"]
    assert found[0]["message"].startswith("llm/qwen: floor 4 → 5: demand of 14.7/s")
    assert found[0]["policy"] == "llm/qwen"
    assert found[0]["reasons"] == "Forecast"
    assert found[0]["time"].endswith("Z")


def test_a_reverted_floor_is_a_warning_and_counted(lines) -> None:
    log, metrics = DecisionLog(), Metrics()
    done = result(START, Memory())
    still = replace(done, outcome=Outcome.UNCHANGED)
    why = Reason(code=Code.REVERTED, sentence="we wrote 5, now 4 stands")
    reverted = replace(still, decision=replace(still.decision, reasons=(why,)))
    for each in (still, reverted):
        record(log, each)
        record(metrics, each)
    assert [line["level"] for line in lines()] == ["info", "warning"]
    assert "we wrote 5, now 4 stands" in lines()[-1]["message"]
    assert sample(metrics, "reverts_total", **OWN) == 1


def test_a_missing_target_is_an_error_once(lines) -> None:
    log = DecisionLog()
    gone = Result(decision=None, outcome=Outcome.UNCHANGED, message="HPA llm/qwen is not there")
    for _ in range(3):
        log.record(policy(), None, None, Memory(), gone)
    assert [line["level"] for line in lines()] == ["error", "debug", "debug"]


def test_text_is_for_people() -> None:
    made = logging.makeLogRecord({"msg": "floor %d", "args": (4,), "levelname": "INFO", "age": 3})
    text = logs.TextFormatter().format(made)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z INFO    floor 4  age=3", text)


class Broken:
    def record(self, *arguments: object) -> None:
        raise KeyError("a bug")


def test_a_recorder_that_fails_disturbs_nobody(lines) -> None:
    failed: list[str] = []
    metrics = Metrics()
    record(Together([Broken(), metrics], failed.append), result(START, Memory()))
    assert failed == ["KeyError"]
    assert sample(metrics, "floor_replicas", **OWN) == 5
    assert "Broken.record failed" in lines()[0]["message"]


def test_only_the_leader_speaks() -> None:
    leads = [False]
    metrics = Metrics()
    said = WhenLeading(Together([metrics]), lambda: leads[0])
    record(said, result(START, Memory()))
    assert sample(metrics, "floor_replicas", **OWN) is None
    leads[0] = True
    record(said, result(START, Memory()))
    assert sample(metrics, "floor_replicas", **OWN) == 5
