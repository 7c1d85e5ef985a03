"""Wall time to POSIX seconds: the hours that a clock shows twice, and those it never shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.adapters.policies import parse_object
from autoscaler.schema import walltime

BERLIN, HOWE = "Europe/Berlin", "Australia/Lord_Howe"


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "zone", "start", "end"),
    [
        # spring 2026-03-29: 02:00 CET → 03:00 CEST
        ("2026-03-29T01:59", BERLIN, "2026-03-29T00:59", "2026-03-29T00:59"),
        ("2026-03-29T03:00", BERLIN, "2026-03-29T01:00", "2026-03-29T01:00"),
        # autumn 2026-10-25: 03:00 CEST → 02:00 CET, so 02:00–03:00 is shown twice
        ("2026-10-25T01:59", BERLIN, "2026-10-24T23:59", "2026-10-24T23:59"),
        ("2026-10-25T02:00", BERLIN, "2026-10-25T00:00", "2026-10-25T01:00"),
        ("2026-10-25T02:30", BERLIN, "2026-10-25T00:30", "2026-10-25T01:30"),
        ("2026-10-25T02:59:59", BERLIN, "2026-10-25T00:59:59", "2026-10-25T01:59:59"),
        ("2026-10-25T03:00", BERLIN, "2026-10-25T02:00", "2026-10-25T02:00"),
        # Lord Howe moves by half an hour: 2026-04-05 02:00 (+11:00) → 01:30 (+10:30)
        ("2026-04-05T01:29", HOWE, "2026-04-04T14:29", "2026-04-04T14:29"),
        ("2026-04-05T01:30", HOWE, "2026-04-04T14:30", "2026-04-04T15:00"),
        ("2026-04-05T01:45", HOWE, "2026-04-04T14:45", "2026-04-04T15:15"),
        ("2026-04-05T02:00", HOWE, "2026-04-04T15:30", "2026-04-04T15:30"),
        # and 2026-10-04 02:00 (+10:30) → 02:30 (+11:00)
        ("2026-10-04T01:59", HOWE, "2026-10-03T15:29", "2026-10-03T15:29"),
        ("2026-10-04T02:30", HOWE, "2026-10-03T15:30", "2026-10-03T15:30"),
        # an offset is never in doubt, whatever the zone
        ("2026-10-25T02:30+02:00", BERLIN, "2026-10-25T00:30", "2026-10-25T00:30"),
        ("2026-10-25T02:30+01:00", BERLIN, "2026-10-25T01:30", "2026-10-25T01:30"),
        ("2026-03-29T02:30Z", BERLIN, "2026-03-29T02:30", "2026-03-29T02:30"),
        ("2026-03-29T02:30-03:30", BERLIN, "2026-03-29T06:00", "2026-03-29T06:00"),
        # leap day
        ("2028-02-29T00:00", "Asia/Shanghai", "2028-02-28T16:00", "2028-02-28T16:00"),
    ],
)
def test_a_start_is_the_earlier_and_an_end_the_later(
    text: str, zone: str, start: str, end: str
) -> None:
    assert walltime.posix(text, zone) == utc(start)
    assert walltime.posix(text, zone, later=True) == utc(end)


@pytest.mark.parametrize(
    ("text", "zone", "such_as"),
    [
        ("2026-03-29T02:00", BERLIN, "2026-03-29T03:00"),
        ("2026-03-29T02:30", BERLIN, "2026-03-29T03:30"),
        ("2026-03-29T02:59", BERLIN, "2026-03-29T03:59"),
        ("2026-10-04T02:00", HOWE, "2026-10-04T02:30"),
        ("2026-10-04T02:29", HOWE, "2026-10-04T02:59"),
        # Samoa crossed the date line: 30 December 2011 never was
        ("2011-12-30T12:00", "Pacific/Apia", "2011-12-31T12:00"),
    ],
)
@pytest.mark.parametrize("later", [False, True])
def test_a_time_that_the_clocks_skip_is_refused(
    text: str, zone: str, such_as: str, later: bool
) -> None:
    with pytest.raises(ValueError, match="skip") as caught:
        walltime.posix(text, zone, later=later)
    assert str(caught.value) == (
        f'found "{text}", which the clocks of {zone} skip; '
        f"a time that they show, such as {such_as}, or one with an offset"
    )


@pytest.mark.parametrize(
    "text",
    ["", "2026-11-10", "20:00", "2026-11-10 20:00", "2026-11-10T20", "2026-11-10T20:00+8",
     "2026-11-10T20:00+0800", "2026-11-10T20:00z", "2026-11-10T20:00:00.5", "2026-11-10T24:00",
     "2026-13-10T20:00", "2026-11-31T20:00", "2027-02-29T20:00", "2026-11-10T20:60",
     "2026-11-10T20:00:60", "2026-11-10T20:00+15:00", "2026-11-10T20:00+08:60",
     "1969-11-10T20:00", "2200-01-01T00:00", "0000-01-01T00:00", "٢٠٢٦-11-10T20:00",
     "2026-11-10T20:00\n", "tomorrow"],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="; "):
        walltime.posix(text, "UTC")


@given(
    st.integers(0, 7_258_118_400 // 60 - 1).map(lambda minute: minute * 60),
    st.sampled_from(sorted(available_timezones() - {"localtime", "Factory"})),
)
def test_every_moment_is_found_again_from_what_the_clock_shows(at: int, name: str) -> None:
    local = datetime.fromtimestamp(at, UTC).astimezone(ZoneInfo(name))
    if not 1970 <= local.year <= 2199:
        return
    text = f"{local:%Y-%m-%dT%H:%M:%S}"
    early, late = walltime.posix(text, name), walltime.posix(text, name, later=True)
    assert at in (early, late)
    assert early <= late


@pytest.mark.parametrize(("start", "end", "hours"), [
    ("2026-10-25T02:30", "2026-10-25T02:30", 1.0),
    ("2026-10-25T00:00", "2026-10-26T00:00", 25.0),
    ("2026-03-29T00:00", "2026-03-30T00:00", 23.0),
])  # fmt: skip
def test_an_event_lasts_as_long_as_the_clocks_make_it(start: str, end: str, hours: float) -> None:
    policy = parse_object(
        {
            "apiVersion": "foretide.dev/v1alpha1",
            "kind": "TidePolicy",
            "metadata": {"name": "night"},
            "spec": {
                "timeZone": BERLIN,
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": "night",
                },
                "demand": {"query": "up"},
                "capacity": {"perReplica": 1},
                "events": [{"name": "e", "start": start, "end": end, "factor": 2}],
            },
        }
    )
    (window,) = policy.spec.event_windows
    assert window.end - window.start == timedelta(hours=hours).total_seconds()
    assert (window.name, window.factor) == ("e", 2.0)
    assert policy.spec.event_windows is policy.spec.event_windows
