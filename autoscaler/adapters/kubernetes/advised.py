"""What the advice says in a policy's status: rounded, the same until the next."""

from __future__ import annotations

import math

from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.model import Advice
from autoscaler.tune.advice import best_alone, helps, ours_under, room


def advised(advice: Advice, ceiling: int, floor: int = 0) -> Json:
    """Give the fields of an advice; a number that is not known is left out.

    Parameters
    ----------
    ceiling : of the target
    floor : that the policy wants now, whatever the ceiling

    What is saved is against a reactive autoscaler at its usual target alone: a status is not worth
    another replay of what stands at the target.
    """
    ours, alone = ours_under(advice, advice.target), best_alone(advice)
    wanted = room(advice, floor)
    saved = advice.now.replica_hours - ours.replica_hours
    fields: Json = {
        "targetPercent": round(100 * advice.target),
        "utilizationPercent": round(100 * advice.utilisation),
        "maxReplicas": wanted,
        "maxReplicasTooLow": ceiling < wanted,
        "savedReplicaHoursPerDay": round(saved, 1),
        "savedPercent": round(100 * saved / advice.now.replica_hours),
        "againstPercent": round(100 * advice.now.target),
        "score": round(ours.score, 3),
        "scoreOfHpaAlone": round(alone.score, 3),
        "leaveToHpa": not helps(advice, ours),
        "replayedDays": advice.days,
    }
    if not math.isnan(advice.tide):
        fields["tide"] = round(advice.tide, 2)
    return fields
