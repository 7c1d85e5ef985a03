"""Learning off the path: taken when due and free, in a process that may die."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from autoscaler.adapters.telemetry.metrics import Metrics
from autoscaler.controller.clock import WallClock
from autoscaler.controller.fits import WAITING, Elsewhere, FitDesk, FitLate
from autoscaler.controller.fleet import Tended
from autoscaler.model import Choice, History, Knowledge, Live, Memory
from autoscaler.policy import TidePolicy
from autoscaler.tune import Standing
from tests.telemetry.making import START, history, knowledge, policy

PATIENCE = 180.0
DAY = 86_400.0


class Slow:
    """Learner that waits for the test, and fails when told to."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.asked: list[str] = []
        self.stood: list[Standing | None] = []
        self.error: Exception | None = None

    def learn(
        self,
        policy: TidePolicy,
        history: History,
        now: float,
        period: float,
        standing: Standing | None,
    ) -> Knowledge:
        self.asked.append(policy.key)
        self.stood.append(standing)
        self.go.acquire(timeout=PATIENCE)
        if self.error is not None:
            raise self.error
        return knowledge(now)

    def rest(self) -> None: ...

    def stop(self) -> None:
        self.go.release(10)


class Stepped(WallClock):
    """A clock whose monotonic seconds the test turns."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


class Heard:
    """Whoever is told of what was learnt."""

    def __init__(self) -> None:
        self.told = threading.Semaphore(0)
        self.last: tuple[TidePolicy, History, Knowledge] | None = None

    def __call__(self, policy: TidePolicy, history: History, what: Knowledge) -> None:
        self.last = (policy, history, what)
        self.told.release()


def desk(
    learner: object,
    heard: Heard,
    metrics: Metrics | None = None,
    due: Callable[..., bool] = lambda _policy, known, _now: known is None,
) -> FitDesk:
    made = FitDesk(
        learner,
        heard,
        WallClock(),
        metrics or Metrics(),
        period=60.0,
        due=due,
    )
    made.start()
    return made


def wait_for(check: object, what: str) -> None:
    done = threading.Event()
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end, what
        done.wait(0.02)


def test_knowledge_is_swapped_in_and_told_before_it_is_used() -> None:
    learner, heard = Slow(), Heard()
    made, tended, seen = desk(learner, heard), Tended(policy("a")), history(0, 20)
    made.offer(tended, tended.policy, seen, START)
    learner.go.release()
    assert heard.told.acquire(timeout=PATIENCE)
    wait_for(lambda: tended.knowledge is not None, "knowledge is used")
    assert heard.last == (tended.policy, seen, tended.knowledge)
    made.offer(tended, tended.policy, seen, START)  # not due any more
    assert learner.asked == ["llm/a"]
    made.stop()


def test_knowledge_of_another_calendar_is_learnt_again_once() -> None:
    learner, heard = Slow(), Heard()
    made, tended, seen = desk(learner, heard), Tended(policy("a")), history(0, 20)
    tended.knowledge, tended.outdated = knowledge(START - 60.0), True
    learner.go.release(2)
    made.offer(tended, tended.policy, seen, START)
    assert heard.told.acquire(timeout=PATIENCE)
    wait_for(lambda: not made._waiting, "the desk is free")
    assert tended.knowledge.fitted_at == START
    made.offer(tended, tended.policy, seen, START)
    assert learner.asked == ["llm/a"]
    made.stop()


@pytest.mark.parametrize(
    ("outdated", "fell", "doubted"),
    [(False, False, False), (True, False, True), (False, True, True)],
)
def test_a_learner_is_told_what_stands_and_whether_to_doubt_it(
    outdated: bool, fell: bool, doubted: bool
) -> None:
    learner, heard = Slow(), Heard()
    made, tended = desk(learner, heard, due=lambda *_: True), Tended(policy("a"))
    choice = Choice(name="flat@0.9", best="flat@0.9", days=14, drawn="flat", at=START - DAY)
    tended.knowledge = replace(knowledge(START - 60.0), choice=choice)
    tended.memory = Memory(live=Live(fit=START - 60.0, fell=fell))
    tended.outdated = outdated
    learner.go.release()
    made.offer(tended, tended.policy, history(0, 20), START)
    assert heard.told.acquire(timeout=PATIENCE)
    (standing,) = learner.stood
    assert (standing.choice, standing.scores) == (choice, {"flat": 1.25})
    assert standing.doubted == doubted
    made.stop()


def test_an_offer_never_waits_and_few_histories_are_held() -> None:
    learner = Slow()
    made, seen = desk(learner, Heard()), history(0, 20)
    many = [Tended(policy(f"p{i}")) for i in range(20)]
    for tended in many:
        made.offer(tended, tended.policy, seen, START)
        made.offer(tended, tended.policy, seen, START)
    assert len(made._waiting) <= WAITING + 1
    made.stop()


def test_a_failed_fit_keeps_the_last_knowledge_and_is_not_tried_at_once() -> None:
    learner, metrics = Slow(), Metrics()
    made, tended = desk(learner, Heard(), metrics), Tended(policy("a"))
    learner.error = ZeroDivisionError("a bug in a forecaster")
    learner.go.release()
    made.offer(tended, tended.policy, history(0, 20), START)
    wait_for(lambda: metrics.registry.get_sample_value(
        "foretide_fits_total", {"result": "failed"}) == 1.0, "it is counted")  # fmt: skip
    wait_for(lambda: not made._waiting, "the desk is free")
    made.offer(tended, tended.policy, history(0, 20), START)
    assert learner.asked == ["llm/a"]
    assert tended.knowledge is None
    made.stop()


@pytest.mark.parametrize(
    ("error", "doubted"), [(ZeroDivisionError("a bug"), True), (FitLate("too slow"), False)]
)
def test_after_a_fit_that_failed_all_are_compared(error: Exception, doubted: bool) -> None:
    """One that was late is not made longer."""
    learner, heard, metrics = Slow(), Heard(), Metrics()
    clock = Stepped()
    made = FitDesk(learner, heard, clock, metrics, period=60.0, due=lambda *_: True)
    made.start()
    tended, seen = Tended(policy("a")), history(0, 20)
    choice = Choice(name="flat@0.9", best="flat@0.9", days=14, drawn="flat", at=START - DAY)
    tended.knowledge = replace(knowledge(START - 60.0), choice=choice)
    learner.error = error
    learner.go.release()
    made.offer(tended, tended.policy, seen, START)
    wait_for(lambda: learner.asked and not made._waiting, "the desk is free")
    learner.error = None
    clock.seconds += 3600.0
    learner.go.release()
    made.offer(tended, tended.policy, seen, START)
    assert heard.told.acquire(timeout=PATIENCE)
    first, second = learner.stood
    assert (first.doubted, second.doubted) == (False, doubted)
    made.stop()


@pytest.mark.parametrize("edit", [{"demand": {"query": "another"}}, {"timeZone": "Asia/Tokyo"}])
def test_what_was_learnt_for_another_series_is_not_used(edit: dict[str, Any]) -> None:
    learner, heard = Slow(), Heard()
    made, tended = desk(learner, heard), Tended(policy("a"))
    made.offer(tended, tended.policy, history(0, 20), START)
    tended.policy = policy("a", **edit)
    learner.go.release()
    assert heard.told.acquire(timeout=PATIENCE)
    wait_for(lambda: not made._waiting, "the desk is free")
    assert tended.knowledge is None
    made.stop()


@pytest.mark.slow
def test_the_process_learns_survives_its_death_and_is_ended_when_late() -> None:
    others = set(multiprocessing.active_children())
    learner = Elsewhere()
    seen = history(0, 300)  # too short for any tide: learnt at once
    now = seen.read_at
    first = learner.learn(policy(), seen, now, 60.0, None)
    assert first.fitted_at == now
    (child,) = set(multiprocessing.active_children()) - others
    os.kill(child.pid, 9)
    child.join(PATIENCE)
    with pytest.raises(FitLate):
        learner.learn(policy(), seen, now, 60.0, None)
    again = learner.learn(policy(), seen, now, 60.0, None)  # a new process
    assert (again.fitted.name, again.order_level) == (first.fitted.name, first.order_level)
    learner.stop()
    hasty = Elsewhere(deadline=0.001)
    with pytest.raises(FitLate, match="did not end within"):
        hasty.learn(policy(), seen, now, 60.0, None)
    hasty.stop()
