"""A simulation as a report: the answer, the table, and charts of every run to switch on and off."""

from __future__ import annotations

import numpy as np

from autoscaler.model import Floats
from autoscaler.replay import need_of
from autoscaler.report import Band, Chart, Line, Note, Report, Shape, Step, Table, local_time
from autoscaler.schema.durations import format_duration
from autoscaler.simulator.runs import Run
from autoscaler.simulator.simulation import Simulated

SHOWN = 2  # runs that are on when the report opens: ours and the first peer


def report_of(
    simulated: Simulated, name: str, *, gpus: float = 1.0, price: float | None = None
) -> Report:
    """Give the report of a simulation on the traffic of that name.

    Parameters
    ----------
    gpus, price : GPUs of a replica, and of a GPU-hour where it is known
    """
    world = simulated.world
    steps = np.arange(world.start, len(world.demand), dtype=np.float64)
    times = world.begins + world.service.step * steps
    partial = " (interrupted: what was done until then)" if simulated.partial else ""
    return Report(
        title=f"{simulated.policy.key} on {name}{partial}",
        lead=lead_of(simulated),
        facts=_facts(simulated),
        tables=(table_of(simulated, gpus=gpus, price=price), *frontier_of(simulated)),
        charts=(
            _demand(simulated, times),
            _replicas(simulated, times),
            _waits(simulated, times),
        ),
        footer="foretide simulate. Rules of the world: docs, the plain world.",
    )


def lead_of(simulated: Simulated) -> str:
    """Give the answer in a sentence or two."""
    ours = simulated.runs[0]
    account = ours.account
    text = (
        f"Foretide: score {account.score:.2f} (cost {account.cost_ratio:.2f} of the clairvoyant's, "
        f"{account.late_fraction:.2%} of requests late)."
    )
    others = simulated.runs[1:]
    if not others:
        return text
    best = min(others, key=lambda run: run.account.score)
    who = "The other" if len(others) == 1 else f"Best of {len(others)} others"
    text += (
        f" {who}: {best.name} with {best.account.score:.2f} "
        f"({best.account.cost_ratio:.2f}, {best.account.late_fraction:.2%})."
    )
    target = advised_target(simulated)
    if target is None:
        return text
    return (
        f"{text} Above ours stands an HPA at {target:.0%}, as our advice was when the run began, "
        f"above the others at {simulated.world.target:.0%}."
    )


def advised_target(simulated: Simulated) -> float | None:
    """Target above ours when it is our own advice's; None when all have the same."""
    ours = simulated.runs[0].settings.get("target")
    return None if ours == simulated.world.target else ours


def table_of(simulated: Simulated, *, gpus: float = 1.0, price: float | None = None) -> Table:
    """Give one row a run, ours in bold, the clairvoyant last; GPU-hours and money where asked."""
    paid = ("GPU-hours", "money") if price is not None else ("GPU-hours",) if gpus != 1 else ()

    def row(run: Run) -> tuple[str, ...]:
        hours = run.account.replica_hours * gpus
        worth = (f"{hours:,.0f}", f"{hours * (price or 0.0):,.0f}")
        return (*_row(simulated, run), *worth[: len(paid)])

    rows = [row(run) for run in (*simulated.runs, simulated.best)]
    return Table(
        title="Score and what it is made of",
        columns=(
            *("run", "score", "95 %", "cost", "late", "worst hour", "worst day", "wait"),
            *("hours", "starts", "changes a day", "short", *paid),
        ),
        rows=tuple(rows),
        strong=0,
        note="score = cost × (1 + 100 × price × late); 1.00 is the clairvoyant. 95 %: bootstrap "
        "over days. cost: against the clairvoyant's. hours: replica-hours. short: time with fewer "
        "ready replicas than the need."
        + (f" money: GPU-hours × {price:g}." if price is not None else ""),
    )


def frontier_of(simulated: Simulated) -> tuple[Table, ...]:
    """Give the cost–lateness curve as a table: cost and late share of every run and margin."""
    curves = simulated.frontiers
    if not curves:
        return ()
    margins = [point.margin for point in next(iter(curves.values()))]
    rows = [
        (name, *(f"{point.cost_ratio:.2f} / {point.late_fraction:.2%}" for point in curve))
        for name, curve in curves.items()
    ]
    ours = simulated.runs[0].name
    return (
        Table(
            title="Cost against lateness when every floor is multiplied",
            columns=("run", *(f"{margin:g} ×" for margin in margins)),
            rows=tuple(rows),
            strong=list(curves).index(ours) if ours in curves else None,
            note="cost / late share, each under its own HPA; 1 × is the run. A run is better "
            "where both are smaller.",
        ),
    )


def _row(simulated: Simulated, run: Run) -> tuple[str, ...]:
    """Give the cells of a run."""
    account, found = run.account, simulated.intervals.get(run.name)
    wait = account.worst_wait_seconds
    return (
        run.name,
        f"{account.score:.2f}",
        "–" if found is None else f"{found.score.low:.2f} … {found.score.high:.2f}",
        f"{account.cost_ratio:.2f}",
        f"{account.late_fraction:.2%}",
        f"{account.worst_hour_late_fraction:.1%}",
        f"{account.worst_day_late_fraction:.1%}",
        f"{wait:.0f} s" if np.isfinite(wait) else "nothing served",
        f"{account.replica_hours:,.0f}",
        f"{account.replicas_started:,}",
        f"{account.changes_per_day:.1f}",
        f"{account.short_seconds / 3600:.1f} h",
    )


def _facts(simulated: Simulated) -> tuple[tuple[str, str], ...]:
    """Give what was run, as label and text."""
    world = simulated.world
    service = world.service
    above = "none" if world.target is None else f"plain HPA at {world.target:.0%}"
    target = advised_target(simulated)
    if target is not None:
        above += f"; ours, as it advised, at {target:.0%}"
    facts = [
        ("Evaluated", evaluated(simulated)),
        ("History before", f"{world.start / world.day:.0f} days"),
        ("Capacity of a replica", f"{service.capacity:.4g} demand/s"),
        ("Cold start", format_duration(service.cold * service.step)),
        ("Above the floors", "HPA of the manifest" if world.full else above),
        ("Promise", f"{service.wait:g} s"),
    ]
    if simulated.flight is not None:
        chosen = {fit.name: None for fit in simulated.flight.learnings}
        facts.append(("Forecasters chosen", ", ".join(chosen)))
    return tuple(facts)


def evaluated(simulated: Simulated) -> str:
    """Say which days the score is of."""
    world, zone = simulated.world, simulated.policy.spec.time_zone
    step = world.service.step
    first, last = (world.begins + step * at for at in (world.measured, len(world.demand)))
    days = (len(world.demand) - world.measured) / world.day
    return f"{days:.1f} days, {local_time(first, zone)} to {local_time(last, zone)}"


def _demand(simulated: Simulated, times: Floats) -> Chart:
    """Demand, and what was expected of it when it had to be ordered for."""
    world, ours = simulated.world, simulated.runs[0]
    series: list[Shape] = []
    if ours.expected is not None:
        series.append(
            Band(
                label="expected, median to order quantile",
                tone="forecast",
                lower=ours.expected[0],
                upper=ours.expected[1],
            )
        )
    series.append(Line(label="demand", tone="demand", values=world.run_demand))
    return Chart(
        title="Demand, and what was expected one lead time before",
        unit="demand/s",
        times=times,
        series=tuple(series),
        zone=simulated.policy.spec.time_zone,
    )


def _replicas(simulated: Simulated, times: Floats) -> Chart:
    """Need, our floor with the reason of each change, and ready replicas of each run."""
    world, ours = simulated.world, simulated.runs[0]
    need = need_of(world.run_demand, world.service).astype(np.float64)
    series: list[Shape] = [Step(label="need", tone="need", values=need, fill=True)]
    if ours.floors is not None:
        floor = ours.floors.astype(np.float64)
        series.append(Step(label="floor", tone="reference", group=ours.name, values=floor))
    for index, run in enumerate(simulated.runs):
        ready = run.replayed.ready[0].astype(np.float64)
        series.append(Step(label="ready", group=run.name, values=ready, shown=index < SHOWN))
    return Chart(
        title="Replicas",
        unit="replicas",
        times=times,
        series=tuple(series),
        notes=tuple(
            Note(at=float(times[step]), text=text, group=ours.name) for step, text in ours.changes
        ),
        zone=simulated.policy.spec.time_zone,
    )


def _waits(simulated: Simulated, times: Floats) -> Chart:
    """How long the backlog of each run would have made a request wait, at most 15 minutes."""
    series: list[Shape] = []
    for index, run in enumerate(simulated.runs):
        served = run.replayed.ready[0] * simulated.world.service.capacity
        backlog = run.replayed.backlog[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            waits = np.where(backlog > 0, np.minimum(backlog / served, 900.0), 0.0)
        series.append(Line(label="wait", group=run.name, values=waits, shown=index < SHOWN))
    return Chart(
        title="Wait that the backlog was worth (cut at 900 s)",
        unit="seconds",
        times=times,
        series=tuple(series),
        zone=simulated.policy.spec.time_zone,
    )
