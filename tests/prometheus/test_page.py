"""docs/how-to/prometheus.md says what the code does."""

from __future__ import annotations

import re

import pytest
import yaml

from autoscaler.adapters.prometheus import PrometheusDemand, client, transport
from autoscaler.config import Config
from autoscaler.demand import presets
from autoscaler.policy import Demand
from autoscaler.sandbox.promql import parse
from tests.support.shared import ROOT

PAGE = (ROOT / "docs" / "how-to" / "prometheus.md").read_text()
PACKAGE = ROOT / "autoscaler" / "adapters" / "prometheus"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", [b for b in blocks("yaml") if b.startswith("prometheus:")])
def test_a_configuration_on_the_page_is_one(text: str):
    assert Config.model_validate(yaml.safe_load(text)).prometheus.url


def test_the_queries_on_the_page_are_those_that_are_sent():
    asked = Demand(preset="vllm", matchLabels={"model_name": "qwen-32b"})
    engine, server = {"__name__": presets.RUNNING}, {"__name__": presets.HTTP}
    counted = presets.queries(asked, "llm", 60.0, [engine, server])
    uncounted = presets.queries(asked, "llm", 60.0, [engine])
    for text in (counted.demand, uncounted.saturated):
        assert f"```promql\n{text}\n```" in PAGE, f"the page should have:\n{text}"


@pytest.mark.parametrize("text", blocks("promql"))
def test_every_query_on_the_page_is_one(text: str):
    parse(text)


def test_every_code_is_explained():
    source = "".join(path.read_text() for path in PACKAGE.glob("*.py"))
    codes = set(re.findall(r'code="(\w+)"', source))
    codes |= set(re.findall(r'code="\w+" if [^,\n]* else "(\w+)"', source))
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    said = {code for row in rows for code in re.findall(r"`(\w+)`", row)}
    assert codes <= said, codes - said
    documented = PrometheusDemand.read.__doc__ or ""
    assert not [code for code in codes if code not in documented]


def test_the_numbers_on_the_page_are_those_of_the_code():
    assert f"nobody asks for {client.REST:.0f} s" in PAGE
    assert f"over {transport.LARGEST >> 20} MB" in PAGE
