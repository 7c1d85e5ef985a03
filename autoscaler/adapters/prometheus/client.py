"""The questions that Foretide asks a Prometheus, with deadline, breaker and plain answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from prometheus_api_client import PrometheusConnect

from autoscaler.adapters.prometheus.breaker import Breaker, Pass
from autoscaler.adapters.prometheus.kept import Answered
from autoscaler.adapters.prometheus.transport import Deadline, Session, Unwell, connect
from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable
from autoscaler.model import Floats

REST = 15.0
"""Seconds in which nobody asks a server that is away: several tries within a cycle of 60 s."""

PING = 3.0
"""Seconds for `1`, the query that tells a dead server from a slow query."""

CONNECTIONS = 32
"""Connections kept at most: more than a controller has threads."""


class Client:
    """One Prometheus. Thread-safe."""

    def __init__(self, config: Prometheus) -> None:
        self.timeout = config.timeout
        self._library: PrometheusConnect
        self._session: Session
        self._library, self._session = connect(config, connections=CONNECTIONS)
        self._breaker = Breaker(REST)

    @property
    def where(self) -> str:
        """Address, fit to be printed."""
        return self._session.where

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def range(
        self, query: str, times: tuple[float, float], step: float, deadline: Deadline
    ) -> Answered:
        """Values of a query at first, first + step, … last (POSIX seconds, whole numbers).

        Raises
        ------
        HistoryUnavailable
            No answer in time, an error, or an answer that is no set of series.
        """
        first, last = (datetime.fromtimestamp(time, UTC) for time in times)

        def ask() -> Any:
            return self._library.custom_query_range(query, first, last, f"{step:.0f}")

        rows, warnings = self._asked(ask, deadline)
        try:
            return Answered(tuple(_matrix(rows, query)), warnings)
        except (ValueError, TypeError, LookupError) as error:  # pairs that are no pairs of numbers
            raise self._not_prometheus() from error

    def series(
        self, selector: str, times: tuple[float, float], deadline: Deadline
    ) -> tuple[Mapping[str, str], ...]:
        """Label sets of the series that had samples between two times.

        Raises
        ------
        HistoryUnavailable
            As `range`.
        """
        first, last = (datetime.fromtimestamp(time, UTC) for time in times)

        def ask() -> Any:
            return self._library.get_series(first, last, {"match[]": selector})

        rows, _ = self._asked(ask, deadline)
        if not isinstance(rows, list):
            raise self._not_prometheus()
        return tuple(row for row in rows if isinstance(row, dict))

    def _asked(self, ask: Any, deadline: Deadline) -> tuple[Any, tuple[str, ...]]:
        """Ask through the breaker."""
        leave = self._breaker.enter()
        if leave is Pass.NO:
            raise HistoryUnavailable(
                f"Prometheus at {self.where} is away: {self._breaker.account()}",
                code="CircuitOpen",
            )
        if leave is Pass.TRY:
            self._ping()
        try:
            with self._session.until(deadline) as warnings:
                rows = ask()
        except Unwell:
            if leave is Pass.GO and self._breaker.closed:
                self._ping()  # only a slow query, if this is answered
            raise
        except (KeyError, TypeError) as error:  # the library reads ["data"]["result"] unchecked
            raise self._not_prometheus() from error
        self._breaker.answered()
        return rows, tuple(warnings)

    def _not_prometheus(self) -> HistoryUnavailable:
        return HistoryUnavailable(
            f"{self.where} answered JSON that is not Prometheus'", code="NotPrometheus"
        )

    def _ping(self) -> None:
        """Find out whether the server answers anything at all, and tell the breaker."""
        try:
            with self._session.until(Deadline(min(PING, self.timeout))):
                self._library.custom_query("1")
        except Unwell as error:
            self._breaker.failed(error.code)
            raise
        self._breaker.answered()


def _matrix(rows: Any, query: str) -> list[tuple[Mapping[str, str], Floats, Floats]]:
    """Series as arrays; a scalar or a string comes as a bare pair and is no series."""
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and "values" in row for row in rows
    ):
        raise HistoryUnavailable(
            f"the query {_short(query)} gives a scalar, a string or a histogram instead of series: "
            "demand is an instant vector, such as sum(rate(...[2m]))",
            code="WrongType",
        )
    found = []
    for row in rows:
        pairs = row["values"]
        times = np.fromiter((pair[0] for pair in pairs), float, len(pairs))
        values = np.fromiter((float(pair[1]) for pair in pairs), float, len(pairs))
        found.append((row["metric"], times, values))
    return found


def _short(query: str) -> str:
    text = " ".join(query.split())
    return text if len(text) <= 120 else f"{text[:117]}..."
