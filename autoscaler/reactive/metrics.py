"""What each metric of an HPA proposes: replicas, or nothing when the metric cannot be had.

Source: kubernetes pkg/controller/podautoscaler/replica_calculator.go, release 1.37. Quantities
are whole thousandths there and integer divisions truncate; both are kept, since they decide ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """No move while 1 - down <= ratio <= 1 + up."""

    up: float = 0.1
    down: float = 0.1

    def within(self, ratio: float) -> bool:
        """Whether the ratio is near enough to 1."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Replicas as one sync finds them.

    Attributes
    ----------
    spec : `spec.replicas` of the target
    status : `status.replicas` of the target
    ready : Ready pods
    now : POSIX seconds
    """

    spec: int
    status: int
    ready: int
    now: float


class Metric(Protocol):
    """One entry of `spec.metrics` with what was measured."""

    def propose(self, standing: Standing, tolerance: Tolerance) -> int | None:
        """Replicas that this metric asks for, None when it could not be measured."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMetric:
    """An External or Object metric.

    Attributes
    ----------
    value : as measured, None when it could not be had
    target : of the sum (`Value`) or of the share of one replica (`AverageValue`)
    average : whether the target is an AverageValue
    """

    value: float | None
    target: float
    average: bool = True

    def propose(self, standing: Standing, tolerance: Tolerance) -> int | None:
        """AverageValue divides by the target; Value multiplies the Ready pods by the ratio."""
        if self.value is None:
            return None
        value, target = _milli(self.value), _milli(self.target)
        if self.average:
            share = target * standing.status
            if share and tolerance.within(value / share):
                return standing.status
            return math.ceil(value / target)
        ratio = value / target
        if standing.spec == 0:
            return math.ceil(ratio)
        return standing.spec if tolerance.within(ratio) else math.ceil(ratio * standing.ready)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSeen:
    """One pod of the target as a sync sees it.

    Attributes
    ----------
    value : its sample, None when it has none
    request : its resource request (for a utilisation target)
    phase : Pending, Running, Succeeded or Failed
    deleted : whether it is being deleted
    ready : its Ready condition, None when it has none yet
    started : POSIX seconds of `status.startTime`, None when it has none yet
    turned : POSIX seconds of the Ready condition's last transition
    sampled, window : when the sample was taken, and over how many seconds
    """

    value: float | None
    request: float = 0.0
    phase: str = "Running"
    deleted: bool = False
    ready: bool | None = True
    started: float | None = 0.0
    turned: float = 0.0
    sampled: float = 0.0
    window: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsMetric:
    """A Pods metric, or a Resource metric with an AverageValue target (`cpu` for CPU)."""

    pods: tuple[PodSeen, ...]
    target: float
    cpu: bool = False

    def propose(self, standing: Standing, tolerance: Tolerance) -> int | None:
        """Mean of the pods over the target; missing pods count as exactly on target."""
        target = _milli(self.target)
        groups = _grouped(self.pods, standing.now, cpu=self.cpu)

        def ratio(samples: list[tuple[int, int]]) -> float:
            return (sum(value for value, _ in samples) // len(samples)) / target

        return _proposed(groups, standing, tolerance, ratio, lambda _pod: target)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMetric:
    """A Resource metric with a Utilization target in per cent of the request."""

    pods: tuple[PodSeen, ...]
    target: int
    cpu: bool = True

    def propose(self, standing: Standing, tolerance: Tolerance) -> int | None:
        """Whole per cent of the summed requests over the target."""
        groups = _grouped(self.pods, standing.now, cpu=self.cpu)
        missing = max(100, self.target)

        def ratio(samples: list[tuple[int, int]]) -> float:
            used = sum(value for value, _ in samples)
            requested = sum(request for _, request in samples)
            return (used * 100 // requested) / self.target

        return _proposed(
            groups, standing, tolerance, ratio, lambda pod: _milli(pod.request) * missing // 100
        )


@dataclass(slots=True)
class _Groups:
    """Pods by what their samples are worth."""

    measured: list[PodSeen]
    missing: list[PodSeen]
    unready: list[PodSeen]


def _grouped(
    pods: tuple[PodSeen, ...],
    now: float,
    *,
    cpu: bool,
    initial: float = 300.0,
    delay: float = 30.0,
) -> _Groups:
    """Sort pods; deleted and failed ones are nowhere. `initial` and `delay` are kcm's defaults."""
    groups = _Groups([], [], [])
    for pod in pods:
        if pod.deleted or pod.phase == "Failed":
            continue
        if pod.phase == "Pending":
            groups.unready.append(pod)
        elif pod.value is None:
            groups.missing.append(pod)
        elif cpu and _starting(pod, now, initial, delay):
            groups.unready.append(pod)
        else:
            groups.measured.append(pod)
    return groups


def _starting(pod: PodSeen, now: float, initial: float, delay: float) -> bool:
    """Whether a pod's CPU says nothing yet."""
    if pod.ready is None or pod.started is None:
        return True
    if pod.started + initial > now:
        return not pod.ready or pod.sampled < pod.turned + pod.window
    return not pod.ready and pod.started + delay > pod.turned


class _Ratio(Protocol):
    def __call__(self, samples: list[tuple[int, int]], /) -> float: ...


class _Fallback(Protocol):
    def __call__(self, pod: PodSeen, /) -> int: ...


def _proposed(
    groups: _Groups,
    standing: Standing,
    tolerance: Tolerance,
    ratio_of: _Ratio,
    missing_value: _Fallback,
) -> int | None:
    """Propose replicas, with missing and unready pods counted against any move."""
    samples = [(_milli(pod.value or 0.0), _milli(pod.request)) for pod in groups.measured]
    if not samples:
        return None
    ratio = ratio_of(samples)
    with_unready = bool(groups.unready) and ratio > 1.0
    if not with_unready and not groups.missing:
        return standing.spec if tolerance.within(ratio) else math.ceil(ratio * len(samples))
    if ratio < 1.0:
        samples += [(missing_value(pod), _milli(pod.request)) for pod in groups.missing]
    elif ratio > 1.0:
        samples += [(0, _milli(pod.request)) for pod in groups.missing]
    if with_unready:
        samples += [(0, _milli(pod.request)) for pod in groups.unready]
    new = ratio_of(samples)
    if tolerance.within(new) or (ratio < 1.0 < new) or (new < 1.0 < ratio):
        return standing.spec
    count = math.ceil(new * len(samples))
    against = (new < 1.0 and count > standing.spec) or (new > 1.0 and count < standing.spec)
    return standing.spec if against else count


def _milli(quantity: float) -> int:
    """Whole thousandths, rounded up as the API's quantities are."""
    return math.ceil(quantity * 1000 - 1e-6)
