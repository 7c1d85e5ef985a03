"""The words of a decision record, version 1: nouns of the model to JSON and back.

Everything that a decision looked at is written so that it reads back to the same value; of what
came of it, the numbers and codes that a replay must give again. Sentences of reasons are left out:
they come back with the replay. Numbers that are not finite are written as text: JSON has none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from hashlib import blake2b
from typing import Any

from autoscaler.adapters.telemetry.strips import RecordDamaged
from autoscaler.model import (
    Accuracy,
    Advice,
    Choice,
    Code,
    Decision,
    Expected,
    Knowledge,
    Live,
    Memory,
    Reason,
    Result,
    Running,
    Target,
    Usual,
    Wanted,
)
from autoscaler.tune import Standing

VERSION = 1
_TARGET = tuple(field.name for field in fields(Target))
_MEMORY = tuple(field.name for field in fields(Memory) if field.name != "live")
_ROWS = ("wanted", "expected")  # of a memory: each record says what fell out and what was added
_KNOWLEDGE = tuple(
    field.name
    for field in fields(Knowledge)
    if field.name
    not in {"fitted", "fitted_at", "scores", "events", "accuracy", "usual", "advice", "choice"}
)
_ADVICE = tuple(
    field.name for field in fields(Advice) if field.name not in {"now", "ours", "alone", "reached"}
)
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

Document = dict[str, Any]


def number(value: float) -> float | int | str:
    """Write a number as JSON can hold it: whole, or to 15 significant digits, or a word."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.15g}")


def unnumber(value: Any) -> float:
    """Undo `number`."""
    return _WORDS[value] if isinstance(value, str) else float(value)


def text(document: Any) -> str:
    """One line of JSON without blanks."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(document: Any, size: int = 4) -> str:
    """Short fingerprint of a JSON document, independent of the order of its keys."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return blake2b(canonical.encode(), digest_size=size).hexdigest()


def target_document(target: Target) -> Document:
    """Every field of an observed target."""
    return {name: getattr(target, name) for name in _TARGET}


def target_of(document: Mapping[str, Any]) -> Target:
    """Undo `target_document`."""
    try:
        return Target(**{name: document[name] for name in _TARGET if name in document})
    except TypeError as error:
        raise RecordDamaged(f"the target in a record is not whole: {error}") from error


def changed(before: Mapping[str, Any] | None, now: Document) -> Document:
    """Fields of `now` that are not as before."""
    if before is None:
        return now
    return {key: value for key, value in now.items() if key not in before or before[key] != value}


def reasons_document(reasons: Sequence[Reason], *, sentences: bool = False) -> list[list[Any]]:
    """Codes and numbers; sentences too where the reason is an input and cannot be had again."""
    rows: list[list[Any]] = []
    for reason in reasons:
        row: list[Any] = [str(reason.code), {k: number(v) for k, v in reason.numbers.items()}]
        rows.append([*row, reason.sentence] if sentences else row)
    return rows


def reasons_of(rows: Sequence[Sequence[Any]]) -> tuple[Reason, ...]:
    """Undo `reasons_document`; where no sentence was kept it is empty."""
    return tuple(
        Reason(
            code=Code(row[0]),
            sentence=row[2] if len(row) > 2 else "",
            numbers={key: unnumber(value) for key, value in row[1].items()},
        )
        for row in rows
    )


def wanted_rows(wanted: Sequence[Wanted]) -> list[list[float | int]]:
    """Pairs of time and floor."""
    return [[w.at, w.floor] for w in wanted]


def memory_document(memory: Memory) -> Document:
    """Every field of a memory, whole."""
    document: Document = {name: getattr(memory, name) for name in _MEMORY}
    document["wanted"] = wanted_rows(memory.wanted)
    document["written"] = None if memory.written is None else wanted_rows([memory.written])[0]
    live = memory.live
    document["live"] = [live.fit, live.judged, live.missed, live.fallen, live.fell]
    document["expected"] = [[e.at, e.median, e.upper] for e in live.expected]
    return document


def memory_change(before: Document, now: Document) -> Document:
    """Memory said through the one before; of rows, how many fell out and what was added."""
    change = changed(before, now)
    for name in _ROWS:
        was, is_now = before[name], now[name]
        if name in change:
            drop = next(d for d in range(len(was) + 1) if was[d:] == is_now[: len(was) - d])
            change[name] = [drop, *is_now[len(was) - drop :]]
    return change


def memory_changed(before: Document, change: Mapping[str, Any]) -> Document:
    """Undo `memory_change`."""
    result = {**before, **change}
    for name in _ROWS:
        if name in change:
            drop, *added = change[name]
            result[name] = [*before[name][drop:], *added]
    return result


def memory_of(document: Mapping[str, Any]) -> Memory:
    """Undo `memory_document`."""
    try:
        whole = dict(document)
        whole["wanted"] = tuple(Wanted(at=at, floor=floor) for at, floor in document["wanted"])
        if document["written"] is not None:
            at, floor = document["written"]
            whole["written"] = Wanted(at=at, floor=floor)
        rows = whole.pop("expected")
        fit, judged, missed, fallen, fell = document["live"]
        expected = tuple(Expected(at=at, median=low, upper=high) for at, low, high in rows)
        whole["live"] = Live(
            fit=fit, expected=expected, judged=judged, missed=missed, fallen=fallen, fell=fell
        )
        return Memory(**whole)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordDamaged(f"the memory in a record is not whole: {error!r}") from error


def knowledge_document(knowledge: Knowledge) -> Document:
    """Say what a knowledge learnt again must agree with; its history stands beside it."""
    document: Document = {"forecaster": knowledge.fitted.name, "fitted_at": knowledge.fitted_at}
    for name in _KNOWLEDGE:
        value = getattr(knowledge, name)
        document[name] = None if value is None else number(value)
    document["scores"] = {name: number(score) for name, score in knowledge.scores.items()}
    document["events"] = {name: [*map(number, path)] for name, path in knowledge.events.items()}
    document["accuracy"] = [accuracy_document(each) for each in knowledge.accuracy]
    usual = knowledge.usual
    document["usual"] = None if usual is None else [number(usual.loss), number(usual.share)]
    document["choice"] = None if knowledge.choice is None else asdict(knowledge.choice)
    document["advice"] = None if knowledge.advice is None else advice_document(knowledge.advice)
    return document


def advice_document(advice: Advice) -> Document:
    """Every field of an advice."""
    document: Document = {name: number(getattr(advice, name)) for name in _ADVICE}
    document["reached"] = [*advice.reached]
    document["now"] = running_row(advice.now)
    document["ours"] = [running_row(way) for way in advice.ours]
    document["alone"] = [running_row(way) for way in advice.alone]
    return document


def advice_of(document: Mapping[str, Any]) -> Advice:
    """Undo `advice_document`."""
    return Advice(
        **{name: _value(document[name]) for name in _ADVICE},
        reached=tuple(document.get("reached", ())),  # records before it had no such field
        now=_running(document["now"]),
        ours=tuple(map(_running, document["ours"])),
        alone=tuple(map(_running, document["alone"])),
    )


def _running(row: Sequence[Any]) -> Running:
    """Undo `running_row`."""
    names = (field.name for field in fields(Running))
    return Running(**{name: _value(value) for name, value in zip(names, row, strict=True)})


def _value(value: Any) -> Any:
    """Undo `number`; what is whole stays so."""
    return unnumber(value) if isinstance(value, str) else value


def running_row(way: Running) -> list[float | int | str]:
    """Target, score, replica-hours and starts a day, late share."""
    return [number(value) for value in (getattr(way, field.name) for field in fields(Running))]


def accuracy_document(accuracy: Accuracy) -> Document:
    """Every field of an accuracy."""
    document: Document = {
        field.name: number(getattr(accuracy, field.name))
        for field in fields(Accuracy)
        if field.name != "naive"
    }
    document["naive"] = {name: number(loss) for name, loss in accuracy.naive.items()}
    return document


def standing_of(document: Mapping[str, Any]) -> Standing:
    """Give what a fit took over, from the `knowledge_document` of what came of it."""
    usual, advice, cover = (document[name] for name in ("usual", "advice", "cover"))
    try:
        return Standing(
            choice=Choice(**document["choice"]),
            order_level=unnumber(document["order_level"]),
            cover=None if cover is None else unnumber(cover),
            scores={name: unnumber(score) for name, score in document["scores"].items()},
            advice=None if advice is None else advice_of(advice),
            accuracy=tuple(map(_accuracy, document["accuracy"])),
            usual=None
            if usual is None
            else Usual(loss=unnumber(usual[0]), share=unnumber(usual[1])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecordDamaged(f"the knowledge in a record is not whole: {error!r}") from error


def _accuracy(document: Mapping[str, Any]) -> Accuracy:
    """Undo `accuracy_document`."""
    plain = {name: _value(value) for name, value in document.items() if name != "naive"}
    naive = {name: unnumber(loss) for name, loss in document["naive"].items()}
    return Accuracy(**plain, naive=naive)


def decision_document(decision: Decision) -> Document:
    """Numbers and codes that a replay of the decision must give again."""
    document: Document = {
        "floor": decision.floor,
        "present": decision.present,
        "write": decision.write,
        "uncapped": decision.uncapped,
        "reasons": reasons_document(decision.reasons),
    }
    if decision.doubts:
        document["doubts"] = reasons_document(decision.doubts)
    if decision.need is not None:
        document["need"] = int(decision.need.now)
    if decision.forecast is not None:
        path = decision.forecast.quantiles
        document["forecast"] = [number(path[0, 0]), number(path[-1, 0])] if path.size else []
    if decision.plan is not None:
        document["plan"] = [decision.plan.floor, number(decision.plan.lead)]
        if decision.plan.changes:
            first = decision.plan.changes[0]
            document["next"] = [number(first.at), first.floor]
    return document


def result_document(result: Result) -> Document:
    """Outcome, message and the decision's numbers."""
    document: Document = {"outcome": str(result.outcome)}
    if result.message:
        document["message"] = result.message
    if result.decision is not None:
        document |= decision_document(result.decision)
    return document
