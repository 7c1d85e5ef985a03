"""The vllm preset against a recorded run of a real engine whose arrivals are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.model import History
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

MODEL = {"model_name": "qwen-tiny"}
FULL = [name for name in PHASES if "saturated" in name or name == "above capacity"]

Read = Callable[[list[Line]], History]


@pytest.fixture(scope="module")
def folder() -> Path:
    return shared("engine", ENGINE)


@pytest.fixture(scope="module")
def truth(folder: Path) -> np.ndarray:
    return arrivals(folder)


@pytest.fixture(params=["sandbox", pytest.param("lab", marks=pytest.mark.lab)])
def read(request: pytest.FixtureRequest) -> Read:
    """Read these series with the preset, from either server."""

    def reading(what: list[Line]) -> History:
        if request.param == "lab":
            # backfilled blocks hold no marks of ended series
            plain = [Line(x.name, x.labels, x.times, x.values, x.kind) for x in what]
            return _history(request.getfixturevalue("prometheus")(past=texts(plain)).url)
        with PrometheusServer(lambda: NOW) as server:
            load(server, what)
            return _history(server.url)

    return reading


def _history(url: str) -> History:
    source = PrometheusDemand(Prometheus(url=url))
    try:
        return source.read(policy(preset="vllm", matchLabels=MODEL, history="2d"), NOW)
    finally:
        source.close()


def mean(history: History, phase: tuple[int, int]) -> float:
    """Demand read in a phase; every minute of it must have been read."""
    at = dict(zip(history.demand.times.tolist(), history.demand.values.tolist(), strict=True))
    return float(np.mean([at[minute] for minute in minutes(phase)]))


@pytest.mark.parametrize("every", [5, 15, 30, 60])
def test_every_phase_is_read_within_three_per_cent(
    read: Read, folder: Path, truth: np.ndarray, every: int
):
    history = read(engine_lines(folder, every=every))
    off = {
        name: mean(history, phase) / per_second(truth, phase) - 1 for name, phase in PHASES.items()
    }
    assert max(map(abs, off.values())) < 0.03, off
    assert history.saturated is None


def test_no_minute_is_a_fall_while_the_queue_is_full(read: Read, folder: Path, truth: np.ndarray):
    history = read(engine_lines(folder))
    at = dict(zip(history.demand.times.tolist(), history.demand.values.tolist(), strict=True))
    for name in FULL:
        for number, minute in enumerate(minutes(PHASES[name])):
            start = PHASES[name][0] + 60 * number
            assert at[minute] > 0.95 * per_second(truth, (start, start + 60)), (name, number)


def test_the_minute_of_a_restart_is_a_hole_and_never_negative(read: Read, folder: Path):
    history = read(engine_lines(folder))
    (down,) = minutes((900, 960))
    assert down not in history.demand.times
    assert (history.demand.values >= 0).all()


def test_two_instances_are_twice_the_demand(read: Read, folder: Path, truth: np.ndarray):
    history = read(engine_lines(folder, every=15, pods=2))
    phase = PHASES["saturated, 2nd"]
    assert mean(history, phase) == pytest.approx(2 * per_second(truth, phase), rel=0.03)


def test_other_models_and_namespaces_do_not_count(read: Read, folder: Path, truth: np.ndarray):
    own = engine_lines(folder, every=15)
    foreign = [_relabelled(line, namespace="other", instance="9:8000") for line in own]
    other = [_relabelled(line, model_name="else", instance="8:8000") for line in own]
    phase = PHASES["saturated, 2nd"]
    history = read(own + foreign + other)
    assert mean(history, phase) == pytest.approx(per_second(truth, phase), rel=0.03)


def test_series_without_a_namespace_count(read: Read, folder: Path, truth: np.ndarray):
    bare = [_relabelled(line, namespace=None, pod=None) for line in engine_lines(folder, every=15)]
    phase = PHASES["calm"]
    assert mean(read(bare), phase) == pytest.approx(per_second(truth, phase), rel=0.03)


def test_without_the_servers_counter_every_step_with_a_queue_is_a_lower_bound(
    read: Read, folder: Path, truth: np.ndarray
):
    lines = [x for x in engine_lines(folder) if x.name != "http_requests_total"]
    history = read(lines)
    assert history.saturated is not None
    bound = dict(
        zip(history.saturated.times.tolist(), history.saturated.values.tolist(), strict=True)
    )
    value = dict(zip(history.demand.times.tolist(), history.demand.values.tolist(), strict=True))
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


def _relabelled(line: Line, **changes: str | None) -> Line:
    labels = {**dict(line.labels), **changes}
    kept = tuple(sorted((name, value) for name, value in labels.items() if value is not None))
    if "model_name" in changes and "model_name" not in dict(line.labels):
        kept = tuple(pair for pair in kept if pair[0] != "model_name")
    return Line(line.name, kept, line.times, line.values, line.kind, line.ends)
