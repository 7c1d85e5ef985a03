"""A small aggregated External-metrics API: what an adapter such as KEDA's would tell the HPA."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from tests.lab.aggregated import AggregatedApi
from tests.lab.api import Json
from tests.lab.plane import ControlPlane

GROUP = "external.metrics.k8s.io/v1beta1"

Value = Callable[[], float]


class ExternalMetrics(AggregatedApi):
    """The API; a test gives each metric a function.

    Attributes
    ----------
    values : metric name → function that says its value now; may be changed at any time
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.values: dict[str, Value] = {}
        super().__init__(plane, "lab-metrics", (GROUP,))

    def answer(self, path: str, query: str) -> Json | None:
        """The document of one path, None where there is none."""
        del query  # a metric here is one series: its selector says nothing
        if path == f"/apis/{GROUP}":
            kind = {"kind": "ExternalMetricValueList", "namespaced": True, "verbs": ["get"]}
            return self.resources(GROUP, *({"name": name, **kind} for name in list(self.values)))
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
