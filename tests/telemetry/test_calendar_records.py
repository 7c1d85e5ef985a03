"""What the calendar contributed stands in the record, replays to the same, and is explained."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from autoscaler.adapters.telemetry.reader import iterate
from autoscaler.adapters.telemetry.replay import Replayer
from autoscaler.adapters.telemetry.writer import RecordWriter
from autoscaler.cli.explained import Explanation, document_of, text_of
from autoscaler.decide import decide
from autoscaler.forecast import FAST
from autoscaler.model import Code, Outcome, Result
from autoscaler.tune import learn
from tests.core.given import DAY, HOUR, NOW, history, policy, remembered, seen, tide

POLICY = policy(
    calendar={"country": "DE", "days": [{"date": "2025-12-01", "like": "2025-11-16"}]},
    events=[
        {"name": "then", "start": "2025-11-27T00:00", "end": "2025-11-27T06:00", "factor": 2},
        {"name": "now", "start": "2025-12-01T00:05", "end": "2025-12-01T06:00", "like": "then"},
        {"name": "board", "start": "2025-12-01T00:00", "end": "2025-12-01T01:00", "hold": True},
    ],
    recurring=[{"name": "night", "to": "06:00", "floor": 9}, {"name": "more", "factor": 1.1}],
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cycles, a minute apart, of which the floor is too high in the last."""
    path = tmp_path_factory.mktemp("records")
    sink = RecordWriter(path, lambda: NOW)
    given = tide(21)
    values = given.demand.values.copy()
    sale = (given.demand.times >= NOW - 4 * DAY) & (given.demand.times < NOW - 4 * DAY + 6 * HOUR)
    values[sale] *= 3
    given = history(given.demand.times, values.astype("f4").astype("f8"))
    known = learn(POLICY, given, NOW, shapes=FAST)
    assert known.events["then"]
    sink.learnt(POLICY, given, known)
    memory = remembered(9)
    for minute, floor in enumerate((5, 9, 30)):
        observed = seen(given, floor=floor)
        decision = decide(POLICY, observed, known, memory, NOW + 60.0 * minute)
        result = Result(decision=decision, outcome=Outcome.UNCHANGED)
        sink.record(POLICY, observed, known, memory, result)
        memory = decision.memory
    sink.close()
    return path


def test_records_replay_to_the_same(written: Path) -> None:
    replayer = Replayer(learn=partial(learn, shapes=FAST))
    records = list(iterate(written))
    assert len(records) == 3
    for record in records:
        assert replayer.differences(record) == ()
    codes = [Code(code) for code, _ in records[-1].result["reasons"]]
    assert {Code.DAY_LIKE, Code.EVENT, Code.RECURRING, Code.CALENDAR_HOLDS} <= set(codes)
    assert records[0].fit.knowledge["events"]["then"]


def test_the_explanation_has_a_part_of_its_own(written: Path) -> None:
    replayer = Replayer(learn=partial(learn, shapes=FAST))
    record = list(iterate(written))[-1]
    told = Explanation(
        record=record,
        decision=replayer.replay(record),
        knowledge=replayer.knowledge(record.fit),
        differences=(),
        why_not="",
    )
    said = document_of(told)["stages"]
    assert [line.partition(":")[0] for line in said["calendar"]] == [
        "DayLike",
        "Event",
        "Recurring",
        "Recurring",
        "CalendarHolds",
    ]
    assert not any(line.startswith(("Event", "DayLike", "Recurring")) for line in said["plan"])
    assert any(line.startswith("CalendarHolds") for line in said["guards"])
    assert "Calendar   DayLike: 2025-12-01 is like 2025-11-16" in text_of(told)
