"""What a traffic file holds, in numbers and profiles, and which kind of policy suits it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats
from autoscaler.report import Chart, Line, Report, Table
from autoscaler.world.traffic import Traffic, beginning, grid

DAY, WEEK = 24, 168
MONDAY = 345_600.0  # 1970-01-05, so that profiles carry weekdays


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A traffic file in numbers.

    Attributes
    ----------
    days, slot : length in days, seconds between rows
    holes : share of rows that are not there
    mean, peak, p99 : demand per second over the rows
    day_tide, week_tide : correlation of hourly means with those a day and a week before; NaN when
        the file is too short
    day_profile : shape (24,), mean demand of each hour of the day (UTC of the file)
    week_profile : shape (168,), NaN for hours that the file does not reach
    advice : which kind of policy suits
    """

    days: float
    slot: float
    rows: int
    holes: float
    mean: float
    peak: float
    p99: float
    day_tide: float
    week_tide: float
    day_profile: Floats
    week_profile: Floats
    advice: str


def describe(traffic: Traffic) -> Description:
    """Describe a traffic file."""
    span = float(traffic.times[-1]) + traffic.slot
    expected = round(span / traffic.slot)
    hourly = _hourly(traffic)
    day, week = correlation(hourly, DAY), correlation(hourly, WEEK)
    clock = (np.arange(len(hourly)) + round(beginning(traffic, 3600.0) / 3600)) % DAY
    # hours since a Monday, 00:00
    position = np.arange(len(hourly)) + round((beginning(traffic, 3600.0) - MONDAY) / 3600)
    mean = float(traffic.values.mean())
    return Description(
        days=span / 86_400,
        slot=traffic.slot,
        rows=len(traffic.times),
        holes=max(0.0, 1 - len(traffic.times) / expected),
        mean=mean,
        peak=float(traffic.values.max()),
        p99=float(np.percentile(traffic.values, 99)),
        day_tide=day,
        week_tide=week,
        day_profile=_profile(hourly, clock, DAY),
        week_profile=_profile(hourly, position % WEEK, WEEK),
        advice=_advice(span / 86_400, float(traffic.values.max()), day, week),
    )


def correlation(hourly: Floats, lag: int) -> float:
    """Pearson correlation of hourly means with those `lag` hours before; NaN when too short."""
    now, before = hourly[lag:], hourly[:-lag]
    both = np.isfinite(now) & np.isfinite(before)
    if both.sum() < DAY or np.ptp(now[both]) == 0 or np.ptp(before[both]) == 0:
        return float("nan")
    return float(np.corrcoef(now[both], before[both])[0, 1])


def report_of(found: Description, name: str) -> Report:
    """Give the description as a report: numbers, and the two profiles."""
    rows = tuple((label, text) for label, text in facts(found))
    charts = [_chart("Mean day (UTC)", found.day_profile)]
    if np.isfinite(found.week_profile).all():
        charts.append(_chart("Mean week (from Monday, UTC)", found.week_profile))
    return Report(
        title=name,
        lead=found.advice,
        tables=(Table(columns=("what", "value"), rows=rows),),
        charts=tuple(charts),
    )


def facts(found: Description) -> list[tuple[str, str]]:
    """Give labels and texts of the numbers."""
    return [
        ("length", f"{found.days:.1f} days, {found.rows:,} rows every {found.slot:g} s"),
        ("holes", f"{found.holes:.2%} of the rows"),
        ("mean demand", f"{found.mean:.4g} /s"),
        ("P99, peak", f"{found.p99:.4g} /s, {found.peak:.4g} /s"),
        ("peak / mean", f"{found.peak / found.mean:.2f}" if found.mean else "–"),
        ("like the day before", _strength(found.day_tide)),
        ("like the week before", _strength(found.week_tide)),
    ]


def _strength(tide: float) -> str:
    """Write a correlation."""
    return "too short to say" if np.isnan(tide) else f"{tide:.2f}"


def _advice(days: float, peak: float, day: float, week: float) -> str:
    """Say which kind of policy suits."""
    if not peak:
        return "There is no demand in it: every known row is 0"
    known = [tide for tide in (day, week) if not np.isnan(tide)]
    if not known:
        return f"{days:.1f} days are too short to see a tide; Foretide starts with the last minutes"
    strongest = max(known)
    if strongest < 0.3:
        return (
            "No tide to speak of: Foretide will choose short-horizon quantiles or a flat floor; "
            "a higher floor.min buys more than a forecast here"
        )
    if strongest < 0.7:
        return (
            "A tide under noise: Act with the defaults; compare with `simulate --against all` "
            "before trusting it alone"
        )
    when = "weekly" if not np.isnan(week) and week > day + 0.05 else "daily"
    return (
        f"A clear {when} tide: what Foretide is for; Observe for a week, then RaiseOnly, then Act"
    )


def _hourly(traffic: Traffic) -> Floats:
    """Means of whole hours, NaN where fewer than half of the rows are there."""
    step = min(traffic.slot, 3600.0)
    values = grid(traffic, step, "hold")
    at = np.floor(traffic.times / step + 1e-9).astype(np.int64)
    known = np.zeros(len(values), dtype=bool)
    known[at[at < len(values)]] = True
    per = max(1, round(3600 / step))
    count = len(values) // per
    cut, seen = values[: count * per].reshape(count, per), known[: count * per].reshape(count, per)
    number = seen.sum(axis=1)
    total = np.where(seen, cut, 0.0).sum(axis=1)
    enough = number * 2 >= min(per, max(1, round(3600 / traffic.slot)))
    means: Floats = np.full(count, np.nan)
    means[enough] = total[enough] / number[enough]
    return means


def _profile(hourly: Floats, clock: np.ndarray, size: int) -> Floats:
    """Mean of the known hours at each place of the clock."""
    known = np.isfinite(hourly)
    number = np.bincount(clock[known], minlength=size)
    total = np.bincount(clock[known], weights=hourly[known], minlength=size)
    profile: Floats = np.full(size, np.nan)
    np.divide(total, number, out=profile, where=number > 0)
    return profile


def _chart(title: str, profile: Floats) -> Chart:
    """Draw a profile, closed to its beginning."""
    closed = np.concatenate([profile, profile[:1]])
    times = MONDAY + 3600.0 * np.arange(len(closed), dtype=np.float64)
    return Chart(
        title=title,
        unit="/s",
        times=times,
        series=(Line(label="mean demand", tone="demand", values=closed),),
    )
