"""What the adapter promises, on the sandbox's server and on a real Prometheus alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import yaml

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable
from autoscaler.model import History
from autoscaler.sandbox.prometheus import PrometheusServer
from tests.prometheus.data import DAYS, NOW, STEP, TIDE, lines, load, policy, texts, tide

SERVERS = ["sandbox", pytest.param("lab", marks=pytest.mark.lab)]


@pytest.fixture(scope="module", params=SERVERS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with 28 days of history that ends at NOW."""
    if request.param == "lab":
        start = request.getfixturevalue("prometheus_for_session")
        yield start(past=texts(lines())).url
        return
    with PrometheusServer(lambda: NOW) as server:
        load(server, lines())
        yield server.url


@pytest.fixture
def demand(url: str) -> Iterator[PrometheusDemand]:
    source = PrometheusDemand(Prometheus(url=url))
    yield source
    source.close()


@pytest.fixture(params=SERVERS)
def mortal(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A server of the test's own, with `url` and `restart()`."""
    if request.param == "lab":
        real = request.getfixturevalue("prometheus")(past=texts(lines()[1:3]))

        def restart() -> None:
            real.kill()
            real.start()

        yield real.url, restart
        return
    servers = [PrometheusServer(lambda: NOW).start()]
    load(servers[0], lines()[1:3])

    def again() -> None:
        port = int(servers[-1].url.rpartition(":")[2])
        servers[-1].stop()
        servers.append(PrometheusServer(lambda: NOW, port=port).start())
        load(servers[-1], lines()[1:3])

    yield servers[0].url, again
    servers[-1].stop()


@pytest.fixture(params=SERVERS)
def partial(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that says with every answer that some of its data is missing."""
    if request.param == "sandbox":
        with PrometheusServer(lambda: NOW) as server:
            load(server, lines()[1:3])
            server.faults.warnings = ("remote_read: connection refused",)
            yield server.url
        return
    real = request.getfixturevalue("prometheus")(past=texts(lines()[1:3]))
    path = real.home / "prometheus.yml"
    document = yaml.safe_load(path.read_text())
    document["remote_read"] = [{"url": "http://127.0.0.1:9/", "read_recent": True}]
    path.write_text(yaml.safe_dump(document))
    real.kill()
    real.start()
    yield real.url


def starts(history: History) -> np.ndarray:
    """Minutes before NOW at which the steps with a value begin, newest first."""
    return ((NOW - history.demand.times[::-1]) / STEP).round(9)


def test_four_weeks_at_a_minute_are_40320_points_without_seam(demand: PrometheusDemand):
    history = demand.read(policy(query=TIDE), NOW)
    assert len(history.demand) == DAYS * 1440 == 40_320
    assert starts(history).tolist() == list(range(1, 40_321))
    # a step's value is what is asked at its end; nothing shifted, repeated or lost at any border
    np.testing.assert_allclose(history.demand.values, tide(history.demand.times + STEP), rtol=1e-6)
    assert (history.series, history.warnings, history.step) == (1, (), STEP)


def test_values_have_the_precision_of_the_records(demand: PrometheusDemand):
    values = demand.read(policy(query=TIDE), NOW).demand.values
    assert (values == values.astype(np.float32)).all()


def test_the_unfinished_step_is_not_there(demand: PrometheusDemand):
    history = demand.read(policy(query=TIDE, history="2d"), NOW - 1)
    assert history.demand.times[-1] + STEP == NOW - STEP
    assert history.read_at == NOW - 1


def test_a_later_cycle_asks_for_the_tail_and_keeps_the_rest(demand: PrometheusDemand):
    early = demand.read(policy(query=TIDE, history="2d"), NOW - 3 * STEP)
    late = demand.read(policy(query=TIDE, history="2d"), NOW)
    assert len(early.demand) == len(late.demand) == 2880
    np.testing.assert_array_equal(early.demand.values[3:], late.demand.values[:-3])
    np.testing.assert_allclose(late.demand.values[-3:], tide(NOW - STEP * np.arange(2, -1, -1)))


def test_two_series_are_summed_and_counted(demand: PrometheusDemand):
    history = demand.read(policy(query="two_rps", history="2d"), NOW)
    assert history.series == 2
    times = history.demand.times + STEP
    np.testing.assert_allclose(history.demand.values, 3 * tide(times), rtol=1e-6)


def test_what_waits_is_read_beside_a_query(demand: PrometheusDemand):
    asked = policy(query=TIDE, backlog=f"sum({TIDE}) * 3", history="2d")
    history = demand.read(asked, NOW)
    assert history.backlog == pytest.approx(3 * history.demand.values[-1], rel=1e-6)
    assert demand.probe(asked, NOW).notes == ()
    assert demand.read(policy(query=TIDE, history="2d"), NOW).backlog is None


@pytest.mark.parametrize(
    ("backlog", "said"),
    [
        ("two_rps", "gave 2 series"),
        ("none_rps", "gave no number"),
        ("tide_rps * (0 / 0)", "gave no number"),
        ("sum(tide_rps", "cannot be read, so nothing is drained: Prometheus at"),
    ],
)
def test_what_waits_is_one_number_or_unknown(demand: PrometheusDemand, backlog: str, said: str):
    asked = policy(query=TIDE, backlog=backlog, history="2d")
    assert demand.read(asked, NOW).backlog is None
    found = demand.probe(asked, NOW)
    (note,) = found.notes
    assert note.startswith(f"demand.backlog {said}")
    assert (found.error, found.present) == ("", True)  # of the demand all is told


def test_not_a_number_is_a_gap(demand: PrometheusDemand):
    history = demand.read(policy(query="nan_rps", history="2d"), NOW)
    assert len(history.demand) == 1441 - 30
    assert np.isfinite(history.demand.values).all()


def test_a_silent_series_is_carried_for_five_minutes_and_then_a_gap(demand: PrometheusDemand):
    history = demand.read(policy(query="gap_rps", history="2d"), NOW)
    there = set(starts(history).astype(int).tolist())
    end = set(range(1, 1442)) - there
    # 100 samples are missing in the middle and 120 at the end; four steps of each are carried
    assert len(end) == (100 - 4) + (120 - 4)
    assert min(there) == 117


def test_infinity_is_handed_on_for_the_core_to_refuse(demand: PrometheusDemand):
    history = demand.read(policy(query="big_rps", history="2d"), NOW)
    assert np.isposinf(history.demand.values).all()


def test_a_counter_that_began_anew_is_no_dip(demand: PrometheusDemand):
    history = demand.read(policy(query="sum(rate(hits_total[2m]))", history="2d"), NOW)
    np.testing.assert_allclose(history.demand.values, 1.5, rtol=0.02)


@pytest.mark.parametrize("query", ["no_such_metric", "sum(tide_rps{service='other'})"])
def test_no_series_is_not_zero_demand(demand: PrometheusDemand, query: str):
    with pytest.raises(HistoryUnavailable, match="no sample of llm/qwen's demand") as refused:
        demand.read(policy(query=query, history="2d"), NOW)
    assert refused.value.code == "NoSeries"


def test_a_string_is_no_demand(demand: PrometheusDemand):
    with pytest.raises(HistoryUnavailable) as refused:
        demand.read(policy(query='"seven"', history="2d"), NOW)
    assert refused.value.code in {"WrongType", "QueryRefused"}


def test_what_is_no_query_is_said_with_the_servers_own_words(demand: PrometheusDemand):
    with pytest.raises(HistoryUnavailable, match="parse error") as refused:
        demand.read(policy(query="sum(tide_rps", history="2d"), NOW)
    assert refused.value.code == "QueryRefused"


def test_series_that_cannot_be_joined_are_a_failed_query(demand: PrometheusDemand):
    with pytest.raises(HistoryUnavailable, match=r"many-to-many|duplicate series") as refused:
        demand.read(policy(query="two_rps + on(service) two_rps", history="2d"), NOW)
    assert refused.value.code == "QueryFailed"


def test_a_very_long_query_arrives(demand: PrometheusDemand):
    text = f'{TIDE}{{service=~"{"|".join(f"service-{i}" for i in range(600))}|chat"}}'
    assert len(text) > 6000
    assert len(demand.read(policy(query=text, history="2d"), NOW).demand) == 2880


def test_a_restart_between_two_cycles_costs_nothing(mortal: tuple[str, Callable[[], None]]):
    url, restart = mortal
    source = PrometheusDemand(Prometheus(url=url))
    asked = policy(query="sum(two_rps)", history="2d")
    before = source.read(asked, NOW - STEP)
    restart()
    after = source.read(asked, NOW)
    assert len(after.demand) == len(before.demand) + 1
    source.close()


def test_a_partial_answer_says_so(partial: str):
    source = PrometheusDemand(Prometheus(url=partial))
    history = source.read(policy(query="sum(two_rps)", history="2d"), NOW)
    assert len(history.demand) > 1000
    assert any("remote_read" in text or "refused" in text for text in history.warnings)
    source.close()


def test_a_probe_tells_what_there_is(demand: PrometheusDemand):
    seen = demand.probe(policy(query=TIDE), NOW)
    assert (seen.present, seen.series, seen.error) == (True, 1, "")
    assert seen.span == pytest.approx(DAYS * 86_400, abs=3600)
    assert (seen.resolution, seen.coverage) == (60.0, 1.0)
    assert seen.age <= 60.0
    assert seen.newest == pytest.approx(float(tide(np.array([NOW]))[0]), rel=1e-6)


def test_a_probe_names_the_labels_that_tell_series_apart(demand: PrometheusDemand):
    seen = demand.probe(policy(query="two_rps", history="2d"), NOW)
    assert seen.series == 2
    assert seen.apart == {"pod": ("a", "b")}


def test_a_probe_of_nothing_is_an_answer(demand: PrometheusDemand):
    seen = demand.probe(policy(query="no_such_metric"), NOW)
    assert (seen.present, seen.series, seen.span) == (False, 0, 0.0)
    assert np.isnan(seen.age)


def test_a_probe_of_a_preset_without_an_engine_says_so(demand: PrometheusDemand):
    seen = demand.probe(policy(preset="vllm", matchLabels={"model_name": "qwen"}), NOW)
    assert not seen.present
    assert any("is vLLM scraped" in note for note in seen.notes)


@pytest.mark.lab
@pytest.mark.slow
def test_reading_four_weeks_is_cheap(prometheus_for_session: Callable[..., Any]):
    real = prometheus_for_session(past=texts(lines()[:1]))
    source = PrometheusDemand(Prometheus(url=real.url))
    began = time.process_time()
    source.read(policy(query=TIDE), NOW)
    assert time.process_time() - began < 2.0
    source.close()
