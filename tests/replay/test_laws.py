"""Laws that any replay keeps, over random traffic."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscaler.replay import Service, clairvoyant, cost_of, replay
from autoscaler.world.queue import ImpatientQueue, PatientQueue


def traffic(seed, n=400):
    rng = np.random.default_rng(seed)
    levels = np.repeat(rng.gamma(0.8, 30.0, size=n), rng.integers(1, 40))[:n]
    return levels * rng.gamma(6.0, 1 / 6.0, size=n)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), cold=st.integers(0, 10))
def test_requests_are_conserved(seed, cold):
    """What arrived was served or still waits; nobody is served faster than the replicas can."""
    demand = traffic(seed)
    service = Service(capacity=10.0, cold=cold)
    floors = np.random.default_rng(seed).integers(1, 12, size=len(demand))
    run = replay(demand, floors, service)
    before = np.concatenate([[0.0], run.backlog[0, :-1]])
    served = before + demand * 60 - run.backlog[0]
    assert (served >= -1e-6).all()
    assert (served <= run.ready[0] * 10.0 * 60 + 1e-6).all()
    assert np.isclose(served.sum() + run.backlog[0, -1], demand.sum() * 60)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cold=st.integers(0, 8),
    longer=st.integers(1, 8),
    start=st.floats(0, 3600),
)
def test_a_longer_cold_start_is_never_cheaper_for_the_clairvoyant(seed, cold, longer, start):
    demand = traffic(seed)
    costs = []
    for steps in (cold, cold + longer):
        service = Service(capacity=10.0, cold=steps, start_cost=start)
        run = replay(demand, clairvoyant(demand, service), service)
        first = run.total[0, 0] * start  # the first replicas were started as well
        costs.append(cost_of(run, service)[0] + first)
    assert costs[1] >= costs[0] - 1e-6


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), cold=st.integers(0, 8))
def test_a_higher_floor_is_never_later(seed, cold):
    rng = np.random.default_rng(seed)
    demand = traffic(seed)
    service = Service(capacity=10.0, cold=cold)
    floors = rng.integers(1, 10, size=len(demand))
    higher = floors + rng.integers(0, 5, size=len(demand))
    low, high = replay(demand, floors, service), replay(demand, higher, service)
    assert (high.backlog <= low.backlog + 1e-6).all()
    assert not (high.late & ~low.late).any()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    patience=st.floats(1, 120),
    retry=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_impatient_clients_are_served_lost_or_wait(seed, patience, retry):
    rng = np.random.default_rng(seed)
    queue = ImpatientQueue(patience=patience, service=0.0, retry=retry, pause=10.0)
    came = good = lost = 0.0
    for demand in rng.gamma(0.5, 20.0, size=60):
        step = queue.step(float(demand), 10.0, 60.0)
        came, good, lost = came + demand * 60, good + step.served, lost + step.lost
        assert step.served <= 10.0 * 60 + 1e-6
    coming_back = sum(amount for _, amount in queue._returning)
    assert np.isclose(came + lost * retry, good + lost + queue.backlog + coming_back)


def test_patient_queue_is_lindleys():
    queue = PatientQueue()
    assert queue.step(3.0, 1.0, 60.0).backlog == 120.0
    step = queue.step(0.0, 1.0, 60.0)
    assert (step.backlog, step.served) == (60.0, 60.0)
    assert queue.step(0.0, 9.0, 60.0).backlog == 0.0
