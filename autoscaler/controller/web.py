"""Our own small HTTP server: `/healthz`, `/readyz`, `/metrics`.

Alive means that the main loop beats and that somebody can work; a hung dependency is no reason to
be restarted. Ready means that every policy was observed once; standbys are ready too.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from autoscaler.adapters.listener import Listener

Check = Callable[[], str]
"""Why not, in a sentence; or nothing when all is well."""


class Web:
    """The server, in a thread of its own.

    Parameters
    ----------
    port : 0 takes a free one, see `address`
    """

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        *,
        healthy: Check,
        ready: Check,
    ) -> None:
        pages = {
            "/healthz": lambda _accept: _answer(healthy),
            "/readyz": lambda _accept: _answer(ready),
            "/metrics": lambda accept: _metrics(registry, accept),
        }
        server = _Server6 if ":" in host else Listener
        self._server = server((host, port), _handler(pages))
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.1},
            name="web",
            daemon=True,
        )

    @property
    def address(self) -> tuple[str, int]:
        """Host and port that are listened on."""
        host, port = self._server.server_address[:2]
        return str(host), int(port)

    def start(self) -> None:
        """Serve in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


class _Server6(Listener):
    """The same on an IPv6 address; `::` takes both where the system allows."""

    address_family = socket.AF_INET6


Page = Callable[[str], tuple[int, str, bytes]]


def _answer(check: Check) -> tuple[int, str, bytes]:
    """200 and ok, or 503 and why."""
    why = check()
    text = (why or "ok") + "\n"
    return 503 if why else 200, "text/plain; charset=utf-8", text.encode()


def _metrics(registry: CollectorRegistry, accept: str) -> tuple[int, str, bytes]:
    """Write the metrics in the format that was asked for."""
    encode, kind = choose_encoder(accept)
    return 200, kind, encode(registry)


def _handler(pages: dict[str, Page]) -> type[BaseHTTPRequestHandler]:
    """Make a handler class that knows the pages."""

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "foretide", ""
        timeout = 10  # seconds for a client to say what it wants

        def do_GET(self) -> None:
            page = pages.get(self.path.split("?", 1)[0])
            if page is None:
                known = ", ".join(pages)
                status, kind, body = 404, "text/plain", f"there is: {known}\n".encode()
            else:
                status, kind, body = page(self.headers.get("Accept", ""))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as inherited
            """Log no requests: probes come every ten seconds."""

    return Handler
