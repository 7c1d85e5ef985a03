"""How good forecasts are, as metrics: by horizon, in the backtest of the last choice and in life.

A collector of its own instead of gauges: forty series a policy are made when they are asked for,
not kept and set in every cycle. A number that is not known has no series.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from autoscaler import dates
from autoscaler.capacity import ACTUATION
from autoscaler.demand import newest
from autoscaler.forecast import foresee
from autoscaler.forecast.accuracy import DAY, HOUR, UPPER, expected_at
from autoscaler.forecast.followed import Followed
from autoscaler.model import Accuracy, Decision, Knowledge
from autoscaler.policy import TidePolicy

SAMPLES = ("backtest", "live")
HORIZONS = {HOUR: "1h", DAY: "1d"}
"""Names of horizons; every other one is the lead."""

_BY = ("namespace", "policy", "sample", "horizon")
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "forecast_judged": (
        "Forecasts compared with what came; live ones since this controller began, fading.",
        _BY,
    ),
    "forecast_loss_per_second": (
        "Mean pinball loss of this quantile, in the unit of the demand.",
        (*_BY, "quantile"),
    ),
    "forecast_coverage_ratio": ("Share of demand at or below the 0.99 quantile.", _BY),
    "forecast_bias_per_second": ("Mean of the median minus demand.", _BY),
    "forecast_loss_ratio": (
        "Loss of the median against a naive forecast's; above 1 that is the better one.",
        (*_BY, "naive"),
    ),
    "forecast_missed_ratio": (
        "Share of the last hours' forecasts that missed as one in twenty does in the backtest.",
        _BY[:2],
    ),
    "forecast_missed_usual_ratio": ("Largest usual share of such misses.", _BY[:2]),
    "fell_back": ("1 while the safer side decides, since forecasts miss too often.", _BY[:2]),
}
"""Name, without `foretide_`, of each metric; what it says; its labels."""


@dataclass(slots=True)
class _Known:
    """What is shown of one policy."""

    followed: Followed
    lead: float
    knowledge: Knowledge | None = None
    live: tuple[Accuracy, ...] = ()
    missed: float | None = None
    fallen: bool = False


@dataclass(slots=True)
class _Families:
    """Families while they are filled."""

    made: dict[str, GaugeMetricFamily] = field(
        default_factory=lambda: {
            name: GaugeMetricFamily(f"foretide_{name}", text, labels=labels)
            for name, (text, labels) in FAMILIES.items()
        }
    )

    def add(self, name: str, labels: tuple[str, ...], value: float) -> None:
        """Add one series."""
        self.made[name].add_metric(labels, value)


class AccuracyMetrics(Collector):
    """Follows every policy's forecasts and says how good they are. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], _Known] = {}

    def record(self, policy: TidePolicy, knowledge: Knowledge | None, decision: Decision) -> None:
        """Judge what has come, and keep a forecast at each horizon when one is due."""
        own = (policy.metadata.namespace, policy.metadata.name)
        lead = policy.spec.cold_start_seconds + ACTUATION
        with self._lock:
            known = self._known.get(own)
            if known is None or known.lead != lead:
                known = _Known(followed=Followed((lead, *HORIZONS)), lead=lead)
                self._known[own] = known
        live, usual = decision.memory.live, None if knowledge is None else knowledge.usual
        known.knowledge = knowledge
        known.missed = None if usual is None else live.missed
        known.fallen = live.fallen is not None
        if decision.series is None or not len(decision.series) or knowledge is None:
            return
        series, followed = decision.series, known.followed
        if followed.look(series):
            known.live = followed.accuracy()
        if followed.due(series.end):
            steps = int(DAY / series.step) + 1
            events = dates.events(policy.spec, series.end, steps * series.step)
            ahead, _, _ = foresee(series, knowledge, events, steps, UPPER)
            if ahead is not None:
                said = {h: expected_at(ahead, h) for h in (lead, *HORIZONS)}
                kept = {h: one for h, one in said.items() if one is not None}
                followed.note(series.end, kept, newest(series))

    def forget(self, policy: TidePolicy) -> None:
        """Let go of a policy that is no more."""
        with self._lock:
            self._known.pop((policy.metadata.namespace, policy.metadata.name), None)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Make the series."""
        families = _Families()
        with self._lock:
            known = list(self._known.items())
        for own, each in known:
            backtest = () if each.knowledge is None else each.knowledge.accuracy
            for sample, found in zip(SAMPLES, (backtest, each.live), strict=True):
                for accuracy in found:
                    at = (*own, sample, HORIZONS.get(accuracy.horizon, "lead"))
                    _of_accuracy(families.add, at, accuracy)
            families.add("fell_back", own, float(each.fallen))
            usual = None if each.knowledge is None else each.knowledge.usual
            if usual is not None and each.missed is not None:
                families.add("forecast_missed_ratio", own, each.missed)
                families.add("forecast_missed_usual_ratio", own, usual.share)
        yield from families.made.values()


def _of_accuracy(
    add: Callable[[str, tuple[str, ...], float], None], at: tuple[str, ...], found: Accuracy
) -> None:
    """Add the series of one accuracy."""
    add("forecast_judged", at, found.count)
    add("forecast_loss_per_second", (*at, "0.5"), found.median)
    add("forecast_loss_per_second", (*at, f"{UPPER:g}"), found.upper)
    add("forecast_coverage_ratio", at, found.coverage)
    add("forecast_bias_per_second", at, found.bias)
    for name, loss in found.naive.items():
        if loss > 0:
            add("forecast_loss_ratio", (*at, name), found.median / loss)
