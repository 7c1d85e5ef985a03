"""Traffic in other people's formats becomes a traffic file: public traces, logs, query answers.

Request-level sources are counted per slot; a slot without a request inside the log is a real
zero. Bad rows are told by line number and counted.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from autoscaler.errors import TraceError
from autoscaler.model import Floats

Columns = dict[str, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Slots out of a foreign source.

    Attributes
    ----------
    times : shape (n,), start of each slot; POSIX seconds when `absolute`, else from the first row
    columns : values of each slot by name; totals, unless the name ends in `_per_second`
    refused : what was wrong with rows that were not used
    """

    times: Floats
    columns: Columns
    absolute: bool
    refused: tuple[str, ...] = ()


# slots to count requests into (eleven years of minutes): one absurd time must not cost gigabytes
LONGEST = 6_000_000


@dataclass(slots=True)
class _Requests:
    """Requests as they are read."""

    times: list[float] = field(default_factory=list)
    inputs: list[float] = field(default_factory=list)
    outputs: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def add(self, line: int, at: object, inputs: object, outputs: object) -> None:
        """Take a request, or say by line number why not."""
        try:
            moment = seconds_of(at)
            tokens = [_tokens(inputs), _tokens(outputs)]
        except (ValueError, TypeError) as error:
            self.refused.append(f"line {line}: {error}")
            return
        self.times.append(moment)
        self.inputs.append(tokens[0])
        self.outputs.append(tokens[1])


def seconds_of(value: object) -> float:
    """Seconds of a number or a time; a time without a zone is read as UTC."""
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{value!r} is no time")
    if isinstance(value, int | float):
        found = float(value)
    else:
        text = str(value).strip()
        try:
            found = float(text)
        except ValueError:
            moment = datetime.fromisoformat(_microseconds(text))
            found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is no time")
    # milliseconds and finer, as logs and dashboards write them
    for unit, limit in ((1e9, 1e17), (1e6, 1e14), (1e3, 1e11)):
        if found >= limit:
            return found / unit
    return found


class _OtherKindError(Exception):
    """The source is not of the kind that was said; the message says what was found."""


def import_traffic(kind: str, source: Path, slot: float = 60.0) -> Imported:
    """Read a foreign source.

    Parameters
    ----------
    kind : one of `KINDS`
    slot : seconds, of request-level sources

    Raises
    ------
    TraceError
        It is not of that kind, or holds no usable row.
    """
    if kind not in KINDS:
        raise TraceError(f"no kind {kind!r}; known are {', '.join(KINDS)}")
    if not slot > 0:
        raise TraceError(f"--slot: found {slot:g} s; a slot is longer than nothing, such as 60s")
    text = _text(source)
    try:
        imported = KINDS[kind](text, slot)
    except _OtherKindError as error:
        raise TraceError(f"{source}: not {kind}: {error}") from error
    except json.JSONDecodeError as error:
        raise TraceError(f"{source}:{error.lineno}: not {kind}: no JSON: {error.msg}") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise TraceError(
            f"{source}: not {kind}: {_SHAPES.get(kind, 'a CSV')} is expected"
        ) from error
    if len(imported.times) < 2:
        few = "; ".join((f"{len(imported.times)} usable slots as {kind}", *imported.refused[:3]))
        raise TraceError(f"{source}: {few}")
    return imported


def _azure(text: str, slot: float) -> Imported:
    """Azure LLM inference traces 2023 and 2024: TIMESTAMP,ContextTokens,GeneratedTokens."""
    return _counted(
        _fields(text, "TIMESTAMP", "ContextTokens", "GeneratedTokens"), slot, absolute=True
    )


def _burstgpt(text: str, slot: float) -> Imported:
    """BurstGPT: Timestamp in seconds, Request tokens, Response tokens."""
    return _counted(
        _fields(text, "Timestamp", "Request tokens", "Response tokens"), slot, absolute=False
    )


def _mooncake(text: str, slot: float) -> Imported:
    """Mooncake: JSON lines with timestamp in milliseconds, input_length, output_length."""
    found = _Requests()
    for line, row in _json_lines(text, found):
        at = row.get("timestamp")
        at = at / 1000 if isinstance(at, int | float) else at
        found.add(line, at, row.get("input_length"), row.get("output_length"))
    return _counted(found, slot, absolute=False)


def _log(text: str, slot: float) -> Imported:
    """Request log: CSV or JSON lines with timestamp, optional input and output tokens."""
    names = (
        ("timestamp", "time", "t", "ts", "arrival"),
        ("input_tokens", "prompt_tokens", "input_length", "tokens_in"),
        ("output_tokens", "completion_tokens", "output_length", "tokens_out"),
    )
    found = _Requests()
    if text.lstrip().startswith("{"):
        for line, row in _json_lines(text, found):
            found.add(line, *(next((row[n] for n in group if n in row), None) for group in names))
    else:
        rows = csv.DictReader(io.StringIO(text))
        header = set(rows.fieldnames or ())
        chosen = [next((n for n in group if n in header), None) for group in names]
        if chosen[0] is None:
            raise _OtherKindError(
                f"no time column (one of {', '.join(names[0])}); found {', '.join(sorted(header))}"
            )
        for line, row in enumerate(rows, start=2):
            found.add(line, *(None if name is None else row[name] for name in chosen))
    absolute = bool(found.times) and min(found.times) > 1e8
    return _counted(found, slot, absolute=absolute)


def _servegen(text: str, slot: float) -> Imported:  # noqa: ARG001 - its windows are its slots
    """ServeGen client file: rows of window start in seconds, requests per second and more."""
    times, rates, refused = [], [], []
    for line, row in enumerate(csv.reader(io.StringIO(text)), start=1):
        try:
            at, rate = float(row[0]), float(row[1])
        except (ValueError, IndexError):
            if row and line > 1:  # the first line may be a header
                refused.append(f"line {line}: {','.join(row)[:60]!r} has no time and rate")
            continue
        times.append(at)
        rates.append(rate)
    return Imported(
        times=np.asarray(times),
        columns={"requests_per_second": np.asarray(rates)},
        absolute=False,
        refused=tuple(refused),
    )


def _prometheus(text: str, slot: float) -> Imported:
    """Answer of /api/v1/query_range with one series; a value looks back over the step before it."""
    result = json.loads(text)["data"]["result"]
    if len(result) != 1:
        raise _OtherKindError(
            f"found {len(result)} series; exactly one is demand (sum them in the query)"
        )
    times = np.asarray([float(at) for at, _ in result[0]["values"]])
    values = np.asarray([float(value) for _, value in result[0]["values"]])
    known = np.isfinite(values)
    step = float(np.median(np.diff(times))) if len(times) > 1 else slot
    return Imported(
        times=times[known] - step,
        columns={"demand_per_second": values[known]},
        absolute=True,
        refused=tuple(f"value {i + 1}: {values[i]}" for i in np.flatnonzero(~known)),
    )


def _grafana(text: str, slot: float) -> Imported:
    """Grafana's CSV download: a time column and one column of values per second."""
    rows = list(csv.reader(io.StringIO(text.removeprefix("sep=,\n"))))
    times, values, refused = [], [], []
    for line, row in enumerate(rows[1:], start=2):
        try:
            at, value = seconds_of(row[0]), _finite(row[1])
        except (ValueError, IndexError) as error:
            if row:
                refused.append(f"line {line}: {error}")
            continue
        times.append(at)
        values.append(value)
    step = float(np.median(np.diff(times))) if len(times) > 1 else slot
    return Imported(
        times=np.asarray(times) - step,
        columns={"demand_per_second": np.asarray(values)},
        absolute=True,
        refused=tuple(refused),
    )


KINDS: dict[str, Callable[[str, float], Imported]] = {
    "azure-2023": _azure,
    "azure-2024": _azure,
    "burstgpt": _burstgpt,
    "mooncake": _mooncake,
    "servegen": _servegen,
    "log": _log,
    "prometheus": _prometheus,
    "grafana": _grafana,
}


_SHAPES = {
    "burstgpt": "a CSV with Timestamp,Request tokens,Response tokens",
    "mooncake": "JSON lines with timestamp, input_length, output_length",
    "servegen": "rows of window start in seconds and requests per second",
    "log": "a CSV or JSON lines with a timestamp",
    "prometheus": "the answer of /api/v1/query_range",
    "grafana": "a CSV of time and one value column",
}


def _fields(text: str, clock: str, inputs: str, outputs: str) -> _Requests:
    """Read a CSV with these three columns."""
    found = _Requests()
    rows = csv.DictReader(io.StringIO(text))
    if clock not in (rows.fieldnames or ()):
        raise _OtherKindError(f"no column {clock!r}; found {', '.join(rows.fieldnames or ())}")
    for line, row in enumerate(rows, start=2):
        found.add(line, row[clock], row.get(inputs), row.get(outputs))
    return found


def _json_lines(text: str, found: _Requests) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each JSON object with its line number; other lines are refused."""
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        try:
            row = json.loads(content)
        except json.JSONDecodeError as error:
            found.refused.append(f"line {line}: {error}")
            continue
        if isinstance(row, dict):
            yield line, row
        else:
            found.refused.append(f"line {line}: not an object")


def _counted(found: _Requests, slot: float, *, absolute: bool) -> Imported:
    """Count requests and tokens per slot, from the slot of the first to that of the last."""
    if not found.times:
        return Imported(
            times=np.empty(0), columns={}, absolute=absolute, refused=tuple(found.refused)
        )
    at = np.floor(np.asarray(found.times) / slot).astype(np.int64)
    first, count = int(at.min()), int(at.max() - at.min()) + 1
    if count > LONGEST:
        days = count * slot / 86_400
        raise _OtherKindError(
            f"first and last request lie {days:.0f} days apart; is one of the times wrong?"
        )

    def total(values: Iterable[float] | None) -> Floats:
        weights = None if values is None else np.asarray(list(values))
        return np.bincount(at - first, weights=weights, minlength=count).astype(np.float64)

    columns: Columns = {"requests": total(None)}
    if any(found.inputs) or any(found.outputs):
        columns["prompt_tokens"] = total(found.inputs)
        columns["output_tokens"] = total(found.outputs)
    slots = np.arange(first, first + count, dtype=np.float64)
    return Imported(
        times=slots * slot,
        columns=columns,
        absolute=absolute,
        refused=tuple(found.refused),
    )


def _finite(text: str) -> float:
    """Read a number that is one."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is no number")
    return value


def _tokens(value: object) -> float:
    """Give a count of tokens; absent is 0, since only the sum per slot is kept."""
    return 0.0 if value in (None, "") else float(str(value))


def _microseconds(text: str) -> str:
    """Cut fractions of a second to the six digits that a time can hold."""
    head, dot, tail = text.partition(".")
    if not dot:
        return text
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return f"{head}.{tail[: min(digits, 6)]}{tail[digits:]}"


def _text(source: Path) -> str:
    """Read plain or compressed text."""
    try:
        data = source.read_bytes()
        return (gzip.decompress(data) if source.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise TraceError(f"{source}: cannot be read as text: {error}") from error
