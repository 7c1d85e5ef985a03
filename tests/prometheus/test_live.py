"""The vllm preset on live scrapes: only those leave real marks of a target that is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable
from tests.lab.process import wait_until
from tests.lab.prometheus import Exporter
from tests.prometheus.data import policy

pytestmark = [pytest.mark.lab, pytest.mark.slow]

RATE = 50.0
STEP = 3.0


class Engine:
    """An engine under a constant load, which a test takes away and starts anew."""

    def __init__(self) -> None:
        self.born = time.time()
        self.gone = threading.Event()

    def restart(self) -> None:
        self.born = time.time()
        self.gone.clear()

    def metrics(self) -> str:
        if self.gone.is_set():
            return "gone{"  # the scrape fails
        served = RATE * (time.time() - self.born)
        model = 'model_name="m",engine="0"'
        return "\n".join(
            (
                "# TYPE http_requests_total counter",
                f'http_requests_total{{handler="/v1/completions",status="2xx"}} {served:.3f}',
                f"process_start_time_seconds {self.born:.3f}",
                f"vllm:num_requests_running{{{model}}} 4",
                f"vllm:num_requests_waiting{{{model}}} 0",
                "",
            )
        )


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def exporter(engine: Engine) -> Iterator[Exporter]:
    made = Exporter(engine.metrics)
    yield made
    made.stop()


# long: an engine that is steady, dies, comes back, and a Prometheus that does the same
def test_neither_a_dead_engine_nor_a_dead_prometheus_reads_as_little_demand(
    prometheus: Callable[..., Any], engine: Engine, exporter: Exporter
):
    server = prometheus(scrape={"vllm": exporter.address}, interval=0.5)
    source = PrometheusDemand(Prometheus(url=server.url), step=STEP)
    asked = policy(preset="vllm", matchLabels={"model_name": "m"}, history="2d")

    def seen(since: float) -> dict[float, float]:
        """Steps that begin after a moment, as a new reader sees them."""
        history = source.read(asked, time.time()).demand
        pairs = zip(history.times.tolist(), history.values.tolist(), strict=True)
        return {at: value for at, value in pairs if at >= since}

    def steady(count: int, since: float) -> None:
        def enough() -> bool:
            try:
                return len(seen(since)) >= count
            except HistoryUnavailable:  # before the first whole step there is no series
                return False

        wait_until(enough, "steps of live demand")

    wait_until(lambda: server.query("http_requests_total offset 4s"), "scrapes of the engine")
    began = time.time() - STEP
    steady(1, began)
    engine.gone.set()
    down = time.time()
    wait_until(lambda: time.time() > down + 2.5 * STEP, "the engine is away for two steps")
    engine.restart()
    steady(2, time.time())
    server.kill()
    killed = time.time()
    wait_until(lambda: time.time() > killed + 2.5 * STEP, "Prometheus is away for two steps")
    server.start()
    steady(2, time.time())
    read = seen(began)
    source.close()
    # a scrape bears the time at which it was asked for, and on a busy machine the engine's counter
    # is read some tenths of a second later
    assert min(read.values()) > 0.8 * RATE, read
    assert max(read.values()) < 1.2 * RATE, read
    assert len(read) >= 5
    assert not [at for at in read if down + STEP < at < down + 1.5 * STEP]
