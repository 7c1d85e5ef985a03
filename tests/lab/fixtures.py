"""The lab as pytest fixtures, for every test that is marked `lab` (loaded by tests/conftest.py).

The control plane and the controllers are one for the whole run: a test works in a namespace of its
own (`namespace`). A Prometheus is cheap (half a second), so a test makes its own.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import build


@pytest.fixture(scope="session")
def lab_programs() -> None:
    """The lab's programs are there; without them a test is skipped, or fails where they must be."""
    absent = build.missing()
    if not absent:
        return
    message = f"the lab's programs are not built ({', '.join(absent)}): run `make lab` once"
    if os.environ.get("FORETIDE_LAB") == "required":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def control_plane(lab_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A `plane.ControlPlane`: a real API server with RBAC, tokens, and an audit log of writes."""
    from tests.lab.plane import ControlPlane  # noqa: PLC0415 (costs time only where a lab runs)

    plane = ControlPlane(tmp_path_factory.mktemp("plane"))
    yield plane
    plane.stop()


@pytest.fixture(scope="session")
def quiet_plane(lab_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A `plane.ControlPlane` of its own on which no controller runs: only tests write there."""
    from tests.lab.plane import ControlPlane  # noqa: PLC0415 (see control_plane)

    plane = ControlPlane(tmp_path_factory.mktemp("quiet"))
    yield plane
    plane.stop()


@pytest.fixture(scope="session")
def controllers(control_plane: Any) -> Iterator[Any]:
    """`controllers.Controllers` on that plane: HPA every 2 s, scheduler, GPU nodes, cold starts."""
    from tests.lab.controllers import Controllers  # noqa: PLC0415 (see control_plane)

    running = Controllers(control_plane)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def external_metrics(control_plane: Any) -> Iterator[Any]:
    """`external_metrics.ExternalMetrics` on that plane: `values["name"] = function`."""
    from tests.lab.external_metrics import ExternalMetrics  # noqa: PLC0415 (see control_plane)

    api = ExternalMetrics(control_plane)
    yield api
    api.stop()


@pytest.fixture(scope="session")
def pod_metrics(control_plane: Any) -> Iterator[Any]:
    """`pod_metrics.PodMetrics` on that plane: `reports["app"] = function`."""
    from tests.lab.pod_metrics import PodMetrics  # noqa: PLC0415 (see control_plane)

    api = PodMetrics(control_plane)
    yield api
    api.stop()


@pytest.fixture(scope="session")
def deployed(control_plane: Any) -> list[dict[str, Any]]:
    """`deploy/` applied to the plane with strict field validation; its documents."""
    from tests.lab.foretide import USER, manifests  # noqa: PLC0415 (see control_plane)
    from tests.lab.process import wait_until  # noqa: PLC0415 (and this)

    api = control_plane.api
    documents = manifests()
    for document in documents:
        api.apply(document)
    # accepted is not yet in force
    wait_until(lambda: api.call("GET", api.path("TidePolicy")), "policies are served")
    control_plane.wait_for_rights(USER, "default")
    return documents


@pytest.fixture
def namespace(control_plane: Any) -> str:
    """A new namespace in the cluster."""
    return _new_namespace(control_plane)


@pytest.fixture(scope="module")
def module_namespaces(control_plane: Any) -> tuple[str, str]:
    """Two new namespaces for all tests of a module."""
    return _new_namespace(control_plane), _new_namespace(control_plane)


def _new_namespace(plane: Any) -> str:
    name = f"test-{secrets.token_hex(4)}"
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


@pytest.fixture
def prometheus(lab_programs: None, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes `prometheus.Prometheus` servers: `prometheus(past=[…], scrape={…}, interval=5)`."""
    from tests.lab.prometheus import Prometheus  # noqa: PLC0415 (see control_plane)

    started: list[Prometheus] = []

    def start(**settings: Any) -> Prometheus:
        server = Prometheus(tmp_path / f"prometheus-{len(started)}", **settings)
        started.append(server)
        return server

    try:
        yield start
    finally:
        for server in started:
            server.stop()


@pytest.fixture(scope="session")
def prometheus_for_session(
    lab_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Any]]:
    """As `prometheus`, for a server that many tests read and none changes."""
    from tests.lab.prometheus import Prometheus  # noqa: PLC0415 (see control_plane)

    started: list[Prometheus] = []

    def start(**settings: Any) -> Prometheus:
        server = Prometheus(tmp_path_factory.mktemp("prometheus"), **settings)
        started.append(server)
        return server

    try:
        yield start
    finally:
        for server in started:
            server.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Add the ends of the programs' logs to the report of a failed lab test."""
    report = yield
    if report.failed and item.get_closest_marker("lab"):
        for name in ("control_plane", "controllers"):
            running = getattr(item, "funcargs", {}).get(name)
            if running is not None:
                report.sections.append((f"log of {name}", running.logs()))
    return report
