"""An HTTP server that speaks Prometheus' query API over series in memory.

It is the demo's Prometheus, on an accelerated clock, and the fake of the tests: with switches for
everything that a real one does on a bad day. The adapter's contract tests run against this server
and a real Prometheus alike, so that the fake cannot drift from the truth.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from autoscaler.adapters.listener import Listener
from autoscaler.sandbox.prometheus_api import Answer, Params, answer
from autoscaler.sandbox.promql import Store


@dataclass(slots=True)
class Faults:
    """What is wrong with the server; every switch may be set and taken back at any time.

    Attributes
    ----------
    delay : seconds before each answer
    status : answer this HTTP status instead (503, 429, 401, …)
    drop : close the connection instead of answering
    html : answer with a web page (200 unless `status` is given), as a login proxy does
    text : answer 200 with this text, as something else that speaks JSON does
    swallow : take requests and never answer: a black hole behind an open port
    trickle : send the answer's first byte, then one every 0.05 s of what would take for ever
    truncate : close the connection in the middle of the body
    warnings : partial-answer warnings to put into every response
    times : how many requests are still affected; None is all
    """

    delay: float = 0.0
    status: int | None = None
    drop: bool = False
    html: bool = False
    text: str | None = None
    swallow: bool = False
    trickle: bool = False
    truncate: bool = False
    warnings: tuple[str, ...] = ()
    times: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it."""

    path: str
    params: Params
    headers: Mapping[str, str]


class PrometheusServer:
    """A Prometheus on a free loopback port; starts and stops as a context manager.

    Parameters
    ----------
    clock : POSIX seconds "now": nothing newer is visible. Default the wall clock
    port : 0 takes a free one
    tls : serve HTTPS with this context

    Attributes
    ----------
    faults : what is wrong with it
    require : headers without which it answers 401
    requests : the last 10,000 requests seen, oldest first
    asked : how many requests were seen in all
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.clock = clock
        self.store = Store()
        self.faults = Faults()
        self.require: dict[str, str] = {}
        self.requests: deque[Request] = deque(maxlen=10_000)
        self.asked = 0
        self._lock = threading.Lock()
        self._scheme = "https" if tls else "http"
        self._server = _Server(self, port, tls)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def append(
        self, name: str, labels: Mapping[str, str], times: Iterable[float], values: Iterable[float]
    ) -> None:
        """Add samples (POSIX seconds, ascending) to one series."""
        self.store.append(name, labels, times, values)

    def take_faults(self) -> Faults:
        """Count one request, and tell the faults that apply to it."""
        with self._lock:
            self.asked += 1
            if self.faults.times is None:
                return replace(self.faults)
            if self.faults.times <= 0:
                return Faults()
            self.faults.times -= 1
            return replace(self.faults)

    def start(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close the port and every connection, held ones included."""
        self._server.stopping.set()
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
        self._server.close_connections()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(Listener):
    """The listening socket, and every connection that it must close at the end."""

    request_queue_size = 256

    def __init__(self, owner: PrometheusServer, port: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.owner = owner
        self.tls = tls
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection and remember it."""
        connection, address = super().get_request()
        if self.tls:
            connection = self.tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close one connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End the connections that clients keep alive."""
        with self._lock:
            held = list(self._open)
        for connection in held:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with kept-alive connections; each answer leaves in one write."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        """Answer from the query string."""
        url = urlsplit(self.path)
        self._serve(url.path, parse_qs(url.query, keep_blank_values=True))

    def do_POST(self) -> None:
        """Answer from the query string and the form in the body."""
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        params = parse_qs(url.query, keep_blank_values=True)
        params.update(parse_qs(body, keep_blank_values=True))
        self._serve(url.path, params)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class names it)
        """Say nothing."""

    def _serve(self, path: str, params: Params) -> None:
        owner = self.server.owner
        owner.requests.append(Request(path, params, dict(self.headers.items())))
        faults = owner.take_faults()
        if faults.delay:
            self.server.stopping.wait(faults.delay)
        if faults.swallow:
            self.server.stopping.wait()
        if faults.swallow or faults.drop:
            self.close_connection = True
            return
        self._send(self._response(path, params, faults), faults)

    def _response(self, path: str, params: Params, faults: Faults) -> Answer:
        owner = self.server.owner
        if any(self.headers.get(name) != value for name, value in owner.require.items()):
            return Answer(401, "Unauthorized\n", "text/plain")
        if faults.html:
            page = "<html><head><title>Please log in</title></head><body><form></body></html>"
            return Answer(faults.status or 200, page, "text/html")
        if faults.text is not None:
            return Answer(200, faults.text, "application/json")
        if faults.status is not None:
            return Answer(faults.status, "upstream is not well\n", "text/plain")
        response = answer(path, params, owner.store, owner.clock())
        if faults.warnings and isinstance(response.body, dict):
            response.body["warnings"] = list(faults.warnings)
        return response

    def _send(self, response: Answer, faults: Faults) -> None:
        text = response.body if isinstance(response.body, str) else json.dumps(response.body)
        body = text.encode()
        reason = HTTPStatus(response.status).phrase
        head = (
            f"HTTP/1.1 {response.status} {reason}\r\nContent-Type: {response.type}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        if faults.truncate:
            self.close_connection = True
            self.wfile.write(head + body[: len(body) // 2])
            return
        if faults.trickle:
            self.close_connection = True
            self.wfile.write(head)
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.server.stopping.wait(0.05):
                    return
        self.wfile.write(head + body)
