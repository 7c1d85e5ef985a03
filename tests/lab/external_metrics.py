"""A small aggregated External-metrics API: what an adapter such as KEDA's would tell the HPA."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.lab.api import Json
from tests.lab.plane import ControlPlane
from tests.lab.process import wait_until

GROUP = "external.metrics.k8s.io/v1beta1"
_ROOT = f"/apis/{GROUP}"
_SERVICE = "lab-metrics"
_NAMESPACE = "kube-system"

Value = Callable[[], float]


class ExternalMetrics:
    """The API, registered with the API server; a test gives each metric a function.

    Attributes
    ----------
    values : metric name → function that says its value now; may be changed at any time
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.values: dict[str, Value] = {}
        self._plane = plane
        # the aggregator calls it by the name of the Service
        certificate, key = plane.certificate(f"{_SERVICE}.{_NAMESPACE}.svc")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self._register()

    def stop(self) -> None:
        """Stop answering; the registration stays, as a dead adapter's would."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str) -> Json | None:
        """The document of one path, None where there is none."""
        if path == _ROOT:
            return {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": GROUP,
                "resources": [
                    {
                        "name": name,
                        "singularName": "",
                        "namespaced": True,
                        "kind": "ExternalMetricValueList",
                        "verbs": ["get"],
                    }
                    for name in self.values
                ],
            }
        name = path.rpartition("/")[2]
        if "/namespaces/" not in path or name not in self.values:
            return None
        item = {
            "metricName": name,
            "metricLabels": {},
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "value": f"{round(self.values[name]() * 1000)}m",
        }
        kind = {"kind": "ExternalMetricValueList", "apiVersion": GROUP}
        return {**kind, "metadata": {}, "items": [item]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                document = api.answer(self.path.partition("?")[0].rstrip("/"))
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
        meta = {"name": _SERVICE, "namespace": _NAMESPACE}
        port = self._server.server_address[1]
        # endpoints may not be loopback addresses, an external name may
        service = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
        api.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": service})
        spec = {
            "group": "external.metrics.k8s.io",
            "version": "v1beta1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": _SERVICE, "namespace": _NAMESPACE, "port": port},
            "caBundle": base64.b64encode(self._plane.ca.read_bytes()).decode(),
        }
        name = "v1beta1.external.metrics.k8s.io"
        document = {"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1"}
        api.apply({**document, "metadata": {"name": name}, "spec": spec})
        wait_until(lambda: _available(api.get("APIService", name)), name, 30)


def _available(service: Json) -> bool:
    conditions = service.get("status", {}).get("conditions", [])
    return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)
