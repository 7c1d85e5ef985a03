"""How a demo is told: a table, a sentence, charts for terminal and page, and a summary as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autoscaler.cli.dayshown import order_rule
from autoscaler.cli.options import duration_text
from autoscaler.model import Floats
from autoscaler.report import Chart, Line, Note, Report, Step, Table, local_time, value_text
from autoscaler.sandbox.demo import Shown
from autoscaler.sandbox.lane import Counts
from autoscaler.sandbox.story import STEP

_MOST_WAIT = 600.0  # a wait without any ready replica is infinite; charts end here


def table_of(shown: Shown) -> Table:
    """Compare the runs."""
    base = shown.runs[1].world.replica_seconds
    rows = []
    for run in shown.runs:
        world = run.world
        more = world.replica_seconds / base - 1
        rows.append(
            (
                run.name,
                f"{world.replica_seconds / 3600:,.0f}",
                "" if run is shown.runs[1] else ("0%" if abs(more) < 0.005 else f"{more:+.0%}"),
                f"{world.late_fraction:.2%}",
                duration_text(world.worst_wait),
                str(run.changes),
                str(run.floor_writes) if run is shown.runs[0] else "–",
            )
        )
    return Table(
        title="What it cost, and who had to wait",
        columns=(
            "run",
            "replica-hours",
            "vs. HPA",
            "late requests",
            "longest wait",
            "replica changes",
            "floor writes",
        ),
        rows=tuple(rows),
        strong=0,
        note="Counted by the simulated cluster from what it saw, not by the controller.",
    )


def sentence_of(shown: Shown) -> str:
    """Answer in one or two sentences, whichever way it came out."""
    ours, alone, careful, fixed = (run.world for run in shown.runs)
    hours = _more(ours.replica_seconds, alone.replica_seconds)
    fixed_hours = _more(fixed.replica_seconds, ours.replica_seconds)
    room = _more(careful.replica_seconds, ours.replica_seconds)
    return (
        f"With Foretide {ours.late_fraction:.2%} of the requests were late, with the same HPA "
        f"alone {alone.late_fraction:.2%}; Foretide took {hours} replica-hours. "
        f"Against Foretide, buying safety by a lower HPA target takes {room} replica-hours "
        f"({careful.late_fraction:.2%} late), and a fixed floor {fixed_hours} "
        f"({fixed.late_fraction:.2%} late)."
    )


def _more(value: float, base: float) -> str:
    share = value / base - 1
    if abs(share) < 0.005:
        return "the same number of"
    return f"{abs(share):.0%} {'more' if share > 0 else 'fewer'}"


def reading_of(shown: Shown) -> tuple[str, ...]:
    """How to read table and pictures."""
    promised = duration_text(shown.story.policy.spec.promise.wait)
    return (
        f"late      meets a backlog worth more than {promised} (promise.wait)",
        "hours     replicas that were ordered, starting ones included: what you pay for",
        "changes   each one moves sessions and throws caches away; fewer is calmer",
        "floor     minReplicas, the one number that Foretide moves; the HPA works above it",
    )


def terminal_charts(shown: Shown) -> tuple[Chart, ...]:
    """Draw the whole run, then the hours in which waiting was worst without Foretide."""
    ours, alone = shown.runs[0], shown.runs[1]
    need = np.ceil(shown.demand / shown.story.capacity)
    whole = _chart(
        shown,
        "Replicas: what the demand needs, and what was ready with Foretide",
        (
            Step(label="need", tone="need", fill=True, values=need),
            Step(label="ready with Foretide", tone="floor", values=ours.ready),
        ),
    )
    first, last = _worst(shown)
    near = slice(first, last)
    zone = shown.story.policy.spec.time_zone
    since = local_time(float(shown.times[first]), zone)
    close = Chart(
        title=f"The hours in which the HPA alone came latest, from {since} on",
        unit="replicas",
        times=shown.times[near],
        zone=zone,
        series=(
            Step(label="need", tone="need", fill=True, values=need[near]),
            Step(label="ready with Foretide", tone="floor", values=ours.ready[near]),
            Step(label="ready with the HPA alone", tone="late", values=alone.ready[near]),
        ),
    )
    return whole, close


def _worst(shown: Shown) -> tuple[int, int]:
    """Four hours around the longest wait of the HPA alone."""
    n = len(shown.times)
    width = min(n, round(4 * 3600 / STEP))
    middle = int(np.argmax(_wait(shown.runs[1])))
    first = min(max(0, middle - width // 2), n - width)
    return first, first + width


def _chart(shown: Shown, title: str, series: tuple[Step, ...]) -> Chart:
    return Chart(
        title=title,
        unit="replicas",
        times=shown.times,
        zone=shown.story.policy.spec.time_zone,
        series=series,
    )


def report_of(shown: Shown, seed: int, version: str) -> Report:
    """Page of the report."""
    days = len(shown.times) * STEP / 86_400
    ended = "" if shown.whole else " (interrupted: what was run until then)"
    return Report(
        title=f"Foretide demo: {days:g} days of one service{ended}",
        lead=sentence_of(shown),
        facts=_facts(shown, seed),
        tables=(table_of(shown),),
        charts=_page_charts(shown),
        footer=f"foretide {version}, foretide demo; every decision is in decisions.jsonl",
    )


def _facts(shown: Shown, seed: int) -> tuple[tuple[str, str], ...]:
    """Tell what was run, and how."""
    story, told = shown.story, shown.told
    spec = story.policy.spec
    chosen = {f"{k.fitted.name} {order_rule(k)}": None for k in told.learnt}
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(told.outcomes.items()))
    return (
        ("Traffic", story.told),
        ("Seed", "none: recorded traffic" if story.column else str(seed)),
        ("One replica carries", f"{value_text(story.capacity)}/s"),
        ("Cold start", duration_text(spec.cold_start_seconds)),
        ("Learnt each night", ", ".join(chosen) or "nothing yet"),
        ("Cycles", outcomes),
        ("Doubts", ", ".join(sorted(told.doubts)) or "none"),
        ("Queries answered by the sandbox's Prometheus", f"{shown.requests:,}"),
    )


def _page_charts(shown: Shown) -> tuple[Chart, ...]:
    """Carried demand, replicas and waiting, all runs switchable."""
    ours = shown.runs[0]
    need = np.ceil(shown.demand / shown.story.capacity)
    carried, ordered, waits = [], [], []
    for index, run in enumerate(shown.runs):
        on = index < 2  # ours and the HPA alone; the others wait to be switched on
        able = run.ready * shown.story.capacity
        carried.append(Step(label="ready capacity", group=run.name, values=able, shown=on))
        ordered.append(Step(label="ordered", group=run.name, values=run.total, shown=on))
        waits.append(Line(label="wait", group=run.name, values=_wait(run), shown=on))
    demand = Chart(
        title="Demand, and what the ready replicas can carry",
        unit="requests/s",
        times=shown.times,
        zone=shown.story.policy.spec.time_zone,
        series=(Line(label="demand", tone="demand", values=shown.demand), *carried),
    )
    floor = Step(label="floor", group=ours.name, tone="reference", values=ours.floor)
    replicas = replace(
        demand,
        title="Replicas",
        unit="replicas",
        series=(Step(label="need", tone="need", fill=True, values=need), floor, *ordered),
        notes=tuple(
            Note(at=m.at, text=f"floor {m.before} → {m.floor}: {m.why}", group=ours.name)
            for m in shown.told.moves
        ),
    )
    waiting = replace(demand, title="Waiting time", unit="seconds", series=tuple(waits))
    return demand, replicas, waiting


def _wait(run: Counts) -> Floats:
    """Give the waiting time in seconds, shape (n,), cut where it is endless."""
    return np.minimum(run.wait, _MOST_WAIT)


def document_of(shown: Shown, seed: int) -> dict[str, Any]:
    """Summary as JSON; `runs` are counted by the servers."""
    story = shown.story
    return {
        "schema": "foretide.demo/1",
        "story": story.told,
        "seed": None if story.column else seed,
        "whole": shown.whole,
        "begins": local_time(story.begins, story.policy.spec.time_zone),
        "steps": len(shown.times),
        "stepSeconds": STEP,
        "runs": [
            {
                "name": run.name,
                "replicaHours": run.world.replica_seconds / 3600,
                "lateFraction": run.world.late_fraction,
                "worstWaitSeconds": run.world.worst_wait,
                "replicasStarted": run.world.started,
                "changes": run.changes,
                "floorWrites": run.floor_writes,
            }
            for run in shown.runs
        ],
    }
