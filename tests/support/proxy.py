"""A TCP proxy whose connections can go silent without being closed: a black hole on loopback."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit


class SilentProxy:
    """Passes bytes on to `url`'s host and port, until told not to.

    `go_silent()` keeps every connection open, and takes new ones, but passes nothing on in either
    direction. `swallow_answers()` passes requests on and nothing back.
    """

    def __init__(self, url: str) -> None:
        split = urlsplit(url)
        assert split.hostname is not None
        assert split.port is not None
        self._target = (split.hostname, split.port)
        self._scheme = split.scheme
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._up = threading.Event()
        self._down = threading.Event()
        self._up.set()
        self._down.set()
        self._closed = threading.Event()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Address to use instead of the target's."""
        return f"{self._scheme}://127.0.0.1:{self._listener.getsockname()[1]}"

    def go_silent(self) -> None:
        self._up.clear()
        self._down.clear()

    def swallow_answers(self) -> None:
        self._down.clear()

    def resume(self) -> None:
        self._up.set()
        self._down.set()

    def close(self) -> None:
        self._closed.set()
        self.resume()
        self._listener.close()
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def __enter__(self) -> SilentProxy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            self._sockets += [near, far]
            for source, sink, gate in ((near, far, self._up), (far, near, self._down)):
                threading.Thread(target=self._pump, args=(source, sink, gate), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, gate: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                gate.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
