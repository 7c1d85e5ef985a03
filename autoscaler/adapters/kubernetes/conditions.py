"""What a decision means in the words of Kubernetes: conditions and status fields. Pure.

Ready: decisions are made. Acting: floors are written. InDoubt: the inputs are distrusted, nothing
is lowered. Capped: the ceiling or the policy's maximum is below what is wanted. FellBack: forecasts
miss too often, so the safer side decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from autoscaler.adapters.kubernetes.advised import advised
from autoscaler.adapters.kubernetes.learnt import learnt
from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.model import Code, Decision, Knowledge, Mode, Observation, Outcome, Reason, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Refusal

_NOT_ACTING = {
    Outcome.OBSERVED: "Observing",
    Outcome.CONFLICT: "WriteConflict",
    Outcome.REFUSED: "WriteRefused",
    Outcome.UNKNOWN: "WriteUnanswered",
    Outcome.NOT_LEADER: "NotLeader",
}
_CAPS = (Code.AT_CEILING, Code.AT_MAXIMUM)
_LONGEST = 1024  # the API takes more; people do not read more


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition, without its times."""

    type: str
    status: bool
    reason: str
    message: str


def timestamp(seconds: float) -> str:
    """POSIX seconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def refused_condition(refusal: Refusal, *, in_force: bool) -> Condition:
    """`Ready` of a policy whose newest version cannot be used."""
    keeps = "the last good version stays in force" if in_force else "it is not followed"
    return _condition("Ready", False, "PolicyRefused", f"{keeps}: {refusal.message}")


def conditions_of(
    policy: TidePolicy,
    observation: Observation | None,
    result: Result,
    refusal: Refusal | None = None,
) -> tuple[Condition, ...]:
    """All five conditions of one cycle; only `Ready` when there was nothing to decide about.

    `refusal` says that the newest version of the policy cannot be used, so an older one was.
    """
    decision = result.decision
    if decision is None or observation is None:
        reason = result.code or "TargetUnavailable"
        return (_condition("Ready", False, reason, result.message),)
    ready = _condition("Ready", True, "Decided", "decisions are made")
    return (
        ready if refusal is None else refused_condition(refusal, in_force=True),
        _acting(policy, observation, decision, result),
        _in_doubt(decision.doubts),
        _capped(decision),
        _fell_back(decision),
    )


def status_of(
    policy: TidePolicy,
    observation: Observation | None,
    knowledge: Knowledge | None,
    result: Result,
) -> Json:
    """Status fields besides the conditions; a number that is not known is left out."""
    decision = result.decision
    status: Json = {"observedGeneration": policy.metadata.generation}
    if decision is None or observation is None:
        return status
    target = observation.target
    written = result.outcome is Outcome.WRITTEN
    status["floor"] = decision.floor if written else target.floor
    status["wanted"] = decision.floor
    status["ceiling"] = target.ceiling
    status["lastDecision"] = timestamp(decision.at)
    status["readyReplicas"] = target.ready
    status["need"] = None if decision.need is None else int(decision.need.now)
    if decision.plan is not None and decision.plan.changes:
        following = decision.plan.changes[0]
        status["next"] = {"at": timestamp(following.at), "floor": int(following.floor)}
    if knowledge is not None:
        status["knowledge"] = learnt(knowledge, timestamp)
        if knowledge.advice is not None:
            most = policy.spec.floor.max
            own = decision.uncapped if most is None else min(decision.uncapped, most)
            status["advice"] = advised(knowledge.advice, target.ceiling, own)
    return {name: value for name, value in status.items() if value is not None}


def dated(
    conditions: Sequence[Condition],
    before: Sequence[Mapping[str, object]],
    generation: int | None,
    now: float,
) -> list[Json]:
    """Conditions as the API keeps them; a time of transition stays while its status does."""
    known = {str(old.get("type")): old for old in before}
    result = []
    for condition in conditions:
        status = "True" if condition.status else "False"
        old = known.pop(condition.type, {})
        same = old.get("status") == status and old.get("lastTransitionTime")
        result.append(
            {
                "type": condition.type,
                "status": status,
                "reason": condition.reason,
                "message": condition.message,
                "lastTransitionTime": old["lastTransitionTime"] if same else timestamp(now),
                **({} if generation is None else {"observedGeneration": generation}),
            }
        )
    # what cannot be said now stays as it was said last
    return result + [dict(old) for old in known.values()]


def _acting(
    policy: TidePolicy, observation: Observation, decision: Decision, result: Result
) -> Condition:
    """Whether floors are written, and what keeps us from it."""
    if policy.spec.mode is Mode.OBSERVE:
        return _condition("Acting", False, "Observing", "mode Observe: nothing is written")
    if observation.target.paused or policy.paused:
        return _condition("Acting", False, "Paused", "an annotation asks for no writes")
    if result.outcome in _NOT_ACTING:
        message = result.message or f"the floor {decision.floor} was not written"
        return _condition("Acting", False, _NOT_ACTING[result.outcome], message)
    return _condition("Acting", True, str(policy.spec.mode), "floors are written")


def _in_doubt(doubts: Sequence[Reason]) -> Condition:
    if not doubts:
        return _condition("InDoubt", False, "InputsTrusted", "")
    sentences = "; ".join(doubt.sentence for doubt in doubts)
    return _condition("InDoubt", True, str(doubts[0].code), sentences)


def _capped(decision: Decision) -> Condition:
    caps = [reason for reason in decision.reasons if reason.code in _CAPS]
    if not caps or decision.uncapped <= decision.floor:
        return _condition("Capped", False, "WithinBounds", "")
    return _condition("Capped", True, str(caps[-1].code), "; ".join(c.sentence for c in caps))


def _fell_back(decision: Decision) -> Condition:
    """Whether forecasts miss so often that the safer side decides; not its share, which moves."""
    if decision.memory.live.fallen is None:
        return _condition("FellBack", False, "AsLearnt", "")
    since = timestamp(decision.memory.live.fallen)
    message = f"since {since} demand is not what was learnt: the safer side decides"
    return _condition("FellBack", True, str(Code.FELL_BACK), message)


def _condition(kind: str, status: bool, reason: str, message: str) -> Condition:
    return Condition(type=kind, status=status, reason=reason, message=message[:_LONGEST])
