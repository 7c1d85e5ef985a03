"""An aggregated API of the lab's own: a small HTTPS server that the API server passes calls to."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.lab.api import Json
from tests.lab.plane import ControlPlane
from tests.lab.process import wait_until

_NAMESPACE = "kube-system"


class AggregatedApi:
    """Some API groups, registered with the API server; a subclass answers their paths.

    Parameters
    ----------
    plane : whose API server
    service : name of the Service that it hides behind
    groups : `group/version` of each
    """

    def __init__(self, plane: ControlPlane, service: str, groups: tuple[str, ...]) -> None:
        self._plane, self._service, self.groups = plane, service, groups
        # the aggregator calls it by the name of the Service
        certificate, key = plane.certificate(f"{service}.{_NAMESPACE}.svc")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        try:
            self._register()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop answering; the registration stays, as a dead adapter's would."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, query: str) -> Json | None:
        """The document of one path, None where there is none."""
        raise NotImplementedError  # every API has its own

    def resources(self, group: str, *resources: Json) -> Json:
        """The list that discovery asks a group for."""
        listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group}
        return {**listed, "resources": [{"singularName": "", **each} for each in resources]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path, _, query = self.path.partition("?")
                document = api.answer(path.rstrip("/"), query)
                body = json.dumps(document or {"kind": "Status", "code": 404}).encode()
                self.send_response(200 if document else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Every HPA asks every two seconds."""

        return Handler

    def _register(self) -> None:
        api = self._plane.api
        meta = {"name": self._service, "namespace": _NAMESPACE}
        port = self._server.server_address[1]
        # endpoints may not be loopback addresses, an external name may
        service = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
        api.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": service})
        for each in self.groups:
            group, _, version = each.partition("/")
            spec = {
                "group": group,
                "version": version,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "service": {"name": self._service, "namespace": _NAMESPACE, "port": port},
                "caBundle": base64.b64encode(self._plane.ca.read_bytes()).decode(),
            }
            name = f"{version}.{group}"
            document = {"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1"}
            api.apply({**document, "metadata": {"name": name}, "spec": spec})
            wait_until(lambda name=name: _available(api.get("APIService", name)), name)


def _available(service: Json) -> bool:
    conditions = service.get("status", {}).get("conditions", [])
    return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)
