"""Something answers with 200 and JSON, and is no Prometheus: an error in words, never a number."""

from __future__ import annotations

import json

import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable
from autoscaler.sandbox.prometheus import PrometheusServer
from tests.prometheus.data import NOW, policy


def matrix(result: object) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


TEXTS = {
    "list": "[1, 2]",
    "endless": "[" * 100_000,
    "torn": "{",
    "without-data": '{"status": "success"}',
    "data-null": '{"status": "success", "data": null}',
    "data-list": '{"status": "success", "data": []}',
    "error-without-words": '{"status": "error"}',
    "words-for-numbers": matrix([{"metric": {}, "values": [["x", "y"]]}]),
    "half-a-pair": matrix([{"metric": {}, "values": [[1]]}]),
    "null-for-a-value": matrix([{"metric": {}, "values": [[1, None]]}]),
    "number-for-pairs": matrix([{"metric": {}, "values": 3}]),
    "series-without-labels": matrix([{"values": [[1, "1"]]}]),
    "result-null": matrix(None),
    "result-of-texts": matrix(["a"]),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("of", ["query", "preset"])
def test_an_odd_answer_is_refused(of: str, text: str):
    asked = policy(**{of: {"query": "sum(rps)", "preset": "vllm"}[of]}, history="2d")
    with PrometheusServer(lambda: NOW) as server:
        server.faults.text = text
        source = PrometheusDemand(Prometheus(url=server.url))
        with pytest.raises(HistoryUnavailable) as refused:
            source.read(asked, NOW)
        probe = source.probe(asked, NOW)
        source.close()
    assert refused.value.code in {"NotPrometheus", "WrongType"}
    assert not probe.present
