"""One policy's records, each said through the one before it: the encoding, without a file.

The chain remembers in compact form what the last written record told, so that a record holds what
is new since then. It advances only when a record has been written: after a lost one the next says
more. `reader` walks the same steps the other way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from autoscaler.adapters.telemetry import schema
from autoscaler.adapters.telemetry.schema import Document
from autoscaler.adapters.telemetry.strips import Strip, block, patch, strip
from autoscaler.model import History, Knowledge, Memory, Observation, Result
from autoscaler.policy import TidePolicy

USUAL_PERIOD = 60.0  # seconds; another one stands in the record


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A history in compact form, with its fingerprint."""

    demand: Strip
    saturated: Strip | None
    header: Document
    digest: str

    def history(self) -> History:
        """Give the history back."""
        return History(
            demand=self.demand.samples(),
            saturated=None if self.saturated is None else self.saturated.samples(),
            step=self.header["step"],
            read_at=self.header["read_at"],
            series=self.header["series"],
            warnings=tuple(self.header["warnings"]),
            backlog=self.header.get("backlog"),
        )


def keep(history: History) -> Kept:
    """Compact form of a history."""
    header: Document = {
        "step": history.step,
        "read_at": history.read_at,
        "series": history.series,
        "warnings": list(history.warnings),
        "backlog": history.backlog,
    }
    demand = strip(history.demand, history.step)
    saturated = None if history.saturated is None else strip(history.saturated, history.step)
    return sealed(demand, saturated, header)


def sealed(demand: Strip, saturated: Strip | None, header: Document) -> Kept:
    """Put the parts together and take the fingerprint of all of them."""
    into = blake2b(digest_size=4)
    into.update(schema.text(header).encode())
    demand.digest(into)
    if saturated is not None:
        saturated.digest(into)
    return Kept(demand=demand, saturated=saturated, header=header, digest=into.hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What a knowledge was learnt from: enough to learn it again."""

    id: str
    knowledge: Document
    policy: Document
    policy_digest: str
    kept: Kept
    period: float


def fit(policy: TidePolicy, history: History, knowledge: Knowledge, period: float) -> Fit:
    """Keep what `knowledge` was learnt from: policy, history, and the period between decisions."""
    return fit_of(schema.knowledge_document(knowledge), policy.manifest(), keep(history), period)


def fit_of(knowledge: Document, policy: Document, kept: Kept, period: float) -> Fit:
    """Put the parts together and take the fingerprint of all of them."""
    policy_digest = schema.digest(policy)
    return Fit(
        id=schema.digest([knowledge, policy_digest, kept.digest, period]),
        knowledge=knowledge,
        policy=policy,
        policy_digest=policy_digest,
        kept=kept,
        period=period,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What the reader knows of one policy after the last record."""

    policy: tuple[TidePolicy, Document, str] | None = None  # with its document and fingerprint
    documents: frozenset[str] = frozenset()
    fits: frozenset[str] = frozenset()
    target: Document | None = None
    kept: Kept | None = None
    memory: Document = field(default_factory=lambda: schema.memory_document(Memory()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What one call of `Recorder.record` was given, and when."""

    at: float
    policy: TidePolicy
    observation: Observation | None
    knowledge: Knowledge | None
    fit: Fit | None
    memory: Memory
    result: Result


def encode(chain: Chain, cycle: Cycle) -> tuple[Document, Chain]:
    """Record of one cycle, and the chain once it has been written."""
    known = chain.policy
    if known is None or known[0] is not cycle.policy:
        document = cycle.policy.manifest()
        known = (cycle.policy, document, schema.digest(document))
        chain = replace(chain, policy=known)
    _, manifest, policy_digest = known
    record: Document = {"v": schema.VERSION, "at": cycle.at, "policy": cycle.policy.key}
    if policy_digest not in chain.documents:
        record["document"] = manifest
    after = replace(chain, documents=chain.documents | {policy_digest})
    prints = {"policy": policy_digest}
    if cycle.observation is not None:
        after = _observation(record, after, cycle.observation, prints)
    after = _knowledge(record, after, cycle, prints)
    after = _memory(record, after, cycle, prints)
    record["result"] = schema.result_document(cycle.result)
    record["inputs"] = " ".join(f"{name}={value}" for name, value in prints.items())
    return record, after


def _observation(
    record: Document, chain: Chain, observation: Observation, prints: dict[str, str]
) -> Chain:
    """Target and history, each as what changed."""
    target = schema.target_document(observation.target)
    record["target"] = schema.changed(chain.target, target)
    prints["target"] = schema.digest(target)
    if observation.period != USUAL_PERIOD:
        record["period"] = observation.period
        prints["period"] = schema.digest(observation.period)
    if observation.doubts:
        record["doubts"] = schema.reasons_document(observation.doubts, sentences=True)
        prints["doubts"] = schema.digest(record["doubts"])
    chain = replace(chain, target=target)
    if observation.history is None:
        return chain
    kept = keep(observation.history)
    record["history"] = history_document(chain.kept, kept)
    prints["history"] = kept.digest
    return replace(chain, kept=kept)


def history_document(before: Kept | None, now: Kept) -> Document:
    """History as what is new since `before`; whole when there is nothing to build on."""
    document = schema.changed(None if before is None else before.header, now.header)
    if before is None or before.header["step"] != now.header["step"]:
        before = None
        document = dict(now.header)
    document["demand"] = _strip_document(None if before is None else before.demand, now.demand)
    if now.saturated is not None:
        was = None if before is None else before.saturated
        document["saturated"] = _strip_document(was, now.saturated)
    return document


def _strip_document(before: Strip | None, now: Strip) -> Any:
    """Strip as a patch on the one before, else whole."""
    change = None if before is None else patch(before, now)
    if change is None:
        return {"all": block(now)}
    document: Document = {"keep": [change.skip, change.take]}
    if len(change.before):
        document["front"] = block(change.before)
    if len(change.after):
        document["add"] = block(change.after)
    return document


def _knowledge(record: Document, chain: Chain, cycle: Cycle, prints: dict[str, str]) -> Chain:
    """Name of the knowledge; what it was learnt from when the file does not have that yet."""
    if cycle.knowledge is None:
        return chain
    if cycle.fit is None:  # nobody said what it was learnt from: the record cannot be replayed
        unknown = cycle.knowledge
        record["knowledge"] = {"unknown": [unknown.fitted.name, unknown.fitted_at]}
        return chain
    known = cycle.fit
    prints["knowledge"] = known.id
    if known.id in chain.fits:
        record["knowledge"] = known.id
        return chain
    own = {} if known.policy_digest in chain.documents else {"document": known.policy}
    record["knowledge"] = {
        "id": known.id,
        "learnt": known.knowledge,
        "period": known.period,
        "policy": known.policy_digest,
        **own,
        "history": history_document(chain.kept, known.kept),
    }
    return replace(
        chain, fits=chain.fits | {known.id}, documents=chain.documents | {known.policy_digest}
    )


def _memory(record: Document, chain: Chain, cycle: Cycle, prints: dict[str, str]) -> Chain:
    """Memory before the decision when it is not what the last one handed on, and the change."""
    given = schema.memory_document(cycle.memory)
    prints["memory"] = schema.digest(given)
    if given != chain.memory:  # as after a write, or when it was lost
        record["memory"] = schema.memory_change(chain.memory, given)
    if cycle.result.decision is None:
        return replace(chain, memory=given)
    handed = schema.memory_document(cycle.result.decision.memory)
    change = schema.memory_change(given, handed)
    if change:
        record["remembers"] = change
    return replace(chain, memory=handed)
