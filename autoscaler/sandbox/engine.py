"""The metrics of the demo's serving engine, as Prometheus would have scraped them.

One instance stands for all replicas: its API server counts finished requests, its engine tells how
many run and wait. Arrivals are told by no counter, as on a real engine; the adapter's preset works
them out.
"""

from __future__ import annotations

import numpy as np

from autoscaler.demand.presets import HTTP, RUNNING, WAITING
from autoscaler.model import Floats
from autoscaler.sandbox.prometheus import PrometheusServer

REQUEST_SECONDS = 8.0  # how long a request runs, so that running = rate x 8 s (Little's law)


class Engine:
    """Exposes arrivals and backlog of one service; scraped once a step."""

    def __init__(self, server: PrometheusServer, namespace: str, model: str) -> None:
        self._server = server
        instance = {"namespace": namespace, "pod": f"{model}-gateway", "job": "vllm"}
        self._gauge = {**instance, "model_name": model, "engine": "0"}
        self._counter = {
            **instance,
            "handler": "/v1/chat/completions",
            "method": "POST",
            "status": "2xx",
        }
        self._arrived = 1e6  # served before anything that is told here

    def remember(self, start: float, demand: Floats, step: float) -> None:
        """Fill in a past without backlog; shape (n,), demand per second of steps from `start`."""
        times = start + step * np.arange(len(demand) + 1, dtype=np.float64)
        arrived = self._arrived + np.concatenate(([0.0], np.cumsum(demand) * step))
        running = np.concatenate((demand[:1], demand)) * REQUEST_SECONDS
        self._arrived = float(arrived[-1])
        self._put(times, arrived, running, np.zeros(len(times)))

    def scrape(self, at: float, demand: float, served: float, backlog: float, step: float) -> None:
        """Take one sample at the end of a step in which `demand` arrived a second."""
        self._arrived += demand * step
        running = min(demand, served) * REQUEST_SECONDS
        self._put(*(np.array([x]) for x in (at, self._arrived, running, backlog)))

    def _put(self, times: Floats, arrived: Floats, running: Floats, waiting: Floats) -> None:
        finished = np.maximum.accumulate(np.maximum(arrived - running - waiting, 0.0))
        self._server.append(HTTP, self._counter, times, finished)
        self._server.append(RUNNING, self._gauge, times, running)
        self._server.append(WAITING, self._gauge, times, waiting)
