"""The table over a folder of traces: every run at default settings in the plain world.

python -m benchmarks.score --traces DIR --out DIR [--peers NAMES|all|none] [--tuned] [--jobs 2]
                           [--within-slot linear|hold] [--cold-start 5m] [--replicas 20]
                           [--hpa-target SHARE] [--ours-at SHARES] [--no-ours] [--only TEXTS]
                           [--reuse FILE]

Above peers stands an HPA at 70 %, above ours one at the target that our own advice named before the
run began, from the history before it; `--hpa-target` puts one target above all. The floors do not
depend on it: `--ours-at` scores the same ones under further targets.

It writes scores.json and a Markdown table, and beneath it what a night of ours costs: CPU seconds
of nights that choose among all candidates, and of those that fit what was chosen again. A trace is
named by its path inside DIR without ending, `/` as `_`; files that are too short or hold no demand
are skipped, and said so. Where the folder holds the 27 traces of the reference table, those are
taken, else every CSV file.

Traces of one row a minute are the same in linear and hold: `--reuse` takes their rows from the
scores.json of the other version instead of playing them again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

# one process a trace: threads inside NumPy would only fight over the cores
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 - after the threads are set

from autoscaler.errors import InputError, TraceError  # noqa: E402 - as above
from autoscaler.schema.durations import parse_duration  # noqa: E402 - as above
from autoscaler.simulator.peers import chosen  # noqa: E402 - as above
from autoscaler.simulator.plain import PlainWorld, plain_world  # noqa: E402 - as above
from autoscaler.simulator.runs import Run, best_run, play_all  # noqa: E402 - as above
from autoscaler.world.traffic import UNDATED, Within, grid, read_traffic  # noqa: E402 - as above
from benchmarks.nights import nights, nights_table  # noqa: E402 - as above

Row = dict[str, dict[str, float]]

PEERS_TARGET = 0.7
"""Of the HPA above everyone but us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the plain world is laid over a trace, and who is played in it.

    Attributes
    ----------
    replicas : that carry the P99
    cold_start : seconds
    target : of the HPA above everyone; None for ours what our advice names
    ours_at : further targets under which our floors are scored
    """

    peers: str = "all"
    tuned: bool = False
    within: Within = "linear"
    replicas: float = 20.0
    cold_start: float = 300.0
    target: float | None = None
    ours: bool = True
    ours_at: tuple[float, ...] = ()


# the 27 traces of the reference table; other folders are taken whole
REFERENCE = (
    *("cloud-cluster-capacity_cluster2", "cloud-cluster-capacity_cluster28"),
    *(f"crane-dsp_input{k}" for k in ("01", "02", "04", "07", "08", "13")),
    *("gentd26-image-requests_per_minute", "google-cluster-2019_per_5min"),
    *("internet-traffic-ukerna_per_5min", "nab-aws_elb_request_count", "nab-nyc-taxi_half_hourly"),
    *("nab-tweets_aapl", "nab-tweets_amzn", "nasa-http_per_minute"),
    "netman-kpi_server_res_eth1out_curve_6",
    *(f"servegen-clients_{k}" for k in ("m-large-c143", "m-large-c48", "m-mid-c15")),
    *(f"servegen-clients_m-small-{k}" for k in ("c26", "c5", "c8")),
    *("servegen-m-large_per_10min", "servegen-m-small_per_10min"),
    *("twitter-stream-2021_per_minute", "worldcup98_per_minute"),
)


def name_of(path: Path, folder: Path) -> str:
    """Path inside the folder without ending, `/` as `_`."""
    return str(path.relative_to(folder)).removesuffix(".gz").removesuffix(".csv").replace("/", "_")


def traces_in(folder: Path) -> dict[str, Path]:
    """Traces by name: of the reference table where the folder has them, else every CSV file."""
    found = {
        name_of(path, folder): path
        for pattern in ("*.csv", "*.csv.gz")
        for path in sorted(folder.rglob(pattern))
    }
    listed = {name: found[name] for name in REFERENCE if name in found}
    return listed if len(listed) == len(REFERENCE) else found


def is_same(path: Path) -> bool:
    """Whether linear and hold are the very same grid."""
    traffic = read_traffic(path)
    return bool(np.array_equal(grid(traffic, within="linear"), grid(traffic, within="hold")))


def has_minutes(path: Path) -> bool:
    """Whether the file has one row a minute, so that no line betrays the next slot."""
    return read_traffic(path).slot == 60.0


def score_trace(path: Path, asked: Asked) -> Row | str:
    """Score every run on one trace: a row by run, or why not."""
    try:
        traffic = read_traffic(path)
        world = plain_world(
            grid(traffic, within=asked.within),
            replicas_at_p99=asked.replicas,
            cold_start=asked.cold_start,
            begins=UNDATED,  # the rules have no calendar: every trace begins on a Monday, 00:00
            target=PEERS_TARGET if asked.target is None else asked.target,
        )
    except TraceError as error:
        return str(error)
    best = best_run(world)
    reference = best.account.cost(world.service)
    rows: Row = {best.name: _row(best)}
    if asked.ours:
        rows |= _ours(replace(world, advised=asked.target is None), reference, asked.ours_at)
    peers = play_all(world, chosen(asked.peers), reference, tuned=asked.tuned)
    return rows | {run.name: _row(run) for run in peers}


def _ours(world: PlainWorld, reference: float, targets: Iterable[float]) -> Row:
    """Fly once, and account for it under the HPA that is asked for and under further ones."""
    from autoscaler.simulator.production import (  # noqa: PLC0415 - peers need no core
        default_policy,
        fly,
        run_of,
    )

    flight = fly(world, default_policy(world))
    further = (
        replace(
            run_of(replace(world, target=target, advised=False), flight, reference),
            name=f"foretide at {target:.0%}",
        )
        for target in targets
    )
    own = run_of(world, flight, reference)
    return {
        own.name: _row(own) | nights(flight.learnings),
        **{run.name: _row(run) for run in further},
    }


def _row(run: Run) -> dict[str, float]:
    """Give the numbers of a cell."""
    return {
        "score": run.account.score,
        "cost_ratio": run.account.cost_ratio,
        "late_fraction": run.account.late_fraction,
        "starts_per_day": run.account.replicas_started * 24.0 / run.account.evaluated_hours,
        "cpu_seconds": run.cpu_seconds,
    }


def summary(traces: dict[str, Row]) -> dict[str, dict[str, float]]:
    """Median, mean and geometric mean of the score of every run over its traces."""
    names = {name: None for rows in traces.values() for name in rows}
    if not names:
        return {"median": {}, "mean": {}, "geometric_mean": {}}
    scores = {
        name: [rows[name]["score"] for rows in traces.values() if name in rows] for name in names
    }
    return {
        "median": {name: statistics.median(values) for name, values in scores.items()},
        "mean": {name: statistics.fmean(values) for name, values in scores.items()},
        "geometric_mean": {
            name: statistics.geometric_mean(values) for name, values in scores.items()
        },
    }


def table(traces: dict[str, Row], totals: dict[str, dict[str, float]]) -> str:
    """Markdown: a row a trace, score (cost ratio, late share) a run."""
    names = list(totals["median"])
    lines = ["| trace | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for trace, rows in traces.items():
        cells = (_cell(rows[name]) if name in rows else "–" for name in names)
        lines.append(f"| {trace} | " + " | ".join(cells) + " |")
    for kind, values in totals.items():
        cells = (f"{values[name]:.2f}" if name in values else "–" for name in names)
        lines.append(f"| **{kind.replace('_', ' ')}** | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(row: dict[str, float]) -> str:
    """Score, and in brackets what it is made of."""
    return f"{row['score']:.2f} ({row['cost_ratio']:.2f}, {row['late_fraction']:.2%})"


def _arguments(argv: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.score", description=__doc__)
    parser.add_argument("--traces", type=Path, required=True, help="folder of traffic files")
    parser.add_argument("--out", type=Path, required=True, help="folder for scores.json")
    parser.add_argument("--peers", default="all", help="all, none, or names with commas")
    parser.add_argument("--tuned", action="store_true", help="each peer also tuned in hindsight")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--within-slot", choices=("linear", "hold"), default="linear")
    parser.add_argument("--cold-start", type=parse_duration, default=300.0, help="as 2m, 10m")
    parser.add_argument("--replicas", type=float, default=20.0, help="that carry the P99")
    parser.add_argument(
        "--hpa-target",
        type=float,
        help="of the HPA above everyone; default: 0.7, and what our advice names above ours",
    )
    parser.add_argument(
        "--ours-at", type=_shares, default=(), help="targets to score ours under too, with commas"
    )
    parser.add_argument("--no-ours", action="store_true", help="peers only")
    parser.add_argument("--reuse", type=Path, help="scores.json of the other version")
    parser.add_argument(
        "--only", default="", help="traces whose name contains this, or with commas one of these"
    )
    return parser.parse_args(argv)


def _shares(text: str) -> tuple[float, ...]:
    """Read shares with commas between them."""
    return tuple(float(each) for each in text.split(","))


def main(argv: list[str]) -> int:
    """Score a folder; 2 when nothing in it can be scored."""
    given = _arguments(argv)
    try:
        chosen(given.peers)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    wanted = given.only.split(",")
    found = {
        name: path
        for name, path in traces_in(given.traces).items()
        if any(text in name for text in wanted)
    }
    traces = _scored(found, given)
    if not traces:
        print(f"{given.traces}: no trace could be scored", file=sys.stderr)
        return 2
    minutes = {name: rows for name, rows in traces.items() if has_minutes(found[name])}
    totals = summary(traces)
    given.out.mkdir(parents=True, exist_ok=True)
    document = {"traces": traces, **totals, "one_minute": summary(minutes)}
    (given.out / "scores.json").write_text(json.dumps(document, indent=1) + "\n")
    alone = summary(minutes) if minutes else {}
    text = table(traces, totals | {f"{k}, 1-minute traces": v for k, v in alone.items()})
    text += "\n" + nights_table(traces)
    (given.out / "scores.md").write_text(text)
    print(text)
    return 0


def _scored(found: dict[str, Path], given: argparse.Namespace) -> dict[str, Row]:
    """Score traces in processes, in their order; known ones are taken over."""
    known: dict[str, Row] = {}
    if given.reuse is not None:
        earlier = json.loads(given.reuse.read_text())["traces"]
        known = {k: earlier[k] for k in found if k in earlier and is_same(found[k])}
    asked = Asked(
        peers=given.peers,
        tuned=given.tuned,
        within=given.within_slot,
        replicas=given.replicas,
        cold_start=given.cold_start,
        target=given.hpa_target,
        ours=not given.no_ours,
        ours_at=given.ours_at,
    )
    traces: dict[str, Row] = {}
    with ProcessPoolExecutor(max_workers=given.jobs) as pool:
        waiting = {
            name: pool.submit(score_trace, path, asked)
            for name, path in found.items()
            if name not in known
        }
        for name in found:
            answer = known[name] if name in known else waiting[name].result()
            if isinstance(answer, str):
                print(f"{name}: skipped: {answer}", file=sys.stderr)
                continue
            traces[name] = answer
            _progress(name, answer.items(), len(traces), len(found))
    return traces


def _progress(name: str, rows: Iterable[tuple[str, dict[str, float]]], done: int, of: int) -> None:
    """Tell on stderr how far it is."""
    scores = ", ".join(f"{run} {row['score']:.2f}" for run, row in rows)
    print(f"{done}/{of} {name}: {scores}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
