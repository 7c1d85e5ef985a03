"""Our HTTP server: health, readiness, metrics in the format that is asked for."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.controller.web import Web


class State:
    def __init__(self) -> None:
        self.why = ""


@pytest.fixture(params=["127.0.0.1", "::1"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, State]]:
    state = State()
    try:
        web = Web(request.param, 0, Metrics().registry, healthy=lambda: "", ready=lambda: state.why)
    except OSError as error:
        pytest.skip(f"this machine has no {request.param}: {error}")
    web.start()
    host, port = web.address
    yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}", state
    web.stop()


def get(url: str, accept: str = "") -> tuple[int, str, str]:
    request = urllib.request.Request(url, headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def test_pages(served: tuple[str, State]) -> None:
    url, state = served
    assert get(url + "/healthz")[::2] == (200, "ok\n")
    assert get(url + "/readyz")[0] == 200
    state.why = "3 policies were not observed yet"
    assert get(url + "/readyz")[::2] == (503, "3 policies were not observed yet\n")
    status, kind, text = get(url + "/metrics")
    assert (status, "foretide_leader 0.0" in text) == (200, True)
    assert kind.startswith("text/plain")
    openmetrics = get(url + "/metrics", "application/openmetrics-text")
    assert openmetrics[1].startswith("application/openmetrics-text")
    assert openmetrics[2].endswith("# EOF\n")
    assert get(url + "/other")[0] == 404
