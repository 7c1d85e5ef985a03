"""How an explained decision is told: by stage, in words with numbers, units and local times."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoscaler.adapters.telemetry import schema
from autoscaler.adapters.telemetry.reader import Record
from autoscaler.cli import accuracyshown
from autoscaler.cli.options import duration_text, in_zone
from autoscaler.model import FROM_CALENDAR, Code, Decision, Knowledge, Mark, Reason, Series
from autoscaler.report import value_text

WIDTH, LABEL = 100, 11
GUARDS = frozenset(
    {
        Code.RELEASE_HELD,
        Code.RAISE_LIMITED,
        Code.DOUBT_HOLDS,
        Code.CALENDAR_HOLDS,
        Code.RAISE_ONLY,
        Code.PAUSED,
        Code.AT_MINIMUM,
        Code.AT_MAXIMUM,
        Code.AT_CEILING,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A record, what came of making its decision again, and what is different about it.

    Attributes
    ----------
    decision : made again; None when it cannot be, then `why_not` says why
    differences : one sentence each; empty when all is the same
    """

    record: Record
    decision: Decision | None
    knowledge: Knowledge | None
    differences: tuple[str, ...]
    why_not: str

    @property
    def verdict(self) -> str:
        """SAME, DIFFERENT or NOT REPLAYED."""
        if self.decision is None:
            return "NOT REPLAYED"
        return "DIFFERENT" if self.differences else "SAME"


def _moment(at: float, zone: str) -> str:
    """Local time with its zone."""
    return f"{in_zone(at, zone):%Y-%m-%d %H:%M:%S %z} ({zone})"


def _clock(at: float, now: float, zone: str) -> str:
    """Hour and minute; with the day when it is another one, with the date when that is far."""
    moment, today = in_zone(at, zone), in_zone(now, zone)
    if moment.date() == today.date():
        return f"{moment:%H:%M}"
    return f"{moment:%a %H:%M}" if abs(now - at) < 6 * 86_400 else f"{moment:%Y-%m-%d %H:%M}"


def text_of(told: Explanation) -> str:
    """Whole explanation as text."""
    record = told.record
    spec = record.policy.spec
    head = [
        f"{record.key}: decision of {_moment(record.at, spec.time_zone)}, mode {spec.mode}",
        f"from {record.source}",
        "",
    ]
    rows = list(_rows(told))
    return "\n".join(head + [line for label, texts in rows for line in _block(label, texts)])


def _block(label: str, texts: Sequence[str]) -> Iterator[str]:
    """Label on the left, wrapped sentences on the right."""
    for i, sentence in enumerate(texts):
        lines = textwrap.wrap(sentence, WIDTH - LABEL) or [""]
        for j, line in enumerate(lines):
            yield f"{label if i == j == 0 else '':<{LABEL}}{line}"


def _rows(told: Explanation) -> Iterator[tuple[str, list[str]]]:
    """Each stage: its label, its sentences."""
    record, decision = told.record, told.decision
    yield "Target", [_target(record)]
    if decision is not None:
        yield "1 Demand", [_demand(decision, told)]
        if decision.calendar:
            yield "Calendar", _reasons(decision.calendar)
        yield "2 Forecast", [_forecast(decision, told)]
        if told.knowledge is not None:
            live = accuracyshown.live_line(told.knowledge, decision.memory.live)
            unit = accuracyshown.unit_of(record.policy)
            yield "Accuracy", [*accuracyshown.lines_of(told.knowledge, unit), live]
        yield "3 Need", [_need(decision, told)]
        told_by = GUARDS | FROM_CALENDAR
        planned = [r for r in decision.reasons if r.code not in told_by]
        guarded = [r for r in decision.reasons if r.code in GUARDS]
        yield "4 Plan", [_plan(decision, told), *_reasons(planned)]
        yield "5 Guards", _reasons(guarded) or ["none acted"]
        yield "Doubts", _reasons(decision.doubts) or ["none"]
    else:
        yield "Reasons", _reasons(record.reasons) or ["none"]
    yield "Outcome", [_outcome(record)]
    if told.why_not:
        yield "Replay", [f"NOT REPLAYED: {told.why_not}"]
    elif told.differences:
        yield "Replay", ["DIFFERENT from what was recorded:", *told.differences]
    else:
        yield (
            "Replay",
            ["SAME: made again from the records alone, floor, reasons and numbers agree"],
        )


def _target(record: Record) -> str:
    """Say what was found."""
    if record.observation is None:
        return "not read"
    target, ref = record.observation.target, record.policy.spec.target_ref
    ready = "unknown" if target.ready is None else str(target.ready)
    first = "" if target.original is None else f", {target.original} before Foretide first wrote"
    paused = ", paused by annotation" if target.paused else ""
    return (
        f"{ref.kind} {record.policy.metadata.namespace}/{ref.name}: floor {target.floor}{first}, "
        f"ceiling {target.ceiling}, {ready} ready{paused}"
    )


def _demand(decision: Decision, told: Explanation) -> str:
    """Describe the series."""
    series, zone = decision.series, told.record.policy.spec.time_zone
    if series is None or len(series) == 0:
        return "no history"
    known = np.flatnonzero(np.isfinite(series.values))
    if not known.size:
        return f"{len(series)} steps, none of them known"
    at = series.start + int(known[-1]) * series.step
    age = decision.at - (at + series.step)
    return (
        f"{len(series)} steps of {duration_text(series.step)} over "
        f"{len(series) * series.step / 86_400:.1f} days{_marked(series)}; newest "
        f"{value_text(float(series.values[known[-1]]))}/s in the step from "
        f"{_clock(at, decision.at, zone)}, ended {duration_text(max(age, 0))} ago"
    )


def _marked(series: Series) -> str:
    """How much of a series is not plain data."""
    words = {
        Mark.MISSING: "missing",
        Mark.SATURATED: "saturated",
        Mark.REFUSED: "refused",
        Mark.OUTAGE: "outage",
        Mark.FILLED: "bridged",
    }
    counts = {word: int(np.count_nonzero(series.marks & mark)) for mark, word in words.items()}
    parts = [f"{count / len(series):.1%} {word}" for word, count in counts.items() if count]
    return f" ({', '.join(parts)})" if parts else ""


def _forecast(decision: Decision, told: Explanation) -> str:
    """Say what was expected, and by whom."""
    forecast, zone = decision.forecast, told.record.policy.spec.time_zone
    if forecast is None:
        return "none"
    known = told.knowledge
    if known is None:
        by = f"{forecast.by}, with nothing learnt yet"
    else:
        rule = f"on the {known.order_level:.3g} quantile"
        if known.cover is not None:
            rule = f"by the price of lateness, {rule} beyond the lead time"
        by = f"{forecast.by}, {accuracyshown.learnt_when(known, zone)}, orders {rule}"
    steps = _ahead(decision)
    median, high = forecast.at(0.5)[:steps], forecast.at(_level(told))[:steps]
    peak = forecast.start + int(np.argmax(high)) * forecast.step
    return (
        f"{by}; in the next {duration_text(steps * forecast.step)} median up to "
        f"{value_text(float(median.max()))}/s, that quantile up to "
        f"{value_text(float(high.max()))}/s at {_clock(peak, decision.at, zone)}"
    )


def _level(told: Explanation) -> float:
    """Quantile on which was ordered."""
    if told.knowledge is not None:
        return told.knowledge.order_level
    return told.record.policy.spec.price.level


def _ahead(decision: Decision) -> int:
    """Count the steps of the forecast within the lead time."""
    if decision.plan is None or decision.forecast is None:
        return 1
    most = int(decision.forecast.quantiles.shape[1])
    return max(1, min(int(decision.plan.lead // decision.forecast.step) + 1, most))


def _need(decision: Decision, told: Explanation) -> str:
    """Replicas for that."""
    need, per = decision.need, told.record.policy.spec.capacity.per_replica
    if need is None:
        return "unknown"
    highest = int(need.order[: _ahead(decision)].max())
    return (
        f"at {value_text(per)}/s for each replica: {need.now} for the newest demand, "
        f"up to {highest} within the lead time"
    )


def _plan(decision: Decision, told: Explanation) -> str:
    """Say what the plan wants now and later."""
    plan, zone = decision.plan, told.record.policy.spec.time_zone
    if plan is None:
        return f"none: the floor that stands is wanted, {decision.present}"
    later = ", ".join(
        f"{change.floor} at {_clock(change.at, decision.at, zone)}" for change in plan.changes[:4]
    )
    more = f", and {len(plan.changes) - 4} more" if len(plan.changes) > 4 else ""
    return (
        f"floor {plan.floor} with a lead time of {duration_text(plan.lead)}; "
        f"then {later or 'no change in sight'}{more}"
    )


def _reasons(reasons: Sequence[Reason]) -> list[str]:
    """Code and sentence of each; where the sentence was not kept, the numbers."""
    found = []
    for reason in reasons:
        numbers = ", ".join(f"{k} {value_text(v)}" for k, v in reason.numbers.items())
        found.append(f"{reason.code}: {reason.sentence or numbers or '–'}")
    return found


def _outcome(record: Record) -> str:
    """Say what became of it."""
    result = record.result
    if "floor" not in result:
        return f"{result['outcome']}: {result.get('message', '')}"
    words = (
        f"floor stays {result['present']}"
        if result["floor"] == result["present"]
        else f"floor {result['present']} → {result['floor']}"
    )
    uncapped = result["uncapped"]
    capped = "" if uncapped == result["floor"] else f"; {uncapped} without the caps"
    message = f"; {result['message']}" if result.get("message") else ""
    return f"{words}{capped}: {result['outcome']}{message}"


def document_of(told: Explanation) -> dict[str, Any]:
    """Whole explanation as a JSON document."""
    record, decision = told.record, told.decision
    return {
        "policy": record.key,
        "at": record.at,
        "local_time": in_zone(record.at, record.policy.spec.time_zone).isoformat(),
        "source": str(record.source),
        "verdict": told.verdict,
        "differences": list(told.differences),
        "not_replayed": told.why_not or None,
        "stages": {
            label.lstrip("12345 ").lower(): texts
            for label, texts in _rows(told)
            if label != "Replay"
        },
        "accuracy": accuracyshown.documents_of(told.knowledge) if told.knowledge else [],
        "recorded": record.result,
        "replayed": None if decision is None else schema.decision_document(decision),
    }
