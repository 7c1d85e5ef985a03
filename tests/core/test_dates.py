"""Recurring windows and holds: computed from the moment, so that nothing missed loses anything.

It is long since every kind of window meets every kind of clock change.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from autoscaler import dates, plan
from autoscaler.decide import decide
from autoscaler.model import Code, Memory, Need, Reason
from autoscaler.policy import TidePolicy
from autoscaler.schema import walltime
from tests.core.given import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    flat,
    knowledge,
    paused,
    policy,
    remembered,
    seen,
    tide,
)

LEAD = 375.0  # one period, the HPA's sync, five minutes of cold start
WORKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"]


def at(text: str) -> float:
    return datetime.fromisoformat(text).astimezone(UTC).timestamp()


def office(zone="UTC", **more):
    window = {"name": "office", "days": WORKDAYS, "from": "08:00", "to": "20:00", "floor": 12}
    return policy(zone, recurring=[window | more])


def spans(of, start, end):
    return [(w.start, w.end) for w in of.spec.recurring_windows(at(start), at(end))]


class TestWindows:
    def test_weekdays_and_hours_are_those_of_the_zone(self):
        found = spans(office("Asia/Shanghai"), "2026-03-06T00:00Z", "2026-03-09T12:00Z")
        assert found == [  # Friday the 6th, then Monday the 9th
            (at("2026-03-06T08:00+08:00"), at("2026-03-06T20:00+08:00")),
            (at("2026-03-09T08:00+08:00"), at("2026-03-09T20:00+08:00")),
        ]

    def test_over_midnight_it_belongs_to_the_day_on_which_it_begins(self):
        night = office("UTC", days=["friday"], **{"from": "22:00", "to": "06:00"})
        assert spans(night, "2026-03-07T05:00Z", "2026-03-07T05:00Z") == [
            (at("2026-03-06T22:00Z"), at("2026-03-07T06:00Z"))
        ]
        assert spans(night, "2026-03-06T05:00Z", "2026-03-06T05:00Z") == []

    def test_without_hours_it_is_the_whole_day(self):
        always = policy("Europe/Berlin", recurring=[{"name": "a", "floor": 3}])
        (day,) = spans(always, "2026-03-06T12:00+01:00", "2026-03-06T12:00+01:00")
        assert day == (at("2026-03-06T00:00+01:00"), at("2026-03-07T00:00+01:00"))

    @pytest.mark.parametrize(
        ("day", "hours", "start", "end"),
        [
            # 2026-03-29: 02:00 CET → 03:00 CEST; 2026-10-25: 03:00 CEST → 02:00 CET
            ("2026-03-29", ("01:00", "05:00"), "2026-03-29T01:00+01:00", "2026-03-29T05:00+02:00"),
            ("2026-10-25", ("01:00", "05:00"), "2026-10-25T01:00+02:00", "2026-10-25T05:00+01:00"),
            # an hour that comes twice: the window is longest
            ("2026-10-25", ("02:30", "04:00"), "2026-10-25T02:30+02:00", "2026-10-25T04:00+01:00"),
            ("2026-10-25", ("00:00", "02:30"), "2026-10-25T00:00+02:00", "2026-10-25T02:30+01:00"),
            # one that never comes: it begins before, and ends after the change
            ("2026-03-29", ("02:30", "04:00"), "2026-03-29T01:30+01:00", "2026-03-29T04:00+02:00"),
            ("2026-03-29", ("00:00", "02:30"), "2026-03-29T00:00+01:00", "2026-03-29T03:30+02:00"),
            # and over the midnight before
            ("2026-03-28", ("22:00", "06:00"), "2026-03-28T22:00+01:00", "2026-03-29T06:00+02:00"),
        ],
    )
    def test_a_night_in_which_the_clocks_change(self, day, hours, start, end):
        every = office("Europe/Berlin", days=[*WORKDAYS, "saturday", "sunday"])
        of = office(
            "Europe/Berlin",
            days=every.spec.recurring[0].days,
            **dict(zip(("from", "to"), hours, strict=True)),
        )
        assert (at(start), at(end)) in spans(of, f"{day}T12:00Z", f"{day}T00:00Z") + spans(
            of, f"{day}T00:00Z", f"{day}T23:00Z"
        )

    def test_a_day_that_is_like_another_has_its_windows(self):
        of = policy(
            "Asia/Shanghai",
            calendar={"country": "CN"},
            recurring=[{"name": "office", "days": WORKDAYS, "floor": 12}],
        )
        days = {
            day
            for day in range(1, 15)
            if of.spec.recurring_windows(moment := at(f"2026-10-{day:02}T12:00+08:00"), moment)
        }
        assert days == {8, 9, 10, 12, 13, 14}  # off to the 7th, and Saturday the 10th is worked


def by_cron(cron, duration="10h", zone="UTC", **more):
    window = {"name": "c", "cron": cron, "duration": duration, "floor": 12}
    return policy(zone, recurring=[window], **more)


class TestCron:
    def test_it_is_the_same_window_as_by_weekdays_and_hours(self):
        for zone in ("UTC", "Asia/Shanghai", "Asia/Kolkata", "America/St_Johns"):
            cron, hours = by_cron("0 8 * * 1-5", "12h", zone), office(zone)
            span = "2026-03-02T00:00Z", "2026-03-28T00:00Z"
            assert spans(cron, *span) == spans(hours, *span) != []

    @pytest.mark.parametrize(
        ("cron", "starts"),
        [
            ("30 22 * * fri,SAT", ["06T22:30", "07T22:30", "13T22:30", "14T22:30"]),
            ("0 6-8/2 9 mar *", ["09T06:00", "09T08:00"]),
            ("0 0 */5 * *", ["01T00:00", "06T00:00", "11T00:00"]),
            ("0 12 3 * 7", ["01T12:00", "03T12:00", "08T12:00"]),  # by date or by weekday
            ("15,45 3 2 * 0-7", [f"{d:02}T03:{m}" for d in range(1, 15) for m in (15, 45)]),
            ("0 0 31 * *", []),
        ],
    )
    def test_what_it_names(self, cron, starts):
        of = by_cron(cron, "5m")
        found = [start for start, _ in spans(of, "2026-03-01T00:00Z", "2026-03-14T23:59Z")]
        assert found == [at(f"2026-03-{start}Z") for start in starts]

    def test_a_long_one_that_began_days_ago_still_stands(self):
        of = by_cron("0 20 * * 5", "3d")
        assert spans(of, "2026-03-09T19:59Z", "2026-03-09T19:59Z") == [
            (at("2026-03-06T20:00Z"), at("2026-03-09T20:00Z"))
        ]
        assert spans(of, "2026-03-09T20:00Z", "2026-03-09T20:00Z") == []

    @pytest.mark.parametrize(
        ("cron", "start", "end"),
        [
            # 2026-03-29: 02:00 CET → 03:00 CEST; 2026-10-25: 03:00 CEST → 02:00 CET
            ("0 1 29 3 *", "2026-03-29T01:00+01:00", "2026-03-29T07:00+02:00"),  # six by the clock
            ("0 1 25 10 *", "2026-10-25T01:00+02:00", "2026-10-25T05:00+01:00"),
            # an hour that comes twice or never: it begins once, and is longest
            ("30 2 25 10 *", "2026-10-25T02:30+02:00", "2026-10-25T07:30+01:00"),
            ("30 2 29 3 *", "2026-03-29T01:30+01:00", "2026-03-29T08:30+02:00"),
        ],
    )
    def test_a_night_in_which_the_clocks_change(self, cron, start, end):
        five = by_cron(cron, "5h", "Europe/Berlin")
        day = start[:10]
        assert spans(five, f"{day}T00:00Z", f"{day}T23:00Z") == [(at(start), at(end))]

    def test_a_weekday_is_the_one_that_a_day_is_like(self):
        of = by_cron("0 8 * * 1-5", "9h", "Asia/Shanghai", calendar={"country": "CN"})
        days = {
            day
            for day in range(1, 15)
            if of.spec.recurring_windows(moment := at(f"2026-10-{day:02}T12:00+08:00"), moment)
        }
        assert days == {8, 9, 10, 12, 13, 14}

    @examples(st.integers(0, 3 * 1440), st.sampled_from(["UTC", "Europe/Berlin"]))
    def test_whatever_was_missed_the_present_cycle_knows(self, minutes, zone):
        of = by_cron("0 8 * * *", "10h", zone)
        now = at("2026-10-24T00:00Z") + 60.0 * minutes
        local = datetime.fromtimestamp(now, ZoneInfo(zone))
        stands = bool(of.spec.recurring_windows(now, now))
        assert stands == (8 <= local.hour < 18)

    def test_what_is_written_back_can_be_read_again(self):
        of = by_cron("0 8 * * 1-5")
        assert TidePolicy.model_validate(of.manifest()) == of


class TestFloors:
    def test_it_stands_a_lead_time_before_and_until_the_end(self):
        opening, closing = NOW + 8 * HOUR, NOW + 20 * HOUR
        found = {
            moment: dates.at_least(office().spec, 2, moment, LEAD)[0]
            for moment in (opening - LEAD - 1, opening - LEAD, closing - 1, closing)
        }
        assert list(found.values()) == [2, 12, 12, 2]

    def test_the_largest_counts_and_is_named(self):
        of = policy(
            recurring=[
                {"name": "low", "floor": 3},
                {"name": "high", "from": "00:00", "to": "06:00", "floor": 7},
            ]
        )
        floor, (reason,) = dates.at_least(of.spec, 2, NOW, LEAD)
        assert floor == 7
        assert reason.code is Code.RECURRING
        assert "high: at least 7 from Mon 00:00 to Mon 06:00, 2 without it" in reason.sentence
        assert reason.numbers["without"] == 2

    def test_it_never_lowers(self):
        assert dates.at_least(office().spec, 40, NOW + 9 * HOUR, LEAD)[0] == 40

    @pytest.mark.parametrize("knows", [None, "knowledge"])
    def test_a_decision_obeys_without_history_too(self, knows):
        blind = replace(
            seen(None, floor=5), doubts=(Reason(code=Code.HISTORY_UNAVAILABLE, sentence="x"),)
        )
        known = knowledge() if knows else None
        now = NOW + 9 * HOUR
        decision = decide(office(), blind, known, Memory(), now)
        assert decision.floor == 12
        assert [reason.code for reason in decision.calendar] == [Code.RECURRING]

    def test_bounds_pause_and_raise_limit_are_stronger(self):
        now = NOW + 9 * HOUR
        given = seen(flat(3.0, until=now), floor=5)

        def floor(of, observation=given):
            return decide(of, observation, None, remembered(5, now), now).floor

        assert floor(office()) == 12
        window = {"recurring": [{"name": "office", "floor": 12}]}
        assert floor(policy(floor={"max": 9}, **window)) == 9
        assert floor(policy(floor={"raiseLimit": 2}, **window)) == 7
        assert floor(office(), replace(given, target=replace(given.target, ceiling=8))) == 8
        assert floor(paused(office())) == 5

    @examples(
        st.lists(st.integers(0, 24 * 60 - 1), min_size=1, max_size=6, unique=True).map(sorted),
        st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata"]),
        st.sampled_from([NOW, at("2026-03-28T22:00Z"), at("2026-10-24T22:00Z")]),
        st.booleans(),
    )
    def test_whatever_cycles_are_missed_the_next_decides_the_same(self, minutes, zone, day, cron):
        """Cycles at any minutes of a day: the floor is at least what the window asks for then.

        Days on which clocks change among them, windows over the change, and those of a cron.
        """
        window = {"cron": "30 1 * * *", "duration": "8h"} if cron else {"from": "02:30"}
        window = {"name": "w", "floor": 12, **window}
        of, memory, present = policy(zone, recurring=[window]), Memory(), 5
        for minute in minutes:
            now = day + MINUTE * minute
            blind = replace(
                seen(None, floor=present),
                doubts=(Reason(code=Code.HISTORY_UNAVAILABLE, sentence="x"),),
            )
            decision = decide(of, blind, None, memory, now)
            asked = dates.at_least(of.spec, 1, now, LEAD)[0]
            assert decision.floor >= asked
            fresh = decide(of, blind, None, Memory(), now)
            assert fresh.floor == decision.floor
            memory, present = decision.memory, decision.floor


class TestFactors:
    def test_it_multiplies_what_is_usual_and_teaches_all_the_same(self):
        usual = policy()
        more = policy(recurring=[{"name": "more", "from": "00:00", "to": "03:00", "factor": 2}])
        plain, raised = (
            decide(of, seen(tide(14)), knowledge(), remembered(5), NOW) for of in (usual, more)
        )
        np.testing.assert_allclose(raised.forecast.quantiles, 2 * plain.forecast.quantiles)
        (reason,) = raised.calendar
        assert reason.code is Code.RECURRING
        assert reason.numbers["with"] == pytest.approx(2 * reason.numbers["without"])
        np.testing.assert_array_equal(raised.series.values, plain.series.values)


HELD = {
    "hours": {"recurring": [{"name": "h", "from": "00:00", "to": "03:00", "hold": True}]},
    "cron": {"recurring": [{"name": "h", "cron": "0 0 * * 1", "duration": "3h", "hold": True}]},
    "event": {
        "events": [
            {"name": "h", "start": "2025-12-01T00:00", "end": "2025-12-01T03:00", "hold": True}
        ]
    },
}


class TestHolds:
    held = policy(floor={"min": 1}, **HELD["hours"])

    @examples(
        st.lists(st.tuples(st.integers(1, 9), st.integers(1, 30)), min_size=1, max_size=6),
        st.integers(1, 20),
        st.sampled_from(sorted(HELD)),
    )
    def test_inside_a_window_the_floor_never_falls(self, steps, floor, written):
        of, memory, now = policy(floor={"min": 1}, **HELD[written]), remembered(1), NOW
        for minutes, level in steps:
            now += MINUTE * minutes
            given = seen(flat(float(level), until=now), floor=floor)
            known = replace(knowledge(), fitted_at=now)
            decision = decide(of, given, known, memory, now)
            assert decision.floor >= floor
            floor, memory = decision.floor, decision.memory

    @examples(st.integers(-200, 500), st.sampled_from(["2026-03-29", "2026-10-25", "2025-12-01"]))
    def test_one_off_and_recurring_hold_the_same_moments(self, minutes, day):
        """Also in the nights in which the clocks change."""
        once = {"name": "h", "start": f"{day}T01:00", "end": f"{day}T05:00", "hold": True}
        often = {"name": "h", "from": "01:00", "to": "05:00", "hold": True}
        now = walltime.posix(f"{day}T00:00", "Europe/Berlin") + MINUTE * minutes
        found = [
            bool(dates.holds(of.spec, now, now))
            for of in (
                policy("Europe/Berlin", events=[once]),
                policy("Europe/Berlin", recurring=[often]),
            )
        ]
        start, end = (
            walltime.posix(f"{day}T{hour}:00", "Europe/Berlin", later=hour == "05")
            for hour in ("01", "05")
        )
        assert found[0] == (start <= now < end)
        assert found[1] == found[0]

    def test_after_it_the_floor_falls_as_ever(self):
        now = NOW + 3 * HOUR
        decision = decide(
            self.held, seen(tide(14, now), floor=20), knowledge(), remembered(4, now), now
        )
        assert decision.floor < 20


class TestTheDayAhead:
    def outlook(self, of, needed=2):
        order = np.full(24 * 60, needed)
        need = Need(start=NOW, step=60.0, order=order, keep=order, now=needed)
        floors, _ = plan.outlook(of, need, needed, LEAD, ceiling=40, original=1)
        return floors

    def test_the_floors_to_come_hold_the_windows(self):
        floors = self.outlook(office())
        assert set(floors[: 8 * 60 - 8]) == {2}
        assert set(floors[8 * 60 - 6 : 20 * 60]) == {12}
        assert floors[-1] == 2

    def test_and_what_is_held(self):
        spec = {"name": "h", "from": "19:00", "to": "22:00", "hold": True}
        window = {"name": "office", "from": "08:00", "to": "20:00", "floor": 12}
        floors = self.outlook(policy(recurring=[window, spec]))
        assert set(floors[20 * 60 : 22 * 60]) == {12}
        assert floors[22 * 60 + 20] == 2

    def test_a_plan_tells_the_calendar_apart(self):
        order = np.full(40, 2)
        need = Need(start=NOW, step=60.0, order=order, keep=order, now=2)
        least = np.zeros(40, dtype=np.int64)
        least[20:] = 9
        made = plan.make(2, need, 300.0, 1800.0, least)
        assert made.floor == 2
        assert [(c.at - NOW, c.floor) for c in made.changes] == [(15 * 60.0, 9)]


def test_a_special_day_is_said():
    of = policy(
        "Asia/Shanghai",
        calendar={"country": "CN", "days": [{"date": "2025-12-01", "like": "2025-11-02"}]},
    )
    (reason,) = dates.today(of.spec, NOW)
    assert reason.code is Code.DAY_LIKE
    assert "2025-12-01 is like 2025-11-02, or a Sunday where that is not known" in reason.sentence
    assert reason.numbers["like"] == 6
    assert dates.today(of.spec, NOW + 2 * DAY) == ()
