"""Forecasts at the lead, within the hour and a day ahead: ours against those of others.

python -m benchmarks.forecast --out DIR [--traces DIR] [--only NAMES] [--peers NAMES|all|none]
                              [--horizon NAMES] [--within-slot linear|hold] [--jobs 2]
                              [--reuse FILE] [--promise]

Writes forecasts.json and forecasts.md. Without --traces three synthetic tides are forecast.
Losses are pinball losses as shares of a series' mean demand; "ratio" is the geometric mean over
series of a loss over that of "yesterday". Forecasters of other packages take part where those are
installed: pip install -r benchmarks/requirements-peers.txt, in an environment of their own.
--reuse takes the others' rows from an earlier forecasts.json: then ours, and peers that are named,
are forecast anew.

--promise instead judges the P99 at the lead on one-minute steps over all days: promise.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

# one process a series: threads inside NumPy would only fight over the cores
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from autoscaler.errors import InputError, TraceError  # noqa: E402 - after the threads are set
from autoscaler.model import Floats  # noqa: E402 - as above
from autoscaler.world.tides import OFFICE_DAY, Tide, make_tide  # noqa: E402 - as above
from autoscaler.world.traffic import UNDATED, Within, grid, read_traffic  # noqa: E402 - as above
from benchmarks.forecast.heavy import HEAVY  # noqa: E402 - as above
from benchmarks.forecast.ours import Ours  # noqa: E402 - as above
from benchmarks.forecast.points import POINTS  # noqa: E402 - as above
from benchmarks.forecast.promise import ENOUGH, Kept, keep  # noqa: E402 - as above
from benchmarks.forecast.tables import Results, report  # noqa: E402 - as above
from benchmarks.forecast.task import (  # noqa: E402 - as above
    HORIZONS,
    Forecaster,
    Measured,
    Result,
    TooShort,
    measure,
    series_of,
)
from benchmarks.score import traces_in  # noqa: E402 - as above

PEERS: dict[str, Forecaster] = {peer.name: peer for peer in (*POINTS, *HEAVY)}
INSTALL = "pip install -r benchmarks/requirements-peers.txt in an environment of its own"

SYNTHETIC = {
    "synthetic-llm": Tide(),
    "synthetic-office": Tide(day=OFFICE_DAY, noise=0.08),
    "synthetic-nightly-batch": Tide(peak=2.0, batch=40.0),
}

T = TypeVar("T")
Source = tuple[str, Path | None, Within]
"""Name of a series, its file or None for a synthetic one, and how slots are read."""


def peers_of(
    names: str, known: Mapping[str, Forecaster] = PEERS
) -> tuple[list[Forecaster], list[str]]:
    """Peers that take part, and what is to be said of those that cannot.

    Raises
    ------
    InputError
        A name is unknown, or a package that was asked for by name is not installed.
    """
    if names == "none":
        return [], []
    wanted = list(known) if names == "all" else names.split(",")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(f"no peer {', '.join(unknown)}; known are all, none, {', '.join(known)}")
    missing = {name: known[name].package for name in wanted if not _installed(known[name])}
    told = [f"{name}: {package} is not installed: {INSTALL}" for name, package in missing.items()]
    if missing and names != "all":
        raise InputError("\n".join(told))
    return [known[name] for name in wanted if name not in missing], told


def _installed(peer: Forecaster) -> bool:
    return peer.package is None or importlib.util.find_spec(peer.package) is not None


def minutes_of(source: Source) -> tuple[Floats, float]:
    """One-minute grid of a series and the POSIX seconds at which it begins."""
    name, path, within = source
    if path is None:
        return make_tide(SYNTHETIC[name], 15, seed=1), UNDATED
    return grid(read_traffic(path), within=within), UNDATED  # as in `benchmarks.score`


def forecast_all(source: Source, peers: tuple[str, ...]) -> dict[str, Result] | str:
    """Set everybody the task on one series: results by forecaster, or why there are none."""
    try:
        series = series_of(*minutes_of(source))
    except TraceError as error:
        return str(error)
    found = {}
    for forecaster in (Ours(), *(PEERS[name] for name in peers)):
        try:
            found[forecaster.name] = measure(forecaster, series)
        except TooShort as error:
            print(f"{source[0]}: {error}", file=sys.stderr)
    return found


def results_of(document: dict[str, dict[str, Any]]) -> Results:
    """Results as forecasts.json has them."""
    return {
        series: {
            name: Result(
                horizons={k: Measured(**measured) for k, measured in row["horizons"].items()},
                fit_seconds=row["fit_seconds"],
                ask_seconds=row["ask_seconds"],
            )
            for name, row in rows.items()
        }
        for series, rows in document.items()
    }


def earlier_of(file: Path | None) -> Results:
    """Results of an earlier run; none without a file.

    Raises
    ------
    InputError
        The file cannot be read as such.
    """
    if file is None:
        return {}
    try:
        return results_of(json.loads(file.read_text()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{file}: no forecasts.json of an earlier run: {error}") from error


def judge_promise(source: Source) -> Kept | str:
    """Judge the promise on one series, or say why not."""
    try:
        return keep(*minutes_of(source))
    except TraceError as error:
        return str(error)


def each(
    sources: list[Source], jobs: int, work: Callable[..., T | str], *more: object
) -> Iterator[tuple[str, T]]:
    """Work on every series, in their order; what cannot be used is told."""
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        waiting = [(source[0], pool.submit(work, source, *more)) for source in sources]
        for done, (name, future) in enumerate(waiting, start=1):
            answer = future.result()
            if isinstance(answer, str):
                print(f"{name}: skipped: {answer}", file=sys.stderr)
                continue
            print(f"{done}/{len(waiting)} {name}", file=sys.stderr)
            yield name, answer


def promise_report(kept: dict[str, Kept]) -> str:
    """Markdown of the promise, with the share of series on which it was kept."""
    low, high = (f"{100 * bound:.1f}" for bound in ENOUGH)
    lines = [
        "| series | days | below the P99 | its loss | days decided by `ahead` | CPU |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in kept.items():
        mark = "" if one.good else " ↓" if one.coverage < ENOUGH[0] else " ↑"
        lines.append(
            f"| {name} | {one.days} | {one.coverage:.2%}{mark} | {one.loss:.2%} | {one.ahead:.0%} "
            f"| {one.cpu_seconds:.1f} s |"
        )
    good = sum(one.good for one in kept.values())
    lines.append(f"\nBetween {low} and {high} %: {good} of {len(kept)} ({good / len(kept):.0%}).")
    return "\n".join(lines) + "\n"


def _arguments(argv: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.forecast",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for what is written")
    parser.add_argument("--traces", type=Path, help="folder of traffic files")
    parser.add_argument("--only", default="", help="series whose name contains one of these")
    parser.add_argument("--peers", default="all", help="all, none, or names with commas")
    parser.add_argument("--horizon", default=",".join(HORIZONS), help="lead, hour, day")
    parser.add_argument("--within-slot", choices=("linear", "hold"), default="linear")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--reuse", type=Path, help="forecasts.json with the others' rows")
    parser.add_argument("--promise", action="store_true", help="coverage of the P99 at the lead")
    return parser.parse_args(argv)


def horizons_of(names: str) -> list[str]:
    """Horizons of a list with commas.

    Raises
    ------
    InputError
        One is unknown.
    """
    unknown = [name for name in names.split(",") if name not in HORIZONS]
    if unknown:
        raise InputError(f"no horizon {', '.join(unknown)}; known are {', '.join(HORIZONS)}")
    return names.split(",")


def sources_of(given: argparse.Namespace) -> list[Source]:
    """Series that were asked for.

    Raises
    ------
    InputError
        There is none.
    """
    if given.traces is None:
        paths: dict[str, Path | None] = dict.fromkeys(SYNTHETIC)
    else:
        paths = dict(traces_in(given.traces))
    only = given.only.split(",")
    found = [(k, path, given.within_slot) for k, path in paths.items() if any(o in k for o in only)]
    if not found:
        where = "the synthetic tides" if given.traces is None else given.traces
        raise InputError(f"{where}: no series whose name contains {' or '.join(only)}")
    return found


def main(argv: list[str]) -> int:
    """Run; 2 when what was asked for cannot be done."""
    given = _arguments(argv)
    try:
        horizons = horizons_of(given.horizon)
        sources = sources_of(given)
        peers, told = peers_of(given.peers)
        earlier = earlier_of(given.reuse)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    if given.promise:
        kept = each(sources, given.jobs, judge_promise)
        return _write(given.out / "promise", kept, promise_report)
    if earlier and given.peers == "all":
        peers, told = [], []
    for line in told:
        print(line, file=sys.stderr)
    names = tuple(peer.name for peer in peers)
    found = (
        (series, {**row, **{k: v for k, v in earlier.get(series, {}).items() if k not in row}})
        for series, row in each(sources, given.jobs, forecast_all, names)
    )
    return _write(given.out / "forecasts", found, lambda found: report(found, horizons))


def _write(
    file: Path, rows: Iterable[tuple[str, T]], text_of: Callable[[dict[str, T]], str]
) -> int:
    """Write and print what is found, as it is found; 2 when that is nothing."""
    found: dict[str, T] = {}
    for series, row in rows:
        found[series] = row
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".json").write_text(json.dumps(found, indent=1, default=asdict) + "\n")
        file.with_suffix(".md").write_text(text_of(found))
    if not found:
        print("no series could be forecast", file=sys.stderr)
        return 2
    print(text_of(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
