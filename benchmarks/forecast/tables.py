"""What is printed: a table for each horizon, and who was best how often."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.forecast.task import LEVELS, Measured, Result

NEAR = 1.03
"""Within this times the best loss one is as good as the best."""

_LEAST = 1e-4  # of mean demand: losses below it are nothing, and their ratios mean nothing
BASE = "yesterday"
OURS = "foretide"
WHAT = {
    "lead": "lead: 5 to 10 minutes ahead",
    "hour": "hour: 10 to 60 minutes ahead",
    "day": "day: 1 to 24 hours ahead",
}

Results = dict[str, dict[str, Result]]
"""By series, then by forecaster; a forecaster that could not is left out."""


def report(results: Results, horizons: Iterable[str]) -> str:
    """Markdown of everything."""
    parts = [_costs(results)]
    for horizon in horizons:
        parts.append(f"### {WHAT[horizon]}\n\n{_table(results, horizon)}")
        if any(OURS in row for row in results.values()):
            parts.append(_ours(results, horizon))
    return "\n".join(parts)


def names_of(results: Results) -> list[str]:
    """Every forecaster, in the order of its first appearance."""
    return list(dict.fromkeys(name for row in results.values() for name in row))


def as_good(results: Results, horizon: str, level: int) -> dict[str, list[str]]:
    """Series on which each forecaster is best, or within 3 % of the best, at a level."""
    found: dict[str, list[str]] = {name: [] for name in names_of(results)}
    for series, row in results.items():
        losses = {name: result.horizons[horizon].loss[level] for name, result in row.items()}
        enough = NEAR * min(losses.values()) + _LEAST * (1 - LEVELS[level])
        for name, loss in losses.items():
            if loss <= enough:
                found[name].append(series)
    return found


def _table(results: Results, horizon: str) -> str:
    """Tell a row for each forecaster: losses, ratios to yesterday's, coverage, how often best."""
    best = as_good(results, horizon, LEVELS.index(0.99))
    lines = [
        "| forecaster | series | loss P50 | P90 | P99 | ratio P50 | P90 | P99 | below P50 | P90 "
        "| P99 | P99 within 3 % of best |",
        "|---" * 12 + "|",
    ]
    for name in names_of(results):
        own = [row[name].horizons[horizon] for row in results.values() if name in row]
        cells = [name, str(len(own))]
        cells += [f"{100 * _mean(own, 'loss', i):.2f} %" for i in range(len(LEVELS))]
        cells += [_ratio(results, name, horizon, i) for i in range(len(LEVELS))]
        cells += [f"{100 * _mean(own, 'covered', i):.1f} %" for i in range(len(LEVELS))]
        cells.append(f"{len(best[name])} of {len(own)}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _mean(own: list[Measured], what: str, level: int) -> float:
    return float(np.mean([getattr(measured, what)[level] for measured in own]))


def _ratio(results: Results, name: str, horizon: str, level: int) -> str:
    """Geometric mean of the loss over yesterday's on the same series."""
    found = []
    for row in results.values():
        if name in row and BASE in row:
            own, base = (row[key].horizons[horizon].loss[level] for key in (name, BASE))
            found.append(np.log((own + _LEAST / 10) / (base + _LEAST / 10)))
    return f"{np.exp(np.mean(found)):.2f}" if found else "–"


def _ours(results: Results, horizon: str) -> str:
    """Who was better than ours at the P99, and by how much."""
    level = LEVELS.index(0.99)
    good = set(as_good(results, horizon, level)[OURS])
    both = [series for series, row in results.items() if OURS in row and len(row) > 1]
    worse = []
    for series in both:
        if series not in good:
            losses = {k: r.horizons[horizon].loss[level] for k, r in results[series].items()}
            first = min(losses, key=lambda name: losses[name])
            worse.append(f"{series} ({losses[OURS] / losses[first]:.2f} × {first})")
    if not both:
        return ""
    kept = len(both) - len(worse)
    text = f"P99 of {OURS} best or within 3 %: {kept} of {len(both)} ({kept / len(both):.0%})"
    return text + (f"; else {', '.join(worse)}.\n" if worse else ".\n")


def _costs(results: Results) -> str:
    """CPU of a fit and of an answer."""
    lines = ["| forecaster | CPU of a fit | of an answer |", "|---|---|---|"]
    for name in names_of(results):
        own = [row[name] for row in results.values() if name in row]
        fit = float(np.mean([result.fit_seconds for result in own]))
        ask = float(np.mean([result.ask_seconds for result in own]))
        lines.append(f"| {name} | {fit:.3f} s | {1000 * ask:.2f} ms |")
    return "\n".join(lines) + "\n"
