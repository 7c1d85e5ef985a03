"""The fast replay agrees with a slow loop that follows the rules word for word."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscaler.reactive import PlainHpa
from autoscaler.replay import Service, replay


class Loop:
    """The plain world, one step and one replica at a time. Slow on purpose."""

    def __init__(self, demand, floors, service, hpa):
        self.total, self.ready, self.backlog, self.late = [], [], [], []
        first = max(floors[0], 1)
        if hpa:
            first = max(first, math.ceil(demand[0] / (service.capacity * hpa.target)))
        if service.ceiling:
            first = min(first, service.ceiling)
        serving, pending = first, []  # pending: due steps, in order
        wishes = [math.ceil(demand[0] / (service.capacity * hpa.target))] * 5 if hpa else []
        waiting, seen = 0.0, demand[0]
        for t, (now, floor) in enumerate(zip(demand, floors, strict=True)):
            total = serving + len(pending)
            want = max(floor, 1)
            if hpa:
                want = max(
                    want, self._reactive(seen + waiting / service.step, total, wishes, service, hpa)
                )
            if service.ceiling:
                want = min(want, service.ceiling)
            pending += [t + service.cold] * (want - total)
            for _ in range(total - want):
                if pending:
                    pending.pop()
                else:
                    serving -= 1
            serving += sum(1 for due in pending if due <= t)
            pending = [due for due in pending if due > t]
            waiting = max(0.0, waiting + (now - serving * service.capacity) * service.step)
            seen = now
            self.total.append(want)
            self.ready.append(serving)
            self.backlog.append(waiting)
            patience = service.wait * service.capacity * serving
            self.late.append(now > 0 and waiting > patience * (1 + 1e-9))

    @staticmethod
    def _reactive(observed, total, wishes, service, hpa):
        ideal = observed / (service.capacity * hpa.target)
        wish = (
            total if abs(ideal - total) <= hpa.tolerance * total + 1e-9 else math.ceil(ideal - 1e-9)
        )
        wishes.append(wish)
        if wish < total:
            return min(total, max(wishes[-hpa.window :]))
        return min(wish, max(2 * total, total + 4))


def agree(demand, floors, service, hpa):
    fast = replay(demand, floors, service, hpa)
    for row, floor in enumerate(np.atleast_2d(floors)):
        slow = Loop(demand.tolist(), floor.tolist(), service, hpa)
        assert fast.total[row].tolist() == slow.total
        assert fast.ready[row].tolist() == slow.ready
        assert np.allclose(fast.backlog[row], slow.backlog, rtol=1e-9, atol=1e-6)
        assert fast.late[row].tolist() == slow.late


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cold=st.integers(0, 12),
    ceiling=st.sampled_from([None, 3, 9]),
    target=st.sampled_from([None, 0.5, 0.7, 0.95]),
    n=st.integers(1, 120),
)
def test_random_cases(seed, cold, ceiling, target, n):
    rng = np.random.default_rng(seed)
    demand = np.repeat(rng.gamma(0.7, 40.0, size=n), rng.integers(1, 9))[:n]
    demand[rng.random(n) < 0.1] = 0.0
    floors = rng.integers(0, 15, size=(3, n))
    hpa = PlainHpa(target=target) if target else None
    agree(demand, floors, Service(capacity=10.0, cold=cold, ceiling=ceiling), hpa)


@pytest.mark.parametrize("load", [60.0, 260.0])
def test_days_that_run_side_by_side_join_to_the_plain_loop(load):
    """Four days and a bit; at the higher load the ceiling keeps a backlog over every midnight."""
    rng = np.random.default_rng(5)
    minutes = np.arange(4 * 1440 + 777)
    demand = (
        load * (1 + 0.8 * np.sin(minutes / 1440 * 2 * np.pi)) * rng.gamma(4, 0.25, len(minutes))
    )
    floors = np.stack([np.full(len(minutes), 2), 1 + (minutes // 600) % 13])
    agree(demand, floors, Service(capacity=10.0, ceiling=24), PlainHpa())


def test_each_timeline_may_have_a_target_of_its_own():
    """As if each were replayed alone, also where days run side by side and join again."""
    rng = np.random.default_rng(8)
    minutes = np.arange(3 * 1440 + 55)
    demand = 90 * (1 + 0.8 * np.sin(minutes / 1440 * 2 * np.pi)) * rng.gamma(4, 0.25, len(minutes))
    service, targets = Service(capacity=10.0), np.array([0.5, 0.7, 0.95])
    floors = np.stack([1 + (minutes // 600) % 13, np.full(len(minutes), 3), minutes // 900])
    together = replay(demand, floors, service, PlainHpa(target=targets))
    for row, target in enumerate(targets.tolist()):
        alone = replay(demand, floors[row], service, PlainHpa(target=target))
        np.testing.assert_array_equal(together.total[row], alone.total[0])
        np.testing.assert_array_equal(together.backlog[row], alone.backlog[0])
