"""The day ahead: its reasons say what its floors do."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from autoscaler.cli.dayahead import look_ahead
from autoscaler.cli.dayshown import document_of, facts_of, table_of
from autoscaler.forecast import ALL, FAST
from autoscaler.model import Code
from autoscaler.report import local_time, value_text
from autoscaler.tune import learn
from tests.core.given import NOW, policy, target, tide


def test_a_pin_that_cannot_hold_yet_is_told() -> None:
    of = policy(forecast={"use": "last-week"})
    known = learn(of, tide(5), NOW, shapes=FAST)
    day = look_ahead(of, tide(5), known, target(5), NOW)
    (told,) = [reason for reason in day.reasons if reason.code is Code.PINNED]
    assert "cannot be used yet" in told.sentence


@pytest.mark.slow
def test_no_reason_contradicts_its_floor() -> None:
    known = learn(policy(), tide(9), NOW, shapes=ALL)
    assert known.fitted.name == "ahead"  # which decides the first minutes by cost
    day = look_ahead(policy(), tide(9), known, target(2), NOW)
    first, *_ = day.changes
    assert first.before == 2
    assert first.why == f"{first.floor} cost least for what may come within 6m15s"
    raised = [change for change in day.changes if change.floor > change.before]
    lowered = [change for change in day.changes if change.floor < change.before]
    assert min(len(raised), len(lowered)) > 5
    for change in raised[1:]:
        assert int(re.findall(r"need (\d+)$", change.why)[0]) >= change.floor
    for change in lowered:
        assert int(re.findall(r"^(\d+) ", change.why)[0]) <= change.floor
        assert f"and {change.floor + 1} not again" in change.why


def test_a_raise_says_how_many_are_ready_when() -> None:
    spread = {"p50": "3m", "p90": "6m", "p99": "12m"}
    known = learn(policy(coldStart=spread), tide(5), NOW, shapes=FAST)
    day = look_ahead(policy(coldStart=spread), tide(5), known, target(2), NOW)
    raised = [change for change in day.changes if change.floor > change.before]
    assert len(raised) > 5
    for change in raised:
        after = [(share, at - change.at) for share, at in change.ready]
        assert after == [(0.5, 195.0), (0.9, 375.0), (0.99, 735.0)]
    assert not any(change.ready for change in day.changes if change.floor < change.before)
    first = day.changes[0]
    count = first.floor - first.before
    said = table_of(day).rows[0][2]
    assert said.endswith(f"by {local_time(first.ready[2][1], 'UTC', dated=False)}")
    assert f"of {count} ordered, Ready are {value_text(count / 2)} by " in said
    assert document_of(day)["changes"][0]["ready"][1] == {"share": 0.9, "at": first.at + 375.0}
    plain = look_ahead(policy(), tide(5), known, target(2), NOW)
    assert not any(change.ready for change in plain.changes)


def test_an_event_is_told_in_hours_and_with_its_unit() -> None:
    start, end = (
        datetime.fromtimestamp(NOW + hours * 3600, UTC).strftime("%Y-%m-%dT%H:%MZ")
        for hours in (17.2, 20)
    )
    of = policy(events=[{"name": "launch", "start": start, "end": end, "factor": 2}])
    known = learn(of, tide(5), NOW, shapes=FAST)
    day = look_ahead(of, tide(5), known, target(5), NOW)
    (told,) = [reason for reason in day.reasons if reason.code is Code.EVENT]
    assert re.fullmatch(
        r"event launch: demand x 2 in 17h12m: [\d.]+/s instead of [\d.]+/s", told.sentence
    )


def test_a_bound_is_told_where_it_lowers() -> None:
    of = policy(floor={"max": 2})
    known = learn(of, tide(5), NOW, shapes=FAST)
    day = look_ahead(of, tide(5), known, target(9), NOW)
    first = day.changes[0]
    assert (first.before, first.floor) == (9, 2)
    assert first.why == "no more than 2 may stand, whatever is needed"
    assumed = look_ahead(of, tide(5, NOW + 12 * 3600.0), known, None, NOW + 12 * 3600.0)
    assert assumed.assumed.startswith("a floor of 2 now")


class Broken:
    """A fitted forecaster that finds no number."""

    name = "ahead"

    def predict(self, series, steps, levels):
        raise ValueError("nothing")


def test_who_draws_the_day_is_told_where_another_decides() -> None:
    known = learn(policy(), tide(9), NOW, shapes=FAST)
    assert known.choice is not None
    assert known.choice.drawn != known.fitted.name == "ahead"
    day = look_ahead(policy(), tide(9), known, target(2), NOW)
    said = dict(facts_of(day))["Forecaster"]
    assert said.endswith(f"; the days ahead are drawn by {known.choice.drawn}")
    failed = look_ahead(policy(), tide(9), replace(known, fitted=Broken()), target(2), NOW)
    assert Code.FIT_FAILED in [doubt.code for doubt in failed.doubts]
    assert dict(facts_of(failed))["Forecaster"].startswith("recent, ordering ")
    assert "drawn by" not in dict(facts_of(failed))["Forecaster"]
    pinned = policy(forecast={"use": "profile@0.95"})
    alone = look_ahead(pinned, tide(9), learn(pinned, tide(9), NOW, shapes=FAST), target(2), NOW)
    assert dict(facts_of(alone))["Forecaster"] == "profile, ordering at P95"
