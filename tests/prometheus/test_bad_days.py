"""What a Prometheus does on a bad day, and what is said about it.

One file, although it is long: each kind of fault stands once, and all use the same broken server.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.errors import ConfigError, HistoryUnavailable
from autoscaler.policy import TidePolicy
from autoscaler.sandbox.prometheus import Faults, PrometheusServer
from tests.prometheus.data import NOW, STEP, policy

ASKED = policy(query="sum(rps)", history="2d")
MINUTES = 2880


class Clock:
    """The server's "now", moved by the test."""

    now = NOW


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Iterator[PrometheusServer]:
    """Three days of demand, an hour of it in the future of NOW."""
    with PrometheusServer(lambda: clock.now) as server:
        times = NOW + STEP * np.arange(-4320, 61)
        server.append("rps", {}, times, np.arange(len(times)))
        yield server


@pytest.fixture
def demand(server: PrometheusServer) -> Iterator[PrometheusDemand]:
    source = PrometheusDemand(config(server))
    yield source
    source.close()


def config(server: PrometheusServer, **settings: object) -> Prometheus:
    return Prometheus.model_validate({"url": server.url, "timeout": "10s", **settings})


def hasty(server: PrometheusServer) -> Prometheus:
    """A configuration with less patience than a person may ask for."""
    return config(server).model_copy(update={"timeout": 0.3})


def named(number: int) -> TidePolicy:
    metadata = ASKED.metadata.model_copy(update={"name": f"policy-{number}"})
    return ASKED.model_copy(update={"metadata": metadata})


def refusal(source: PrometheusDemand, until: float = NOW) -> HistoryUnavailable:
    with pytest.raises(HistoryUnavailable) as refused:
        source.read(ASKED, until)
    return refused.value


@pytest.mark.parametrize(
    ("faults", "code", "words"),
    [
        (Faults(status=503), "ServerError", "HTTP 503"),
        (Faults(status=429), "ServerError", "HTTP 429"),
        (Faults(status=401), "Denied", "bearerTokenFile"),
        (Faults(status=403), "Denied", "HTTP 403"),
        (Faults(status=404), "NotPrometheus", "HTTP 404"),
        (Faults(html=True), "NotPrometheus", "(a web page 'Please log in')"),
        (Faults(html=True, status=404), "NotPrometheus", "HTTP 404: a web page 'Please log in'"),
        (Faults(drop=True), "Unreachable", "prometheus.url"),
        (Faults(truncate=True), "Unreachable", "cannot be reached"),
        (Faults(swallow=True), "Timeout", "within 0.3 s"),
        (Faults(trickle=True), "Timeout", "did not answer in full"),
        (Faults(delay=30.0), "Timeout", "prometheus.timeout"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_every_fault_is_an_error_in_words_with_the_address(
    server: PrometheusServer, faults: Faults, code: str, words: str
):
    server.faults = faults
    source = PrometheusDemand(hasty(server) if code == "Timeout" else config(server))
    error = refusal(source)
    source.close()
    assert error.code == code
    assert words in str(error)
    assert server.url in str(error)


def test_one_bad_answer_is_asked_for_again(server: PrometheusServer, demand: PrometheusDemand):
    server.faults = Faults(status=503, times=1)
    assert len(demand.read(ASKED, NOW).demand) == MINUTES


def test_retries_have_an_end(server: PrometheusServer, demand: PrometheusDemand):
    server.faults = Faults(status=503)
    refusal(demand)
    # the query and its one retry, then twice the question whether anybody is there
    assert len(server.requests) == 4


def test_a_refused_query_is_not_asked_again(server: PrometheusServer, demand: PrometheusDemand):
    server.faults = Faults(status=401)
    refusal(demand)
    assert len(server.requests) == 1


def test_nobody_is_there():
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # ours, so that nobody else listens there meanwhile
        port = taken.getsockname()[1]
        source = PrometheusDemand(Prometheus(url=f"http://user:secret@127.0.0.1:{port}/p?token=x"))
        error = refusal(source)
        source.close()
    assert error.code == "Unreachable"
    assert "refused" in str(error)
    assert "secret" not in str(error)
    assert "token" not in str(error)


def test_packets_that_vanish_end_with_the_deadline():
    # a full backlog: the kernel drops further connection requests, as a filter on the way does
    with contextlib.ExitStack() as stack:
        deaf = stack.enter_context(contextlib.closing(socket.socket()))
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(4):
            one = stack.enter_context(contextlib.closing(socket.socket()))
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        source = PrometheusDemand(Prometheus(url=url).model_copy(update={"timeout": 0.3}))
        error = refusal(source)
        source.close()
    assert error.code == "Timeout"
    assert "no connection" in str(error)


def test_200_policies_on_a_black_hole_all_hear_of_it_after_one_wait(server: PrometheusServer):
    server.faults = Faults(swallow=True)
    source = PrometheusDemand(hasty(server))

    def read(number: int) -> str:
        with pytest.raises(HistoryUnavailable) as refused:
            source.read(named(number), NOW)
        return refused.value.code

    threads = 4
    with ThreadPoolExecutor(threads) as pool:
        codes = list(pool.map(read, range(200)))
    # each thread waits once for its query, and at most once more to be sure; nobody else waits
    assert len(server.requests) <= 2 * threads
    assert codes.count("CircuitOpen") >= 200 - 2 * threads
    assert set(codes) == {"CircuitOpen", "Timeout"}
    source.close()


@pytest.mark.slow
def test_a_slow_query_does_not_shut_the_others_out(server: PrometheusServer):
    source = PrometheusDemand(config(server, timeout="3s"))
    server.faults = Faults(delay=30.0, times=1)
    assert refusal(source).code == "Timeout"
    assert len(source.read(named(1), NOW).demand) == MINUTES
    source.close()


def test_what_is_kept_survives_an_outage_and_is_completed(
    server: PrometheusServer, demand: PrometheusDemand, clock: Clock
):
    before = demand.read(ASKED, NOW)
    server.faults = Faults(status=503, times=2)  # both tries; the ping is answered
    clock.now = NOW + 20 * STEP
    refusal(demand, clock.now)
    server.requests.clear()
    after = demand.read(ASKED, clock.now)
    assert len(server.requests) == 1
    np.testing.assert_array_equal(after.demand.values[:-20], before.demand.values[20:])
    assert len(after.demand) == MINUTES


def test_a_cycle_asks_for_a_handful_of_points(
    server: PrometheusServer, demand: PrometheusDemand, clock: Clock
):
    demand.read(ASKED, NOW)
    server.requests.clear()
    clock.now = NOW + STEP
    demand.read(ASKED, clock.now)
    (request,) = server.requests
    asked = (float(request.params["end"][0]) - float(request.params["start"][0])) / STEP + 1
    assert asked <= 6
    assert float(request.params["start"][0]) % STEP == 0


def test_a_late_sample_is_still_taken(clock: Clock):
    with PrometheusServer(lambda: clock.now) as server:
        times = NOW + STEP * np.arange(-120, 1)
        server.append("rps", {"pod": "a"}, times, np.ones(len(times)))
        source = PrometheusDemand(config(server))
        assert source.read(ASKED, NOW).demand.values[-1] == 1
        server.append("rps", {"pod": "b"}, times[-3:], [5.0, 5.0, 5.0])
        late = source.read(ASKED, NOW + STEP)
        assert late.demand.values[-5:].tolist() == [1, 6, 6, 6, 6]
        source.close()


def test_a_hole_is_asked_for_again_later_and_not_every_cycle(clock: Clock):
    with PrometheusServer(lambda: clock.now) as server:
        early = NOW + STEP * np.arange(-2880, -120)
        server.append("rps", {"pod": "a"}, early, np.ones(len(early)))
        late = NOW + STEP * np.arange(-60, 60)
        server.append("rps", {"pod": "a"}, late, np.ones(len(late)))
        source = PrometheusDemand(config(server))
        assert len(source.read(ASKED, NOW).demand) < MINUTES - 50
        hole = NOW + STEP * np.arange(-120, -60)
        server.append("rps", {"pod": "b"}, hole, np.ones(len(hole)))  # delivered at last
        server.requests.clear()
        lengths = []
        for _ in range(12):
            clock.now += STEP
            lengths.append(len(source.read(ASKED, clock.now).demand))
        assert lengths[-1] == MINUTES
        assert len(server.requests) <= 12 + 2
        source.close()


def test_a_partial_answer_is_kept_told_and_replaced_once_it_is_whole(
    server: PrometheusServer, demand: PrometheusDemand, clock: Clock
):
    server.faults = Faults(warnings=("store-2: no answer",))
    first = demand.read(ASKED, NOW)
    assert first.warnings == ("store-2: no answer",)
    assert len(first.demand) == MINUTES
    server.requests.clear()
    for _ in range(5):
        clock.now += STEP
        assert demand.read(ASKED, clock.now).warnings == first.warnings
    assert len(server.requests) == 5 + 1  # the tail each time, the rest only now and then
    server.faults = Faults()
    said = []
    for _ in range(12):
        clock.now += STEP
        said.append(demand.read(ASKED, clock.now).warnings)
    assert said[0] == first.warnings  # most of what is held is still the partial answer
    assert said[-1] == ()


def test_an_older_part_that_fails_makes_the_history_partial_not_absent(
    server: PrometheusServer, clock: Clock
):
    asked = policy(query="sum(rps)", history="14d")
    source = PrometheusDemand(config(server))
    server.faults = Faults()
    original = server.take_faults

    def second_part_fails() -> Faults:
        return Faults(status=422) if len(server.requests) == 2 else original()

    server.take_faults = second_part_fails  # type: ignore[method-assign]  # a switch more
    first = source.read(asked, NOW)
    assert len(first.demand) > 4000
    assert any("older parts could not be read" in text for text in first.warnings)
    clock.now += 11 * STEP
    second = source.read(asked, clock.now)
    assert second.warnings == ()
    source.close()


def test_a_first_read_that_runs_out_of_time_goes_on_with_the_next_cycle(
    server: PrometheusServer, clock: Clock
):
    asked = policy(query="sum(rps)", history="28d")
    source = PrometheusDemand(config(server, timeout="4s"))

    def third_is_slow() -> Faults:
        return Faults(delay=30.0) if len(server.requests) == 3 else Faults()

    server.take_faults = third_is_slow  # type: ignore[method-assign]  # a switch more
    first = source.read(asked, NOW)
    assert any("older parts could not be read yet" in text for text in first.warnings)
    clock.now += STEP
    second = source.read(asked, clock.now)
    assert second.warnings == ()
    source.close()


def test_what_is_too_much_at_once_is_asked_for_in_smaller_parts(server: PrometheusServer):
    source = PrometheusDemand(config(server))
    most = 1000

    def too_much() -> Faults:
        params = server.requests[-1].params
        points = (float(params["end"][0]) - float(params["start"][0])) / STEP
        return Faults(status=422) if points > most else Faults()

    server.take_faults = too_much  # type: ignore[method-assign]  # a switch more
    for _ in range(4):  # a few cycles
        with contextlib.suppress(HistoryUnavailable):
            history = source.read(ASKED, NOW)
    assert len(history.demand) == MINUTES
    assert history.warnings == ()
    source.close()


def test_an_authorization_header_is_not_replaced_by_netrc(
    server: PrometheusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.require = {"Authorization": "Basic ours"}
    source = PrometheusDemand(config(server, headers={"Authorization": "Basic ours"}))
    assert len(source.read(ASKED, NOW).demand) == MINUTES
    source.close()


def test_a_clock_that_goes_back_sees_nothing_of_the_future(demand: PrometheusDemand, clock: Clock):
    clock.now = NOW + 30 * STEP
    demand.read(ASKED, clock.now)
    history = demand.read(ASKED, NOW)
    assert history.demand.times[-1] + STEP == NOW
    clock.now += STEP
    assert demand.read(ASKED, clock.now).demand.times[-1] + STEP == clock.now


def test_many_threads_read_one_policy_as_one(server: PrometheusServer, demand: PrometheusDemand):
    with ThreadPoolExecutor(8) as pool:
        histories = list(pool.map(lambda _: demand.read(ASKED, NOW), range(32)))
    assert {len(history.demand) for history in histories} == {MINUTES}
    assert all((h.demand.values == histories[0].demand.values).all() for h in histories)


def test_a_changed_query_begins_anew(server: PrometheusServer, demand: PrometheusDemand):
    demand.read(ASKED, NOW)
    doubled = policy(query="2 * sum(rps)", history="2d")
    np.testing.assert_array_equal(
        demand.read(doubled, NOW).demand.values, 2 * demand.read(ASKED, NOW).demand.values
    )


def test_a_policy_that_is_gone_is_forgotten(server: PrometheusServer, demand: PrometheusDemand):
    demand.read(ASKED, NOW)
    demand.keep_only(["other/policy"])
    server.requests.clear()
    demand.read(ASKED, NOW)
    (request,) = server.requests
    assert float(request.params["end"][0]) - float(request.params["start"][0]) > 86_400


def test_an_address_is_required_in_words():
    with pytest.raises(ConfigError, match=r"prometheus\.url.*--prometheus"):
        PrometheusDemand(Prometheus())


@pytest.mark.parametrize("step", [0.0, 0.5, -60.0, 12.5])
def test_a_step_is_a_whole_number_of_seconds(step: float):
    with pytest.raises(ConfigError, match="whole number"):
        PrometheusDemand(Prometheus(url="http://127.0.0.1:1"), step=step)
