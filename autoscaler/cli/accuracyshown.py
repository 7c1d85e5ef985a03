"""How good forecasts were and when they were learnt, told by `plan`, `tune` and `explain`."""

from __future__ import annotations

from typing import Any

from autoscaler.forecast.accuracy import UPPER, horizon_name, loses, worse_than_last_week
from autoscaler.model import Accuracy, Knowledge, Live
from autoscaler.policy import TidePolicy
from autoscaler.report import local_time, value_text

_WORDS = {
    "last-value": "last value",
    "yesterday": "same time yesterday",
    "last-week": "same time last week",
}


def unit_of(policy: TidePolicy) -> str:
    """Name the unit of the demand: requests with a preset, the query's own otherwise."""
    return "requests/s" if policy.spec.demand.preset else "demand/s"


def lines_of(known: Knowledge, unit: str) -> tuple[str, ...]:
    """Sentences on days that the forecasts did not know; empty when none could be judged."""
    lost = [f"{r.code}: {r.sentence}" for r in worse_than_last_week(known.accuracy)]
    return (*(_line(each, unit) for each in known.accuracy), *lost)


def _line(found: Accuracy, unit: str) -> str:
    """Sentence about one horizon; every loss is in the unit that the first one names."""
    naive = ", ".join(f"{_WORDS[name]} {value_text(v)}" for name, v in found.naive.items())
    against = f" ({naive})" if naive else ""
    return (
        f"{horizon_name(found.horizon)} ahead: pinball loss {value_text(found.median)} {unit} at "
        f"P50{against}, {value_text(found.upper)} {unit} at P{UPPER * 100:g}, under which "
        f"{found.coverage:.1%} lay; bias {found.bias:+.2g} {unit}"
    )


def learnt_when(known: Knowledge, zone: str) -> str:
    """Say when all candidates were compared, and when the chosen one was last fitted."""
    fitted = local_time(known.fitted_at, zone)
    if known.choice is None:
        return f"nothing chosen yet, learnt {fitted}"
    if not known.refitted:
        return f"chosen and fitted {fitted}"
    return f"chosen {local_time(known.choice.at, zone)}, fitted {fitted}"


def live_line(known: Knowledge, live: Live) -> str:
    """Say how the forecasts since the fit fare, at the lead."""
    if known.usual is None:
        return "since the fit: not judged, since there was no day to judge the forecaster on"
    fell = "" if live.fallen is None else "; out of range, so the safer side decides"
    return (
        f"since the fit: {live.missed:.0%} of the last hours' forecasts missed, up to "
        f"{known.usual.share:.0%} is usual{fell}"
    )


def documents_of(known: Knowledge) -> list[dict[str, Any]]:
    """Every number, for JSON; losses and bias in demand per second, horizons in seconds."""
    return [
        {
            "horizon": each.horizon,
            "judged": each.count,
            "medianLoss": each.median,
            "upperLoss": each.upper,
            "coverage": each.coverage,
            "bias": each.bias,
            "naiveLoss": dict(each.naive),
            "worseThanLastWeek": loses(each),
        }
        for each in known.accuracy
    ]
