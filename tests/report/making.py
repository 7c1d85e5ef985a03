"""Small charts for the tests of pictures."""

from __future__ import annotations

import numpy as np

from autoscaler.report import Band, Chart, Line, Note, Report, Step, Table

START = 1_796_083_200.0  # Tue 1 Dec 2026 00:00 UTC
HOUR = 3600.0


def demand_chart(count: int = 145, *, zone: str = "Asia/Shanghai") -> Chart:
    times = START + np.arange(count) * 600.0
    wave = 40 + 25 * np.sin(np.arange(count) / 23.0)
    seen = np.where(times <= START + 3 * HOUR, wave, np.nan)
    return Chart(
        title="Demand",
        unit="requests/s",
        times=times,
        zone=zone,
        now=START + 3 * HOUR,
        series=(
            Band(label="forecast P50–P95", tone="forecast", lower=wave * 0.9, upper=wave * 1.2),
            Line(label="demand", tone="demand", values=seen),
        ),
    )


def replica_chart(count: int = 145, *, runs: tuple[str, ...] = ("Foretide", "HPA alone")) -> Chart:
    times = START + np.arange(count) * 600.0
    need = np.ceil((40 + 25 * np.sin(np.arange(count) / 23.0)) / 3.2)
    steps = tuple(
        Step(label="floor", group=run, values=np.maximum.accumulate(need) - index)
        for index, run in enumerate(runs)
    )
    return Chart(
        title="Replicas",
        unit="replicas",
        times=times,
        zone="Asia/Shanghai",
        series=(Step(label="need", tone="need", values=need, fill=True), *steps),
        notes=(
            Note(at=START + 6 * HOUR, text="floor 14 → 18: P95 needs 18 at 20:30", group=runs[0]),
            Note(at=START + 12 * HOUR, text="floor 18 → 9: the tide has left", group=runs[0]),
        ),
    )


def report(**changes: object) -> Report:
    fields: dict[str, object] = {
        "title": "The day ahead of llm/qwen-32b",
        "lead": "The floor follows the tide.",
        "facts": (("Policy", "llm/qwen-32b"), ("Seed", "7")),
        "tables": (
            Table(
                title="Runs",
                columns=("run", "replica-hours", "late"),
                rows=(("Foretide", "600", "0.1 %"), ("HPA alone", "610", "6 %")),
                strong=0,
                note="Counted by the servers.",
            ),
        ),
        "charts": (demand_chart(), replica_chart()),
        "footer": "foretide",
    }
    return Report(**(fields | changes))  # type: ignore[arg-type] # one dictionary of mixed fields
