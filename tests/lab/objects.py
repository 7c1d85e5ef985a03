"""Objects that several lab tests create."""

from __future__ import annotations

from typing import Any


def scaler(
    namespace: str, name: str, *, low: int, high: int, metric: str, target: str
) -> dict[str, Any]:
    """Build an HPA on an External metric, over the Deployment of the same name."""
    external = {
        "metric": {"name": metric},
        "target": {"type": "AverageValue", "averageValue": target},
    }
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": low,
            "maxReplicas": high,
            "metrics": [{"type": "External", "external": external}],
        },
    }


def tide_policy(namespace: str, name: str, *, mode: str, query: str, **spec: Any) -> dict[str, Any]:
    """Build a TidePolicy on the HPA of the same name; `spec` holds further fields of its spec."""
    ref = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": name}
    return {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"mode": mode, "targetRef": ref, "demand": {"query": query}, **spec},
    }
