"""Traffic in other people's formats becomes a traffic file: public traces, logs, query answers.

Sources are read line by line and counted on the way (a published week is 27 million requests in
1.5 GB); a slot without a request inside the log is a real zero. Bad rows are told by line number
and counted.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from autoscaler.errors import TraceError
from autoscaler.simulator.counting import Imported, OtherKindError, Requests, seconds_of

Progress = Callable[[float], None]
Lines = Iterable[str]
# lines between two words about progress
OFTEN = 50_000


def import_traffic(
    kind: str, source: Path, slot: float = 60.0, progress: Progress = lambda _share: None
) -> Imported:
    """Read a foreign source.

    Parameters
    ----------
    kind : one of `KINDS`
    slot : seconds, of request-level sources
    progress : told now and then which share of the source was read

    Raises
    ------
    TraceError
        It is not of that kind, or holds no usable row.
    """
    if kind not in KINDS:
        raise TraceError(f"no kind {kind!r}; known are {', '.join(KINDS)}")
    if not slot > 0:
        raise TraceError(f"--slot: found {slot:g} s; a slot is longer than nothing, such as 60s")
    try:
        imported = KINDS[kind](_lines(source, progress), slot)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise TraceError(f"{source}: cannot be read as text: {error}") from error
    except OtherKindError as error:
        raise TraceError(f"{source}: not {kind}: {error}") from error
    except json.JSONDecodeError as error:
        raise TraceError(f"{source}:{error.lineno}: not {kind}: no JSON: {error.msg}") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, csv.Error) as error:
        raise TraceError(
            f"{source}: not {kind}: {_SHAPES.get(kind, 'a CSV')} is expected"
        ) from error
    if len(imported.times) < 2:
        few = "; ".join((f"{len(imported.times)} usable slots as {kind}", *imported.refused[:3]))
        raise TraceError(f"{source}: {few}")
    return imported


def _azure(lines: Lines, slot: float) -> Imported:
    """Azure LLM inference traces 2023 and 2024: TIMESTAMP,ContextTokens,GeneratedTokens.

    2023 has times without a zone and with seven digits, 2024 in UTC, whole seconds without any
    (https://github.com/Azure/AzurePublicDataset, AzureLLMInferenceDataset2023.md and 2024.md).
    """
    found = Requests(slot=slot)
    _fields(lines, found, ("TIMESTAMP", "ContextTokens", "GeneratedTokens"))
    return found.counted(absolute=True)


def _burstgpt(lines: Lines, slot: float) -> Imported:
    """BurstGPT: Timestamp in seconds from the midnight before the first day, tokens by name.

    The files of release 2 begin at other times and have columns between
    (https://github.com/HPMLL/BurstGPT). A request that failed has no response, and did arrive.
    """
    found = Requests(slot=slot, unit=1.0)
    _fields(lines, found, ("Timestamp", "Request tokens", "Response tokens"))
    return found.counted(absolute=False)


def _mooncake(lines: Lines, slot: float) -> Imported:
    """Mooncake: JSON lines with timestamp in milliseconds, input_length, output_length.

    https://github.com/kvcache-ai/Mooncake, FAST25-release.
    """
    found = Requests(slot=slot, unit=1e-3)
    for line, row in _json_lines(lines, found):
        found.add(line, row.get("timestamp"), row.get("input_length"), row.get("output_length"))
    return found.counted(absolute=False)


def _log(lines: Lines, slot: float) -> Imported:
    """Request log: CSV or JSON lines with timestamp, optional input and output tokens."""
    names = (
        ("timestamp", "time", "t", "ts", "arrival"),
        ("input_tokens", "prompt_tokens", "input_length", "tokens_in"),
        ("output_tokens", "completion_tokens", "output_length", "tokens_out"),
    )
    found = Requests(slot=slot)
    first, lines = _peeked(lines)
    if first.lstrip().startswith("{"):
        for line, row in _json_lines(lines, found):
            found.add(line, *(next((row[n] for n in group if n in row), None) for group in names))
    else:
        header = _split(first)
        chosen = [next((n for n in group if n in header), None) for group in names]
        if chosen[0] is None:
            raise OtherKindError(
                f"no time column (one of {', '.join(names[0])}); found {', '.join(header)}"
            )
        _fields(lines, found, chosen)
    return found.counted(absolute=1e8 < found.earliest < math.inf)


def _servegen(lines: Lines, slot: float) -> Imported:  # noqa: ARG001 - its windows are its slots
    """ServeGen client file: window start in seconds, requests per second, CV, pattern; no header.

    https://github.com/alibaba/ServeGen, data/…/chunk-N-trace.csv.
    """
    times, rates, refused = [], [], []
    rows = csv.reader(lines)
    for row in rows:
        try:
            at, rate = seconds_of(row[0], 1.0), _finite(row[1])
        except (ValueError, IndexError):
            if row and rows.line_num > 1:  # the first line may be a header
                told = ",".join(row)[:60]
                refused.append(f"line {rows.line_num}: {told!r} has no time and rate")
            continue
        times.append(at)
        rates.append(rate)
    return Imported(
        times=np.asarray(times),
        columns={"requests_per_second": np.asarray(rates)},
        absolute=False,
        refused=tuple(refused),
    )


def _prometheus(lines: Lines, slot: float) -> Imported:
    """Answer of /api/v1/query_range with one series; a value looks back over the step before it."""
    result = json.loads("".join(lines))["data"]["result"]
    if len(result) != 1:
        raise OtherKindError(
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


def _grafana(lines: Lines, slot: float) -> Imported:
    """Grafana's CSV download: a time column and one column of values per second."""
    rows = csv.reader(lines)
    header = next((row for row in rows if row and row[0].strip() != "sep="), [])
    if len(header) != 2:
        raise OtherKindError(
            f"found {len(header)} columns ({', '.join(header)[:80]}); a time and one series is "
            "demand (sum the others in the query)"
        )
    times, values, refused = [], [], []
    for row in rows:
        try:
            at, value = seconds_of(row[0]), _finite(row[1])
        except (ValueError, IndexError) as error:
            if row:
                refused.append(f"line {rows.line_num}: {error}")
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


KINDS: dict[str, Callable[[Lines, float], Imported]] = {
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


def _fields(lines: Lines, found: Requests, names: Sequence[str | None]) -> None:
    """Read a CSV with these columns: of time, of input and of output tokens (None: not there)."""
    rows = csv.reader(lines)
    header = next((row for row in rows if row), [])
    if names[0] not in header:
        raise OtherKindError(f"no column {names[0]!r}; found {', '.join(header)}")
    at, inputs, outputs = (header.index(n) if n in header else len(header) for n in names)
    for row in rows:
        if row:
            row.extend([""] * (len(header) + 1 - len(row)))
            found.add(rows.line_num, row[at], row[inputs], row[outputs])


def _json_lines(lines: Lines, found: Requests) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each JSON object with its line number; other lines are refused."""
    for line, content in enumerate(lines, start=1):
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


def _peeked(lines: Lines) -> tuple[str, Lines]:
    """Give the first line that is not blank, and all of them."""
    rest, read = iter(lines), []
    for text in rest:
        read.append(text)
        if text.strip():
            return text, itertools.chain(read, rest)
    return "", read


def _split(header: str) -> list[str]:
    """Split a line of CSV."""
    return next(csv.reader([header]), [])


def _finite(text: str) -> float:
    """Read a number that is one."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is no number")
    return value


def _lines(source: Path, progress: Progress) -> Iterator[str]:
    """Read plain or compressed text line by line, telling how far into the file it is."""
    size = max(1, source.stat().st_size)
    with source.open("rb") as raw:
        for count, line in enumerate(_text(raw, packed=source.suffix == ".gz")):
            if count % OFTEN == 0:
                progress(raw.tell() / size)
            yield line


def _text(raw: BinaryIO, *, packed: bool) -> Iterator[str]:
    """Give the lines with their ends as they are: csv knows about those."""
    if packed:
        with gzip.open(raw, "rt", encoding="utf-8-sig", newline="") as unpacked:
            yield from unpacked
    else:
        with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            yield from text
