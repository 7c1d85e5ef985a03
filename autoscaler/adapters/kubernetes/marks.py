"""Annotations that are agreed on with people: pause, and the floor that was found."""

from __future__ import annotations

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.problems import NotFound
from autoscaler.adapters.kubernetes.resources import NAMESPACES, PAUSED, Json


def annotation(found: Json, name: str) -> str | None:
    """Value of one annotation, None where it is absent."""
    value: str | None = (found["metadata"].get("annotations") or {}).get(name)
    return value


def is_paused(found: Json) -> bool:
    """Whether an object's annotation asks for no writes.

    Any value but `false` pauses: whoever mistyped `true` wanted it to stop.
    """
    value = annotation(found, PAUSED)
    return value is not None and value.strip().lower() != "false"


def namespace_is_paused(cluster: Cluster, namespace: str) -> bool:
    """Ask the API server whether a namespace asks for no writes.

    Raises
    ------
    Denied
        We may not read namespaces: pausing them is not used here.
    ApiError
        No answer, so it is not known.
    """
    try:
        return is_paused(cluster.get(NAMESPACES, None, namespace))
    except NotFound:
        return False
