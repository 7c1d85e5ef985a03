"""Every shipped policy is one, to our own reader, to the JSON Schema, and documented."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from autoscaler.adapters.policies import load
from autoscaler.model import Mode
from autoscaler.policy import Spec
from autoscaler.schema import words
from tests.policy.making import EXAMPLES, ROOT
from tools.generate import json_schema


def test_there_are_examples() -> None:
    names = {path.stem for path in EXAMPLES}
    assert {"minimal", "full", "vllm", "query", "event"} <= names


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_policy(path: Path) -> None:
    (policy,) = load([path])
    assert policy.metadata.namespace != "default", "an example says where it belongs"
    documents = list(yaml.safe_load_all(path.read_text()))
    for document in documents:
        jsonschema.Draft202012Validator(json_schema.schema()).validate(document)


def test_all_examples_can_live_in_one_cluster() -> None:
    assert len(load([ROOT / "policies"])) == len(EXAMPLES)


def test_the_minimal_policy_writes_nothing() -> None:
    (policy,) = load([ROOT / "policies" / "minimal.yaml"])
    assert policy.spec.mode is Mode.OBSERVE


def test_the_full_policy_has_every_field() -> None:
    document = yaml.safe_load((ROOT / "policies" / "full.yaml").read_text())
    assert set(document["spec"]) == set(words.keys_of(Spec))
    for name, field in words.keys_of(Spec).items():
        section, _ = words.bare(field.annotation)
        if words.is_section(section):
            missing = set(words.keys_of(section)) - set(document["spec"][name])
            # query excludes preset, a duration quantiles; China's subdivisions have no holidays
            assert missing <= {"query", "backlog", "subdivision", "p50", "p90", "p99"}


def test_every_field_says_what_it_means() -> None:
    sections = [Spec]
    while sections:
        section = sections.pop()
        for name, field in words.keys_of(section).items():
            kind, _ = words.bare(field.annotation)
            item = words.entry(kind)
            assert field.description, name
            if words.is_section(item):
                sections.append(item)
