"""Policies for the tests of their schema: a text to break, and any valid one."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from autoscaler.schema.durations import format_duration, parse_duration

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "policies").glob("*.yaml"))

GOOD = """\
apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata:
  name: qwen
  namespace: llm
spec:
  timeZone: Europe/Berlin
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: qwen}
  demand: {preset: vllm}
  capacity: {perReplica: 3.2}
"""
"""A valid policy of ten lines; `with_spec` adds from line 11 on."""


def with_spec(*lines: str) -> str:
    """The good policy and further lines of its spec, the first of them line 11."""
    return GOOD + "".join(f"  {line}\n" for line in lines)


def durations(least: str, most: str) -> st.SearchStrategy[str]:
    """Any duration within bounds, to the millisecond."""
    low, high = (round(parse_duration(bound) * 1000) for bound in (least, most))
    return st.integers(low, high).map(lambda ms: format_duration(ms / 1000))


_CANDIDATES = st.sampled_from(["auto", "ahead", "ahead@18", "profile@0.95", "no-tide"])
_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
_TEXTS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40
)
_COUNTS = st.integers(1, 2_147_483_647)


_QUERIES = _TEXTS.filter(lambda text: bool(text.strip()))


@st.composite
def _demands(draw: st.DrawFn) -> dict[str, Any]:
    demand: dict[str, Any] = draw(
        st.one_of(
            st.fixed_dictionaries(
                {"preset": st.just("vllm")},
                optional={
                    "matchLabels": st.dictionaries(
                        st.from_regex(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,20}", fullmatch=True),
                        _TEXTS,
                        max_size=4,
                    )
                },
            ),
            st.fixed_dictionaries({"query": _QUERIES}, optional={"backlog": _QUERIES}),
        )
    )
    return demand | draw(st.fixed_dictionaries({}, optional={"history": durations("2d", "400d")}))


@st.composite
def _events(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = draw(st.lists(_TEXTS.filter(lambda text: bool(text.strip())), unique=True, max_size=3))
    events = []
    for name in names:
        start = draw(st.datetimes(datetime(1971, 1, 1), datetime(2198, 1, 1)))  # noqa: DTZ001  # wall time
        end = start + timedelta(minutes=draw(st.integers(2, 100_000)))
        offset = draw(st.sampled_from(["Z", "+08:00", "-03:30"]))
        earlier = [
            each["name"]
            for each in events
            if "hold" not in each and each["from"] + timedelta(days=1) < start
        ]
        effects = [
            st.fixed_dictionaries({"factor": st.floats(1e-6, 1000)}),
            st.fixed_dictionaries({"demand": st.floats(0, 1e12)}),
            st.just({"hold": True}),
            *([st.fixed_dictionaries({"like": st.sampled_from(earlier)})] if earlier else []),
        ]
        ramp = st.fixed_dictionaries(
            {}, optional={"before": durations("0s", "7d"), "after": durations("0s", "7d")}
        )
        effect = draw(st.one_of(effects))
        ramps = {} if "hold" in effect else {"ramp": ramp}
        events.append(
            {
                "name": name,
                "from": start,
                "start": f"{start:%Y-%m-%dT%H:%M}".rjust(16, "0") + offset,
                "end": f"{end:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + offset,
                **effect,
                **draw(st.fixed_dictionaries({}, optional=ramps)),
            }
        )
    return [{key: value for key, value in each.items() if key != "from"} for each in events]


_CLOCKS = st.builds(lambda h, m: f"{h:02}:{m:02}", st.integers(0, 23), st.integers(0, 59))
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@st.composite
def _recurring(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = draw(st.lists(_TEXTS.filter(lambda text: bool(text.strip())), unique=True, max_size=3))
    days = st.lists(st.sampled_from(_WEEKDAYS), min_size=1, max_size=7, unique=True)
    effects = st.one_of(
        st.fixed_dictionaries({"floor": _COUNTS}),
        st.fixed_dictionaries({"factor": st.floats(1e-6, 1000)}),
        st.just({"hold": True}),
    )
    when = st.fixed_dictionaries({}, optional={"days": days, "from": _CLOCKS, "to": _CLOCKS})
    return [{"name": name, **draw(when), **draw(effects)} for name in names]


@st.composite
def _calendars(draw: st.DrawFn) -> dict[str, Any]:
    dates = draw(st.lists(st.dates(date(1971, 1, 1), date(2198, 1, 1)), unique=True, max_size=4))
    days = [
        {
            "date": f"{day.isoformat()}",
            "like": draw(
                st.sampled_from(_WEEKDAYS)
                | st.dates(date(1970, 1, 1), day - timedelta(days=1)).map(date.isoformat)
            ),
        }
        for day in dates
    ]
    country = st.sampled_from([{}, {"country": "CN"}, {"country": "DE", "subdivision": "BY"}])
    return {**draw(country), "days": days}


@st.composite
def _floors(draw: st.DrawFn) -> dict[str, int]:
    floor: dict[str, int] = draw(
        st.fixed_dictionaries({}, optional={"min": _COUNTS, "max": _COUNTS, "raiseLimit": _COUNTS})
    )
    if floor.get("min", 0) > floor.get("max", 2**31):
        floor["min"], floor["max"] = floor["max"], floor["min"]
    return floor


@st.composite
def manifests(draw: st.DrawFn) -> dict[str, Any]:  # long: a line for each field
    """Any valid policy document, with any of its optional fields."""
    spec = draw(
        st.fixed_dictionaries(
            {
                "targetRef": st.fixed_dictionaries(
                    {
                        "apiVersion": st.just("autoscaling/v2"),
                        "kind": st.just("HorizontalPodAutoscaler"),
                        "name": _NAMES,
                    }
                ),
                "demand": _demands(),
                "capacity": st.fixed_dictionaries({"perReplica": st.floats(1e-9, 1e12)}),
            },
            optional={
                "mode": st.sampled_from(["Observe", "RaiseOnly", "Act"]),
                "timeZone": st.sampled_from(["UTC", "Asia/Shanghai", "Australia/Lord_Howe"]),
                "coldStart": st.fixed_dictionaries(
                    {}, optional={"duration": durations("0s", "6h")}
                ),
                "floor": _floors(),
                "release": st.fixed_dictionaries(
                    {},
                    optional={"after": durations("0s", "1d"), "breakEven": durations("0s", "7d")},
                ),
                "promise": st.fixed_dictionaries({}, optional={"wait": durations("0s", "1h")}),
                "price": st.fixed_dictionaries({"perPercentLate": st.floats(0.01, 100)}),
                "forecast": st.fixed_dictionaries({"use": _CANDIDATES}),
                "events": _events(),
                "calendar": _calendars(),
                "recurring": _recurring(),
            },
        )
    )
    if draw(st.booleans()) and {"preset", "backlog"} & set(spec["demand"]):
        spec["promise"] = spec.get("promise", {}) | {"drain": draw(durations("1m", "1d"))}
    metadata = draw(st.fixed_dictionaries({"name": _NAMES}, optional={"namespace": _NAMES}))
    return {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": metadata,
        "spec": spec,
    }
