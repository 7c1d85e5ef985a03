"""What there is of a policy's demand, for a person who has just written the policy."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from autoscaler.adapters.prometheus.client import Client
from autoscaler.adapters.prometheus.kept import Answered
from autoscaler.adapters.prometheus.transport import Deadline
from autoscaler.demand import presets
from autoscaler.errors import HistoryUnavailable
from autoscaler.model import Floats
from autoscaler.policy import TidePolicy

LOOK = 3600.0
"""Seconds of the newest history in which series are counted and resolution is seen."""

FINE = 5.0
"""Seconds between the points there."""

COARSE = 1000
"""Points over the whole history: enough to see where it begins and how much is missing."""

RECENTLY = 86_400.0
"""Seconds back in which a metric counts as there; longer only when nothing is found."""

SHOWN = 5
"""Values shown of a label that tells series apart."""

Found = tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a Prometheus has for a policy.

    Attributes
    ----------
    url : address that was asked, without secrets
    query : what was asked for, empty when that could not be found out
    by : how the demand is read, in words
    present : whether there is any sample of it in the policy's history
    series : how many series there are now; more than one is a doubt
    apart : labels that tell several series apart, with some of their values
    span : seconds between the oldest and the newest sample
    coverage : share of that span in which there is a value, 0 to 1
    resolution : seconds between two changes of the value in the last hour, NaN when it stood still
    age : seconds since the newest value, NaN when there is none in the last hour
    newest : that value, demand per second
    notes : what else a person should know, one sentence each
    error : why something could not be found out, or ""
    code : of the error, as `HistoryUnavailable` has it, or ""
    """

    url: str
    query: str = ""
    by: str = ""
    present: bool = False
    series: int = 0
    apart: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    span: float = 0.0
    coverage: float = 0.0
    resolution: float = math.nan
    age: float = math.nan
    newest: float = math.nan
    notes: tuple[str, ...] = ()
    error: str = ""
    code: str = ""


def probe(client: Client, policy: TidePolicy, now: float, step: float) -> Probe:
    """Find out what there is of a policy's demand at `now` (POSIX seconds)."""
    deadline = Deadline(client.timeout)
    demand, namespace = policy.spec.demand, policy.metadata.namespace
    end = math.floor(now / step) * step
    known = Probe(url=client.where)
    try:
        found = find(client, presets.selectors(demand, namespace), demand.history, end, deadline)
        queries = presets.queries(demand, namespace, step, found)
        known = Probe(url=client.where, query=queries.demand, by=queries.by)
        coarse = max(step, math.ceil(demand.history / COARSE / step) * step)
        whole = client.range(queries.demand, (end - demand.history, end), coarse, deadline)
        recent = client.range(queries.demand, (end - LOOK, end), FINE, deadline)
        notes = [*whole.warnings, *_advice(found)]
        if demand.backlog is not None:
            notes += _unseen(client, demand.backlog, end, step, deadline)
        if demand.preset is not None and not found:
            notes += _elsewhere(client, policy, end, deadline)
    except HistoryUnavailable as error:
        return Probe(
            url=known.url, query=known.query, by=known.by, error=str(error), code=error.code
        )
    newest_at, newest, resolution = _newest(recent)
    oldest, latest, coverage = _extent(whole, coarse)
    return Probe(
        url=known.url,
        query=known.query,
        by=known.by,
        present=bool(whole.series or recent.series),
        series=len(recent.series) or len(whole.series),
        apart=apart([labels for labels, _, _ in recent.series or whole.series]),
        span=max(latest, newest_at) - oldest if oldest <= latest else 0.0,
        coverage=coverage,
        resolution=resolution,
        age=now - newest_at if math.isfinite(newest_at) else math.nan,
        newest=newest,
        notes=tuple(dict.fromkeys(notes)),
    )


def find(
    client: Client, selectors: Iterable[str], history: float, until: float, deadline: Deadline
) -> Found:
    """Label sets of the last day, or of the whole history when there are none."""
    wanted = tuple(selectors)
    if not wanted:
        return ()
    for back in (min(RECENTLY, history), history):
        found = tuple(
            labels
            for selector in wanted
            for labels in client.series(selector, (until - back, until), deadline)
        )
        if found:
            return found
    return ()


def _unseen(client: Client, backlog: str, end: float, step: float, deadline: Deadline) -> list[str]:
    """Say why what waits cannot be read: it is one number, or it is unknown.

    The demand is worth as much without it, so what is wrong with it hides nothing else.
    """
    try:
        numbers = numbers_at(client, backlog, end, step, deadline)
    except HistoryUnavailable as error:
        return [f"demand.backlog cannot be read, so nothing is drained: {error}"]
    if len(numbers) == 1 and math.isfinite(numbers[0]):
        return []
    found = f"{len(numbers)} series: sum them" if len(numbers) > 1 else "no number now"
    return [f"demand.backlog gave {found}; until it gives one number, nothing is drained"]


def numbers_at(
    client: Client, text: str, at: float, step: float, deadline: Deadline
) -> list[float]:
    """Read the number of every series of an expression at a moment.

    Raises
    ------
    HistoryUnavailable
    """
    series = client.range(text, (at, at), step, deadline).series
    return [float(value) for _, _, values in series for value in values[-1:]]


def apart(labels: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Labels that tell series apart, with some of their values."""
    sets = list(labels)
    values: dict[str, set[str]] = defaultdict(set)
    for one in sets:
        for name, value in one.items():
            values[name].add(value)
    if len(sets) < 2:
        return {}
    return {
        name: tuple(sorted(found)[:SHOWN])
        for name, found in sorted(values.items())
        if len(found) > 1 or any(name not in one for one in sets)
    }


def _newest(recent: Answered) -> tuple[float, float, float]:
    """Time and value of the newest point (of the sum), and seconds between changes."""
    times, values = _total(recent)
    if len(times) == 0:
        return -math.inf, math.nan, math.nan
    changes = times[1:][np.diff(values) != 0]
    resolution = float(np.median(np.diff(changes))) if len(changes) > 1 else math.nan
    return float(times[-1]), float(values[-1]), resolution


def _extent(whole: Answered, step: float) -> tuple[float, float, float]:
    """Oldest and newest time, and the share of steps between them that have a value."""
    times, _ = _total(whole)
    if len(times) == 0:
        return math.inf, -math.inf, 0.0
    steps = round((times[-1] - times[0]) / step) + 1
    return float(times[0]), float(times[-1]), len(times) / steps


def _total(answer: Answered) -> tuple[Floats, Floats]:
    """Sum of the series at each time that any of them has a number for."""
    sums: dict[float, float] = defaultdict(float)
    for _, times, values in answer.series:
        for time, value in zip(times.tolist(), values.tolist(), strict=True):
            if not math.isnan(value):
                sums[time] += value
    times = np.array(sorted(sums))
    return times, np.array([sums[time] for time in times.tolist()])


def _advice(found: Found) -> list[str]:
    """Say what the label sets of a preset's metrics tell about how they are scraped."""
    notes = []
    jobs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for labels in found:
        if labels.get("pod"):
            jobs[labels.get("namespace", ""), labels["pod"]].add(labels.get("job", ""))
    twice = sorted(pod for (_, pod), names in jobs.items() if len(names) > 1)
    if twice:
        notes.append(
            f"{len(twice)} pods, such as {twice[0]}, are scraped by several jobs: every request is "
            "counted once for each; add `job` to matchLabels"
        )
    if found and not any(labels.get("__name__") == presets.HTTP for labels in found):
        notes.append(
            f"{presets.HTTP} of vLLM's API server is not there: in saturation the demand is only a "
            "lower bound; do not start the server with its metrics off, nor drop them when scraping"
        )
    return notes


def _elsewhere(client: Client, policy: TidePolicy, end: float, deadline: Deadline) -> list[str]:
    """Where the preset's metric is instead, when the policy's labels do not find it."""
    everywhere = client.series(presets.RUNNING, (end - RECENTLY, end), deadline)
    if not everywhere:
        return [
            f"there is no {presets.RUNNING} at all: is vLLM scraped by this Prometheus? With a "
            "tenant, is it the right one?"
        ]
    names = ("namespace", *policy.spec.demand.match_labels)
    seen = {
        name: sorted({labels.get(name, "(none)") for labels in everywhere})[:SHOWN]
        for name in names
    }
    said = "; ".join(f"{name} = {', '.join(values)}" for name, values in seen.items())
    return [f"{presets.RUNNING} is there, but with other labels: {said}"]
