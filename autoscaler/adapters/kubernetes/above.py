"""What of a target's own autoscaler an advice needs: its target, its metric, its tolerance.

Read for people only: no decision depends on it, and what cannot be told is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.schema.quantities import parse_quantity
from autoscaler.tune.advice import TOLERANCE, Above

_OF_PODS = {"Resource": "resource", "ContainerResource": "containerResource"}


def above_of(found: Json) -> Above:
    """Read a HorizontalPodAutoscaler.

    A utilisation is a share of what the pods requested: taken as the share of a replica's capacity,
    and as one that cannot exceed 100 %, as that of a GPU or of a CPU with a limit. What a demand or
    a queue per replica is in shares of a capacity nobody says, so there the target is not known.
    """
    spec = found.get("spec") or {}
    metrics = [metric for metric in spec.get("metrics") or () if isinstance(metric, Mapping)]
    shares = [_utilisation(metric) for metric in metrics]
    known = [share for share in shares if share is not None]
    bounded = None if not metrics else len(known) == len(metrics)
    return Above(
        target=min(known) if bounded else None, bounded=bounded, tolerance=_tolerance(spec)
    )


def _utilisation(metric: Mapping[str, Any]) -> float | None:
    """Share that a metric aims at; None when it is no utilisation."""
    part = metric.get(_OF_PODS.get(str(metric.get("type")), "")) or {}
    percent = (part.get("target") or {}).get("averageUtilization")
    return percent / 100.0 if isinstance(percent, int) and percent > 0 else None


def _tolerance(spec: Mapping[str, Any]) -> float:
    """Read `behavior.scaleUp.tolerance`; the usual one where nothing is said."""
    given = ((spec.get("behavior") or {}).get("scaleUp") or {}).get("tolerance")
    try:
        return TOLERANCE if given is None else parse_quantity(given)
    except ValueError:
        return TOLERANCE
