"""Accuracy in the metrics: the backtest at once, life when something has come; gone in time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoscaler.adapters.telemetry.accuracy import FAMILIES
from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.decide import decide
from autoscaler.model import History, Live, Memory, Outcome, Result, Samples
from tests.core.given import MINUTE, NOW, knowledge, policy, remembered, seen, tide

WHOLE = tide(14.5, NOW + 720 * MINUTE)
OWN = {"namespace": "llm", "policy": "qwen"}


def until(minute: int) -> History:
    count = 14 * 1440 + minute
    samples = Samples(times=WHOLE.demand.times[:count], values=WHOLE.demand.values[:count])
    return History(demand=samples, read_at=NOW + MINUTE * minute)


def cycle(metrics: Metrics, minute: int, memory: Memory, known=None) -> Memory:
    given = seen(until(minute))
    decision = decide(policy(), given, known, memory, NOW + MINUTE * minute)
    result = Result(decision=decision, outcome=Outcome.UNCHANGED)
    metrics.record(policy(), given, known, memory, result)
    return decision.memory


def sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"foretide_{name}", {**OWN, **labels})


def test_the_backtest_is_there_at_once_and_life_when_something_came():
    metrics, memory, known = Metrics(), remembered(5), knowledge()
    memory = cycle(metrics, 0, memory, known)
    at = {"sample": "backtest", "horizon": "lead"}
    lead = known.accuracy[0]
    assert sample(metrics, "forecast_judged", **at) == lead.count
    assert sample(metrics, "forecast_loss_per_second", **at, quantile="0.5") == lead.median
    assert sample(metrics, "forecast_loss_per_second", **at, quantile="0.99") == lead.upper
    assert sample(metrics, "forecast_coverage_ratio", **at) == lead.coverage
    assert sample(metrics, "forecast_bias_per_second", **at) == lead.bias
    week = lead.median / lead.naive["last-week"]
    assert sample(metrics, "forecast_loss_ratio", **at, naive="last-week") == week
    assert sample(metrics, "forecast_judged", sample="live", horizon="lead") is None

    for minute in range(5, 80, 5):
        memory = cycle(metrics, minute, memory, known)
    assert sample(metrics, "forecast_judged", sample="live", horizon="lead") > 3
    assert sample(metrics, "forecast_judged", sample="live", horizon="1h") == 1
    assert sample(metrics, "forecast_judged", sample="live", horizon="1d") is None
    loss = sample(
        metrics, "forecast_loss_per_second", sample="live", horizon="lead", quantile="0.5"
    )
    assert 0 < loss < 3 * lead.median


def test_it_says_whether_the_safer_side_decides():
    metrics, known = Metrics(), knowledge()
    cycle(metrics, 0, remembered(5), known)
    assert sample(metrics, "fell_back") == 0
    assert sample(metrics, "forecast_missed_ratio") == 0
    assert sample(metrics, "forecast_missed_usual_ratio") == known.usual.share
    live = Live(fit=known.fitted_at, missed=0.95, fallen=NOW - MINUTE)
    cycle(metrics, 0, replace(remembered(5), live=live), known)
    assert sample(metrics, "fell_back") == 1
    assert sample(metrics, "forecast_missed_ratio") == 0.95


def test_without_knowledge_nothing_is_claimed():
    metrics = Metrics()
    cycle(metrics, 0, remembered(5))
    assert sample(metrics, "fell_back") == 0
    shown = {each.name for each in metrics.registry.collect() if each.samples}
    assert not {name for name in shown if name.startswith("foretide_forecast_")} - {
        "foretide_forecast_demand_per_second"
    }


def test_the_series_of_a_removed_policy_go():
    metrics = Metrics()
    cycle(metrics, 0, remembered(5), knowledge())
    metrics.forget(policy())
    named = {each.name for each in metrics.registry.collect() if each.samples}
    assert not named & {f"foretide_{name}" for name in FAMILIES}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_series_has_the_labels_that_are_documented(name):
    metrics = Metrics()
    cycle(metrics, 0, remembered(5), knowledge())
    (family,) = (each for each in metrics.registry.collect() if each.name == f"foretide_{name}")
    assert family.samples
    assert {tuple(sample.labels) for sample in family.samples} == {FAMILIES[name][1]}
