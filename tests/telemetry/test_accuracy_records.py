"""Falling back replays from the records alone, and is explained with how good forecasts were."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from autoscaler.adapters.telemetry.reader import iterate
from autoscaler.adapters.telemetry.replay import Replayer
from autoscaler.adapters.telemetry.schema import advice_document, advice_of
from autoscaler.adapters.telemetry.writer import RecordWriter
from autoscaler.cli import accuracyshown
from autoscaler.cli.dayahead import look_ahead
from autoscaler.cli.dayshown import document_of as plan_of
from autoscaler.cli.dayshown import facts_of
from autoscaler.cli.explained import Explanation, document_of, text_of
from autoscaler.decide import decide
from autoscaler.forecast import FAST
from autoscaler.model import Code, Expected, History, Live, Outcome, Result, Samples
from autoscaler.tune import learn
from tests.core.given import MINUTE, NOW, policy, remembered, seen, tide

WHOLE = tide(14.1, NOW + 144 * MINUTE)
VALUES = WHOLE.demand.values.astype("f4").astype("f8")


def until(minute: int) -> History:
    count = 14 * 1440 + minute
    samples = Samples(times=WHOLE.demand.times[:count], values=VALUES[:count])
    return History(demand=samples, read_at=NOW + MINUTE * minute)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four cycles; in the second one forecast too many turns out to be wrong."""
    path = tmp_path_factory.mktemp("records")
    sink = RecordWriter(path, lambda: NOW)
    known = learn(policy(), until(0), NOW, shapes=FAST)
    sink.learnt(policy(), until(0), known)
    wrong = Expected(at=NOW, median=500.0, upper=600.0)
    live = Live(fit=NOW, missed=known.usual.share, expected=(wrong,))
    memory = replace(remembered(5), live=live)
    for minute in range(4):
        observed = seen(until(minute))
        decision = decide(policy(), observed, known, memory, NOW + MINUTE * minute)
        result = Result(decision=decision, outcome=Outcome.UNCHANGED)
        sink.record(policy(), observed, known, memory, result)
        memory = decision.memory
    sink.close()
    return path


def told(path: Path, index: int) -> Explanation:
    replayer = Replayer(learn=partial(learn, shapes=FAST))
    record = list(iterate(path))[index]
    return Explanation(
        record=record,
        decision=replayer.replay(record),
        knowledge=replayer.knowledge(record.fit),
        differences=replayer.differences(record),
        why_not="",
    )


def test_records_replay_to_the_same(written: Path) -> None:
    replayer = Replayer(learn=partial(learn, shapes=FAST))
    records = list(iterate(written))
    fell = []
    for record in records:
        assert replayer.differences(record) == ()
        fell.append("FellBack" in [code for code, _ in record.result["reasons"]])
    assert fell == [False, True, True, True]
    # each says what is new: one forecast more, one judged; the pending ones are not told again
    assert len(records[-1].memory.live.expected) == 3
    assert records[0].fit.knowledge["usual"]


def test_the_explanation_says_how_good_it_was_and_is(written: Path) -> None:
    shown = told(written, -1)
    assert shown.verdict == "SAME"
    said = document_of(shown)
    lines = said["stages"]["accuracy"]
    assert [line.partition(" ahead")[0] for line in lines[:3]] == ["5 min", "1 h", "1 d"]
    assert lines[-1].endswith("out of range, so the safer side decides")
    assert any(line.startswith("FellBack") for line in said["stages"]["plan"])
    assert [each["horizon"] for each in said["accuracy"]] == [300.0, 3600.0, 86_400.0]
    assert "Accuracy   5 min ahead: pinball loss" in text_of(shown)
    # no number without its unit: this policy's demand comes from a query
    assert all(line.count(" demand/s") == 3 for line in lines[:3])


def test_the_plan_says_it_too() -> None:
    known = learn(policy(), until(0), NOW, shapes=FAST)
    day = look_ahead(policy(), until(0), known, None, NOW)
    lines = [text for label, text in facts_of(day) if label == "Accuracy"]
    assert lines == list(accuracyshown.lines_of(known, "demand/s"))
    assert len(lines) >= 3
    first = plan_of(day)["accuracy"][0]
    assert first["medianLoss"] == known.accuracy[0].median
    assert set(first["naiveLoss"]) == {"last-value", "yesterday", "last-week"}


def test_who_loses_to_last_week_says_so_where_people_look() -> None:
    known = learn(policy(), until(0), NOW, shapes=FAST)
    lost = replace(known.accuracy[-1], naive={"last-week": known.accuracy[-1].median / 2})
    lines = accuracyshown.lines_of(
        replace(known, accuracy=(*known.accuracy[:-1], lost)), "demand/s"
    )
    assert lines[-1].startswith(f"{Code.WORSE_THAN_LAST_WEEK}: the same time last week")
    never = accuracyshown.live_line(replace(known, usual=None), Live())
    assert "not judged" in never


def test_an_advice_recorded_before_floors_were_told_by_day_is_read() -> None:
    advice = learn(policy(), tide(9), NOW, shapes=FAST).advice
    assert advice is not None
    document = advice_document(advice)
    assert advice_of(document).reached == advice.reached != ()
    del document["reached"]
    assert advice_of(document).reached == ()
