"""The annotation that stops writes: whoever mistyped `true` wanted it to stop."""

from __future__ import annotations

import pytest
import yaml

from autoscaler.adapters.policies import parse_object
from autoscaler.policy import PAUSED_ANNOTATION, TidePolicy
from tests.policy.making import GOOD


def annotated(name: str, value: str) -> TidePolicy:
    document = yaml.safe_load(GOOD)
    document["metadata"]["annotations"] = {name: value}
    return parse_object(document)


@pytest.mark.parametrize("value", ["true", "True", "yes", "ture", "", "1"])
def test_any_value_but_false_pauses(value: str):
    assert annotated(PAUSED_ANNOTATION, value).paused


@pytest.mark.parametrize("value", ["false", "False", " false "])
def test_false_does_not(value: str):
    assert not annotated(PAUSED_ANNOTATION, value).paused


def test_another_annotation_is_of_no_meaning():
    assert not annotated("foretide.dev/pause", "true").paused
