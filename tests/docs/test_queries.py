"""Queries in the documents are parsed by a real Prometheus; metrics and codes exist."""

from __future__ import annotations

import re

import pytest
import requests

from autoscaler.adapters.telemetry.metrics import Metrics
from tests.docs.test_documents import DOCUMENTS, blocks
from tests.support.shared import ROOT

SOURCES = "".join(
    path.read_text()
    for folder in ("autoscaler", "deploy", "tests/lab")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".yaml")
)


@pytest.mark.lab
def test_a_real_prometheus_parses_every_query(prometheus):
    url = prometheus().url
    refused = {}
    for block in blocks("promql"):
        answer = requests.post(f"{url}/api/v1/query", {"query": block.values[0]}, timeout=60)
        if answer.status_code != 200:
            refused[block.id] = answer.json().get("error")
    assert refused == {}


def test_there_are_queries():
    assert len(list(blocks("promql"))) >= 8


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_metrics_of_ours_exist(path):
    families = {family.name for family in Metrics().registry.collect()}
    ends = ("", "_total", "_bucket", "_count", "_sum")
    known = {name + end for name in families for end in ends}
    named = set(re.findall(r"\bforetide_[a-z_]+[a-z]\b", path.read_text()))
    assert named - known == set()


CODE = re.compile(r"`((?:[A-Z][a-z]+){2,})`")
FOREIGN = {"IfNotPresent", "StatefulSets", "Deployments"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_codes_that_are_named_exist(path):
    named = set(CODE.findall(path.read_text())) - FOREIGN
    assert {name for name in named if name not in SOURCES} == set()
