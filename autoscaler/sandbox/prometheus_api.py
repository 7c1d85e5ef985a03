"""What Prometheus answers to a request, as a function of a store, a moment and the parameters.

Errors are worded and numbered as the real server words and numbers them: what the adapter says to
a person begins with these sentences.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

import numpy as np

from autoscaler.model import Floats
from autoscaler.sandbox.promql import ParseError, Row, Store, evaluate, parse
from autoscaler.sandbox.promql.evaluate import EvaluationError, Value
from autoscaler.sandbox.promql.store import Labels
from autoscaler.sandbox.promql.syntax import Matcher, Node, Selector
from autoscaler.schema.durations import parse_duration

MAX_POINTS = 11_000
"""Points per series that Prometheus answers at most to one range query."""

Params = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """One response: a JSON document, or text as it is."""

    status: int
    body: dict[str, Any] | str
    type: str = "application/json"


def answer(path: str, params: Params, store: Store, now: float) -> Answer:
    """Answer one path; unknown ones are 404 as on a real server."""
    if path == "/-/ready":
        return Answer(200, "Prometheus Server is Ready.\n", "text/plain; charset=utf-8")
    value_of = re.fullmatch(r"/api/v1/label/([^/]+)/values", path)
    ask = _PATHS.get(path)
    if value_of:
        ask = partial(_Api.label_values, name=unquote(value_of[1]))
    if ask is None:
        return Answer(404, "404 page not found\n", "text/plain; charset=utf-8")
    try:
        return Answer(200, {"status": "success", "data": ask(_Api(store, now, params))})
    except ParseError as error:
        return _failure(400, "bad_data", f'invalid parameter "query": {error}')
    except EvaluationError as error:
        return _failure(422, "execution", str(error))
    except _BadParameterError as error:
        return _failure(400, "bad_data", str(error))


class _BadParameterError(Exception):
    """A parameter of the request is missing or wrong."""


def _failure(status: int, kind: str, error: str) -> Answer:
    return Answer(status, {"status": "error", "errorType": kind, "error": error})


class _Api:
    """One request's view of the store: nothing in it is newer than the server's clock."""

    def __init__(self, store: Store, now: float, params: Params) -> None:
        self.store, self.now, self.params = store, now, params

    def query(self) -> dict[str, Any]:
        """`/api/v1/query`."""
        at = self._time("time", self.now)
        node = parse(self._text("query"))
        value = self._evaluate(node, np.array([at]))
        if isinstance(value, np.ndarray):
            return {"resultType": "scalar", "result": [at, _number(float(value[0]))]}
        result = [
            {"metric": dict(row.labels), "value": [at, _number(float(row.values[0]))]}
            for row in value
            if row.present[0]
        ]
        return {"resultType": "vector", "result": result}

    def query_range(self) -> dict[str, Any]:
        """`/api/v1/query_range`."""
        start, end = self._time("start"), self._time("end")
        step = _seconds("step", self._text("step"))
        if end < start:
            raise _BadParameterError(
                'invalid parameter "end": end timestamp must not be before start time'
            )
        if step <= 0:
            raise _BadParameterError(
                'invalid parameter "step": zero or negative query resolution step widths are not '
                "accepted. Try a positive integer"
            )
        if (end - start) / step > MAX_POINTS:
            raise _BadParameterError(
                "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the "
                "query resolution (?step=XX)"
            )
        at: Floats = start + step * np.arange(float(int((end - start) / step + 1e-9) + 1))
        value = self._evaluate(parse(self._text("query")), at)
        rows = [Row((), value, np.ones(len(at), bool))] if isinstance(value, np.ndarray) else value
        times = [int(t) if t == int(t) else t for t in at.tolist()]
        result = [_matrix(row, times) for row in rows if row.present.any()]
        return {"resultType": "matrix", "result": result}

    def labels(self) -> list[str]:
        """`/api/v1/labels`."""
        return sorted({name for labels in self._series() for name, _ in labels})

    def label_values(self, name: str) -> list[str]:
        """`/api/v1/label/<name>/values`."""
        return sorted({dict(labels)[name] for labels in self._series() if name in dict(labels)})

    def series(self) -> list[dict[str, str]]:
        """`/api/v1/series`."""
        if "match[]" not in self.params:
            raise _BadParameterError("no match[] parameter provided")
        return [dict(labels) for labels in self._series()]

    def buildinfo(self) -> dict[str, str]:
        """`/api/v1/status/buildinfo`."""
        return {"version": "3.0.0", "revision": "foretide-sandbox", "goVersion": ""}

    def _evaluate(self, node: Node, at: Floats) -> Value:
        return evaluate(node, at, lambda matchers: self.store.select(matchers, self.now))

    def _series(self) -> list[Labels]:
        """Label sets of the series that match and have a sample between start and end."""
        start = self._time("start", self.now - 12 * 3600)
        end = min(self._time("end", self.now), self.now)
        wanted: list[tuple[Matcher, ...]] = []
        for text in self.params.get("match[]", ["{}"]):
            node = parse(text)
            if not isinstance(node, Selector):
                raise _BadParameterError(f'invalid parameter "match[]": not a selector: {text}')
            wanted.append(node.matchers)
        found = {
            series.labels: None
            for matchers in wanted
            for series in self.store.select(matchers, end)
            if series.times[-1] >= start
        }
        return list(found)

    def _text(self, name: str) -> str:
        values = self.params.get(name)
        if not values:
            raise _BadParameterError(f'invalid parameter "{name}": missing')
        return values[0]

    def _time(self, name: str, default: float | None = None) -> float:
        if default is not None and name not in self.params:
            return default
        text = self._text(name)
        with contextlib.suppress(ValueError):
            return float(text)
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(text).timestamp()
        raise _BadParameterError(
            f'invalid parameter "{name}": cannot parse "{text}" to a valid timestamp'
        )


_PATHS: dict[str, Callable[[_Api], Any]] = {
    "/api/v1/query": _Api.query,
    "/api/v1/query_range": _Api.query_range,
    "/api/v1/labels": _Api.labels,
    "/api/v1/series": _Api.series,
    "/api/v1/status/buildinfo": _Api.buildinfo,
}


def _seconds(name: str, text: str) -> float:
    with contextlib.suppress(ValueError):
        return float(text)
    with contextlib.suppress(ValueError):
        return parse_duration(text)
    raise _BadParameterError(
        f'invalid parameter "{name}": cannot parse "{text}" to a valid duration'
    )


def _matrix(row: Row, times: list[float]) -> dict[str, Any]:
    pairs = zip(times, row.values.tolist(), row.present.tolist(), strict=True)
    return {
        "metric": dict(row.labels),
        "values": [[at, _number(value)] for at, value, there in pairs if there],
    }


def _number(value: float) -> str:
    """Write a sample as Prometheus does."""
    if value != value:  # noqa: PLR0124  (NaN is what differs from itself; math.isnan is slower here)
        return "NaN"
    if value in {float("inf"), float("-inf")}:
        return "+Inf" if value > 0 else "-Inf"
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
