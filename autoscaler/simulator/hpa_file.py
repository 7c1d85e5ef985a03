"""A real `autoscaling/v2` manifest above every floor, in the plain world.

The manifest's syncs (15 s) run within each step of the world, all on what the step before showed,
as metrics are about a minute old; what they order together is the step's total. What the world
has no notion of is refused with its place, not ignored.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from autoscaler.errors import InputError
from autoscaler.model import Ints
from autoscaler.reactive import (
    Direction,
    ExternalMetric,
    Hpa,
    HpaState,
    Look,
    Metric,
    PodSeen,
    PodsMetric,
    ResourceMetric,
    Rule,
    hpa_step,
)
from autoscaler.reactive.hpa import DOWN, UP
from autoscaler.reactive.metrics import Standing
from autoscaler.replay import Replayed, replay
from autoscaler.schema.quantities import parse_quantity
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.texts import read_documents

SYNC = 15.0
KIND = ("autoscaling/v2", "HorizontalPodAutoscaler")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the world shows an HPA: demand per second with its backlog's share, and the pods."""

    observed: float
    capacity: float
    total: int
    ready: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One entry of `spec.metrics`: its type, its target, and how the target is meant."""

    kind: str
    how: str
    target: float

    def read(self, shown: Shown) -> Metric:
        """Measure it: load as demand per second, utilisation as share of a replica's capacity."""
        if self.kind in {"External", "Object"}:
            average = self.how == "AverageValue"
            return ExternalMetric(value=shown.observed, target=self.target, average=average)
        each = shown.observed / max(shown.ready, 1)
        pending = (PodSeen(value=None, phase="Pending"),) * (shown.total - shown.ready)
        if self.kind == "Pods" or self.how == "AverageValue":
            return PodsMetric(
                pods=(PodSeen(value=each),) * shown.ready + pending, target=self.target
            )
        used = min(each / shown.capacity, 1.0)  # a utilisation cannot exceed what there is
        pods = (PodSeen(value=used, request=1.0),) * shown.ready + pending
        return ResourceMetric(pods=pods, target=int(self.target), cpu=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """An HPA as its manifest describes it."""

    hpa: Hpa
    metrics: tuple[Spec, ...]
    floor: int
    ceiling: int

    def __call__(self, world: PlainWorld, floors: Ints, /) -> Replayed:
        """Replay floors of the run under this HPA."""
        service, state = world.service, HpaState()
        demand = world.run_demand.tolist()
        total = min(max(int(floors[0]), self.floor, 1), self.ceiling)
        recent = deque([total] * (service.cold + 1), maxlen=service.cold + 1)
        totals = np.empty(len(demand), dtype=np.int64)
        waiting, seen, syncs = 0.0, demand[0], max(1, round(service.step / SYNC))
        for step, (now, floor) in enumerate(zip(demand, floors.tolist(), strict=True)):
            shown = Shown(
                observed=seen + waiting / service.step,
                capacity=service.capacity,
                total=total,
                ready=min(recent),
            )
            for sync in range(syncs):
                look = self._look(shown, step * service.step + sync * SYNC, floor)
                total, state = hpa_step(self.hpa, state, look)
                shown = replace(shown, total=total, ready=min(shown.ready, total))
            recent.append(total)
            totals[step] = total
            waiting = max(0.0, waiting + (now - min(recent) * service.capacity) * service.step)
            seen = now
        return replay(world.run_demand, totals, service)

    def _look(self, shown: Shown, now: float, floor: int) -> Look:
        """Give what one sync sees."""
        standing = Standing(spec=shown.total, status=shown.total, ready=shown.ready, now=now)
        return Look(
            standing=standing,
            metrics=tuple(spec.read(shown) for spec in self.metrics),
            floor=min(max(floor, 1), self.ceiling),
            ceiling=self.ceiling,
        )


def read_hpa(path: Path) -> Manifest:
    """Read a HorizontalPodAutoscaler of autoscaling/v2.

    Raises
    ------
    InputError
        It is not one, or holds what the world has no notion of; the message says where.
    """
    document = _document(path)
    try:
        spec = document["spec"]
        behavior = spec.get("behavior")
        hpa = Hpa(
            up=_direction(UP, (behavior or {}).get("scaleUp")),
            down=_direction(DOWN, (behavior or {}).get("scaleDown")),
            behavior=behavior is not None,
        )
        metrics = tuple(_metric(metric) for metric in spec["metrics"])
        floor, ceiling = _bounds(spec)
        return Manifest(hpa=hpa, metrics=metrics, floor=floor, ceiling=ceiling)
    except KeyError as error:
        raise InputError(f"{path}: spec: {error.args[0]} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: spec: {error}") from error


def _document(path: Path) -> Any:
    """Read the HorizontalPodAutoscaler among the documents of a file."""
    for document in read_documents(path):
        value = document.value
        if isinstance(value, Mapping) and (value.get("apiVersion"), value.get("kind")) == KIND:
            if document.problems:
                raise InputError("\n".join(str(problem) for problem in document.problems))
            return value
    raise InputError(f"{path}: not a HorizontalPodAutoscaler of autoscaling/v2")


def _bounds(spec: Mapping[str, Any]) -> tuple[int, int]:
    """Read minReplicas and maxReplicas, and that there is something to scale on."""
    floor, ceiling = int(spec.get("minReplicas") or 1), int(spec["maxReplicas"])
    if not 1 <= floor <= ceiling:
        raise ValueError(f"minReplicas {floor}, maxReplicas {ceiling}; 1 <= min <= max")
    if not spec["metrics"]:
        raise ValueError("metrics is empty; an HPA without one does nothing here")
    return floor, ceiling


def _direction(usual: Direction, given: Mapping[str, Any] | None) -> Direction:
    """Overlay `scaleUp` or `scaleDown` over the API's defaults."""
    if not given:
        return usual
    rules = tuple(
        Rule(kind=rule["type"], value=int(rule["value"]), period=float(rule["periodSeconds"]))
        for rule in given.get("policies") or ()
    )
    for rule in rules:
        if rule.kind not in {"Pods", "Percent"}:
            raise ValueError(f"policy type {rule.kind!r}; allowed are Pods, Percent")
    select = given.get("selectPolicy", usual.select)
    if select not in {"Max", "Min", "Disabled"}:
        raise ValueError(f"selectPolicy {select!r}; allowed are Max, Min, Disabled")
    return Direction(
        rules=rules or usual.rules,
        window=float(given.get("stabilizationWindowSeconds", usual.window)),
        select=select,
        tolerance=parse_quantity(given["tolerance"]) if "tolerance" in given else usual.tolerance,
    )


def _metric(given: Mapping[str, Any]) -> Spec:
    """Read one metric."""
    kind = given["type"]
    if kind not in {"External", "Object", "Pods", "Resource"}:
        raise ValueError(f"metric type {kind!r}; allowed are External, Object, Pods, Resource")
    target = given[kind.lower()]["target"]
    fields = {
        "Value": "value",
        "AverageValue": "averageValue",
        "Utilization": "averageUtilization",
    }
    how = target["type"]
    if how not in fields:
        raise ValueError(f"target type {how!r}; allowed are {', '.join(fields)}")
    aim = parse_quantity(target[fields[how]])
    if not 0 < aim < math.inf:
        raise ValueError(f"target {fields[how]} {aim:g}; a number above 0")
    return Spec(kind=kind, how=how, target=aim)
