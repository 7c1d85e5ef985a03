"""Records read back to what was written, survive torn lines and full disks, and stay small."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from autoscaler.adapters.telemetry import schema, writer
from autoscaler.adapters.telemetry.reader import Damage, Record, files, iterate
from autoscaler.adapters.telemetry.writer import Limits, RecordWriter
from autoscaler.errors import InputError
from autoscaler.model import (
    Code,
    Expected,
    History,
    Knowledge,
    Live,
    Memory,
    Observation,
    Outcome,
    Reason,
    Result,
    Samples,
    Target,
    Wanted,
)
from tests.telemetry.making import (
    START,
    decision,
    history,
    knowledge,
    observation,
    policy,
    result,
    target,
)


class Count:
    def __init__(self) -> None:
        self.bytes, self.lost = 0, 0

    def wrote(self, size: int) -> None:
        self.bytes += size

    def dropped(self) -> None:
        self.lost += 1


def records(path: Path, key: str | None = None) -> list[Record]:
    found = list(iterate(path, key))
    assert all(isinstance(item, Record) for item in found), found
    return found


def write_minutes(sink: RecordWriter, count: int) -> list:
    """`count` cycles, one a minute; returns what each was given."""
    memory, given = Memory(), []
    what = knowledge(START)
    sink.learnt(policy(), history(0, 2000), what)
    for minute in range(count):
        seen = history(minute, 2000)
        now = START + 60.0 * (2000 + minute)
        observed = observation(seen, version=str(100 + minute))
        outcome = result(now, memory)
        sink.record(policy(), observed, what, memory, outcome)
        given.append((now, observed, memory, outcome))
        memory = outcome.decision.memory
    sink.close()
    return given


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    given = write_minutes(RecordWriter(tmp_path, lambda: START), 30)
    found = records(tmp_path)
    assert len(found) == 30
    for record, (now, observed, memory, outcome) in zip(found, given, strict=True):
        assert (record.at, record.key, record.altered) == (now, "llm/qwen", ())
        assert record.observation.target == observed.target
        seen, wrote = record.observation.history, observed.history
        assert (seen.step, seen.read_at, seen.series) == (wrote.step, wrote.read_at, wrote.series)
        assert np.array_equal(seen.demand.times, wrote.demand.times)
        assert np.array_equal(seen.demand.values, wrote.demand.values)
        assert record.memory == memory
        assert record.outcome is Outcome.WRITTEN
        assert record.result["floor"] == outcome.decision.floor
        assert record.remembers == schema.memory_document(outcome.decision.memory)
        assert record.fit.knowledge["fitted_at"] == START


def test_saturation_doubts_and_missing_targets_read_back(tmp_path: Path) -> None:
    sink = RecordWriter(tmp_path, lambda: START + 1.0)
    seen = history(0, 100)
    full = Samples(times=seen.demand.times, values=np.zeros(100))
    marked = history(0, 100, saturated=full, warnings=("half of it",), series=2)
    doubt = Reason(code=Code.HISTORY_UNAVAILABLE, sentence="no answer in 10 s", numbers={"s": 10.0})
    sink.record(policy(), observation(marked), None, Memory(), result(START, Memory()))
    blind = observation(None)
    blind = type(blind)(target=blind.target, history=None, doubts=(doubt,))
    sink.record(policy(), blind, None, Memory(since=3.0), result(START + 60, Memory(since=3.0)))
    gone = Result(decision=None, outcome=Outcome.UNCHANGED, message="HPA llm/qwen is not there")
    sink.record(policy(), None, None, Memory(), gone)
    sink.close()
    first, second, third = records(tmp_path)
    assert np.array_equal(first.observation.history.saturated.values, np.zeros(100))
    assert first.observation.history.warnings == ("half of it",)
    assert second.observation.history is None
    assert second.observation.doubts == (doubt,)
    assert second.memory.since == 3.0
    assert third.observation is None
    assert third.at == START + 1.0
    assert third.result["message"] == "HPA llm/qwen is not there"


def test_each_day_has_a_file_that_needs_no_other(tmp_path: Path) -> None:
    sink = RecordWriter(tmp_path, lambda: START, limits=Limits(days=2))
    memory = Memory()
    what, seen = knowledge(START), history(0, 50)
    sink.learnt(policy(), seen, what)
    for day in range(4):
        now = START + 86_400.0 * day
        sink.record(policy(), observation(history(day * 5, 50)), what, memory, result(now, memory))
    sink.close()
    kept = files(tmp_path)
    assert [path.name for path in kept] == [
        "decisions-2026-09-23.jsonl",
        "decisions-2026-09-24.jsonl",
    ]
    for path in kept:
        (record,) = records(path)
        assert record.fit.kept.history().demand.times[0] == seen.demand.times[0]
        assert record.altered == ()


def test_records_of_one_policy_can_be_picked(tmp_path: Path) -> None:
    sink = RecordWriter(tmp_path, lambda: START)
    for name in ("a", "b"):
        sink.record(
            policy(name), observation(history(0, 9)), None, Memory(), result(START, Memory())
        )
    sink.close()
    assert [record.key for record in records(tmp_path, "llm/b")] == ["llm/b"]


@pytest.mark.parametrize(
    ("cut", "part"),
    [
        (('"floor":4,"ceiling":20', '"floor":3,"ceiling":20'), "target"),
        (('"perReplica":3.2', '"perReplica":3.3'), "policy"),
        (('"read_at":1790001000', '"read_at":1790001001'), "history"),
        (('"since":7.0', '"since":8.0'), "memory"),
        (('"order_level":0.9', '"order_level":0.8'), "knowledge"),
    ],
)
def test_an_altered_input_is_named(tmp_path: Path, cut: tuple[str, str], part: str) -> None:
    path = tmp_path / "one.jsonl"
    sink = RecordWriter(path, lambda: START, daily=False, run="r")
    what, memory = knowledge(START), Memory(since=7.0)
    seen = history(0, 17)
    seen = type(seen)(demand=seen.demand, read_at=1_790_001_000.0)
    sink.learnt(policy(), seen, what)
    sink.record(policy(), observation(seen), what, memory, result(START, memory))
    sink.close()
    text = path.read_text()
    assert cut[0] in text
    path.write_text(text.replace(*cut))
    (record,) = records(path)
    assert part in record.altered


def test_a_torn_line_costs_that_line_only(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    write_minutes(RecordWriter(path, lambda: START, daily=False), 3)
    with path.open("ab") as file:
        file.write(b'{"run":"x","v":1,"at":17')
    write_minutes(RecordWriter(path, lambda: START, daily=False), 2)
    found = list(iterate(path))
    assert [type(item) for item in found] == [Record, Record, Record, Damage, Record, Record]


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    one = RecordWriter(path, lambda: START, daily=False, run="one")
    two = RecordWriter(path, lambda: START, daily=False, run="two")
    memory = Memory()
    for minute in range(3):
        now = START + 60.0 * minute
        for sink, count in ((one, 40), (two, 50)):
            seen = observation(history(minute, count))
            sink.record(policy(), seen, None, memory, result(now, memory))
    found = records(path)
    assert [len(r.observation.history.demand) for r in found] == [40, 50] * 3
    assert all(r.altered == () for r in found)


def test_a_full_disk_costs_records_and_is_counted(tmp_path: Path, monkeypatch) -> None:
    count = Count()
    path = tmp_path / "one.jsonl"
    hands = [0.0]
    sink = RecordWriter(path, lambda: START, daily=False, meter=count, monotonic=lambda: hands[0])
    memory = Memory()

    def record(minute: int) -> None:
        seen = observation(history(minute, 200))
        sink.record(policy(), seen, None, memory, result(START + 60.0 * minute, memory))

    record(0)
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) > 20:
            return real(fd, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(writer.os, "write", full)  # the kernel, not one of our own modules
        record(1)
    assert count.lost == 1
    record(2)  # within the pause: not tried
    assert count.lost == 2
    hands[0] += writer.PAUSE
    record(3)
    sink.close()
    found = list(iterate(path))
    assert [type(item) for item in found] == [Record, Damage, Record]
    last = found[2]
    assert last.altered == ()
    assert last.observation.history.demand.times[-1] == START + 60.0 * 202


def test_what_waited_is_written_when_it_was_known(tmp_path: Path) -> None:
    sink, memory = RecordWriter(tmp_path, lambda: START), Memory()
    waited = (None, 3.5, 0.0, None)
    for minute, backlog in enumerate(waited):
        seen = replace(history(minute, 200), backlog=backlog)
        now = START + 60.0 * (200 + minute)
        sink.record(policy(), observation(seen), None, memory, result(now, memory))
    sink.close()
    assert tuple(one.observation.history.backlog for one in records(tmp_path)) == waited


def test_another_version_and_other_text_are_damage_in_words(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"v":99}\nhello\n[]\n\n')
    found = list(iterate(path))
    assert [item.source.line for item in found] == [1, 2, 3]
    assert "schema version 99" in found[0].message


def test_no_records_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").touch()  # as the demo leaves it beside its page
    assert files(tmp_path) == [tmp_path / "decisions.jsonl"]
    (tmp_path / "decisions.jsonl").unlink()
    with pytest.raises(InputError, match="no decision records"):
        list(iterate(tmp_path))


@pytest.mark.parametrize(
    ("noun", "recorded"),
    [
        # what was expected is rows, as what was wanted: they stand beside the rest of `live`
        (Memory, set(schema.memory_document(Memory())) - {"expected"}),
        (Target, set(schema.target_document(target()))),
        (Observation, {"target", "history", "doubts", "period"}),
        (History, {"demand", "saturated", "step", "read_at", "series", "warnings", "backlog"}),
        (Knowledge, {"fitted", *schema.knowledge_document(knowledge(START))} - {"forecaster"}),
    ],
)
def test_every_field_that_a_decision_may_look_at_is_recorded(noun: type, recorded: set) -> None:
    assert {field.name for field in fields(noun)} == recorded


def test_a_memory_comes_back() -> None:
    full = Memory(
        wanted=(Wanted(at=1.5, floor=3),),
        since=1.0,
        shadow=2,
        written=Wanted(at=2.0, floor=4),
        live=Live(
            fit=0.5,
            expected=(Expected(at=2.5, median=1.25, upper=3.0),),
            judged=2.0,
            missed=0.125,
            fallen=1.0,
        ),
    )
    assert schema.memory_of(json.loads(schema.text(schema.memory_document(full)))) == full


def test_numbers_that_are_not_finite_survive() -> None:
    values = [float("nan"), float("inf"), float("-inf"), 0.1 + 0.2, 1e300, 1_790_000_040.25]
    back = [schema.unnumber(json.loads(schema.text(schema.number(v)))) for v in values]
    assert np.allclose(back, values, rtol=1e-15, atol=0, equal_nan=True)


def test_a_day_of_two_hundred_policies_stays_under_300_mb(tmp_path: Path) -> None:
    """One policy over 28 days of noisy demand, one record a minute; times 200."""
    count = Count()
    sink = RecordWriter(tmp_path / "one.jsonl", lambda: START, daily=False, meter=count)
    series = history(0, 40_320 + 60).demand.values
    what = knowledge(START)
    sink.learnt(policy(), history(0, 40_320, values=series), what)
    memory, sizes = Memory(), []
    for minute in range(60):
        before = count.bytes
        seen = observation(history(minute, 40_320, values=series), version=str(9_000_000 + minute))
        now = START + 60.0 * (40_320 + minute)
        done = Result(decision=decision(now, memory), outcome=Outcome.UNCHANGED)
        sink.record(policy(), seen, what, memory, done)
        memory = done.decision.memory
        sizes.append(count.bytes - before)
    sink.close()
    day = 200 * (sizes[0] + 1439 * max(sizes[1:]))
    assert day < 300e6, (sizes[0], max(sizes[1:]), day)
