"""Any valid policy, written out and read again, is the same; every schema of ours takes it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import yaml
from hypothesis import given, settings

from autoscaler.adapters.policies import parse_object, read_text
from autoscaler.policy import TidePolicy
from tests.policy.making import manifests
from tools.generate import json_schema

VALIDATOR = jsonschema.Draft202012Validator(json_schema.schema())


@settings(max_examples=40)
@given(manifests())
def test_a_policy_survives_yaml_and_json(document: dict[str, Any]) -> None:
    policy = parse_object(document)
    for text in (
        yaml.safe_dump(policy.manifest(), allow_unicode=True),
        json.dumps(policy.manifest(), ensure_ascii=False),
    ):
        reading = read_text(text.encode(), "p.yaml")
        assert reading.problems == ()
        assert reading.found[0].policy == policy
    assert TidePolicy.model_validate(policy.manifest()) == policy


@settings(max_examples=40)
@given(manifests())
def test_what_was_written_is_kept(document: dict[str, Any]) -> None:
    """Nothing is accepted and ignored: every key that was written is in the manifest again."""
    assert _leaves(document) <= _leaves(parse_object(document).manifest())


@settings(max_examples=40)
@given(manifests())
def test_the_json_schema_takes_what_we_take(document: dict[str, Any]) -> None:
    VALIDATOR.validate(document)
    VALIDATOR.validate(parse_object(document).manifest())


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> set[Any]:
    """Paths of everything that is no container, with numbers as floats."""
    if isinstance(value, dict):
        return {leaf for key, inner in value.items() for leaf in _leaves(inner, (*path, key))}
    if isinstance(value, list):
        return {leaf for at, inner in enumerate(value) for leaf in _leaves(inner, (*path, at))}
    return {(*path, float(value) if isinstance(value, int | float) else value)}
