"""A client that hangs up is not worth a traceback; a bug is."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from autoscaler.adapters.listener import Listener


@pytest.mark.parametrize(
    ("error", "told"), [(ConnectionResetError("reset by peer"), False), (ValueError("a bug"), True)]
)
def test_only_a_bug_is_told(capsys, error: Exception, told: bool) -> None:
    with Listener(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        try:
            raise error
        except type(error):
            server.handle_error(None, ("127.0.0.1", 1))
    assert ("Traceback" in capsys.readouterr().err) is told
