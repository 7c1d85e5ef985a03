"""What goes wrong, through the ports, on cases worked by hand."""

import numpy as np
import pytest

from autoscaler.errors import (
    HistoryUnavailable,
    TargetUnavailable,
    WriteConflict,
    WriteUnavailable,
)
from autoscaler.model import Outcome
from autoscaler.replay import Service
from autoscaler.simulator.faults import FaultyDemand, Stretch, WorldTarget
from autoscaler.simulator.life import Troubles, live_peer, world_of
from autoscaler.simulator.peers import Writing, peers
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.ports import RecordedDemand
from autoscaler.simulator.production import default_policy
from autoscaler.simulator.runs import play
from autoscaler.world.service import World
from autoscaler.world.starts import FixedStart, PhasedStart

PLAIN = PlainWorld(
    demand=np.arange(1.0, 2881.0), service=Service(capacity=100.0), start=1440, measured=1440
)
POLICY = default_policy(PLAIN)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def read(clock, at, **faults):
    clock.now = at
    source = RecordedDemand(PLAIN.demand, 0.0, 60.0)
    return FaultyDemand(source, clock, **faults).read(POLICY, at).demand


def test_recorded_demand_shows_finished_steps_only(clock):
    assert read(clock, 179.0).values.tolist() == [1.0, 2.0]
    assert read(clock, 180.0).times.tolist() == [0.0, 60.0, 120.0]
    with pytest.raises(HistoryUnavailable, match="nothing was recorded"):
        read(clock, 59.0)


def test_metrics_away_late_missing_and_wrong(clock):
    away = (Stretch(600.0, 660.0),)
    with pytest.raises(HistoryUnavailable, match="no answer"):
        read(clock, 600.0, away=away)
    assert len(read(clock, 660.0, away=away)) == 11
    assert len(read(clock, 600.0, delay=120.0)) == 8
    slow = read(clock, 600.0, scrape=240.0)
    assert slow.values.tolist() == [1.0] * 4 + [5.0] * 4 + [9.0] * 2
    gaps = read(clock, 600.0, gaps=(Stretch(120.0, 300.0),))
    assert gaps.values.tolist() == [1.0, 2.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    wrong = read(clock, 240.0, wrong=(Stretch(60.0, 180.0, 10.0),))
    assert wrong.values.tolist() == [1.0, 20.0, 30.0, 4.0]


def test_a_clock_that_is_ahead_sees_no_future(clock):
    clock.now = 600.0
    source = FaultyDemand(RecordedDemand(PLAIN.demand, 0.0, 60.0), clock)
    assert len(source.read(POLICY, 7200.0).demand) == 10


def small_world(**others):
    return World(demand=lambda _now: 1.0, capacity=1.0, start=0.0, floor=3, **others)


def test_writes_are_guarded_and_the_api_may_be_away(clock):
    world = small_world()
    target = WorldTarget(world, clock, away=(Stretch(100.0, 200.0),))
    seen = target.observe(POLICY)
    assert target.write(POLICY, seen, 5) is Outcome.WRITTEN
    assert (world.floor, target.original) == (5, 3)
    with pytest.raises(WriteConflict):
        target.write(POLICY, seen, 6)
    clock.now = 150.0
    with pytest.raises(TargetUnavailable):
        target.observe(POLICY)
    with pytest.raises(WriteUnavailable):
        target.write(POLICY, seen, 6)


def test_an_owner_puts_the_floor_back(clock):
    world = small_world()
    target = WorldTarget(world, clock, reverts=(Stretch(100.0, 200.0),))
    target.write(POLICY, target.observe(POLICY), 7)
    assert target.observe(POLICY).floor == 7
    clock.now = 100.0
    assert target.observe(POLICY).floor == 3


def test_some_writes_find_the_object_moved(clock):
    world = small_world()
    target = WorldTarget(world, clock, conflicts=0.5, rng=np.random.default_rng(1))
    refused = 0
    for floor in range(10, 110):
        try:
            target.write(POLICY, target.observe(POLICY), floor)
        except WriteConflict:
            refused += 1
    assert 35 < refused < 65


def test_a_full_pool_holds_pods_back_and_lets_them_start_cold():
    """6 wanted, 4 allowed until 600 s: the two others start then and serve 120 s later."""
    world = small_world(pool=lambda now: 4 if now < 600 else 99, starts=FixedStart(120.0))
    steps = [world.step(60.0, 6) for _ in range(14)]
    assert [step.total for step in steps] == [4] * 10 + [6] * 4
    assert [step.ready for step in steps] == [3, 3] + [4] * 8 + [4, 4, 6, 6]
    assert {step.desired for step in steps} == {6}


def test_phases_are_drawn_and_shared_bandwidth_slows_them():
    rng = np.random.default_rng(1)
    warm = PhasedStart(new_node=0.0, cached=1.0)
    assert {tuple(warm.draw(rng, 1)) for _ in range(20)} == {("warm_up",)}
    fresh = PhasedStart(new_node=1.0)
    assert tuple(fresh.draw(rng, 1)) == ("node", "image", "weights", "warm_up")
    alone = [fresh.draw(np.random.default_rng(k), 1) for k in range(50)]
    crowd = [fresh.draw(np.random.default_rng(k), 16) for k in range(50)]
    for one, other in zip(alone, crowd, strict=True):
        assert other["weights"] == pytest.approx(2 * one["weights"])
        assert other["node"] == one["node"]
    medians = np.median([[draw[name] for name in ("node", "warm_up")] for draw in alone], axis=0)
    assert medians == pytest.approx([180.0, 60.0], rel=0.35)


def test_some_pods_never_become_ready_and_go_first():
    world = small_world(starts=PhasedStart(failing=1.0), seed=3)
    for _ in range(60):
        step = world.step(60.0, 8)
    assert (step.total, step.ready) == (8, 3)
    assert world.step(60.0, 3).ready == 3


def test_without_troubles_a_peers_life_is_its_replay():
    rng = np.random.default_rng(2)
    demand = np.repeat(rng.gamma(2.0, 15.0, size=96), 30)
    plain = PlainWorld(
        demand=demand, service=Service(capacity=10.0), start=1440, measured=1440 + 60
    )
    peer = peers()["day-ago"]
    replayed = play(plain, peer, 1e6)
    lived = live_peer(plain, peer, Troubles(), 1e6, seed=0)
    assert lived.replayed.total.tolist() == replayed.replayed.total.tolist()
    assert lived.account.score == pytest.approx(replayed.account.score)
    assert lived.account.late_fraction == pytest.approx(replayed.account.late_fraction)


@pytest.mark.parametrize("name", [n for n, p in peers().items() if isinstance(p, Writing)])
def test_a_peer_that_writes_replicas_lives_as_it_is_replayed(name):
    rng = np.random.default_rng(4)
    day = 40.0 + 30.0 * np.sin(np.arange(1440) * 2 * np.pi / 1440)
    demand = np.tile(day, 5) * rng.gamma(20.0, 1 / 20.0, size=5 * 1440)
    start = 4 * 1440
    plain = PlainWorld(
        demand=demand, service=Service(capacity=10.0), start=start, measured=start + 60
    )
    replayed = play(plain, peers()[name], 1e6)
    lived = live_peer(plain, peers()[name], Troubles(), 1e6, seed=0)
    assert lived.replayed.total.tolist() == replayed.replayed.total.tolist()
    assert lived.replayed.ready.tolist() == replayed.replayed.ready.tolist()
    assert lived.account.score == pytest.approx(replayed.account.score)


def test_a_full_pool_binds_a_peer_that_writes_replicas():
    plain = PlainWorld(
        demand=np.full(2880, 80.0), service=Service(capacity=10.0), start=1440, measured=1440
    )
    full = Troubles(pool=(Stretch(1440 * 60.0 + 3600.0, 1e9, 5.0),))
    lived = live_peer(plain, peers()["kpa"], full, 1e6, seed=0)
    assert lived.replayed.total[0, :60].min() >= 8
    assert lived.replayed.total[0, 60:].max() == 5
    assert lived.account.late_fraction > 0.9


def test_the_world_of_a_scenario_begins_where_the_run_does():
    world = world_of(PLAIN, Troubles(pool=(Stretch(0.0, 1e9, 2.0),)), None, floor=5, seed=0)
    assert world.now == 1440 * 60.0
    assert (world.total, world.desired) == (2, 5)
