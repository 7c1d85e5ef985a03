"""Policies, histories and decisions for the tests of telemetry: no forecasting is needed."""

from __future__ import annotations

import numpy as np

from autoscaler.model import (
    Code,
    Decision,
    Forecast,
    History,
    Knowledge,
    Memory,
    Need,
    Observation,
    Outcome,
    Plan,
    Reason,
    Result,
    Samples,
    Series,
    Target,
    Wanted,
)
from autoscaler.policy import TidePolicy

START = 1_790_000_040.0  # a multiple of 60 s, 2026-09-21T14:14Z


def policy(name: str = "qwen", **spec: object) -> TidePolicy:
    document = {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": {"name": name, "namespace": "llm"},
        "spec": {
            "targetRef": {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "name": name,
            },
            "demand": {"query": "sum(rate(arrivals[1m]))"},
            "capacity": {"perReplica": 3.2},
            **spec,
        },
    }
    return TidePolicy.model_validate(document)


def demand(count: int, *, seed: int = 7) -> np.ndarray:
    rng = np.random.default_rng(seed)
    tide = 20 + 15 * np.sin(np.arange(count) * 2 * np.pi / 1440)
    return rng.gamma(20.0, tide / 20.0).astype(np.float32).astype(np.float64)


def history(first: int, count: int, *, values: np.ndarray | None = None, **other) -> History:
    """Samples number `first` to `first + count` of an endless series at 60 s."""
    series = demand(first + count) if values is None else values
    times = START + 60.0 * np.arange(first, first + count)
    return History(
        demand=Samples(times=times, values=series[first : first + count]),
        read_at=float(times[-1]) + 20.0 if count else START,
        **other,
    )


def target(**changes: object) -> Target:
    fields: dict = {"uid": "u-1", "version": "17", "floor": 4, "ceiling": 20, "ready": 4}
    return Target(**(fields | changes))


class Flat:
    """A forecaster that says the same number for ever."""

    name = "flat"

    def predict(self, series: Series, steps: int, levels: tuple[float, ...]) -> Forecast:
        raise NotImplementedError("these tests forecast nothing")


def knowledge(fitted_at: float, level: float = 0.9) -> Knowledge:
    return Knowledge(
        fitted=Flat(), order_level=level, fitted_at=fitted_at, scores={"flat": 1.25}, tide=0.7
    )


def decision(at: float, memory: Memory, floor: int = 5) -> Decision:
    wanted = (*memory.wanted, Wanted(at=at, floor=floor))[-10:]
    return Decision(
        at=at,
        floor=floor,
        present=4,
        write=floor != 4,
        uncapped=floor,
        series=None,
        forecast=Forecast(
            start=at,
            step=60.0,
            levels=(0.5, 0.9, 0.99),
            quantiles=np.array([[11.0, 12.1], [13.0, 14.7], [17.0, 18.2]]),
            by="flat",
        ),
        need=Need(start=at, step=60.0, order=np.array([5, 5]), keep=np.array([4, 4]), now=4),
        plan=Plan(floor=floor, lead=361.25, changes=()),
        reasons=(
            Reason(
                code=Code.FORECAST,
                sentence="demand of 14.7/s at 14:20 needs 5 replicas",
                numbers={"demand": 14.7, "replicas": float(floor)},
            ),
        ),
        doubts=(),
        memory=Memory(wanted=wanted, since=memory.since or at, written=Wanted(at=at, floor=floor)),
    )


def result(at: float, memory: Memory, floor: int = 5, outcome: Outcome = Outcome.WRITTEN) -> Result:
    return Result(decision=decision(at, memory, floor), outcome=outcome)


def observation(seen: History | None, **changes: object) -> Observation:
    return Observation(target=target(**changes), history=seen)
