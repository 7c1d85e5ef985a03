"""What the vllm preset makes of instances that come, go, restart, and of scrapes that fail."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable
from autoscaler.model import History
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.sandbox.promql import STALE
from tests.prometheus.data import NOW, policy

EVERY = 15.0
START = NOW - 3600.0
MINUTES = 60


class Engines:
    """Instances scraped every 15 s in the hour before NOW, with two requests in each batch."""

    def __init__(self, server: PrometheusServer) -> None:
        self.server = server

    def run(  # long: what can happen to an instance, one argument each
        self,
        name: str,
        rate: float | tuple[float, float],
        *,
        since: float = 0.0,
        until: float = 3600.0,
        counted: float = 5000.0,
        queue: float = 2.0,
        failed: tuple[float, ...] = (),
        marked: bool = True,
    ) -> None:
        """One instance between seconds of the hour, with so many requests a second.

        Parameters
        ----------
        rate : a pair is before and after half past
        counted : of its counter at `since`; 0 is a new process
        queue : requests that it holds all the time
        failed : seconds of scrapes that failed
        marked : whether its end is marked, as it is unless Prometheus itself was away
        """
        at = np.arange(since, until + 1e-9, EVERY)
        before, after = rate if isinstance(rate, tuple) else (rate, rate)
        done = counted + before * (np.minimum(at, 1800) - min(since, 1800))
        done += after * (np.maximum(at, 1800) - max(since, 1800))
        born = START + since - 120 if counted == 0 else START - 86_400
        labels = {"namespace": "llm", "pod": name, "instance": name, "job": "vllm"}
        times = (START + at).tolist()
        lost = np.isin(at, failed).tolist()
        if until < 3600.0 and marked:
            times.append(START + until + EVERY)
            lost.append(True)
        for metric, own, values in (
            ("http_requests_total", {"handler": "/v1/completions"}, done),
            ("process_start_time_seconds", {}, np.full(len(at), born)),
            ("vllm:num_requests_running", {"model_name": "m"}, np.full(len(at), queue)),
            ("vllm:num_requests_waiting", {"model_name": "m"}, np.zeros(len(at))),
        ):
            padded = [*values.tolist(), STALE][: len(times)]
            seen = [STALE if gone else v for v, gone in zip(padded, lost, strict=True)]
            self.server.append(metric, {**labels, **own}, times, seen)

    def read(self) -> dict[int, float]:
        """Demand by minute of the hour."""
        source = PrometheusDemand(Prometheus(url=self.server.url))
        asked = policy(preset="vllm", matchLabels={"model_name": "m"}, history="2d")
        history: History = source.read(asked, NOW)
        source.close()
        minutes = ((history.demand.times - START) / 60).round().astype(int).tolist()
        return dict(zip(minutes, history.demand.values.tolist(), strict=True))


@pytest.fixture
def engines() -> Iterator[Engines]:
    with PrometheusServer(lambda: NOW) as server:
        yield Engines(server)


def test_a_steady_load_is_read_exactly(engines: Engines):
    engines.run("a", 4.0)
    engines.run("b", 6.0)
    read = engines.read()
    assert [read[minute] for minute in range(1, MINUTES)] == pytest.approx([10.0] * 59)


def test_replicas_that_are_added_do_not_read_as_a_fall(engines: Engines):
    engines.run("a", (10.0, 2.0))  # the same load, from half past on spread over four new ones
    for name in "bcde":
        engines.run(name, 2.0, since=1815.0, counted=0.0, queue=0.0)
    read = engines.read()
    steady = [read[minute] for minute in range(1, MINUTES) if minute != 30]
    assert steady == pytest.approx([10.0] * 58)
    assert read[30] == pytest.approx(10.0 - 4 * 2.0 * 15 / 60)  # 15 s without any of the new ones


def test_an_instance_with_a_long_past_that_appears_is_no_flood(engines: Engines):
    engines.run("a", 10.0)
    engines.run("b", 10.0, since=1800.0, counted=1e6)
    read = engines.read()
    assert max(read.values()) < 21.0


def test_replicas_that_are_taken_away_leave_no_trace(engines: Engines):
    engines.run("a", 10.0)
    engines.run("b", 5.0, until=1800.0)
    read = engines.read()
    assert [read[minute] for minute in range(31, MINUTES)] == pytest.approx([10.0] * 29)
    assert all(value >= 0 for value in read.values())


def test_a_failed_scrape_is_made_up_for_and_not_a_fall(engines: Engines):
    engines.run("a", 10.0)
    engines.run("b", 10.0, failed=(1800.0,))
    read = engines.read()
    assert min(read[minute] for minute in range(1, MINUTES)) > 17.0
    assert np.mean([read[minute] for minute in range(28, 33)]) == pytest.approx(20.0, rel=0.01)


def test_a_restart_of_one_of_two_is_not_negative(engines: Engines):
    engines.run("a", 10.0)
    engines.run("b", 10.0, until=1800.0, queue=400.0)
    engines.run("b", 10.0, since=1830.0, counted=0.0)
    read = engines.read()
    assert min(read[minute] for minute in range(1, MINUTES)) > 9.9
    assert max(read.values()) < 21.0


def test_the_only_instance_down_is_a_hole_and_not_zero(engines: Engines):
    engines.run("a", 10.0, until=1800.0)
    engines.run("a", 10.0, since=2400.0, counted=0.0)
    read = engines.read()
    assert not {31, 32, 35, 39} & set(read)
    assert min(read.values()) > 9.0


def test_a_prometheus_that_stopped_reads_as_unknown(engines: Engines):
    # it was away itself, and its look-back repeats the last samples for five minutes
    for name in "ab":
        engines.run(name, 10.0, until=1817.0, marked=False)
        engines.run(name, 10.0, since=2400.0, counted=5000.0 + 10.0 * 2400)
    read = engines.read()
    assert min(read.values()) > 19.9
    assert max(read.values()) < 20.1
    assert not {32, 35, 38} & set(read)


def test_an_engine_that_has_served_nothing_yet_has_no_demand(engines: Engines):
    engines.run("a", 0.0, counted=0.0, queue=0.0)
    assert set(engines.read().values()) == {0.0}


def test_an_engine_without_any_counter_is_unknown_and_not_idle(engines: Engines):
    labels = {"namespace": "llm", "pod": "a", "instance": "a", "job": "vllm", "model_name": "m"}
    times = START + np.arange(0, 3600, EVERY)
    for metric in ("vllm:num_requests_running", "vllm:num_requests_waiting"):
        engines.server.append(metric, labels, times, np.full(len(times), 3.0))
    with pytest.raises(HistoryUnavailable) as refused:
        engines.read()
    assert refused.value.code == "NoSeries"


def test_the_servers_counter_is_noticed_when_it_appears(engines: Engines):
    engines.run("a", 5.0)
    source = PrometheusDemand(Prometheus(url=engines.server.url))
    asked = policy(preset="vllm", matchLabels={"model_name": "m"}, history="2d")
    with pytest.raises(HistoryUnavailable):
        source.read(asked, START - 600)  # before the first scrape
    assert source.read(asked, START + 600).demand.values[-1] == pytest.approx(5.0)
    source.close()
