"""The page of a comparison of candidates: who cost and who waited by day, and the days flown."""

from __future__ import annotations

import numpy as np

from autoscaler.cli.options import duration_text
from autoscaler.cli.tunedshown import (
    advice_of,
    days_text,
    facts_of,
    sentence_of,
    shown,
    table_of,
)
from autoscaler.cli.tuning import Tuned
from autoscaler.model import Floats
from autoscaler.replay import need_of
from autoscaler.report import Chart, Line, Report, Step, Table
from autoscaler.simulator.confirm import Confirmed


def report_of(found: Tuned, made_by: str) -> Report:
    """Give the page: charts by day of who cost and who waited, and the confirmed days."""
    charts = [*_by_day(found), *(_flown(found, each) for each in found.confirmed[:1])]
    return Report(
        title=f"{found.policy.key}: candidates on {days_text(len(found.comparison.rows))}",
        lead=sentence_of(found),
        advice=advice_of(found),
        facts=facts_of(found),
        tables=(table_of(found),),
        charts=tuple(charts),
        details=(_everything(found),),
        footer=f"foretide tune {made_by}, {found.source}",
    )


def _by_day(found: Tuned) -> tuple[Chart, ...]:
    """Replica-hours and late share of each day, for each that is shown."""
    times = found.midnights
    if len(times) < 2:
        return ()
    options = shown(found)

    def chart(title: str, unit: str, values: dict[str, Floats]) -> Chart:
        lines = tuple(Line(label=name, group=name, values=value) for name, value in values.items())
        return Chart(
            title=title, unit=unit, times=times, series=lines, zone=found.policy.spec.time_zone
        )

    late = {o.name: 100 * o.late_by_day for o in options}
    return (
        chart("What each would have cost", "replica-hours", {o.name: o.hours for o in options}),
        chart("Who would have waited", "% of the day's requests", late),
    )


def _flown(found: Tuned, confirmed: Confirmed) -> Chart:
    """Need, floor and ready replicas of the confirmed days."""
    judge = found.lesson.judge
    service = None if judge is None else judge.service
    demand, run = confirmed.demand, confirmed.run
    step = 60.0 if service is None else service.step
    series = [] if service is None else [_need(need_of(demand, service).astype(np.float64))]
    if run.floors is not None:
        series.append(Step(label="floor", tone="floor", values=run.floors.astype(np.float64)))
    series.append(
        Step(label="ready", tone="ready", values=run.replayed.ready[0].astype(np.float64))
    )
    return Chart(
        title=f"{confirmed.name} by the production cycle",
        unit="replicas",
        times=confirmed.begins + step * np.arange(len(demand), dtype=np.float64),
        series=tuple(series),
        zone=found.policy.spec.time_zone,
    )


def _need(values: Floats) -> Step:
    return Step(label="need", tone="need", values=values, fill=True)


def _everything(found: Tuned) -> Table:
    """Give every candidate, rule and release."""
    rows = tuple(
        (
            option.name,
            "–" if option.release is None else duration_text(option.release),
            f"{option.score:.3f}",
            f"{option.cost_ratio:.3f}",
            f"{option.late:.3%}",
            f"{option.replica_hours:,.1f}",
            f"{option.starts:.1f}",
        )
        for option in found.comparison.options
    )
    columns = ("candidate", "release", "score", "cost", "late", "hours/day", "starts/day")
    return Table(title="Everything that was replayed", columns=columns, rows=rows)
