"""One cycle of one tended policy: the ports timed, the write fenced, the results kept.

A cycle that took longer than its period does not write: what it saw is too old, and the next one
may be under way. (Whether we lead is asked by the adapter, as late as can be.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.controller.clock import Clock
from autoscaler.controller.fleet import Tended
from autoscaler.cycle import run_once
from autoscaler.errors import HistoryUnavailable, WriteConflict
from autoscaler.model import (
    History,
    Knowledge,
    Memory,
    Observation,
    Outcome,
    Result,
    Target,
)
from autoscaler.policy import TidePolicy
from autoscaler.ports import Ports

Offer = Callable[[Tended, TidePolicy, History, float], None]


class Cycles:
    """Runs cycles.

    Parameters
    ----------
    ports : where the world is met
    offer : whom to offer the history of a finished cycle, to learn from
    period : seconds between two cycles of a policy, and the deadline of one
    """

    def __init__(
        self,
        ports: Ports,
        clock: Clock,
        metrics: Metrics,
        *,
        offer: Offer,
        period: float,
    ) -> None:
        self._ports, self._clock, self._metrics = ports, clock, metrics
        self._offer, self._period = offer, period

    def run(self, tended: Tended) -> Result:
        """Run one cycle and keep what it hands on."""
        policy, knowledge, memory = tended.policy, tended.knowledge, tended.memory
        began = self._clock.monotonic()
        ports = _Cycle(self._ports, self._clock, self._metrics, lambda: self._fence(began))
        now = self._clock.now()
        result, memory = run_once(policy, ports, knowledge, memory, now, period=self._period)
        if tended.policy is policy:  # else it was edited meanwhile, and memory with it
            tended.memory = memory
        tended.passes += 1
        took = self._clock.monotonic() - began
        self._metrics.cycle.observe(took)
        self._metrics.stage.labels("decide").observe(max(0.0, took - ports.outside))
        if took > self._period:
            self._metrics.late.inc()
        if ports.history is not None and result.decision is not None:
            self._offer(tended, policy, ports.history, now)
        return result

    def _fence(self, began: float) -> None:
        """Refuse a write whose inputs are older than the period: the next cycle decides anew."""
        took = self._clock.monotonic() - began
        if took > self._period:
            raise WriteConflict(
                f"not written: the cycle took {took:.0f} s, its inputs are older than the "
                f"period of {self._period:.0f} s"
            )


class _Cycle:
    """The four ports of one cycle in one object: timed, and with a fence before the write."""

    def __init__(
        self, ports: Ports, clock: Clock, metrics: Metrics, fence: Callable[[], None]
    ) -> None:
        self._ports, self._clock, self._metrics, self._fence = ports, clock, metrics, fence
        self.outside = 0.0
        self.history: History | None = None
        self.demand = self.targets = self.floors = self.records = self

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """Time a stage and count its error by kind."""
        began = self._clock.monotonic()
        try:
            yield
        except Exception as error:
            # an ObservationError has a code of a fixed list, which says more than its class
            kind = getattr(error, "code", type(error).__name__)
            self._metrics.errors.labels(str(kind)).inc()
            raise
        finally:
            took = self._clock.monotonic() - began
            self.outside += took
            self._metrics.stage.labels(name).observe(took)

    def observe(self, policy: TidePolicy) -> Target:
        """Read the target."""
        with self._stage("target"):
            return self._ports.targets.observe(policy)

    def read(self, policy: TidePolicy, until: float) -> History:
        """Read the history, and keep it for learning."""
        circuit = self._metrics.circuit.labels("prometheus")
        with self._stage("history"):
            try:
                self.history = self._ports.demand.read(policy, until)
            except HistoryUnavailable as error:
                circuit.set(error.code == "CircuitOpen")
                raise
            circuit.set(0)
            return self.history

    def write(self, policy: TidePolicy, target: Target, floor: int) -> Outcome:
        """Write the floor, unless the fence refuses."""
        with self._stage("write"):
            self._fence()
            return self._ports.floors.write(policy, target, floor)

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,
        result: Result,
    ) -> None:
        """Record the cycle."""
        with self._stage("record"):
            self._ports.records.record(policy, observation, knowledge, memory, result)
