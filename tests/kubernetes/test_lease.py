"""Leader election: never two that may write, whatever the clocks and connections do."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscaler.adapters.kubernetes.access import connect
from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.adapters.kubernetes.floors import KubernetesFloors
from autoscaler.adapters.kubernetes.lease import Elector, Timing
from autoscaler.adapters.kubernetes.reading import KubernetesTargets
from autoscaler.adapters.kubernetes.resources import LEASES
from autoscaler.model import Outcome
from autoscaler.sandbox.kubernetes import KubernetesServer
from tests.kubernetes.world import PATIENT, World
from tests.lab.process import PATIENCE
from tests.support.proxy import SilentProxy


class Clock:
    """Monotonic seconds of the whole test."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


class Unhurried(Timing):
    """The usual seconds on the test's clock, and as long as a busy machine takes for a request."""

    @property
    def timeouts(self) -> Timeouts:
        return PATIENT


class Pair:
    """Two candidates, stepped by hand on one clock, with wall clocks decades apart."""

    def __init__(
        self, world: World, cluster_a: Cluster | None = None, timing: Timing | None = None
    ) -> None:
        self.clock = Clock()
        self.world = world
        self.timing = timing or Unhurried()
        self.a = self.candidate("a", wall=0.0, cluster=cluster_a)
        self.b = self.candidate("b", wall=4e9)

    def candidate(self, identity: str, wall: float, cluster: Cluster | None = None) -> Elector:
        return Elector(
            cluster or self.world.cluster,
            place=(self.world.namespace, "foretide"),
            identity=identity,
            wall=lambda: wall,
            timing=self.timing,
            clock=self.clock,
        )

    def spec(self) -> dict[str, object]:
        spec: dict[str, object] = self.world.hand.get("Lease", "foretide", self.world.namespace)[
            "spec"
        ]
        return spec


def test_the_first_leads_and_the_second_takes_over_when_the_lease_ends(world: World):
    pair = Pair(world)
    pair.a.step()
    pair.b.step()
    assert (pair.a.is_leader(), pair.b.is_leader()) == (True, False)
    assert (pair.a.holder, pair.b.holder) == ("a", "a")
    pair.clock.now += 6
    assert not pair.a.is_leader()
    pair.clock.now += 3.9
    assert pair.b.step() == pytest.approx(0.11, abs=0.02)
    assert not pair.b.is_leader()
    pair.clock.now += 0.2
    pair.b.step()
    assert pair.b.is_leader()
    assert pair.spec()["leaseTransitions"] == 1
    pair.a.step()
    assert not pair.a.is_leader()
    assert pair.a.holder == "b"


def test_a_leader_that_renews_is_not_challenged(world: World):
    pair = Pair(world)
    for _ in range(10):
        assert pair.a.step() == 2
        pair.b.step()
        pair.clock.now += 2
        assert pair.a.is_leader()
        assert not pair.b.is_leader()
    assert pair.spec()["leaseTransitions"] == 0


def test_a_release_is_taken_at_once(world: World):
    pair = Pair(world)
    pair.a.step()
    pair.b.step()
    pair.a.release()
    assert not pair.a.is_leader()
    assert pair.spec()["holderIdentity"] == ""
    pair.b.step()
    assert pair.b.is_leader()
    pair.a.release()
    assert pair.spec()["holderIdentity"] == "b"


def test_who_sees_another_holder_stops_at_once(world: World):
    pair = Pair(world)
    pair.a.step()
    lease = world.cluster.get(LEASES, world.namespace, "foretide")
    lease["spec"]["holderIdentity"] = "intruder"
    world.cluster.replace(LEASES, world.namespace, "foretide", lease)
    pair.a.step()
    assert not pair.a.is_leader()
    assert pair.a.holder == "intruder"


def test_a_deleted_lease_is_made_again_by_one_of_them(world: World):
    pair = Pair(world)
    pair.a.step()
    world.hand.delete("Lease", "foretide", world.namespace)
    pair.b.step()
    assert pair.b.is_leader()
    pair.a.step()
    assert not pair.a.is_leader()


def test_a_renewal_whose_answer_was_lost_is_claimed_again(world: World):
    with SilentProxy(world.url) as proxy:
        pair = Pair(world, cluster_a=world.connect(url=proxy.url), timing=Timing())
        pair.a.step()
        pair.clock.now += 2
        proxy.swallow_answers()
        pair.a.step()
        assert "no answer" in pair.a.problem
        # still proven by the first renewal, and not by the one whose answer was lost
        assert pair.a.is_leader()
        pair.clock.now += 4
        assert not pair.a.is_leader()
        proxy.resume()
        pair.a.step()
        assert pair.a.is_leader()
        assert pair.a.problem == ""


def test_who_may_not_touch_the_lease_says_so_and_does_not_lead(world: World):
    pair = Pair(world, cluster_a=world.connect("nobody"))
    pair.a.step()
    assert not pair.a.is_leader()
    assert "nobody" in pair.a.problem


def test_a_floor_is_not_written_without_the_lease(world: World):
    world.hpa()
    pair = Pair(world)
    targets = KubernetesTargets(world.cluster)
    floors = KubernetesFloors(world.cluster, may_write=pair.a.is_leader, timeouts=PATIENT)
    target = targets.observe(world.policy())
    assert floors.write(world.policy(), target, 7) is Outcome.NOT_LEADER
    pair.a.step()
    assert floors.write(world.policy(), target, 7) is Outcome.WRITTEN
    pair.clock.now += 6
    assert floors.write(world.policy(), targets.observe(world.policy()), 8) is Outcome.NOT_LEADER


@pytest.mark.slow
def test_a_black_holed_leader_stops_before_another_leads(world: World):
    timing = Timing(lease=6, renew=3, retry=0.3)
    seen: list[tuple[str, bool, bool]] = []
    lost, taken = threading.Event(), threading.Event()
    electors: dict[str, Elector] = {}

    def elector(name: str, cluster: Cluster) -> Elector:
        def changed(leads: bool) -> None:
            other = electors["b" if name == "a" else "a"]
            seen.append((name, leads, other.is_leader()))
            if not leads:
                lost.set()
            elif name == "b":
                taken.set()

        place = (world.namespace, "foretide")
        electors[name] = Elector(
            cluster, place=place, identity=name, wall=lambda: 0.0, timing=timing, changed=changed
        )
        return electors[name]

    with SilentProxy(world.url) as proxy:
        a, b = elector("a", world.connect(url=proxy.url)), elector("b", world.cluster)
        a.start()
        assert a.wait_for_leader(PATIENCE)
        b.start()
        try:
            proxy.go_silent()
            assert lost.wait(PATIENCE)
            assert taken.wait(PATIENCE)
        finally:
            b.release()
            a.release()
    # whatever a busy machine made of it: nobody began to lead while the other could still write
    assert not any(leads and other_leads for _, leads, other_leads in seen)
    turns = [(name, leads) for name, leads, _ in seen]
    assert turns.index(("a", False)) < turns.index(("b", True))


def test_a_release_on_a_silent_server_does_not_wait_for_it(world: World):
    with SilentProxy(world.url) as proxy:
        pair = Pair(world, cluster_a=world.connect(url=proxy.url), timing=Timing())
        pair.a.step()
        proxy.go_silent()
        pair.a.step()
        assert pair.a.is_leader()
        pair.a.release()
        assert not pair.a.is_leader()
    assert pair.spec()["holderIdentity"] == "a"


@pytest.fixture(scope="module")
def shared_sandbox() -> Iterator[tuple[KubernetesServer, Clock, list[Cluster]]]:
    clock = Clock()

    def passes() -> float:
        # a write takes a while: the lease is stored later than it was sent
        clock.now += 0.02
        return clock.now

    with KubernetesServer(clock=passes, tokens={"a": "a", "b": "b", "c": "c"}) as server:
        clusters = [connect(kubeconfig=server.kubeconfig(token)) for token in "abc"]
        yield server, clock, clusters
        for cluster in clusters:
            cluster.close()


# who steps, how long passes before, and rarely what else befalls them
_ACTS = st.tuples(
    st.sampled_from("aabbc"),
    st.sampled_from([0, 0, 0, 2, 5, 5, 9, 11]),
    st.sampled_from([*[""] * 12, "cut", "heal", "release"]),
)


@given(acts=st.lists(_ACTS, max_size=30))
@settings(max_examples=200)
def test_there_are_never_two_leaders(
    shared_sandbox: tuple[KubernetesServer, Clock, list[Cluster]], acts: list[tuple[str, int, str]]
):
    server, clock, clusters = shared_sandbox
    server.allow_all()
    for lease in server.list(LEASES):
        server.delete(LEASES, "default", lease["metadata"]["name"])
    electors = {
        name: Elector(cluster, place=("default", "x"), identity=name, wall=lambda: 0.0, clock=clock)
        for cluster, name in zip(clusters, "abc", strict=True)
    }
    for who, seconds, trouble in acts:
        clock.now += seconds
        if trouble == "cut":
            server.deny(user=who)
        elif trouble == "heal":
            server.allow_all()
        elif trouble == "release":
            electors[who].release()
        else:
            electors[who].step()
        assert sum(elector.is_leader() for elector in electors.values()) <= 1
