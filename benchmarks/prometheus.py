"""What reading demand from a real Prometheus costs: the first read, a cycle's tail, a fleet's.

python -m benchmarks.prometheus [--policies 200] [--replicas 10]

Needs the lab's Prometheus (`make lab`). Prints CPU seconds of this process and of the server.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.policy import TidePolicy
from tests.lab.prometheus import Prometheus as Server
from tests.prometheus.data import NOW, STEP, TIDE, Line, lines, policy, texts, tide

THREADS = 8
WEEK = 7 * 86_400
SCRAPE = 15.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=int, default=200)
    parser.add_argument("--replicas", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server = Server(Path(home) / "tide", past=texts(lines()[:1]))
        try:
            _query(server, arguments.policies)
        finally:
            server.stop()
        server = Server(Path(home) / "engine", past=texts(_engines(arguments.replicas)))
        try:
            _preset(server, arguments.policies, arguments.replicas)
        finally:
            server.stop()


def _query(server: Server, count: int) -> None:
    """Measure a policy with a query on one series of 28 days at 60 s."""
    source = PrometheusDemand(Prometheus(url=server.url))
    asked = policy(query=TIDE)
    _say("28 days at 60 s, first read", server, lambda: source.read(asked, NOW - STEP))
    _say("one cycle's tail", server, lambda: source.read(asked, NOW))
    fleet = [_named(asked, number) for number in range(count)]
    _say(f"{count} policies, first read", server, lambda: _all(source, fleet, NOW - STEP))
    _say(f"{count} policies, one cycle's tails", server, lambda: _all(source, fleet, NOW))
    print(f"resident: {_resident():.0f} MB, {count + 1} histories kept")
    source.close()


def _preset(server: Server, count: int, replicas: int) -> None:
    """Measure the vllm preset on a week of replicas that are scraped every 15 s."""
    source = PrometheusDemand(Prometheus.model_validate({"url": server.url, "timeout": "2m"}))
    asked = policy(preset="vllm", matchLabels={"model_name": "m"}, history="7d")
    what = f"vllm preset, {replicas} replicas"
    _say(f"{what}, first read of 7 days", server, lambda: source.read(asked, NOW - STEP))
    fleet = [_named(asked, number) for number in range(count)]
    _all(source, fleet, NOW - STEP)
    _say(f"{what}, {count} policies' tails", server, lambda: _all(source, fleet, NOW))
    source.close()


def _say(what: str, server: Server, work: Callable[[], object]) -> None:
    ours, theirs, began = time.process_time(), _cpu_of(server), time.perf_counter()
    work()
    wall = time.perf_counter() - began
    ours, theirs = time.process_time() - ours, _cpu_of(server) - theirs
    print(f"{what}: {ours:.3f} CPU s here, {theirs:.2f} in Prometheus, {wall:.2f} s wall")


def _all(source: PrometheusDemand, fleet: list[TidePolicy], until: float) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda one: len(source.read(one, until).demand), fleet))


def _named(asked: TidePolicy, number: int) -> TidePolicy:
    metadata = asked.metadata.model_copy(update={"name": f"policy-{number}"})
    return asked.model_copy(update={"metadata": metadata})


def _engines(replicas: int) -> list[Line]:
    """Make a week of engines that share a tide."""
    times = NOW - SCRAPE * np.arange(WEEK / SCRAPE, -1, -1)
    share = tide(times) / replicas
    found = []
    for number in range(replicas):
        own = {"namespace": "llm", "job": "vllm", "pod": f"q{number}", "instance": f"{number}:8000"}
        for name, labels, values, kind in (
            (
                "http_requests_total",
                {"handler": "/v1/completions"},
                np.floor(np.cumsum(share * SCRAPE)),
                "counter",
            ),
            ("process_start_time_seconds", {}, np.full(len(times), times[0] - 1e5), "gauge"),
            ("vllm:num_requests_running", {"model_name": "m"}, np.round(share * 5), "gauge"),
            ("vllm:num_requests_waiting", {"model_name": "m"}, np.zeros(len(times)), "gauge"),
        ):
            key = tuple(sorted({**own, **labels}.items()))
            found.append(Line(name, key, times.tolist(), values.tolist(), kind))
    return found


def _cpu_of(server: Server) -> float:
    """CPU seconds of the server's process so far."""
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
