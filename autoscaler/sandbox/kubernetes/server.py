"""A small HTTP server that speaks the part of the Kubernetes API that Foretide uses.

The demo runs the real adapters against it, and the contract tests run against it and a real
kube-apiserver, so that what it answers is what a cluster answers.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any

from autoscaler.adapters.kubernetes.resources import NAMESPACES, Json, Resource
from autoscaler.adapters.listener import Listener
from autoscaler.sandbox.kubernetes import answers
from autoscaler.sandbox.kubernetes.faults import Denial, Faults
from autoscaler.sandbox.kubernetes.requests import Api, Request
from autoscaler.sandbox.kubernetes.store import Store, Who, Write

_WORLD = Who(manager="sandbox-world", user="sandbox-world")


class KubernetesServer:
    """An API server in this process, on a free loopback port.

    Parameters
    ----------
    clock : callable
        POSIX seconds for timestamps and the audit; simulated time is welcome.
    tokens : mapping of str to str
        Bearer token → user. Empty: everybody is the user `foretide`.
    definitions : sequence of dict
        CustomResourceDefinitions that are there from the beginning.

    Attributes
    ----------
    faults : Faults
        Switches of misbehaviour.
    requests : Counter
        How often each `METHOD /path` was asked for, answered or not.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        tokens: Mapping[str, str] | None = None,
        definitions: tuple[Json, ...] = (),
    ) -> None:
        self.faults = Faults()
        self.requests: Counter[str] = Counter()
        self._tokens = dict(tokens or {})
        self._store = Store(clock)
        self._api = Api(self._store)
        self._http = _Http(self)
        self._thread: threading.Thread | None = None
        self.namespace("default")
        for definition in definitions:
            self.put(definition)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def audit(self) -> tuple[Write, ...]:
        """Every write so far, also the refused ones, oldest first."""
        with self._store.lock:
            return tuple(self._store.audit)

    def start(self) -> KubernetesServer:
        """Listen, in a thread of its own."""
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="sandbox-kubernetes", daemon=True
        )
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop, and close every connection."""
        self.faults.clear()
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()
        self._http.hang_up()

    def __enter__(self) -> KubernetesServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def kubeconfig(self, token: str = "") -> Json:
        """Kubeconfig document for clients: `access.connect(kubeconfig=server.kubeconfig())`."""
        token = token or next(iter(self._tokens), "")
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sandbox", "cluster": {"server": self.url}}],
            "users": [{"name": "sandbox", "user": {"token": token} if token else {}}],
            "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "sandbox"}}],
            "current-context": "sandbox",
        }

    def namespace(self, name: str, annotations: Mapping[str, str] | None = None) -> None:
        """Make a namespace, or set its annotations."""
        document: Json = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "annotations": dict(annotations or {})},
            "status": {"phase": "Active"},
        }
        self.put(document)

    def put(self, document: Json, manager: str = _WORLD.manager) -> Json:
        """Create an object or replace it, as `manager`; its namespace is made where missing.

        Its status, where given, is written too.
        """
        kind = self._store.kind_of(document)
        metadata = document["metadata"]
        name = metadata["name"]
        namespace = metadata.get("namespace", "default") if kind.resource.namespaced else ""
        who = Who(manager=manager, user=manager)
        with self._store.lock:
            if namespace and self._missing(NAMESPACES, "", namespace):
                self.namespace(namespace)
            if self._missing(kind.resource, namespace, name):
                stored = self._store.create(kind, namespace, document, who)
            else:
                plain = {k: v for k, v in metadata.items() if k != "resourceVersion"}
                wanted = {**document, "metadata": plain}
                stored = self._store.change(
                    kind, namespace, name, lambda _: wanted, who, verb="put"
                )
            if kind.status and "status" in document:
                status = document["status"]
                stored = self.update(
                    kind.resource,
                    namespace,
                    name,
                    lambda o: o.update(status=status),
                    manager=manager,
                )
            return stored

    def get(self, resource: Resource, namespace: str, name: str) -> Json:
        """Copy of one object.

        Raises
        ------
        KeyError
            It is not there.
        """
        try:
            return self._store.get(self._kind(resource), namespace, name)
        except answers.Refused as error:
            raise KeyError(str(error)) from None

    def list(self, resource: Resource, namespace: str = "") -> tuple[Json, ...]:
        """Copy all objects of a namespace, or of the cluster."""
        items, _ = self._store.page(self._kind(resource), namespace, 0, "")
        return tuple(items)

    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Callable[[Json], object],
        *,
        manager: str = _WORLD.manager,
        subresource: str = "status",
    ) -> Json:
        """Change an object in place as a controller of the cluster would: by default its status."""

        def make(document: Json) -> Json:
            change(document)
            return document

        who = Who(manager=manager, user=manager)
        return self._store.change(
            self._kind(resource), namespace, name, make, who, subresource=subresource
        )

    def delete(self, resource: Resource, namespace: str, name: str) -> None:
        """Delete an object."""
        self._store.delete(self._kind(resource), namespace, name, _WORLD)

    def deny(self, **what: Any) -> None:
        """Refuse by RBAC: `deny(user=…, verb=…, plural=…, namespace=…, subresource=…)`."""
        self._api.access.denials.append(Denial(**what))

    def allow_all(self) -> None:
        """Take back every denial."""
        self._api.access.denials.clear()

    def respond(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Json | str]:
        """Answer one HTTP request; status -1 for none at all."""
        with self._store.lock:
            self.requests[f"{method} {target.partition('?')[0]}"] += 1
        status = self.faults.meet(method, target)
        if status == -1:
            return -1, ""
        if status:
            reason = {409: "Conflict", 410: "Expired", 429: "TooManyRequests"}
            text = "the sandbox was told to fail"
            return status, answers.Refused(status, reason.get(status, "InternalError"), text).body
        user = "foretide"
        if self._tokens:
            token = (headers.get("Authorization") or "").removeprefix("Bearer ")
            if token not in self._tokens:
                return 401, answers.unauthorized().body
            user = self._tokens[token]
        return self._api.answer(Request.of(method, target, headers, body, user))

    def _kind(self, resource: Resource) -> Any:
        kind = self._store.kind(resource.group, resource.version, resource.plural)
        if kind is None:
            raise KeyError(f"the sandbox serves no {resource.plural}")
        return kind

    def _missing(self, resource: Resource, namespace: str, name: str) -> bool:
        try:
            self.get(resource, namespace, name)
        except KeyError:
            return True
        return False


class _Http(Listener):
    """Listener that can hang up on everybody: kept-alive connections outlive `shutdown`."""

    request_queue_size = 256

    def __init__(self, server: KubernetesServer) -> None:
        self.owner = server
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection."""
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close every connection that is still open."""
        with self._guard:
            connections = list(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it went away by itself


class _Handler(BaseHTTPRequestHandler):
    """One connection: kept alive, one write for each answer."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # buffered, so that head and body leave as one segment
    disable_nagle_algorithm = True
    server: _Http

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        status, answer = self.server.owner.respond(
            self.command,
            self.path,
            {name.title(): value for name, value in self.headers.items()},
            body,
        )
        if status == -1:
            self.close_connection = True
            return
        text = answer if isinstance(answer, str) else json.dumps(answer, separators=(",", ":"))
        data = text.encode()
        self.send_response(status)
        kind = "text/plain" if isinstance(answer, str) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - names that http.server looks for

    def log_message(self, *args: object) -> None:
        """Stay silent: what happened is in the audit."""
