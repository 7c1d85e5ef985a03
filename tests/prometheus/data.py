"""One data set for both servers of the contract: the sandbox's, and a real Prometheus."""

from __future__ import annotations

import csv
import gzip
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from autoscaler.policy import TidePolicy
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.sandbox.promql import STALE

STEP = 60.0
# the newest samples lie hours back, so that a real Prometheus takes them as blocks
NOW = float(int(time.time() // 3600 - 3) * 3600)
DAYS = 28
TIDE = "tide_rps"

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Line:
    """One series."""

    name: str
    labels: Labels
    times: list[float]
    values: list[float]
    kind: str = "gauge"
    ends: list[float] = field(default_factory=list)


def policy(**demand: object) -> TidePolicy:
    """A policy with this demand."""
    target = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": "qwen"}
    return TidePolicy.model_validate(
        {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": "qwen", "namespace": "llm"},
            "spec": {"targetRef": target, "demand": demand, "capacity": {"perReplica": 3.0}},
        }
    )


def tide(times: np.ndarray) -> np.ndarray:
    """A day's tide with a ripple, so that no two neighbours are equal; it rises at NOW."""
    day = 2 * np.pi * (times - NOW) / 86_400
    return 100 + 60 * np.sin(day) + 7 * np.sin(97.3 * day)


def _line(name: str, labels: dict[str, str], times: np.ndarray, values: np.ndarray) -> Line:
    return Line(name, tuple(sorted(labels.items())), times.tolist(), values.tolist())


def lines() -> list[Line]:
    """All series but the engine's."""
    whole = NOW - STEP * np.arange(DAYS * 1440 + 10, -1, -1)
    day = whole[-1441:]
    nan = tide(day)
    nan[100:130] = np.nan
    gap = np.concatenate((day[:600], day[700:-120]))
    hits = np.cumsum(np.full(1441, 90.0))
    hits[800:] -= hits[799]
    pods = {"job": "app", "service": "chat"}
    return [
        _line(TIDE, {"service": "chat"}, whole, tide(whole)),
        _line("two_rps", {"service": "chat", "pod": "a"}, day, tide(day)),
        _line("two_rps", {"service": "chat", "pod": "b"}, day, 2 * tide(day)),
        _line("nan_rps", {"service": "chat"}, day, nan),
        _line("gap_rps", {"service": "chat"}, gap, tide(gap)),
        Line("hits_total", tuple(pods.items()), day.tolist(), hits.tolist(), "counter"),
        _line("big_rps", {"service": "chat"}, day, np.full(len(day), np.inf)),
    ]


def load(server: PrometheusServer, what: list[Line]) -> None:
    """Put series into the sandbox's server."""
    for line in what:
        samples = [*zip(line.times, line.values, strict=True), *((at, STALE) for at in line.ends)]
        samples.sort(key=lambda sample: sample[0])
        times, values = zip(*samples, strict=True)
        server.append(line.name, dict(line.labels), times, values)


def texts(what: list[Line]) -> list[str]:
    """The same as OpenMetrics texts, one for each name."""
    from tests.lab.prometheus import openmetrics  # noqa: PLC0415 (only where the lab runs)

    names: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in what:
        names[line.kind, line.name].append(line)
    return [
        openmetrics(kind, name, [(dict(one.labels), one.times, one.values) for one in same])
        for (kind, name), same in names.items()
    ]


# -- the recorded run of a real engine ---------------------------------------------------------

ENGINE = "vllm-0.32-cpu"
# scrapes lie a little after full seconds: so the one at 60.02 s is the newest at the grid's 60 s
ENGINE_START = NOW - 7200.0 - 0.5
_KEPT = (
    *("http_requests_total", "vllm:num_requests_", "vllm:request_success", "vllm:admission"),
    "process_start_time_seconds",
)


def engine_lines(folder: Path, *, every: int = 5, pods: int = 1, ended: bool = True) -> list[Line]:
    """The recording as series of `pods` equal instances, one scrape in `every` seconds.

    `ended` marks the series as ended where a scrape failed, as Prometheus does; backfilled blocks
    cannot hold such marks.
    """
    samples: dict[tuple[str, Labels], tuple[list[float], list[float]]] = defaultdict(
        lambda: ([], [])
    )
    ends: list[float] = []
    with gzip.open(folder / "metrics.csv.gz", "rt") as file:
        for second, scrape in groupby(csv.DictReader(file), key=lambda row: float(row["t_s"])):
            if round(second) % every:
                continue
            at = ENGINE_START + second
            for row in scrape:
                if row["name"] == "up":
                    ends.append(at)
                if row["name"].startswith(_KEPT):
                    labels = tuple(re.findall(r'(\w+)="([^"]*)"', row["labels"]))
                    times, values = samples[row["name"], labels]
                    times.append(at)
                    values.append(float(row["value"]))
    found = []
    for pod in range(pods):
        own = {"namespace": "llm", "job": "vllm", "pod": f"qwen-{pod}", "instance": f"{pod}:8000"}
        for (name, labels), (times, values) in samples.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            key = tuple(sorted({**dict(labels), **own}.items()))
            found.append(Line(name, key, times, values, kind, ends[:1] if ended else []))
    return found


def arrivals(folder: Path) -> np.ndarray:
    """Seconds at which requests reached the engine; refused connections did not."""
    with gzip.open(folder / "requests.csv.gz", "rt") as file:
        rows = csv.DictReader(file)
        return np.array(
            [float(row["arrival_s"]) for row in rows if row["status"] != "ClientConnectorError"]
        )


PHASES = {
    "calm": (0, 180),
    "ramp, below capacity": (180, 300),
    "ramp, through capacity": (300, 420),
    "above capacity": (420, 480),
    "saturated, 1st minute": (480, 540),
    "saturated, 2nd": (540, 600),
    "saturated, 3rd and 4th": (600, 720),
    "demand gone, queue collapses": (720, 780),
    "calm again": (780, 900),
    "calm after restart": (960, 1140),
}


def per_second(times: np.ndarray, phase: tuple[int, int]) -> float:
    """Arrivals a second in [start, end)."""
    start, end = phase
    return float(((times >= start) & (times < end)).sum() / (end - start))


def minutes(phase: tuple[int, int]) -> Iterator[float]:
    """Starts of the minutes of a phase, POSIX seconds on the grid."""
    start = ENGINE_START + 0.5
    return (start + second for second in range(phase[0], phase[1], 60))
