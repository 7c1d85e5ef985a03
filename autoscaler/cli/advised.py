"""How an advice is told: a few lines of text, and the same as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from autoscaler.forecast.foresee import STRENGTH
from autoscaler.model import Advice, Running
from autoscaler.report import value_text
from autoscaler.tune.advice import UNKNOWN, Above, best_alone, helps, ours_under, room, target_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """What stands at the target now, as far as it is known.

    Attributes
    ----------
    above : the reactive autoscaler
    ceiling : `maxReplicas`; the autoscaler above may go beyond `floor.max`
    floor : highest floor of ours that is shown, 0 where none is
    price : of a replica-hour
    """

    above: Above = UNKNOWN
    ceiling: int | None = None
    floor: int = 0
    price: float | None = None


def lines_of(advice: Advice, stands: Stands) -> tuple[tuple[str, str], ...]:
    """Label and text of every advice: target, maxReplicas, saving, and whether it is worth it."""
    return (
        ("HPA target", _target(advice, stands.above)),
        ("maxReplicas", _room(advice, stands)),
        ("Saving", _saving(advice, stands)),
        ("Without us", _without(advice, _ours(advice, stands))),
    )


def _target(advice: Advice, above: Above) -> str:
    """Say which target fits above our floor, why, and what each would have come to."""
    tried = ", ".join(f"{way.score:.2f} at {way.target:.0%}" for way in reversed(advice.ours))
    text = f"{target_for(advice, above):.0%} of a replica's capacity fits above our floor"
    if above.bounded is None:
        text += (
            f" where the metric is demand or a queue, {advice.utilisation:.0%} where it is a "
            "utilisation"
        )
    if above.bounded is not False:
        most = 1.0 / (1.0 + above.tolerance)
        text += f" (it cannot exceed 100 %, so above {most:.0%} it would never ask for more)"
    if above.target is not None:
        text += f"; now {above.target:.0%}"
    return f"{text}. Score on {_days(advice)}: {tried}"


def _room(advice: Advice, stands: Stands) -> str:
    """Say which ceiling past and forecast ask for, what it is made of, and whether it is there."""
    wanted, own = room(advice, stands.floor), max(advice.own, stands.floor)
    text = (
        f"{wanted} or more: {advice.seen} were needed so far, {advice.ahead} may be in the week "
        f"ahead, a tenth more for what nobody foresees; our own floor reaches {own}"
    )
    if stands.ceiling is None:
        return text
    return f"{text}; {stands.ceiling} is {'enough' if stands.ceiling >= wanted else 'too low'}"


def _saving(advice: Advice, stands: Stands) -> str:
    """Compare with the reactive autoscaler alone as it stands, in replica-hours a day."""
    ours, now = _ours(advice, stands), advice.now
    hours = now.replica_hours - ours.replica_hours
    share = f"{abs(hours) / now.replica_hours:.0%}"
    if stands.price is not None:
        share += f", {value_text(abs(hours) * stands.price)} in money"
    alone = f"an HPA at {now.target:.0%} alone above minReplicas {advice.floor}"
    if stands.above.target is None:
        alone += " (assumed: its own target is not known)"
    return (
        f"{value_text(abs(hours))} {'fewer' if hours >= 0 else 'more'} replica-hours a day "
        f"({share}) than {alone}: {value_text(ours.replica_hours)} instead of "
        f"{value_text(now.replica_hours)}, with {ours.late:.2%} late instead of {now.late:.2%}"
    )


def _without(advice: Advice, ours: Running) -> str:
    """Say whether an HPA alone would do as well, with numbers."""
    alone = best_alone(advice)
    scores = (
        f"{ours.score:.2f} with us, {alone.score:.2f} with an HPA alone at its best target "
        f"({alone.target:.0%})"
    )
    strength = "not known yet" if math.isnan(advice.tide) else f"{advice.tide:.2f} of 1"
    tide = f"strength of the tide {strength}"
    if helps(advice, ours):
        return f"score {scores}; {tide}"
    if advice.tide < STRENGTH:
        return f"this service has no tide: leave it to the HPA: score {scores}; {tide}"
    return f"the HPA alone does as well, so leave it to that: score {scores}; {tide}"


def document_of(advice: Advice, stands: Stands) -> dict[str, Any]:
    """Give the same as JSON; shares are of 1, replica-hours and starts are a day."""
    ours, wanted = _ours(advice, stands), room(advice, stands.floor)
    saved = advice.now.replica_hours - ours.replica_hours
    return {
        "hpaTarget": target_for(advice, stands.above),
        "hpaTargetOfUtilisation": advice.utilisation,
        "maxReplicas": wanted,
        "ceiling": stands.ceiling,
        "ceilingTooLow": None if stands.ceiling is None else stands.ceiling < wanted,
        "mostSeen": advice.seen,
        "mostAhead": advice.ahead,
        "highestFloor": max(advice.own, stands.floor),
        "savedReplicaHours": saved,
        "savedShare": saved / advice.now.replica_hours,
        "savedMoney": None if stands.price is None else saved * stands.price,
        "leaveToHpa": not helps(advice, ours),
        "tide": None if math.isnan(advice.tide) else advice.tide,
        "days": advice.days,
        "now": {**_way(advice.now), "targetKnown": stands.above.target is not None},
        "floorAlone": advice.floor,
        "ours": [_way(way) for way in advice.ours],
        "alone": [_way(way) for way in advice.alone],
    }


def _ours(advice: Advice, stands: Stands) -> Running:
    """Give our floors under the advised target."""
    return ours_under(advice, target_for(advice, stands.above))


def _way(way: Running) -> dict[str, float]:
    """Give one way of running."""
    document = asdict(way)
    document["replicaHours"] = document.pop("replica_hours")
    return document


def _days(advice: Advice) -> str:
    return "1 replayed day" if advice.days == 1 else f"{advice.days} replayed days"
