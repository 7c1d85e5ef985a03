"""Foretide's own Prometheus metrics: one registry, base units, label sets with a bound.

A policy's series carry `namespace` and `policy`; every other label takes its values from a fixed
list. When a policy goes, its series go. A number that is not known has no series: it is not 0.
"""

from __future__ import annotations

import math
import threading

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

from autoscaler.adapters.telemetry.accuracy import AccuracyMetrics
from autoscaler.model import Code, Decision, Knowledge, Memory, Observation, Outcome, Result
from autoscaler.policy import TidePolicy

OWN = ("namespace", "policy")
LEVELS = (0.5, 0.9, 0.99)
STAGES = ("target", "history", "decide", "write", "record")
CYCLE_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60)
FIT_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The metrics of one controller, and the recorder that keeps them up to date."""

    def __init__(self) -> None:
        # a second series for each counter, which nobody reads
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left it out
        self.registry = CollectorRegistry()
        self._own: list[Gauge | Counter] = []  # metrics that carry a policy's name
        self._doubts: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()
        self._of_decisions()
        self._of_the_controller()
        self.accuracy = AccuracyMetrics()
        self.registry.register(self.accuracy)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        """Gauge in our registry."""
        metric = Gauge(f"foretide_{name}", text, labels, registry=self.registry)
        if labels[:2] == OWN:
            self._own.append(metric)
        return metric

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        """Counter in our registry; its name ends in `_total`."""
        metric = Counter(f"foretide_{name}", text, labels, registry=self.registry)
        if labels[:2] == OWN:
            self._own.append(metric)
        return metric

    def _of_decisions(self) -> None:
        """Say what each policy saw, wanted and got."""
        gauge, counter = self._gauge, self._counter
        self.demand = gauge("demand_per_second", "Newest known demand, in the policy's unit.", *OWN)
        self.forecast = gauge(
            "forecast_demand_per_second",
            "Highest demand within the lead time at this quantile of the forecast.",
            *OWN,
            "quantile",
        )
        self.need = gauge("need_replicas", "Replicas that the newest demand needs.", *OWN)
        self.wanted = gauge("floor_wanted_replicas", "Floor decided on.", *OWN)
        self.uncapped = gauge(
            "floor_uncapped_replicas", "Floor without ceiling and policy maximum.", *OWN
        )
        self.floor = gauge("floor_replicas", "Floor that stands on the target.", *OWN)
        self.written = gauge("floor_written_replicas", "Last floor that was written.", *OWN)
        self.ceiling = gauge("ceiling_replicas", "Ceiling of the target.", *OWN)
        self.ready = gauge("ready_replicas", "Replicas of the target that are Ready.", *OWN)
        self.lead = gauge("lead_time_seconds", "Lead time of the newest plan.", *OWN)
        self.doubt = gauge(
            "doubt", "1 while the inputs are distrusted for this code.", *OWN, "code"
        )
        self.age = gauge("history_age_seconds", "Age of the newest sample of demand.", *OWN)
        self.decided = gauge("decision_timestamp_seconds", "When was last decided.", *OWN)
        self.fitted = gauge("knowledge_timestamp_seconds", "When was last learnt.", *OWN)
        self.decisions = counter("decisions", "Decisions by what became of them.", *OWN, "outcome")
        self.reverts = counter("reverts", "Floors of ours that somebody else moved.", *OWN)

    def _of_the_controller(self) -> None:
        """Say how the controller itself fares."""
        gauge, counter = self._gauge, self._counter
        self.cycle = Histogram(
            "foretide_cycle_duration_seconds",
            "Time of one cycle of one policy.",
            buckets=CYCLE_BUCKETS,
            registry=self.registry,
        )
        self.stage = Histogram(
            "foretide_stage_duration_seconds",
            "Time of one stage of a cycle.",
            ("stage",),
            buckets=CYCLE_BUCKETS,
            registry=self.registry,
        )
        for name in STAGES:
            self.stage.labels(name)
        self.fit = Histogram(
            "foretide_fit_duration_seconds",
            "Time of one fit off the path.",
            buckets=FIT_BUCKETS,
            registry=self.registry,
        )
        self.fits = counter("fits", "Fits by result: learnt, failed, late.", "result")
        self.errors = counter("errors", "Errors by kind: an exception's or a message's.", "kind")
        self.jobs = counter("timer_troubles", "Timers that failed or were missed.", "timer", "kind")
        self.policies = gauge("policies", "Policies by state: tended, refused, releasing.", "state")
        self.stuck = gauge("stuck_cycles", "Cycles that are past their deadline and not back.")
        self.late = counter("late_cycles", "Cycles that ended after their deadline.")
        self.leader = gauge("leader", "1 while this controller may write.")
        self.circuit = gauge("circuit_open", "1 while a dependency is left alone.", "dependency")
        self.record_bytes = counter("record_bytes", "Bytes of decision records written.")
        self.record_drops = counter("record_drops", "Decision records that were lost.")
        self.leader.set(0)
        self.stuck.set(0)

    def wrote(self, size: int) -> None:
        """Count bytes of records (`writer.Meter`)."""
        self.record_bytes.inc(size)

    def dropped(self) -> None:
        """Count a lost record (`writer.Meter`)."""
        self.record_drops.inc()

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,  # noqa: ARG002 the port's signature
        result: Result,
    ) -> None:
        """Bring the policy's series up to date."""
        own = (policy.metadata.namespace, policy.metadata.name)
        self.decisions.labels(*own, str(result.outcome)).inc()
        decision = result.decision
        if observation is None or decision is None:
            _set(self.floor, own, None)
            _set(self.ready, own, None)
            return
        target = observation.target
        moved = result.outcome is Outcome.WRITTEN
        _set(self.floor, own, decision.floor if moved else target.floor)
        if moved:
            self.written.labels(*own).set(decision.floor)
        _set(self.ceiling, own, target.ceiling)
        _set(self.ready, own, target.ready)
        _set(self.fitted, own, None if knowledge is None else knowledge.fitted_at)
        self._history(own, observation, decision)
        self._decision(own, decision)
        self.accuracy.record(policy, knowledge, decision)

    def _history(self, own: tuple[str, str], observation: Observation, decision: Decision) -> None:
        """Newest demand and its age; unknown ones have no series."""
        history = observation.history
        if history is None or len(history.demand) == 0:
            _set(self.demand, own, None)
            return  # the age stays: what is shown then is older than it says, and the doubt is up
        newest = int(history.demand.times.argmax())
        value = float(history.demand.values[newest])
        _set(self.demand, own, value if math.isfinite(value) else None)
        _set(self.age, own, decision.at - float(history.demand.times[newest]))

    def _decision(self, own: tuple[str, str], decision: Decision) -> None:
        """Show what was decided, on which forecast, in which doubt."""
        self.decided.labels(*own).set(decision.at)
        self.wanted.labels(*own).set(decision.floor)
        self.uncapped.labels(*own).set(decision.uncapped)
        self.reverts.labels(*own).inc(sum(r.code is Code.REVERTED for r in decision.reasons))
        _set(self.need, own, None if decision.need is None else int(decision.need.now))
        _set(self.lead, own, None if decision.plan is None else decision.plan.lead)
        forecast = decision.forecast
        for level in LEVELS:
            value = None
            if forecast is not None and decision.plan is not None and forecast.quantiles.size:
                ahead = max(1, int(decision.plan.lead // forecast.step) + 1)
                value = float(forecast.at(level)[:ahead].max())
            _set(self.forecast, (*own, str(level)), value)
        key, doubts = "/".join(own), frozenset(str(reason.code) for reason in decision.doubts)
        with self._lock:
            gone = self._doubts.get(key, frozenset()) - doubts
            self._doubts[key] = doubts
        for code in gone:
            self.doubt.remove(*own, code)
        for code in doubts:
            self.doubt.labels(*own, code).set(1)

    def forget(self, policy: TidePolicy) -> None:
        """Remove the series of a policy that is gone."""
        self.accuracy.forget(policy)
        with self._lock:
            self._doubts.pop(policy.key, None)
        own = (policy.metadata.namespace, policy.metadata.name)
        for metric in self._own:
            metric.remove_by_labels(dict(zip(OWN, own, strict=True)))


def _set(metric: Gauge, labels: tuple[str, ...], value: float | None) -> None:
    """Set a series; None removes it."""
    if value is None:
        metric.remove(*labels)
    else:
        metric.labels(*labels).set(value)
