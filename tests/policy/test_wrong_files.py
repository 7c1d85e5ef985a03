"""Each way in which a policy file can be wrong has its own sentence, at its own place.

A long module: it is a table.
"""

from __future__ import annotations

import pytest

from autoscaler.adapters.policies import parse_object, read_text
from autoscaler.errors import PolicyError
from tests.policy.making import GOOD, with_spec

GRAMMAR = (
    "a duration is whole numbers with units in descending order (y, w, d, h, m, s, ms), "
    "such as 30s, 5m, 1h30m, 28d"
)
SPEC_KEYS = (
    "mode, timeZone, targetRef, demand, capacity, coldStart, floor, release, promise, "
    "forecast, price, events, calendar, recurring"
)

# lines added to the good policy (from line 11) → the one message
ADDED = {
    "number for a duration": (
        ["coldStart: {duration: 300}"],
        "p.yaml:11:25: spec.coldStart.duration: found 300, a number without a unit; "
        f"{GRAMMAR}; did you mean 300s?",
    ),
    "text without a unit": (
        ['coldStart: {duration: "300"}'],
        f'p.yaml:11:25: spec.coldStart.duration: found "300", a number without a unit; {GRAMMAR}',
    ),
    "units in a wrong order": (
        ["release: {after: 1m1h}"],
        'p.yaml:11:20: spec.release.after: found "1m1h", whose units are repeated or not in '
        f"descending order; {GRAMMAR}",
    ),
    "a unit that is none": (
        ["release: {after: 5min}"],
        f'p.yaml:11:20: spec.release.after: found "5min"; {GRAMMAR}',
    ),
    "beyond the bounds": (
        ["release: {breakEven: 8d}"],
        'p.yaml:11:24: spec.release.breakEven: found "8d"; it must lie between 0s and 7d',
    ),
    "min above max": (
        ["floor: {min: 4, max: 2}"],
        "p.yaml:11:24: spec.floor.max: found 2, below floor.min 4; max is at least min",
    ),
    "less than none": (
        ["floor: {min: -1}"],
        "p.yaml:11:16: spec.floor.min: found -1; "
        "allowed: a whole number (at least 0, at most 2147483647)",
    ),
    "zero replicas": (
        ["floor: {max: 0}"],
        "p.yaml:11:16: spec.floor.max: found 0; "
        "allowed: a whole number (at least 1, at most 2147483647)",
    ),
    "a cold start said twice": (
        ["coldStart: {duration: 5m, p50: 3m, p90: 5m, p99: 9m}"],
        "p.yaml:11:14: spec.coldStart: found duration beside p50, p90, p99; one way to say it",
    ),
    "half a replica": (
        ["floor: {max: 1.5}"],
        "p.yaml:11:16: spec.floor.max: found 1.5; "
        "allowed: a whole number (at least 1, at most 2147483647)",
    ),
    "a number as text": (
        ['floor: {max: "12"}'],
        'p.yaml:11:16: spec.floor.max: found "12"; '
        "allowed: a whole number (at least 1, at most 2147483647)",
    ),
    "nothing": (
        ["floor: {max: }"],
        "p.yaml:11:16: spec.floor.max: found nothing (null); a value, or leave the key out",
    ),
    "mode in lower case": (
        ["mode: act"],
        'p.yaml:11:9: spec.mode: found "act"; allowed: Observe | RaiseOnly | Act; '
        "did you mean Act?",
    ),
    "mode from elsewhere": (
        ["mode: Off"],
        'p.yaml:11:9: spec.mode: found "Off"; allowed: Observe | RaiseOnly | Act',
    ),
    "unknown key": (
        ["colStart: {duration: 5m}"],
        f"p.yaml:11:3: spec.colStart: unknown key; allowed: {SPEC_KEYS}; did you mean coldStart?",
    ),
    "name of the attribute instead of the key": (
        ["cold_start: {duration: 5m}"],
        f"p.yaml:11:3: spec.cold_start: unknown key; allowed: {SPEC_KEYS}; did you mean coldStart?",
    ),
    "a price of nothing": (
        ["price: {perPercentLate: 0}"],
        "p.yaml:11:27: spec.price.perPercentLate: found 0; "
        "allowed: a number (at least 0.01, at most 100)",
    ),
    "a scalar for a section": (
        ["promise: 5s"],
        'p.yaml:11:12: spec.promise: found "5s"; allowed: a section with wait, drain',
    ),
    "a section for a list": (
        ["events: {name: a}"],
        "p.yaml:11:11: spec.events: found a mapping of keys; allowed: a list (at most 100 entries)",
    ),
    "an event without an end": (
        ["events:", '  - {name: a, start: "2026-11-10T20:00", factor: 2}'],
        "p.yaml:12:7: spec.events[0].end: missing; required: "
        "a time is written as 2026-11-10T20:00, with or without an offset such as +08:00 or Z",
    ),
    "an event that ends before it starts": (
        [
            "events:",
            '  - {name: a, start: "2026-11-10T20:00", end: "2026-11-10T20:00", factor: 2}',
        ],
        'p.yaml:12:49: spec.events[0].end: found "2026-11-10T20:00"; '
        'an end comes after its start "2026-11-10T20:00"',
    ),
    "a time that the clocks skip": (
        ["events:", "  - {name: a, start: 2026-03-29T02:30, end: 2026-03-29T09:00, factor: 2}"],
        'p.yaml:12:24: spec.events[0].start: found "2026-03-29T02:30", which the clocks of '
        "Europe/Berlin skip; a time that they show, such as 2026-03-29T03:30, "
        "or one with an offset",
    ),
    "30 February": (
        ["events:", "  - {name: a, start: 2026-02-30T02:30, end: 2026-03-29T09:00, factor: 2}"],
        'p.yaml:12:24: spec.events[0].start: found "2026-02-30T02:30"; '
        "a date and time that exist (day is out of range for month)",
    ),
    "a date without a time": (
        ["events:", "  - {name: a, start: 2026-02-20, end: 2026-03-29T09:00, factor: 2}"],
        'p.yaml:12:24: spec.events[0].start: found "2026-02-20"; allowed: '
        "a time is written as 2026-11-10T20:00, with or without an offset such as +08:00 or Z",
    ),
    "two events of one name": (
        [
            "events:",
            "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-29T09:00, factor: 2}",
            "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-29T09:00, factor: 2}",
        ],
        'p.yaml:13:14: spec.events[1].name: found "a" a second time; each event has its own name',
    ),
    "a factor that is no number": (
        ["events:", "  - {name: a, start: 2026-02-20T01:00, end: 2026-03-29T09:00, factor: .nan}"],
        "p.yaml:12:73: spec.events[0].factor: found nan; allowed: a number (above 0, at most 1000)",
    ),
    "a key twice": (
        ["promise: {wait: 5s, wait: 6s}"],
        "p.yaml:11:23: spec.promise.wait: found the key a second time (first in line 11); "
        "each key once",
    ),
    "a section twice": (
        ["capacity: {perReplica: 4}"],
        "p.yaml:11:3: spec.capacity: found the key a second time (first in line 10); each key once",
    ),
    "an alias": (
        ["promise: &p {wait: 5s}", "release: *p"],
        "p.yaml:12:12: spec.release: found the alias *p; write the value out",
    ),
    "a tag": (
        ["mode: !!python/name:os.system Act"],
        "p.yaml:11:9: spec.mode: found the tag tag:yaml.org,2002:python/name:os.system; "
        "plain values without tags",
    ),
}

# what is replaced in the good policy, by what → the one message
REPLACED = {
    "neither preset nor query": (
        "demand: {preset: vllm}",
        "demand: {history: 7d}",
        "p.yaml:9:11: spec.demand.query: found neither preset nor query; "
        "exactly one of preset, query",
    ),
    "both preset and query": (
        "demand: {preset: vllm}",
        "demand: {preset: vllm, query: up}",
        "p.yaml:9:33: spec.demand.query: found query beside preset; exactly one of preset, query",
    ),
    "labels beside a query": (
        "demand: {preset: vllm}",
        "demand: {query: up, matchLabels: {a: b}}",
        "p.yaml:9:36: spec.demand.matchLabels: found matchLabels beside query; "
        "matchLabels belong to a preset: write them into the query",
    ),
    "a backlog beside a preset": (
        "demand: {preset: vllm}",
        "demand: {preset: vllm, backlog: up}",
        "p.yaml:9:35: spec.demand.backlog: found backlog beside preset; "
        "a preset reads what waits by itself",
    ),
    "a blank backlog": (
        "demand: {preset: vllm}",
        'demand: {query: up, backlog: " "}',
        "p.yaml:9:32: spec.demand.backlog: found only blanks; a PromQL expression",
    ),
    "draining what nobody sees": (
        "demand: {preset: vllm}",
        "promise: {drain: 10m}\n  demand: {query: up}",
        "p.yaml:9:12: spec.promise: found drain, but nothing says what waits; "
        "write demand.backlog beside demand.query, or leave drain out",
    ),
    "a blank query": (
        "demand: {preset: vllm}",
        'demand: {query: "  "}',
        "p.yaml:9:19: spec.demand.query: found only blanks; a PromQL expression",
    ),
    "a label of Prometheus": (
        "demand: {preset: vllm}",
        "demand: {preset: vllm, matchLabels: {__name__: up}}",
        "p.yaml:9:39: spec.demand.matchLabels: found __name__; "
        "labels that start with __ are Prometheus' own",
    ),
    "a label value that is a number": (
        "demand: {preset: vllm}",
        "demand: {preset: vllm, matchLabels: {size: 32}}",
        "p.yaml:9:46: spec.demand.matchLabels.size: found 32; "
        "allowed: text (at most 256 characters)",
    ),
    "a label name that is none": (
        "demand: {preset: vllm}",
        "demand: {preset: vllm, matchLabels: {model-name: a}}",
        'p.yaml:9:40: spec.demand.matchLabels.model-name: found "model-name"; '
        "allowed: a label name",
    ),
    "a preset that is none": (
        "preset: vllm",
        "preset: vlm",
        'p.yaml:9:20: spec.demand.preset: found "vlm"; allowed: vllm; did you mean vllm?',
    ),
    "another kind of target": (
        "kind: HorizontalPodAutoscaler",
        "kind: Deployment",
        'p.yaml:8:49: spec.targetRef.kind: found "Deployment"; allowed: HorizontalPodAutoscaler',
    ),
    "an old version of the target": (
        "autoscaling/v2",
        "autoscaling/v1",
        'p.yaml:8:27: spec.targetRef.apiVersion: found "autoscaling/v1"; '
        "allowed: autoscaling/v2; did you mean autoscaling/v2?",
    ),
    "no capacity": (
        "  capacity: {perReplica: 3.2}\n",
        "",
        "p.yaml:7:3: spec.capacity: missing; required: a section with perReplica",
    ),
    "a capacity of nothing": (
        "perReplica: 3.2",
        "perReplica: 0",
        "p.yaml:10:26: spec.capacity.perReplica: found 0; "
        "allowed: a number (above 0, at most 1e+12)",
    ),
    "a zone that does not exist": (
        "Europe/Berlin",
        "Europe/Berln",
        'p.yaml:7:13: spec.timeZone: found "Europe/Berln", which is no time zone; '
        "an IANA name such as Asia/Shanghai; did you mean Europe/Berlin?",
    ),
    "a zone that counts leap seconds": (
        "Europe/Berlin",
        "right/Europe/Berlin",
        'p.yaml:7:13: spec.timeZone: found "right/Europe/Berlin", which is no time zone; '
        "an IANA name such as Asia/Shanghai; did you mean Europe/Berlin?",
    ),
    "a zone that leads elsewhere": (
        "Europe/Berlin",
        "../../etc/passwd",
        'p.yaml:7:13: spec.timeZone: found "../../etc/passwd", which is no time zone; '
        "an IANA name such as Asia/Shanghai",
    ),
    "a name that Kubernetes refuses": (
        "name: qwen\n",
        "name: Qwen_32B\n",
        'p.yaml:4:9: metadata.name: found "Qwen_32B"; '
        "allowed: a name in lower case: letters, digits, - and .",
    ),
    "a slip in metadata": (
        "namespace: llm",
        "namespace: llm\n  anotations: {}",
        "p.yaml:6:3: metadata.anotations: unknown key; "
        "allowed: name, namespace, annotations, generation, uid; did you mean annotations?",
    ),
    "no kind": (
        "kind: TidePolicy\n",
        "",
        "p.yaml:1:1: kind: missing; required: TidePolicy",
    ),
    "a slip in the kind": (
        "kind: TidePolicy",
        "kind: Tidepolicy",
        'p.yaml:2:7: kind: found "Tidepolicy"; allowed: TidePolicy; did you mean TidePolicy?',
    ),
    "a version that is not known": (
        "v1alpha1",
        "v1",
        'p.yaml:1:13: apiVersion: found "foretide.dev/v1"; allowed: foretide.dev/v1alpha1; '
        "did you mean foretide.dev/v1alpha1?",
    ),
}


@pytest.mark.parametrize(("lines", "message"), ADDED.values(), ids=ADDED)
def test_a_wrong_line_is_told_at_its_place(lines: list[str], message: str) -> None:
    assert _messages(with_spec(*lines)) == [message]


@pytest.mark.parametrize(("old", "new", "message"), REPLACED.values(), ids=REPLACED)
def test_a_wrong_value_is_told_at_its_place(old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert _messages(GOOD.replace(old, new, 1)) == [message]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_text() -> None:
    text = with_spec(
        "floor: {min: 4, max: 2, raiseLimit: x}",
        "events:",
        "  - {name: a, start: 2026-03-29T02:30, end: 2026-03-01T00:00, factor: 0, factr: 1}",
        "  - {name: a, start: 2026-03-01T00:00, end: 2026-02-01T00:00, factor: 2}",
        "mod: Act",
    ).replace("preset: vllm", "preset: vlm")
    places = [message.split(": ")[:2] for message in _messages(text)]
    assert places == [
        ["p.yaml:9:20", "spec.demand.preset"],
        ["p.yaml:11:24", "spec.floor.max"],
        ["p.yaml:11:39", "spec.floor.raiseLimit"],
        ["p.yaml:13:24", "spec.events[0].start"],
        ["p.yaml:13:73", "spec.events[0].factor"],
        ["p.yaml:13:76", "spec.events[0].factr"],
        ["p.yaml:14:14", "spec.events[1].name"],
        ["p.yaml:14:47", "spec.events[1].end"],
        ["p.yaml:15:3", "spec.mod"],
    ]


def test_a_custom_resource_gets_the_same_sentences_without_a_place() -> None:
    given = {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": {"name": "qwen", "namespace": "llm", "resourceVersion": "7"},
        "spec": {
            "targetRef": {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "name": "qwen",
            },
            "demand": {"preset": "vllm"},
            "capacity": {"perReplica": "3.2"},
            "floor": {"min": 4, "max": 2},
        },
        "status": {"anything": 1},
    }
    with pytest.raises(PolicyError) as caught:
        parse_object(given)
    assert str(caught.value).splitlines() == [
        'spec.capacity.perReplica: found "3.2"; allowed: a number (above 0, at most 1e+12)',
        "spec.floor.max: found 2, below floor.min 4; max is at least min",
    ]


def test_an_unchanged_good_policy_is_taken() -> None:
    reading = read_text(GOOD.encode(), "p.yaml")
    assert reading.problems == ()
    assert [(found.policy.key, found.where) for found in reading.found] == [
        ("llm/qwen", "p.yaml:1:1")
    ]


def _messages(text: str) -> list[str]:
    reading = read_text(text.encode(), "p.yaml")
    assert reading.found == ()
    return [str(problem) for problem in reading.problems]
