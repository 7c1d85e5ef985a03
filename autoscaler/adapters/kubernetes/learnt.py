"""What was learnt, as a small versioned record in a policy's status: readable, and pinnable.

Nothing reads it back: its loss costs quality until the next choice. `candidate` is what
`forecast.use` takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.forecast.accuracy import horizon_name, loses
from autoscaler.model import Accuracy, Knowledge

VERSION = 1


def learnt(knowledge: Knowledge, timestamp: Callable[[float], str]) -> Json:
    """Record of the last fit; what is not known is left out.

    Parameters
    ----------
    timestamp : how a moment is written
    """
    record: Json = {
        "version": VERSION,
        "forecaster": knowledge.fitted.name,
        "fittedAt": timestamp(knowledge.fitted_at),
    }
    if math.isfinite(knowledge.span):
        record["spanDays"] = round(knowledge.span / 86_400.0, 1)
    if knowledge.accuracy:
        record["accuracy"] = [_accuracy(each) for each in knowledge.accuracy]
    choice = knowledge.choice
    if choice is None:
        return record
    record |= {"candidate": choice.name, "best": choice.best, "replayedDays": choice.days}
    record["chosenAt"] = timestamp(choice.at)
    if choice.standing:
        record["standing"] = choice.standing
    if choice.name in knowledge.scores:
        record["score"] = round(knowledge.scores[choice.name], 3)
    scores = best_of_each(knowledge)
    return {**record, "scores": scores} if scores else record


def _accuracy(found: Accuracy) -> Json:
    """How good forecasts of one horizon were on days that they did not know."""
    record: Json = {
        "horizon": horizon_name(found.horizon),
        "loss": _digits(found.median),
        "upperLoss": _digits(found.upper),
        "coverage": round(found.coverage, 4),
        "bias": _digits(found.bias),
    }
    if "last-week" in found.naive:
        record["lastWeekLoss"] = _digits(found.naive["last-week"])
    if loses(found):
        record["worseThanLastWeek"] = True
    return record


def _digits(value: float) -> float:
    """Three digits: who needs more asks the metrics."""
    return float(f"{value:.3g}")


def best_of_each(knowledge: Knowledge) -> dict[str, float]:
    """Lowest score of each forecaster, by the name of its candidate, best first."""
    found: dict[str, tuple[float, str]] = {}
    for name, score in knowledge.scores.items():
        forecaster = name.partition("@")[0]
        if math.isfinite(score):
            found[forecaster] = min(found.get(forecaster, (score, name)), (score, name))
    return {name: round(score, 3) for score, name in sorted(found.values())}
