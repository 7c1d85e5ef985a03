"""The sandbox's PromQL says what a real Prometheus says, or refuses as it does."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autoscaler.demand import presets
from autoscaler.policy import Demand
from autoscaler.sandbox.prometheus import PrometheusServer
from tests.prometheus.data import NOW, STEP, lines, load, texts

QUERIES = [
    "two_rps",
    "two_rps{pod!~'b|c'} offset 7m",
    "sum(two_rps)",
    "sum by (pod) (two_rps) / on(pod) two_rps",
    "avg without (pod) (two_rps) - on() 2 * min(two_rps)",
    "max by (service) (two_rps) > bool 150",
    "two_rps > 150 and two_rps < 200",
    "two_rps{pod='a'} or two_rps",
    "two_rps unless on(pod) two_rps{pod='b'}",
    "nan_rps",
    "max_over_time(nan_rps[10m])",
    "min_over_time(gap_rps[1h])",
    "count_over_time(gap_rps[1h])",
    "avg_over_time(gap_rps[30m])",
    "sum_over_time(two_rps[5m])",
    "last_over_time(gap_rps[20m])",
    "rate(hits_total[2m])",
    "increase(hits_total[10m])",
    "delta(tide_rps[5m])",
    "rate(gap_rps[15m])",
    "timestamp(gap_rps)",
    "time() - timestamp(gap_rps)",
    "clamp_max(clamp_min(tide_rps, 80), 120)",
    "abs(tide_rps - 100)",
    "count(two_rps) * 3 + 1e2",
    "group by (service) (two_rps)",
    "tide_rps / 0",
    "-tide_rps",
    "scalar(tide_rps) + vector(1)",
    "{__name__=~'two_.*', pod='a'}",
    "3 * 4 - 2",
    "# a comment\nsum(two_rps) # another",
]
REFUSED = ["sum(", "two_rps[5m]", "rate(two_rps)", '"text"', "nosuch(two_rps)", "two_rps and 1", ""]

Ask = Callable[..., Any]


def asking(url: str) -> Ask:
    """A range query of the last hours, as a set of series, or how it was refused."""

    def ask(query: str, points: int = 420) -> Any:
        step = STEP / 2
        end = NOW - 600
        times = {"start": end - (points - 1) * step, "end": end, "step": step}
        text = urllib.parse.urlencode({"query": query, **times})
        try:
            with urllib.request.urlopen(f"{url}/api/v1/query_range?{text}", timeout=60) as answer:
                data = json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)["errorType"]
        return {
            tuple(sorted(row["metric"].items())): {
                float(at): float(value) for at, value in row["values"]
            }
            for row in data["result"]
        }

    return ask


@pytest.fixture(scope="module")
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Ask, Ask]]:
    """The sandbox's server and the real one, with the same series."""
    given = lines()
    real = request.getfixturevalue("prometheus_for_session")(past=texts(given))
    with PrometheusServer(lambda: NOW) as server:
        load(server, given)
        yield asking(server.url), asking(real.url)


@pytest.mark.lab
@pytest.mark.parametrize("query", QUERIES)
def test_the_same_answer(both: tuple[Ask, Ask], query: str):
    ours, real = both[0](query), both[1](query)
    assert real, "the query shows nothing: it compares nothing"
    assert ours.keys() == real.keys()
    for labels, values in real.items():
        assert ours[labels].keys() == values.keys(), labels
        np.testing.assert_allclose(
            [ours[labels][at] for at in values], list(values.values()), rtol=1e-9, equal_nan=True
        )


@pytest.mark.lab
@pytest.mark.parametrize("query", REFUSED)
def test_the_same_refusal(both: tuple[Ask, Ask], query: str):
    assert both[0](query) == both[1](query) == (400, "bad_data")


@pytest.mark.lab
@pytest.mark.parametrize(("points", "answer"), [(11_001, dict), (11_002, tuple)])
def test_the_limit_of_points_is_the_same(both: tuple[Ask, Ask], points: int, answer: type):
    for ask in both:
        assert isinstance(ask("sum(two_rps)", points), answer)


def test_what_the_sandbox_does_not_speak_is_refused_and_not_guessed():
    with PrometheusServer(lambda: NOW) as server:
        load(server, lines()[1:3])
        ask = asking(server.url)
        for query in ("quantile(0.5, two_rps)", "two_rps * on(pod) group_left() two_rps"):
            assert ask(query) == (400, "bad_data")


@pytest.mark.parametrize("preset", ["vllm"])
def test_every_text_of_the_presets_is_understood(preset: str):
    demand = Demand(preset=preset, matchLabels={"model_name": 'a"b\\c'})
    for present in ([], [{"__name__": presets.RUNNING}, {"__name__": presets.HTTP}]):
        queries = presets.queries(demand, "llm", STEP, present)
        for text in (queries.demand, queries.saturated, *presets.selectors(demand, "llm")):
            if text is not None:
                with PrometheusServer(lambda: NOW) as server:
                    assert asking(server.url)(text) == {}
