"""What to ask Prometheus for, per way of naming the demand: pure PromQL texts, no I/O.

A preset knows where a serving engine's *offered* load stays true. On a real vLLM in saturation
the usual completion counters said 0 to 8 requests a second while 16 arrived, since a request that
its client gave up is counted by none of them. What stayed true within 2 % is a flow balance per
instance: what the API server finished (aborted requests included) plus the change of what it holds
(running + waiting). The texts below take that balance

- between two *samples* of an instance, not over a window: `rate` and `deriv` over `[2m]` still
  say 14/s a minute after the demand fell to 2/s, and their two windows do not cover the same span;
- divided by the time between exactly those samples, so that a Prometheus which stopped in the
  middle of a step reads as unknown and never as an idle service;
- for instances that lived through the step: after a restart the counters begin at 0 and the queue
  is gone, which is no negative demand. A new process brings all that it has counted; one that was
  only not seen before brings what it holds, since its counter is a whole life's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autoscaler.policy import Demand

RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
SUCCESS = "vllm:request_success_total"
REJECTED = "vllm:admission_rejections_total"
HTTP = "http_requests_total"
STARTED = "process_start_time_seconds"

HANDLERS = "|".join(  # regular expressions there are anchored
    (
        "/v1/(chat/)?completions",
        "/v1/(responses|messages|embeddings)",
        "/v1/audio/(transcriptions|translations)",
        "(/v[12])?/(score|rerank|embed|pooling|classify)",
        "/invocations",
    )
)
"""Handlers of vLLM's API server behind which a request becomes work for the engine."""

ENGINE_LABELS = frozenset({"model_name", "engine", "model", "finished_reason"})
"""Labels that the engine itself attaches: the API server's counter does not have them."""

IDENTITY = ("cluster", "job", "namespace", "pod", "instance")
"""Labels by which the two halves of one instance find each other; absent ones do no harm."""

CARRY = "5m"
"""How long a failed scrape may be bridged: Prometheus' own look-back."""

_IDENTITY = ", ".join(IDENTITY)
_BY = f"sum by ({_IDENTITY})"

NEW = 1800
"""Seconds of a process's age in which a first scrape is a new replica's, loading included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandQueries:
    """The texts to ask for at every step.

    Attributes
    ----------
    demand : offered load per second over the step that ends at the asked time
    saturated : 1 where that is only a lower bound, else 0; None where it never is
    backlog : what waits at the asked time; None where it cannot be seen
    by : how the demand is read, for people
    """

    demand: str
    saturated: str | None = None
    backlog: str | None = None
    by: str


def selectors(demand: Demand, namespace: str) -> tuple[str, ...]:
    """Series selectors whose presence decides what `queries` returns; none for a query as given."""
    if demand.preset is None:
        return ()
    engine, server, _ = _matchers(demand, namespace)
    return (f"{RUNNING}{{{engine}}}", f"{HTTP}{{{server}}}")


def queries(
    demand: Demand, namespace: str, step: float, present: Iterable[Mapping[str, str]]
) -> DemandQueries:
    """Texts for a policy's demand.

    Parameters
    ----------
    demand : how the policy names its demand
    namespace : the policy's; series of other namespaces never count, series without one do
    step : seconds between the times that will be asked for; a whole number
    present : label sets (with `__name__`) that the source has for `selectors`

    Notes
    -----
    With the API server's counter present on an instance of the model, `reference/metrics.md` 3.1's
    first formula, else completions + change of the queue, which is a lower bound wherever requests
    wait.
    """
    if demand.preset is None:
        return DemandQueries(
            demand=str(demand.query), backlog=demand.backlog, by="the query of the policy"
        )
    engine, server, process = _matchers(demand, namespace)
    balance = _Balance(engine=engine, process=process, step=step)
    waiting = f"sum({WAITING}{{{engine}}})"
    if counted_by_server(present):
        return DemandQueries(
            # a counter with labels appears with its first request: until then it is 0, not missing
            demand=balance.of(f"{HTTP}{{{server}}}", starts_late=True),
            backlog=waiting,
            by=f"{HTTP} + change of running and waiting requests",
        )
    return DemandQueries(
        demand=balance.of(f'{{__name__=~"{SUCCESS}|{REJECTED}", {engine}}}', starts_late=False),
        backlog=waiting,
        saturated=f"sum(max_over_time({WAITING}{{{engine}}}[{_seconds(2 * step)}])) > bool 0",
        by=f"{SUCCESS} + change of running and waiting requests: a lower bound while requests "
        f"wait, since {HTTP} is not there",
    )


def _matchers(demand: Demand, namespace: str) -> tuple[str, str, str]:
    """Label matchers of the engine's series, of its API server's counter, of their process."""
    labels = dict(demand.match_labels)
    own = {name: value for name, value in labels.items() if name not in ENGINE_LABELS}
    where = "" if "namespace" in labels else f'namespace=~"|{_escape(namespace)}"'
    engine = ", ".join(filter(None, (_equal(labels), where)))
    process = ", ".join(filter(None, (_equal(own), where)))
    return engine, f'handler=~"{HANDLERS}", {process}', process


def _equal(labels: Mapping[str, str]) -> str:
    return ", ".join(f'{name}="{_escape(value)}"' for name, value in sorted(labels.items()))


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _seconds(seconds: float) -> str:
    return f"{int(seconds)}s"


def counted_by_server(present: Iterable[Mapping[str, str]]) -> bool:
    """Whether some instance that serves the model also has the API server's counter."""
    serving: set[tuple[str, ...]] = set()
    counting: set[tuple[str, ...]] = set()
    for labels in present:
        instance = tuple(labels.get(name, "") for name in IDENTITY)
        (counting if labels.get("__name__") == HTTP else serving).add(instance)
    return bool(serving & counting)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Balance:
    """Finished + change of held, per instance over one step, summed: arrivals per second.

    Attributes
    ----------
    engine, process : label matchers of the engine's series, and of its process's
    step : seconds
    """

    engine: str
    process: str
    step: float

    def of(self, finished: str, *, starts_late: bool) -> str:
        """Write the balance with `finished` as the counter of finished requests."""
        offset = f" offset {_seconds(self.step)}"
        held_now, held_then = self._held(), self._held(offset)
        done_now, done_then = self._done(finished), self._done(finished, offset)
        if starts_late:
            done_now = f"({done_now} or 0 * {held_now})"
            done_then = f"({done_then} or 0 * {held_then})"
        elapsed = f"{self._newest()} - {self._newest(offset)}"
        young = f"time() - max by ({_IDENTITY}) ({STARTED}{{{self.process}}}) < {NEW}"
        return f"""clamp_min(sum(
  (
      ({done_now} - {done_then} >= 0)
      + {held_now} - {held_then}
    or
      ({held_now} + (({done_now} and {young}) or 0 * {held_now})) unless {held_then}
  )
  / (({elapsed}) or 0 * {held_now} + {int(self.step)})
  > -Inf
), 0) and on () count({elapsed} > 0)"""

    @staticmethod
    def _done(finished: str, offset: str = "") -> str:
        """Write the requests finished so far, per instance."""
        return f"{_BY} (last_over_time({finished}[{CARRY}]{offset}))"

    def _held(self, offset: str = "") -> str:
        """Write the requests that run and wait, per instance."""
        names = f'__name__=~"{RUNNING}|{WAITING}"'
        return f"{_BY} (last_over_time({{{names}, {self.engine}}}[{CARRY}]{offset}))"

    def _newest(self, offset: str = "") -> str:
        """Write the time of the newest sample, per instance."""
        return f"max by ({_IDENTITY}) (timestamp({RUNNING}{{{self.engine}}}{offset}))"
