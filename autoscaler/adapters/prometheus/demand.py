"""`PrometheusDemand`: the demand history of every policy, kept and only added to."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from autoscaler.adapters.prometheus.client import Client
from autoscaler.adapters.prometheus.kept import Answered, Kept
from autoscaler.adapters.prometheus.probe import RECENTLY, Probe, find, numbers_at, probe
from autoscaler.adapters.prometheus.transport import Deadline
from autoscaler.config import Prometheus
from autoscaler.demand import presets
from autoscaler.errors import ConfigError, HistoryUnavailable
from autoscaler.model import History, Samples
from autoscaler.policy import TidePolicy

PRESENCE = 3600.0
"""Seconds for which it stays known which of an engine's metrics are there."""

ABSENCE = 120.0
"""The same while the best of them are not: they appear with the first request."""


@dataclass(slots=True)
class _Entry:
    """What is kept of one policy; whoever holds the lock may touch it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    signature: object = None
    queries: presets.DemandQueries | None = None
    known_until: float = -math.inf
    demand: Kept | None = None
    saturated: Kept | None = None


class PrometheusDemand:
    """Demand of policies, from Prometheus. Implements `ports.DemandSource`. Thread-safe.

    Parameters
    ----------
    config : where Prometheus is and how long an answer may take
    step : seconds between samples; a whole number

    Raises
    ------
    ConfigError
        No address is given, or the step is not a whole number of seconds.
    """

    def __init__(self, config: Prometheus, *, step: float = 60.0) -> None:
        if not config.url:
            raise ConfigError(
                "prometheus.url: it is not given, and there is no default; write where Prometheus "
                "answers, such as http://prometheus.monitoring:9090, in the configuration, as "
                "FORETIDE_PROMETHEUS_URL or with --prometheus"
            )
        if step < 1 or step != int(step):
            raise ConfigError(f"step: found {step} s; allowed is a whole number of seconds from 1")
        self._client = Client(config)
        self._step = float(step)
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()

    def read(self, policy: TidePolicy, until: float) -> History:
        """History of the policy's demand, up to the last step that ended by `until`.

        A sample's time is the *start* of the step that it stands for: what is asked at 12:01 is
        the demand from 12:00 to 12:01.

        Raises
        ------
        HistoryUnavailable
            No answer within `prometheus.timeout`, an error, or no such series. Its `code` is one of
            Timeout, Unreachable, TlsFailed, ServerError, CircuitOpen, Denied, NoToken,
            NotPrometheus, QueryRefused, QueryFailed, WrongType, TooLarge, NoSeries, Busy.
        """
        deadline = Deadline(self._client.timeout)
        with self._entry(policy, deadline) as entry:
            queries = self._queries(policy, entry, until, deadline)
            last = math.floor(until / self._step) * self._step
            n = max(2, round(policy.spec.demand.history / self._step))
            entry.demand = self._window(entry.demand, queries.demand, last, n)
            series, warnings = self._fill(entry.demand, last, deadline)
            saturated = None
            if queries.saturated is not None:
                entry.saturated = self._window(entry.saturated, queries.saturated, last, n)
                _, more = self._fill(entry.saturated, last, deadline)
                warnings += tuple(text for text in more if text not in warnings)
                saturated = self._samples(entry.saturated, last)
            demand = self._samples(entry.demand, last)
            if len(demand) == 0:
                entry.known_until = min(entry.known_until, until + ABSENCE)
                raise self._absent(policy, queries)
            return History(
                demand=demand,
                saturated=saturated,
                step=self._step,
                read_at=until,
                series=series,
                warnings=warnings,
                backlog=self._backlog(queries, last, deadline),
            )

    def probe(self, policy: TidePolicy, now: float) -> Probe:
        """Find out what there is of a policy's demand, for `check --live`; says what went wrong."""
        return probe(self._client, policy, now, self._step)

    def _absent(self, policy: TidePolicy, queries: presets.DemandQueries) -> HistoryUnavailable:
        days = policy.spec.demand.history / 86_400
        return HistoryUnavailable(
            f"no sample of {policy.key}'s demand ({queries.by}) in the last {days:g} days at "
            f"{self._client.where}: `foretide check --live` tells what is there instead",
            code="NoSeries",
        )

    def keep_only(self, keys: Collection[str]) -> None:
        """Forget the history of every policy that is not among `keys`."""
        with self._lock:
            for key in set(self._entries) - set(keys):
                del self._entries[key]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @contextmanager
    def _entry(self, policy: TidePolicy, deadline: Deadline) -> Iterator[_Entry]:
        """Give what is kept of a policy, to one caller at a time."""
        with self._lock:
            entry = self._entries.setdefault(policy.key, _Entry())
        if not entry.lock.acquire(timeout=max(0.0, deadline.left())):
            raise HistoryUnavailable(
                f"the history of {policy.key} is being read by somebody else for more than "
                f"{deadline.seconds:.3g} s",
                code="Busy",
            )
        try:
            yield entry
        finally:
            entry.lock.release()

    def _queries(
        self, policy: TidePolicy, entry: _Entry, until: float, deadline: Deadline
    ) -> presets.DemandQueries:
        """Texts for the policy, asking now and then which metrics there are."""
        demand, namespace = policy.spec.demand, policy.metadata.namespace
        signature = (demand.source, demand.backlog)
        fresh = until < entry.known_until <= until + PRESENCE
        if entry.queries is not None and entry.signature == signature and fresh:
            return entry.queries
        wanted = presets.selectors(demand, namespace)
        try:
            found = find(self._client, wanted, demand.history, until, deadline)
        except HistoryUnavailable:
            if entry.queries is None or entry.signature != signature:
                raise
            entry.known_until = until + ABSENCE  # what was there an hour ago will do
            return entry.queries
        queries = presets.queries(demand, namespace, self._step, found)
        entry.signature, entry.queries = signature, queries
        lasting = not wanted or presets.counted_by_server(found)
        entry.known_until = until + (PRESENCE if lasting else ABSENCE)
        return queries

    def _window(self, kept: Kept | None, text: str, last: float, n: int) -> Kept:
        """History to add to: what is kept, or a new one when it answers something else."""
        if (
            kept is None
            or kept.text != text
            or len(kept.values) != n
            or last < kept.last - RECENTLY
        ):
            return Kept(text, last=last, step=self._step, n=n)
        kept.forward(last)
        return kept

    def _fill(self, kept: Kept, last: float, deadline: Deadline) -> tuple[int, tuple[str, ...]]:
        """Ask for what is missing: the tail always, older parts as far as time allows.

        Returns
        -------
        How many series the newest answer had, and what the source said about its answers.
        """
        if last < kept.last:  # the clock went back: what is kept is newer
            return kept.series, kept.said()
        low, high = kept.tail()
        answer = self._part(kept, low, high, deadline)
        kept.series = max(1, len(answer.series))
        kept.put(low, high, answer)
        older = kept.older(before=low)
        for done, (low, high) in enumerate(older):
            try:
                kept.put(low, high, self._part(kept, low, high, deadline))
            except HistoryUnavailable as error:
                kept.note(f"{len(older) - done} older parts could not be read yet: {error}")
                if deadline.left() > 0:  # else it goes on with the next cycle
                    kept.rest()
                break
        else:
            if older and not kept.whole:
                kept.rest()
        return kept.series, kept.said()

    def _part(self, kept: Kept, low: float, high: float, deadline: Deadline) -> Answered:
        """One request; when it is too much for the server, the next ones are smaller."""
        try:
            return self._client.range(kept.text, (low, high), self._step, deadline)
        except HistoryUnavailable as error:
            if error.code in {"QueryFailed", "Timeout", "TooLarge"}:
                kept.smaller()
            raise

    def _backlog(
        self, queries: presets.DemandQueries, at: float, deadline: Deadline
    ) -> float | None:
        """Read what waits now; a history is worth as much without it."""
        if queries.backlog is None:
            return None
        try:
            values = numbers_at(self._client, queries.backlog, at, self._step, deadline)
        except HistoryUnavailable:
            return None
        return values[0] if len(values) == 1 and math.isfinite(values[0]) else None

    def _samples(self, kept: Kept, last: float) -> Samples:
        times, values = kept.until(last)
        return Samples(times=times - self._step, values=values)
