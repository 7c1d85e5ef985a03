"""The day ahead: its reasons say what its floors do."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from autoscaler.cli.dayahead import look_ahead
from autoscaler.forecast import ALL, FAST
from autoscaler.model import Code
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
