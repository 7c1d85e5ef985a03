"""Aggregated metrics of pods: the custom-metrics API for a Pods metric, and the metrics server's.

The HPA asks either for all pods of its target at once, by label; a test gives each `app` a function
that says what every pod reports, so that it may leave some out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qs

from tests.lab.aggregated import AggregatedApi
from tests.lab.api import Json
from tests.lab.plane import ControlPlane

CUSTOM = "custom.metrics.k8s.io/v1beta2"
RESOURCE = "metrics.k8s.io/v1beta1"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a pod reports: a value, when it was taken, and over how many seconds."""

    value: float
    at: float
    window: float


Report = Callable[[], dict[str, Sample]]


class PodMetrics(AggregatedApi):
    """Both APIs.

    Attributes
    ----------
    reports : label `app` → function that gives the sample of every pod that has one
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.reports: dict[str, Report] = {}
        super().__init__(plane, "lab-pod-metrics", (CUSTOM, RESOURCE))

    def answer(self, path: str, query: str) -> Json | None:
        """The document of one path, None where there is none."""
        if path == f"/apis/{CUSTOM}":
            kind = {"kind": "MetricValueList", "namespaced": True, "verbs": ["get"]}
            return self.resources(CUSTOM, {"name": "pods/load", **kind})
        if path == f"/apis/{RESOURCE}":
            kind = {"kind": "PodMetrics", "namespaced": True, "verbs": ["get", "list"]}
            return self.resources(RESOURCE, {"name": "pods", **kind})
        selector = parse_qs(query).get("labelSelector", [""])[0]
        report = self.reports.get(selector.removeprefix("app="))
        if report is None or "/namespaces/" not in path:
            return None
        namespace = path.partition("/namespaces/")[2].partition("/")[0]
        make = _custom if path.startswith(f"/apis/{CUSTOM}") else _resource
        items = [make(namespace, pod, sample) for pod, sample in report().items()]
        custom = make is _custom
        listed = "MetricValueList" if custom else "PodMetricsList"
        version = CUSTOM if custom else RESOURCE
        return {"kind": listed, "apiVersion": version, "metadata": {}, "items": items}


def _custom(namespace: str, pod: str, sample: Sample) -> Json:
    """One entry of a MetricValueList."""
    return {
        "describedObject": {"kind": "Pod", "apiVersion": "v1", "namespace": namespace, "name": pod},
        "metric": {"name": "load"},
        "timestamp": _stamp(sample.at),
        "windowSeconds": round(sample.window),
        "value": _milli(sample.value),
    }


def _resource(namespace: str, pod: str, sample: Sample) -> Json:
    """One entry of a PodMetricsList."""
    return {
        "metadata": {"namespace": namespace, "name": pod},
        "timestamp": _stamp(sample.at),
        "window": f"{round(sample.window)}s",
        "containers": [{"name": "engine", "usage": {"cpu": _milli(sample.value)}}],
    }


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _milli(value: float) -> str:
    return f"{round(value * 1000)}m"
