"""A TCP proxy that can go silent: connections stay open, nothing passes, as behind a dead route."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading


class Proxy:
    """Forwards loopback connections to a port until it is told to swallow everything.

    Parameters
    ----------
    port : where to forward to
    """

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._open = threading.Event()
        self._open.set()
        self._ended = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self._sockets: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def swallow(self) -> None:
        """Let nothing pass from now on; what is under way waits in the proxy."""
        self._open.clear()

    def restore(self) -> None:
        """Let everything pass again, what waited first."""
        self._open.set()

    def stop(self) -> None:
        """Close all connections."""
        self._ended = True
        self._open.set()
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._upstream))
            except OSError:  # closed by stop, or the API server is gone
                if self._ended:
                    return
                continue
            self._sockets += [client, server]
            thread = threading.Thread(target=self._forward, args=(client, server), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        """Carry bytes both ways until one side closes."""
        other = {client: server, server: client}
        with selectors.DefaultSelector() as selector:
            for each in other:
                selector.register(each, selectors.EVENT_READ)
            while not self._ended:
                for key, _ in selector.select(0.5):
                    source = key.fileobj
                    if not isinstance(source, socket.socket):  # for the type checker; never so
                        continue
                    try:
                        data = source.recv(65536)
                        self._open.wait()
                        other[source].sendall(data)
                    except OSError:
                        data = b""
                    if not data:
                        for each in other:
                            with contextlib.suppress(OSError):
                                each.shutdown(socket.SHUT_RDWR)
                        return
