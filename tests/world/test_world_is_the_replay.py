"""With fixed starts and the plain HPA the world, pod by pod, gives what the replay gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscaler.reactive import PlainHpa
from autoscaler.replay import Service, cost_of, late_fraction, replay
from autoscaler.world.above import PlainAbove
from autoscaler.world.service import World
from autoscaler.world.starts import FixedStart


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    cold=st.integers(0, 8),
    ceiling=st.sampled_from([4, 1000]),
    reactive=st.booleans(),
)
def test_world_and_replay_agree(seed, cold, ceiling, reactive):
    rng = np.random.default_rng(seed)
    demand = np.repeat(rng.gamma(0.8, 40.0, size=30), 5)
    floors = np.repeat(rng.integers(1, 12, size=25), 6)
    service = Service(capacity=10.0, cold=cold, ceiling=ceiling)
    hpa = PlainHpa() if reactive else None
    run = replay(demand, floors, service, hpa)
    world = World(
        demand=lambda now: float(demand[int(now // 60)]),
        capacity=10.0,
        start=0.0,
        floor=int(floors[0]),
        ceiling=ceiling,
        above=PlainAbove(hpa) if hpa else None,
        starts=FixedStart(cold * 60.0),
    )
    steps = [world.step(60.0, int(floor)) for floor in floors]
    assert [step.total for step in steps] == run.total[0].tolist()
    assert [step.ready for step in steps] == run.ready[0].tolist()
    assert np.allclose([step.backlog for step in steps], run.backlog[0], atol=1e-6)
    assert [step.late for step in steps] == run.late[0].tolist()
    cost = world.counted.replica_seconds + service.start_cost * world.counted.started
    assert cost == cost_of(run, service)[0]
    assert np.isclose(world.counted.late_fraction, late_fraction(run, demand)[0])
