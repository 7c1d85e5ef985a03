"""What Prometheus and the cluster say about a policy, for somebody who has just written it.

Each question gets an answer of its own, also when another could not be asked: `check --live` is run
when something is wrong, and then half of the answers are the useful half.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from autoscaler.adapters.kubernetes.client import Cluster
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.kubernetes.resources import FIELD_MANAGER
from autoscaler.adapters.kubernetes.targets import kind_of
from autoscaler.adapters.kubernetes.targets.hpa import managers_of_floor, why_not_zero
from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.adapters.prometheus.probe import Probe
from autoscaler.cli.options import duration_text
from autoscaler.errors import ForetideError, TargetRefused
from autoscaler.model import Mode, Target
from autoscaler.policy import TidePolicy
from autoscaler.report import local_time, value_text

DAY = 86_400.0
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Level(StrEnum):
    """How much an answer matters: only `FAILS` keeps the policy from working."""

    OK = "ok"
    WARNS = "warning"
    FAILS = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question about a policy."""

    level: Level
    question: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Whom to ask; what could not even be set up is a sentence in its place.

    Attributes
    ----------
    foresee : greatest need of the next day and its moment, from the real history
    """

    demand: PrometheusDemand | str
    cluster: Cluster | str
    foresee: Callable[[TidePolicy, PrometheusDemand, Target | None], tuple[int, float]]
    now: float
    step: float


def ask(policy: TidePolicy, around: Surroundings) -> tuple[Answer, ...]:
    """Ask everything about one policy."""
    answers: list[Answer] = []
    probe: Probe | None = None
    if isinstance(around.demand, str):
        answers.append(_fails("Prometheus", around.demand))
    else:
        probe = around.demand.probe(policy, around.now)
        answers += about_demand(policy, probe, around.step)
    target: Target | None = None
    if isinstance(around.cluster, str):
        answers.append(_fails("cluster", around.cluster))
    else:
        target, told = _about_cluster(policy, around.cluster)
        answers += told
    if probe is not None and probe.present and not isinstance(around.demand, str):
        answers.append(_about_need(policy, around.demand, around, target))
    return tuple(answers)


def about_demand(policy: TidePolicy, probe: Probe, step: float) -> Iterator[Answer]:
    """Tell what a probe of Prometheus means."""
    if probe.error:
        yield _fails("metric", probe.error)
        return
    if not probe.present:
        days = policy.spec.demand.history / DAY
        yield _fails("metric", f"no sample in the last {days:g} days at {probe.url}: {probe.query}")
        yield from (_warns("metric", note) for note in probe.notes)
        return
    yield _ok("metric", f"{probe.by or 'query'}, now {value_text(probe.newest)} per second")
    if probe.series > 1:
        labels = "; ".join(f"{name} = {', '.join(some)}" for name, some in probe.apart.items())
        how = "matchLabels" if policy.spec.demand.preset else "the query"
        sentence = f"{probe.series} series, told apart by {labels or 'no label'}: "
        yield _warns("series", f"{sentence}pick one, or their sum, in {how}")
    else:
        yield _ok("series", "one")
    yield _history(probe)
    yield _resolution(probe, step)
    yield _age(probe, step)
    yield from (_warns("metric", note) for note in probe.notes)


def _history(probe: Probe) -> Answer:
    """How much past there is: from two days it works, from fourteen fully."""
    days = probe.span / DAY
    sentence = f"{days:.1f} days, {probe.coverage:.1%} of them known"
    if days < 2:
        return _warns("history", f"{sentence}; below 2 days no tide can be seen")
    if days < 14:
        return _warns("history", f"{sentence}; from 14 days on every weekday has been seen twice")
    if probe.coverage < 0.9:
        return _warns("history", f"{sentence}; gaps are not filled with zeros, and say little")
    return _ok("history", sentence)


def _resolution(probe: Probe, step: float) -> Answer:
    """How often the value changes, against how often it is asked for."""
    if not math.isfinite(probe.resolution):
        return _warns("resolution", "the value stood still for the last hour: is it scraped?")
    sentence = f"a new value every {duration_text(max(1.0, probe.resolution))}"
    if probe.resolution > 2 * step:
        return _warns("resolution", f"{sentence}, and the step is {duration_text(step)}")
    return _ok("resolution", sentence)


def _age(probe: Probe, step: float) -> Answer:
    """How old the newest value is."""
    if not math.isfinite(probe.age):
        return _fails("newest", "no value in the last hour: the demand of now is unknown")
    sentence = f"{duration_text(max(0.0, probe.age))} old"
    return _warns("newest", sentence) if probe.age > 5 * step else _ok("newest", sentence)


def _about_cluster(policy: TidePolicy, cluster: Cluster) -> tuple[Target | None, list[Answer]]:
    """Tell what the cluster says about the target."""
    targets = KubernetesTargets(cluster)
    answers: list[Answer] = []
    target: Target | None = None
    try:
        target = targets.observe(policy)
        found = targets.found(policy)
        answers += about_target(policy, target)
        answers += about_zero(policy, found)
        answers.append(about_others(found))
    except TargetRefused as error:
        answers.append(_fails("target", str(error)))
    except ForetideError as error:
        return None, [_fails("target", str(error))]
    answers.append(_may_patch(policy, cluster))
    return target, answers


def about_target(policy: TidePolicy, target: Target) -> Iterator[Answer]:
    """Tell how the target stands, and whether the policy's bounds fit into it."""
    floor = policy.spec.floor
    ready = "" if target.ready is None else f", {target.ready} ready"
    running = "" if target.replicas is None else f", {target.replicas} running{ready}"
    yield _ok(
        "target",
        f"{policy.target_key}: floor {target.floor}, ceiling {target.ceiling}{running}; "
        "nobody owns it",
    )
    if target.paused:
        yield _warns("paused", "an annotation asks for no writes")
    if floor.min is not None and floor.min > target.ceiling:
        yield _fails("bounds", f"floor.min {floor.min} is above the ceiling {target.ceiling}")
    elif floor.max is not None and floor.max > target.ceiling:
        yield _warns("bounds", f"floor.max {floor.max} is above the ceiling {target.ceiling}")


def about_zero(policy: TidePolicy, found: dict[str, Any]) -> Iterator[Answer]:
    """Tell whether a floor of 0 can be had, where the policy asks for it or it stands."""
    floor = (found.get("spec") or {}).get("minReplicas")
    if policy.spec.floor.min != 0 and floor != 0:
        return
    why = why_not_zero(found)
    start = duration_text(policy.spec.cold_start_seconds)
    if not why:
        yield _ok("zero", f"a floor of 0 can be had; who comes unexpected waits about {start}")
    elif floor == 0:
        yield _fails(
            "zero", f"a floor of 0 stands, and raising it would wake nothing: {why}; set it to 1"
        )
    else:
        yield _warns("zero", f"1 is kept instead of floor.min 0: {why}")


def about_others(found: dict[str, Any]) -> Answer:
    """Tell who else keeps the floor, and so would put it back."""
    writers = managers_of_floor(found)
    metadata = found["metadata"]
    applied = {
        entry.get("manager", "")
        for entry in metadata.get("managedFields") or ()
        if entry.get("operation") == "Apply" and entry.get("manager") in writers
    }
    if _last_applied_has_floor((metadata.get("annotations") or {}).get(_LAST_APPLIED, "")):
        applied.add("kubectl apply")
    applied.discard(FIELD_MANAGER)
    if applied:
        return _warns(
            "others",
            f"minReplicas is in what {', '.join(sorted(applied))} applies, which puts it back each "
            "time: leave minReplicas out of that manifest, or have the tool ignore field manager "
            f"{FIELD_MANAGER}",
        )
    others = {name: at for name, at in writers.items() if name != FIELD_MANAGER}
    if FIELD_MANAGER not in writers and "foretide.dev/original-floor" in (
        metadata.get("annotations") or {}
    ):
        told = ", ".join(f"{name} at {at}" for name, at in sorted(others.items()))
        return _warns("others", f"the floor was moved after Foretide wrote it: {told}")
    last = ", ".join(sorted(others)) or "nobody"
    return _ok("others", f"nothing is seen to put the floor back (last written by {last})")


def _last_applied_has_floor(text: str) -> bool:
    """Whether the manifest that kubectl applied last has the floor in it."""
    try:
        document = json.loads(text) if text else {}
    except ValueError:
        return False
    spec = document.get("spec") if isinstance(document, dict) else None
    return isinstance(spec, dict) and "minReplicas" in spec


def _may_patch(policy: TidePolicy, cluster: Cluster) -> Answer:
    """Ask whether the floor may be written by whom we are now."""
    ref = policy.spec.target_ref
    resource, namespace = kind_of(ref).resource, policy.metadata.namespace
    try:
        refused = [
            f"{verb} ({access.reason})" if access.reason else verb
            for verb in ("get", "list", "patch")
            if not (access := cluster.can_i(verb, resource, namespace, ref.name)).allowed
        ]
    except ForetideError as error:
        return _warns("rights", f"could not be asked: {error}")
    if not refused:
        return _ok("rights", "the present user may get, list and patch it")
    sentence = f"the present user may not {', '.join(refused)}"
    only_patch = all(verb.startswith("patch") for verb in refused)
    if only_patch and policy.spec.mode is Mode.OBSERVE:
        return _warns("rights", f"{sentence}; enough for mode Observe")
    return _fails("rights", sentence)


def _about_need(
    policy: TidePolicy, demand: PrometheusDemand, around: Surroundings, target: Target | None
) -> Answer:
    """Tell whether the ceiling suffices for what is forecast."""
    try:
        need, at = around.foresee(policy, demand, target)
    except ForetideError as error:
        return _warns("need", f"no forecast: {error}")
    when = local_time(at, policy.spec.time_zone)
    sentence = f"up to {need} replicas in the next 24h ({when})"
    if target is None:
        return _ok("need", sentence)
    if need > target.ceiling:
        return _warns("need", f"{sentence}, and the ceiling is {target.ceiling}: raise maxReplicas")
    return _ok("need", f"{sentence}, below the ceiling {target.ceiling}")


def _ok(question: str, sentence: str) -> Answer:
    return Answer(level=Level.OK, question=question, sentence=sentence)


def _warns(question: str, sentence: str) -> Answer:
    return Answer(level=Level.WARNS, question=question, sentence=sentence)


def _fails(question: str, sentence: str) -> Answer:
    return Answer(level=Level.FAILS, question=question, sentence=sentence)
