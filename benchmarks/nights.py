"""What the nights of a flight cost: those that compare all candidates, and those that fit again.

Apart from the score, which does not hang on it: CPU seconds are another machine's another time.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from autoscaler.simulator.ports import Learning

KINDS = ("night", "choice", "refit")
"""All fits, those that compared all candidates, those that fitted what stood."""


def nights(learnings: Sequence[Learning]) -> dict[str, float]:
    """Count the fits of each kind, and give the CPU seconds of a mean one."""
    found: dict[str, float] = {}
    chose = [fit for fit in learnings if fit.chosen]
    again = [fit for fit in learnings if not fit.chosen]
    for kind, fits in zip(KINDS, (learnings, chose, again), strict=True):
        found[f"{kind}s"] = len(fits)
        if fits:
            found[_cost(kind)] = statistics.fmean(fit.cpu_seconds for fit in fits)
    return found


def nights_table(traces: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Markdown: CPU seconds a night of ours on every trace; empty where ours was not played."""
    ours = {
        trace: row for trace, rows in traces.items() for row in rows.values() if "nights" in row
    }
    if not ours:
        return ""
    lines = ["| CPU s (fits) | a night | that chooses | that fits again |", "|---|---|---|---|"]
    for trace, row in ours.items():
        cells = [f"{row[_cost(k)]:.3f} ({row[f'{k}s']})" if row[f"{k}s"] else "–" for k in KINDS]
        lines.append(f"| {trace} | " + " | ".join(cells) + " |")
    means = []
    for kind in KINDS:
        known = [row[_cost(kind)] for row in ours.values() if row[f"{kind}s"]]
        means.append(f"{statistics.fmean(known):.3f}" if known else "–")
    lines.append("| **mean of the traces** | " + " | ".join(means) + " |")
    return "\n".join(lines) + "\n"


def _cost(kind: str) -> str:
    """Name of the CPU seconds of a kind."""
    return f"cpu_seconds_a_{kind}"
