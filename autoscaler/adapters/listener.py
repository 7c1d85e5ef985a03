"""What our small HTTP servers share: they end with the process, and a lost client is no error."""

from __future__ import annotations

import sys
from http.server import ThreadingHTTPServer
from typing import Any


class Listener(ThreadingHTTPServer):
    """Requests in daemon threads, so that a slow reader does not keep the process."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that broke; anything else is a bug and is told."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
