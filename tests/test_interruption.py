"""Ctrl-C that waits for the end of a step."""

import queue
import signal
import threading

import pytest

from autoscaler.interruption import interruption
from tests.support.processes import python

PRESSED_IN_THE_WRONG_PLACE = """
import queue, signal, sys
from autoscaler.interruption import interruption

pool = queue.Queue()

def press(frame, event, what):
    entered = frame.f_code is queue.threading.Condition.__enter__.__code__
    if entered and event == "return":
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

with interruption() as interrupted:
    sys.setprofile(press)
    pool.put("connection")
    sys.setprofile(None)
    print(interrupted.came, pool.get(timeout=60))
"""


def test_the_step_under_way_is_finished():
    done = []
    with interruption() as interrupted:
        for step in range(5):
            if interrupted.came:
                break
            if step == 2:
                signal.raise_signal(signal.SIGINT)
            done.append(step)
    assert done == [0, 1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_does_not_wait():
    with interruption():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_no_lock_is_left_taken():
    """Without it this very place leaves the queue's lock taken, and `get` waits for ever."""
    done = python(PRESSED_IN_THE_WRONG_PLACE)
    assert done.stdout == "True connection\n", done.stderr


def test_whoever_ignores_it_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruption() as interrupted:
            signal.raise_signal(signal.SIGINT)
        assert not interrupted.came
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_within_another_both_hear_it():
    with interruption() as outer:
        with interruption() as inner:
            signal.raise_signal(signal.SIGINT)
        assert inner.came
        with pytest.raises(KeyboardInterrupt):  # the end of the inner one changes nothing
            signal.raise_signal(signal.SIGINT)
    assert outer.came
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_threads_other_than_the_main_one_are_left_alone():
    found: queue.Queue[bool] = queue.Queue()

    def work() -> None:
        with interruption() as interrupted:
            found.put(interrupted.came)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found.get(timeout=60) is False
