"""A test that asks for `world` runs against the sandbox and, where it is, the real API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kubernetes.world import World, lab, sandbox


@pytest.fixture(params=["sandbox", pytest.param("real", marks=pytest.mark.lab)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "real":
        real = lab(request.getfixturevalue("quiet_plane"))
        yield real
        real.close()
        return
    server, fake = sandbox()
    yield fake
    fake.close()
    fake.hand.close()
    server.close()
