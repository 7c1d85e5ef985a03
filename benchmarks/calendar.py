"""What a country's holidays are worth to a day-ahead forecast: `--traces DIR`.

Each public holiday on a weekday, and each other day up to eight days after one, is forecast at its
midnight from the 28 days before it, by forecasters that are told the calendar and that are not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np

from autoscaler.forecast import LAST_WEEK, PROFILE, TidalForecaster, kinds_of
from autoscaler.forecast.kinds import PLAIN, Kinds
from autoscaler.model import Series
from autoscaler.schema import calendar as calendars
from autoscaler.schema import walltime
from autoscaler.schema.calendar import Calendar
from autoscaler.world.traffic import Traffic, read_traffic

HISTORY, AFTER, MOST = 28, 8, 260  # days
VICTORIA = {"country": "AU", "subdivision": "VIC"}
TRACES = (
    ("electricity-victoria/half_hourly.csv.gz", "demand_mwh", "Australia/Melbourne", VICTORIA),
    ("melbourne-pedestrian/southern_cross.csv.gz", None, "Australia/Melbourne", VICTORIA),
    ("bikeshare-dc/hourly.csv.gz", None, "UTC", {"country": "US", "subdivision": "DC"}),
)


def begin_of(path: Path) -> float:
    """POSIX seconds of the first row, from the column beside its seconds since then."""
    with gzip.open(path, "rt") as file:
        moment = datetime.fromisoformat(next(csv.DictReader(file))["timestamp"])
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def series_of(traffic: Traffic, start: float) -> Series:
    """Put the rows on their grid; what is missing is unknown."""
    at = np.round((traffic.times - traffic.times[0]) / traffic.slot).astype(np.int64)
    values = np.full(int(at[-1]) + 1, np.nan)
    values[at] = traffic.values
    marks = np.isnan(values).astype(np.uint8)
    return Series(start=start, step=traffic.slot, values=values, marks=marks)


def days_of(series: Series, zone: str, holidays: set[date]) -> Iterator[tuple[date, str]]:
    day = walltime.day_of(series.start, zone) + timedelta(days=HISTORY + 2)
    while day < walltime.day_of(series.end, zone) - timedelta(days=1):
        if day in holidays:
            yield day, "holiday"
        elif any(day - timedelta(days=back) in holidays for back in range(1, AFTER + 1)):
            yield day, "after one"
        day += timedelta(days=1)


def error_of(series: Series, day: date, zone: str, shape: object, kinds: Kinds) -> float:
    """Mean |error| of the median against the day's mean; NaN where the day is not known whole."""
    midnight, _ = walltime.moments(day, "00:00", zone)
    _, end = walltime.moments(day, "24:00", zone)
    first = round((midnight - series.start) / series.step)
    count = round((end - midnight) / series.step)
    low = max(0, first - round(HISTORY * 86_400 / series.step))
    before = Series(
        start=series.start + low * series.step,
        step=series.step,
        values=series.values[low:first],
        marks=series.marks[low:first],
    )
    fitted = TidalForecaster(shape=shape).fit(before, zone, (), kinds)
    path = fitted.predict(before, count, (0.5,)).at(0.5)
    truth = series.values[first : first + count]
    return float(np.abs(path - truth).mean() / truth.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, required=True)
    folder = parser.parse_args().traces
    print("| trace | forecaster | days | not told | told |\n|---|---|---|---|---|")
    for name, column, zone, country in TRACES:
        series = series_of(read_traffic(folder / name, column), begin_of(folder / name))
        first, last = (walltime.day_of(t, zone) for t in (series.start, series.end))
        special = calendars.between(Calendar.model_validate(country), first, last)
        holidays = {calendars.date_of(day.day) for day in special if day.day % 7 < 5}
        chosen = list(days_of(series, zone, holidays))[-MOST:]
        for shape in (PROFILE, LAST_WEEK):
            for kind in ("holiday", "after one"):
                days = [day for day, what in chosen if what == kind]
                plain, told = (
                    np.array([error_of(series, day, zone, shape, kinds) for day in days])
                    for kinds in (PLAIN, kinds_of(special))
                )
                print(
                    f"| {name.split('/', maxsplit=1)[0]} | {shape.name} | {len(days)} × {kind} | "
                    f"{np.nanmean(plain):.1%} | {np.nanmean(told):.1%} |"
                )


if __name__ == "__main__":
    main()
