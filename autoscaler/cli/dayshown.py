"""How a day ahead is told: a sentence, charts, a table of changes, a page, JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoscaler.capacity import ACTUATION, lead_time
from autoscaler.cli import accuracyshown, advised
from autoscaler.cli.accuracyshown import unit_of
from autoscaler.cli.dayahead import DayAhead, Explained
from autoscaler.cli.options import duration_text
from autoscaler.model import Floats, Knowledge
from autoscaler.plan import looking_back
from autoscaler.policy import Spec
from autoscaler.report import Band, Chart, Line, Note, Report, Step, Table, local_time, value_text
from autoscaler.schema.cold_start import LEVELS


def sentence_of(day: DayAhead) -> str:
    """Answer in one or two sentences."""
    zone = day.policy.spec.time_zone
    peak, least = int(day.floors.max()), int(day.floors.min())
    if peak == least:
        text = f"The floor stays at {peak} for the whole {_horizon(day)}"
    else:
        at = float(day.times[int(np.argmax(day.floors))])
        text = (
            f"The floor moves between {least} and {peak} in the next {_horizon(day)}, "
            f"with {len(day.changes)} changes; {peak} stand from {local_time(at, zone)}"
        )
    text += f"; {value_text(day.replica_hours)} replica-hours."
    if least == 0:
        wait = duration_text(ACTUATION + day.policy.spec.cold_start_seconds)
        text += f" While it is 0, a request at an unexpected moment waits about {wait}."
    wanted = int(day.need.order.max())
    if day.ceiling is not None and wanted > day.ceiling:
        at = float(day.times[int(np.argmax(day.need.order > day.ceiling))])
        text += (
            f" From {local_time(at, zone)} up to {wanted} would be needed, "
            f"and the ceiling is {day.ceiling}."
        )
    return text


def _horizon(day: DayAhead) -> str:
    return f"{len(day.floors) * day.forecast.step / 3600:g} h"


def _moment(at: float, zone: str) -> str:
    """Write a local time without the zone, which stands in the title of the pictures."""
    return local_time(at, zone).rpartition(" ")[0]


def charts_of(day: DayAhead) -> tuple[Chart, Chart]:
    """Demand with its forecast band, and replicas: need below, floor above."""
    back = min(len(day.series), max(1, len(day.times) // 4))
    start = day.series.start + (len(day.series) - back) * day.series.step
    seen_at = start + day.series.step * np.arange(back, dtype=np.float64)
    every = np.concatenate((seen_at, day.times))
    return _demand_chart(day, every, back), _replica_chart(day, every, back)


def _demand_chart(day: DayAhead, every: Floats, back: int) -> Chart:
    """Draw what was measured in the last `back` steps, and the band of what is expected."""
    level = max(day.knowledge.order_level, 0.9)
    past, unknown = np.full(back, np.nan), np.full(len(day.times), np.nan)
    band = Band(
        label=f"forecast P50–{_percentile(level)}",
        tone="forecast",
        lower=np.concatenate((past, day.forecast.at(0.5))),
        upper=np.concatenate((past, day.forecast.at(level))),
    )
    measured = np.concatenate((day.series.values[-back:], unknown))
    return Chart(
        title="Demand",
        unit=unit_of(day.policy),
        times=every,
        zone=day.policy.spec.time_zone,
        now=day.now,
        series=(band, Line(label="measured", tone="demand", values=measured)),
    )


def _replica_chart(day: DayAhead, every: Floats, back: int) -> Chart:
    """Draw what is needed and the floor above it, with the reason of every change."""
    past = np.full(back, np.nan)
    need = np.concatenate((past, day.need.order))
    name = f"need at {_percentile(day.knowledge.order_level)}"
    floor = np.concatenate((past, day.floors))
    return Chart(
        title="Replicas",
        unit="replicas",
        times=every,
        zone=day.policy.spec.time_zone,
        now=day.now,
        series=(
            Step(label=name, tone="need", fill=True, values=need),
            Step(label="floor", tone="floor", values=floor),
        ),
        notes=tuple(
            Note(at=change.at, text=f"floor {change.before} → {change.floor}: {change.why}")
            for change in day.changes
        ),
    )


def _percentile(level: float) -> str:
    """Name of a quantile as people say it: P95, P99.5."""
    return f"P{level * 100:g}"


def order_rule(known: Knowledge) -> str:
    """Say how replicas are ordered: on a quantile, or by what late requests are worth."""
    quantile = f"at {_percentile(known.order_level)}"
    return (
        quantile if known.cover is None else f"by the price of lateness, {quantile} beyond the lead"
    )


def _drawn(day: DayAhead) -> str:
    """Say who draws the days ahead, where that is not who decides; "" else."""
    known, by = day.knowledge, day.forecast.by
    if known.choice is None or known.choice.drawn in {"", by} or by != known.fitted.name:
        return ""  # the last: what was fitted failed, and the last minutes speak for all days
    return f"; the days ahead are drawn by {known.choice.drawn}"


def _learnt(day: DayAhead) -> str:
    """Say that a plan learns for itself, and whether the controller chose the same."""
    known = day.knowledge
    text = f"for this plan, from the history up to {local_time(day.now, day.policy.spec.time_zone)}"
    if known.choice is None:
        return f"{text}; nothing could be chosen yet"
    text = f"{text}: chose {known.choice.name}"
    if not day.chosen:
        return text
    if day.chosen == known.choice.name:
        return f"{text}, as the controller did"
    return f"{text}; the controller decides on {day.chosen}, and its floors may differ"


def table_of(day: DayAhead) -> Table:
    """Every change of the floor and its reason."""
    spec = day.policy.spec
    zone = spec.time_zone
    lead = lead_time(spec.cold_start_seconds, day.period)
    return Table(
        title="When the floor changes, and why",
        columns=("time", "floor", "why"),
        sentences=(2,),
        rows=tuple(
            (_moment(change.at, zone), f"{change.before} → {change.floor}", _why(change, zone))
            for change in day.changes
        ),
        note="If all comes as forecast; every cycle decides anew. "
        f"Raised {duration_text(lead)} ahead "
        f"(cycle, sync, cold start); lowered once the need was less for "
        f"{duration_text(looking_back(spec.release.after, day.knowledge.row))}. Times in {zone}.",
    )


def _why(change: Explained, zone: str) -> str:
    """Reason of a change, and how many of what it orders are Ready when."""
    ordered = change.floor - change.before
    parts = [
        f"{value_text(share * ordered)} by {local_time(at, zone, dated=False)}"
        for share, at in change.ready
    ]
    if not parts:
        return change.why
    return f"{change.why}; of {ordered} ordered, Ready are {', '.join(parts)}"


def facts_of(day: DayAhead) -> tuple[tuple[str, str], ...]:
    """Tell what the picture rests on; what to do about it is `advice_of`."""
    spec, known = day.policy.spec, day.knowledge
    tide = "not known yet" if math.isnan(known.tide) else f"{known.tide:.2f} of 1"
    history = duration_text(len(day.series) * day.series.step)
    facts = [
        ("Policy", f"{day.policy.key}, mode {spec.mode}"),
        ("Seen from", local_time(day.now, spec.time_zone)),
        ("History", f"{history} at {duration_text(day.series.step)}, strength of the tide {tide}"),
        ("Forecaster", f"{day.forecast.by}, ordering {order_rule(known)}{_drawn(day)}"),
        ("Learnt", _learnt(day)),
        ("Capacity", f"{value_text(spec.capacity.per_replica)} {unit_of(day.policy)} a replica"),
        ("Cold start", cold_start_text(spec)),
        ("Ceiling", "not known" if day.ceiling is None else str(day.ceiling)),
    ]
    facts += [("Accuracy", line) for line in accuracyshown.lines_of(known, unit_of(day.policy))]
    if day.assumed:
        facts.append(("Assumed", day.assumed))
    facts += [("Doubt", f"{doubt.code}: {doubt.sentence}") for doubt in day.doubts]
    facts += [("Note", f"{reason.code}: {reason.sentence}") for reason in day.reasons]
    return tuple(facts)


def advice_of(day: DayAhead) -> tuple[tuple[str, str], ...]:
    """Tell what the last week advises; nothing while there is none."""
    advice = day.knowledge.advice
    return () if advice is None else advised.lines_of(advice, day.stands)


def cold_start_text(spec: Spec) -> str:
    """Say how long a start takes; of a spread also what is reckoned with."""
    text = duration_text(spec.cold_start_seconds)
    if not spec.cold_start.spread:
        return text
    known = zip(LEVELS, spec.cold_start.spread, strict=True)
    spread = ", ".join(f"{_percentile(level)} {duration_text(at)}" for level, at in known)
    return f"{text} ({_percentile(round(spec.price.level, 3))} of {spread})"


def report_of(day: DayAhead, version: str) -> Report:
    """Page for `--out`."""
    return Report(
        title=f"The {_horizon(day)} ahead of {day.policy.key}",
        lead=sentence_of(day),
        advice=advice_of(day),
        facts=facts_of(day),
        details=(table_of(day),),
        charts=charts_of(day),
        footer=f"foretide {version}, foretide plan",
    )


def _learnt_document(day: DayAhead) -> dict[str, Any]:
    """Tell what this plan chose and fitted, and what the controller chose where that is known."""
    choice = day.knowledge.choice
    return {
        "chosen": None if choice is None else choice.name,
        "chosenByController": day.chosen or None,
        "chosenAt": None if choice is None else choice.at,
        "fittedAt": day.knowledge.fitted_at,
    }


def document_of(day: DayAhead) -> dict[str, Any]:
    """Everything as one JSON document; times are POSIX seconds."""
    known = day.knowledge
    return {
        "schema": "foretide.plan/1",
        "policy": day.policy.key,
        "at": day.now,
        "timeZone": day.policy.spec.time_zone,
        "unit": unit_of(day.policy),
        "target": None
        if day.target is None
        else {"floor": day.target.floor, "ceiling": day.target.ceiling},
        "assumed": day.assumed or None,
        "ceiling": day.ceiling,
        "forecaster": day.forecast.by,
        **_learnt_document(day),
        "orderLevel": known.order_level,
        "cover": known.cover,
        "tide": known.tide,
        "accuracy": accuracyshown.documents_of(known),
        "replicaHours": day.replica_hours,
        "advice": None if known.advice is None else advised.document_of(known.advice, day.stands),
        "changes": [
            {"at": c.at, "from": c.before, "to": c.floor, "why": c.why}
            | ({"ready": [{"share": share, "at": at} for share, at in c.ready]} if c.ready else {})
            for c in day.changes
        ],
        "steps": {
            "start": day.forecast.start,
            "step": day.forecast.step,
            "median": day.forecast.at(0.5).tolist(),
            "order": day.forecast.at(known.order_level).tolist(),
            "need": day.need.order.tolist(),
            "floor": day.floors.tolist(),
        },
        "doubts": [{"code": d.code.value, "sentence": d.sentence} for d in day.doubts],
        "reasons": [{"code": r.code.value, "sentence": r.sentence} for r in day.reasons],
    }
