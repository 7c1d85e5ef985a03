"""Calendar, events and recurring windows as they are written: what is refused, what is meant."""

from __future__ import annotations

from datetime import date

import pytest

from autoscaler.adapters.policies.text import read_text
from autoscaler.policy import TidePolicy
from autoscaler.schema import calendar as calendars
from autoscaler.schema import published
from autoscaler.schema.calendar import WEEKDAYS, Calendar
from tests.policy.making import with_spec

WRONG = {
    "a country that is none": (
        ["calendar: {country: XX}"],
        'p.yaml:11:23: spec.calendar.country: found "XX"; '
        "a country whose holidays are known, as CN or DE",
    ),
    "a country in small letters": (
        ["calendar: {country: de}"],
        'p.yaml:11:23: spec.calendar.country: found "de"; allowed: two letters of ISO 3166, '
        "as CN or DE",
    ),
    "a hold that is ramped": (
        [
            "events:",
            "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-01T09:00, hold: true,",
            "     ramp: {before: 1h}}",
        ],
        "spec.events[0].ramp: found ramp beside hold; a hold has start and end alone",
    ),
    "a weekday twice": (
        ["recurring: [{name: a, days: [monday, friday, monday], floor: 2}]"],
        'spec.recurring[0].days[2]: found "monday" a second time; each weekday once',
    ),
    "a part that is none": (
        ["calendar: {country: DE, subdivision: BX}"],
        'spec.calendar.subdivision: found "BX"; one of ',
    ),
    "a part without a country": (
        ["calendar: {subdivision: BY}"],
        'p.yaml:11:27: spec.calendar.subdivision: found "BY" without a country; '
        "a part of calendar.country",
    ),
    "a day that is none": (
        ["calendar: {days: [{date: 2026-02-30, like: sunday}]}"],
        'spec.calendar.days[0].date: found "2026-02-30"; a date that exists, from 1970 on',
    ),
    "a day twice": (
        ["calendar:", "  days:"] + 2 * ["    - {date: 2026-02-14, like: sunday}"],
        'p.yaml:14:16: spec.calendar.days[1].date: found "2026-02-14" a second time; each day once',
    ),
    "a day that is like a later one": (
        ["calendar: {days: [{date: 2026-02-14, like: 2026-02-14}]}"],
        'spec.calendar.days[0].like: found "2026-02-14"; a day before 2026-02-14',
    ),
    "a day that is like nothing": (
        ["calendar: {days: [{date: 2026-02-14, like: sun}]}"],
        'spec.calendar.days[0].like: found "sun"; allowed: monday | tuesday | wednesday | thursday '
        "| friday | saturday | sunday, or a date as 2025-10-01",
    ),
    "an event that does nothing": (
        ["events:", "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-29T09:00}"],
        "p.yaml:12:7: spec.events[0]: found none of factor, demand, like, hold in an event; "
        "exactly one of factor, demand, like, hold",
    ),
    "an event that does two things": (
        [
            "events:",
            "  - {name: a, start: 2026-02-20T01:00Z, end: 2026-03-01T00:00Z, factor: 2, demand: 0}",
        ],
        "p.yaml:12:7: spec.events[0]: found factor beside demand in an event; "
        "exactly one of factor, demand, like, hold",
    ),
    "an event like none": (
        ["events:", "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-29T09:00, like: b}"],
        'p.yaml:12:71: spec.events[0].like: found "b"; '
        "the name of an earlier event of this policy that says something about demand",
    ),
    "an event like itself": (
        ["events:", "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-29T09:00, like: a}"],
        'p.yaml:12:71: spec.events[0].like: found "a"; '
        "the name of an earlier event of this policy that says something about demand",
    ),
    "an event like a hold": (
        [
            "events:",
            "  - {name: a, start: 2026-02-20T01:00, end: 2026-02-21T09:00, hold: true}",
            "  - {name: b, start: 2026-03-20T01:00, end: 2026-03-21T09:00, like: a}",
        ],
        'p.yaml:13:71: spec.events[1].like: found "a"; '
        "the name of an earlier event of this policy that says something about demand",
    ),
    "a recurring window that does nothing": (
        ["recurring: [{name: a}]"],
        "p.yaml:11:15: spec.recurring[0]: found none of floor, factor, hold in a recurring window; "
        "exactly one of floor, factor, hold",
    ),
    "a recurring window by two names": (
        ["recurring: [{name: a, floor: 1}, {name: a, floor: 2}]"],
        'p.yaml:11:43: spec.recurring[1].name: found "a" a second time; '
        "each recurring window has its own name",
    ),
    "an hour that is none": (
        ['recurring: [{name: a, floor: 1, from: "24:00"}]'],
        'spec.recurring[0].from: found "24:00"; allowed: a time of the day as 08:00, in quotes',
    ),
    "no weekday": (
        ["recurring: [{name: a, floor: 1, days: []}]"],
        "spec.recurring[0].days: found no day; weekdays, or leave the key out for all of them",
    ),
    "a cron of six fields": (
        ['recurring: [{name: a, floor: 1, cron: "0 0 8 * * 1-5", duration: 1h}]'],
        'spec.recurring[0].cron: found "0 0 8 * * 1-5", 6 fields; five fields as in a CronJob',
    ),
    "a cron of an hour that is none": (
        ['recurring: [{name: a, floor: 1, cron: "0 8-26 * * *", duration: 1h}]'],
        'spec.recurring[0].cron: found "8-26" as hour; 0 to 23, the smaller one first',
    ),
    "a cron of a day that is none": (
        ['recurring: [{name: a, floor: 1, cron: "0 8 31 2,4 *", duration: 1h}]'],
        'spec.recurring[0].cron: found "0 8 31 2,4 *", a day that no month has',
    ),
    "a cron without an end": (
        ['recurring: [{name: a, floor: 1, cron: "*/5 * * * *", duration: 1m}]'],
        'found "*/5 * * * *", which begins 288 times a day; at most 24',
    ),
    "a cron without a duration": (
        ['recurring: [{name: a, floor: 1, cron: "0 8 * * *"}]'],
        "spec.recurring[0].cron: found only cron; cron and duration together, or days, from, to",
    ),
    "a duration without a cron": (
        ["recurring: [{name: a, floor: 1, duration: 8h}]"],
        "found only duration; cron and duration together, or days, from, to",
    ),
    "a cron beside hours": (
        ['recurring: [{name: a, floor: 1, cron: "0 8 * * *", duration: 1h, from: "09:00"}]'],
        "spec.recurring[0].cron: found cron beside from; one way to say when",
    ),
    "a weekday that is none": (
        ["recurring: [{name: a, floor: 1, days: [mon]}]"],
        'spec.recurring[0].days[0]: found "mon"; allowed: monday | tuesday',
    ),
}


def problems(*lines: str) -> list[str]:
    return [str(problem) for problem in read_text(with_spec(*lines).encode(), "p.yaml").problems]


@pytest.mark.parametrize(("lines", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_line_is_told(lines: list[str], message: str) -> None:
    (found,) = problems(*lines)
    assert message in found


def policy(*lines: str) -> TidePolicy:
    (found,) = read_text(with_spec(*lines).encode(), "p.yaml").found
    return found.policy


def test_what_is_written_comes_back() -> None:
    first = policy(
        "calendar: {country: DE, subdivision: BY, days: [{date: 2026-12-24, like: sunday}]}",
        "events:",
        "  - {name: a, start: 2026-02-20T01:00, end: 2026-02-21T09:00,"
        " demand: 0, ramp: {after: 2h}}",
        "  - {name: b, start: 2026-03-20T01:00, end: 2026-03-21T09:00, like: a}",
        'recurring: [{name: n, days: [friday], from: "22:00", to: "06:00", hold: true}]',
    )
    document = first.manifest()
    assert document["spec"]["recurring"][0]["from"] == "22:00"
    assert TidePolicy.model_validate(document) == first


def test_an_event_that_is_like_another_takes_its_ramp_and_what_is_written_there() -> None:
    _, b, c = policy(
        "events:",
        "  - {name: a, start: 2026-02-20T01:00, end: 2026-02-21T09:00,"
        " demand: 7, ramp: {after: 2h}}",
        "  - {name: b, start: 2026-03-20T01:00, end: 2026-03-21T09:00, like: a}",
        "  - {name: c, start: 2026-04-20T01:00, end: 2026-04-21T09:00,"
        " like: b, ramp: {before: 1h}}",
    ).spec.event_windows
    assert (b.demand, b.like, b.before, b.after) == (7, "a", 0, 7200)
    assert (c.demand, c.like, c.before, c.after) == (7, "b", 3600, 0)


CHINA = Calendar.model_validate({"country": "CN"})


def like(calendar: Calendar, day: str) -> str:
    return WEEKDAYS[calendars.weekday_like(calendar, date.fromisoformat(day))]


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-10-01", "sunday"),  # National Day
        ("2026-10-06", "sunday"),  # off, for the 20th of September
        ("2026-09-20", "tuesday"),  # a Sunday that is worked for Tuesday the 6th
        ("2026-10-10", "wednesday"),  # a Saturday, for Wednesday the 7th
        ("2026-02-14", "friday"),  # a Saturday, for Friday the 20th
        ("2026-10-08", "thursday"),
    ],
)
def test_swapped_working_days_of_china(day: str, expected: str) -> None:
    assert like(CHINA, day) == expected


def test_every_swap_of_china_is_worked_like_a_weekday() -> None:
    """The State Council's swaps of 2015–2026, as counted by another library too: 150 since 2004."""
    swaps = [
        day
        for year in range(2015, 2027)
        for day in published.days_of("CN", None, year)
        if day.day.weekday() >= 5 and day.like < 5
    ]
    assert len(swaps) >= 60
    assert all("is off for it" in swap.name for swap in swaps)


def test_where_sunday_is_worked_a_holiday_is_like_a_friday() -> None:
    egypt = Calendar.model_validate({"country": "EG"})
    assert like(egypt, "2026-07-23") == "friday"


def test_parts_of_a_country_have_holidays_of_their_own() -> None:
    bavaria = Calendar.model_validate({"country": "DE", "subdivision": "BY"})
    germany = Calendar.model_validate({"country": "DE"})
    assert like(bavaria, "2027-01-06") == "sunday"
    assert like(germany, "2027-01-06") == "wednesday"


def test_an_own_day_counts_more_and_may_be_like_a_day_that_is_like_another() -> None:
    own = Calendar.model_validate(
        {
            "country": "CN",
            "days": [
                {"date": "2026-10-02", "like": "monday"},
                {"date": "2026-10-09", "like": "2026-10-01"},
                {"date": "2026-12-31", "like": "2026-10-09"},
            ],
        }
    )
    found = {
        calendars.date_of(day.day): day
        for day in calendars.between(own, date(2026, 10, 1), date(2026, 12, 31))
    }
    assert found[date(2026, 10, 1)].source == "holidays CN"
    assert found[date(2026, 10, 2)][1:3] == (0, None)
    assert found[date(2026, 10, 2)].source == "calendar.days"
    for day, example in (
        (date(2026, 10, 9), date(2026, 10, 1)),
        (date(2026, 12, 31), date(2026, 10, 9)),
    ):
        assert found[day].like == 6
        assert calendars.date_of(found[day].example) == example


def test_days_are_numbered_as_the_clock_does() -> None:
    assert calendars.number_of(date(2026, 11, 30)) % 7 == 0  # a Monday
    assert calendars.number_of(date(1970, 1, 1)) == 3
    assert calendars.date_of(calendars.number_of(date(2028, 2, 29))) == date(2028, 2, 29)


def test_swaps_that_are_not_published_yet_are_a_doubt_until_they_are_written() -> None:
    """The first year without swaps that the installed package knows, after years with some."""
    year = next(y for y in range(2027, 2060) if not published._swapped("CN", y))
    (said,) = calendars.doubts(CHINA, date(year - 1, 12, 1), date(year, 1, 31))
    assert f"no swapped working days of CN in {year}" in said
    assert "not published yet" in said
    assert calendars.doubts(CHINA, date(year - 1, 3, 1), date(year - 1, 3, 31)) == ()
    first = next(day for day in range(1, 8) if date(year, 2, day).weekday() == 5)
    told = Calendar.model_validate(
        {"country": "CN", "days": [{"date": f"{year}-02-0{first}", "like": "friday"}]}
    )
    assert calendars.doubts(told, date(year - 1, 12, 1), date(year, 1, 31)) == ()
    assert (
        calendars.doubts(
            Calendar.model_validate({"country": "DE"}), date(year, 1, 1), date(year, 12, 31)
        )
        == ()
    )
