"""The vllm preset against a recorded run of a real engine whose arrivals are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.model import History, Samples
from autoscaler.sandbox.prometheus import PrometheusServer
from tests.prometheus.data import (
    ENGINE,
    NOW,
    PHASES,
    Line,
    arrivals,
    engine_lines,
    load,
    minutes,
    per_second,
    policy,
    texts,
)
from tests.support.shared import shared

FULL = [name for name in PHASES if "saturated" in name or name == "above capacity"]


def variants(folder: Path) -> dict[str, list[Line]]:
    """The recording as it might be scraped, by the value of its label `cluster`."""
    plain = engine_lines(folder, every=15)
    found = {f"every-{every}": engine_lines(folder, every=every) for every in (5, 15, 30, 60)}
    found["two"] = engine_lines(folder, every=15, pods=2)
    foreign = [relabelled(line, namespace="other", instance="9:8000") for line in plain]
    other = [relabelled(line, model_name="else", instance="8:8000") for line in plain]
    found["crowd"] = plain + foreign + other
    found["bare"] = [relabelled(line, namespace=None, pod=None) for line in plain]
    found["uncounted"] = [x for x in found["every-5"] if x.name != "http_requests_total"]
    return {
        name: [relabelled(line, cluster=name) for line in lines] for name, lines in found.items()
    }


def relabelled(line: Line, **changes: str | None) -> Line:
    """The same series with other labels; only the engine's own series have a model's name."""
    labels = {**dict(line.labels), **changes}
    if "model_name" not in dict(line.labels):
        labels.pop("model_name", None)
    kept = tuple(sorted((name, value) for name, value in labels.items() if value is not None))
    return Line(line.name, kept, line.times, line.values, line.kind, line.ends)


@pytest.fixture(scope="module")
def folder() -> Path:
    return shared("engine", ENGINE)


@pytest.fixture(scope="module")
def truth(folder: Path) -> np.ndarray:
    return arrivals(folder)


@pytest.fixture(scope="module", params=["sandbox", pytest.param("lab", marks=pytest.mark.lab)])
def source(request: pytest.FixtureRequest, folder: Path) -> Iterator[PrometheusDemand]:
    """A server with all variants, the sandbox's and a real one."""
    lines = [line for part in variants(folder).values() for line in part]
    if request.param == "lab":
        # backfilled blocks hold no marks of ended series
        plain = [Line(x.name, x.labels, x.times, x.values, x.kind) for x in lines]
        start = request.getfixturevalue("prometheus_for_session")
        demand = PrometheusDemand(Prometheus(url=start(past=texts(plain)).url))
        yield demand
        demand.close()
        return
    with PrometheusServer(lambda: NOW) as server:
        load(server, lines)
        demand = PrometheusDemand(Prometheus(url=server.url))
        yield demand
        demand.close()


def read(source: PrometheusDemand, variant: str, now: float = NOW) -> History:
    labels = {"model_name": "qwen-tiny", "cluster": variant}
    return source.read(policy(preset="vllm", matchLabels=labels, history="2d"), now)


def by_minute(samples: Samples) -> dict[float, float]:
    return dict(zip(samples.times.tolist(), samples.values.tolist(), strict=True))


def mean(history: History, phase: tuple[int, int]) -> float:
    """Demand read in a phase; every minute of it must have been read."""
    at = by_minute(history.demand)
    return float(np.mean([at[minute] for minute in minutes(phase)]))


@pytest.mark.parametrize("every", [5, 15, 30, 60])
def test_every_phase_is_read_within_three_per_cent(
    source: PrometheusDemand, truth: np.ndarray, every: int
):
    history = read(source, f"every-{every}")
    off = {
        name: mean(history, phase) / per_second(truth, phase) - 1 for name, phase in PHASES.items()
    }
    assert max(map(abs, off.values())) < 0.03, off
    assert history.saturated is None


def test_no_minute_is_a_fall_while_the_queue_is_full(source: PrometheusDemand, truth: np.ndarray):
    at = by_minute(read(source, "every-5").demand)
    for name in FULL:
        for number, minute in enumerate(minutes(PHASES[name])):
            start = PHASES[name][0] + 60 * number
            assert at[minute] > 0.95 * per_second(truth, (start, start + 60)), (name, number)


def test_the_minute_of_a_restart_is_a_hole_and_never_negative(source: PrometheusDemand):
    history = read(source, "every-5")
    (down,) = minutes((900, 960))
    assert down not in history.demand.times
    assert (history.demand.values >= 0).all()


def test_what_waits_is_read_where_it_is_seen(source: PrometheusDemand):
    *_, full = minutes(PHASES["saturated, 3rd and 4th"])
    found = read(source, "every-5", full)
    assert found.backlog is not None
    assert found.backlog > 20
    assert read(source, "two", full).backlog == pytest.approx(2 * found.backlog)
    *_, calm = minutes(PHASES["calm after restart"])
    assert read(source, "every-5", calm).backlog == 0.0


def test_two_instances_are_twice_the_demand(source: PrometheusDemand, truth: np.ndarray):
    phase = PHASES["saturated, 2nd"]
    assert mean(read(source, "two"), phase) == pytest.approx(2 * per_second(truth, phase), rel=0.03)


def test_other_models_and_namespaces_do_not_count(source: PrometheusDemand, truth: np.ndarray):
    phase = PHASES["saturated, 2nd"]
    assert mean(read(source, "crowd"), phase) == pytest.approx(per_second(truth, phase), rel=0.03)


def test_series_without_a_namespace_count(source: PrometheusDemand, truth: np.ndarray):
    phase = PHASES["calm"]
    assert mean(read(source, "bare"), phase) == pytest.approx(per_second(truth, phase), rel=0.03)


def test_without_the_servers_counter_every_step_with_a_queue_is_a_lower_bound(
    source: PrometheusDemand, truth: np.ndarray
):
    history = read(source, "uncounted")
    assert history.saturated is not None
    bound, value = by_minute(history.saturated), by_minute(history.demand)
    for phase in PHASES.values():
        for number, minute in enumerate(minutes(phase)):
            start = phase[0] + 60 * number
            true = per_second(truth, (start, start + 60))
            assert value[minute] >= 0
            if bound[minute]:
                assert value[minute] < 1.03 * true
            else:
                assert value[minute] == pytest.approx(true, rel=0.03)
    assert all(bound[minute] for name in FULL for minute in minutes(PHASES[name]))
    assert not any(bound[minute] for minute in minutes(PHASES["calm"]))
