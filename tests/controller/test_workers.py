"""A cycle that does not come back keeps its policy, and nobody else."""

from __future__ import annotations

import threading

from autoscaler.controller.workers import Workers
from autoscaler.controller.workqueue import WorkQueue

PATIENCE = 180.0


class Hands:
    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


class Bench:
    """Workers whose every key blocks until it is released."""

    def __init__(self, count: int, spare: int) -> None:
        self.hands = Hands()
        self.queue = WorkQueue(self.hands.monotonic)
        self.begun = {key: threading.Event() for key in "abcdef"}
        self.release = {key: threading.Event() for key in "abcdef"}
        self.workers = Workers(
            self.queue, self._work, self.hands, count=count, spare=spare, deadline=60.0
        )
        self.workers.start()

    def _work(self, key: str) -> None:
        self.begun[key].set()
        self.release[key].wait(PATIENCE)

    def close(self) -> None:
        for event in self.release.values():
            event.set()
        self.queue.close()


def test_a_stuck_cycle_is_counted_and_its_thread_replaced() -> None:
    bench = Bench(count=1, spare=2)
    bench.queue.put("a")
    assert bench.begun["a"].wait(PATIENCE)
    bench.queue.put("b")
    assert bench.workers.watch() == 0
    bench.hands.at += 61.0
    assert bench.workers.watch() == 1
    assert bench.begun["b"].wait(PATIENCE)  # by the thread in its place
    bench.release["a"].set()
    bench.release["b"].set()
    bench.queue.put("c")
    assert bench.begun["c"].wait(PATIENCE)
    bench.close()


def test_the_spare_threads_have_a_bound() -> None:
    bench = Bench(count=1, spare=2)
    for key in "abc":
        bench.queue.put(key)
        assert bench.begun[key].wait(PATIENCE)
        bench.hands.at += 61.0
        bench.workers.watch()
    assert bench.workers.exhausted
    bench.queue.put("d")
    assert bench.workers.watch() == 2
    assert not bench.begun["d"].is_set()
    bench.close()


def test_stopping_waits_for_what_is_in_hand() -> None:
    bench = Bench(count=2, spare=0)
    bench.queue.put("a")
    assert bench.begun["a"].wait(PATIENCE)
    bench.queue.close()
    bench.release["a"].set()
    assert bench.workers.join(PATIENCE)
