"""How the process hears that it is to stop, wherever its main thread happens to be."""

from __future__ import annotations

import signal

import pytest

from autoscaler.controller.controller import GRACE, RELEASE
from tests.support.processes import python

TOLD_IN_THE_WRONG_PLACE = """
import signal, sys, threading
from autoscaler.cli.run import hear, heard

def tell(frame, event, what):
    # with a lock in hand, where the wait takes one; else as it begins
    locked = event == "return" and frame.f_code is threading.Condition.__enter__.__code__
    if locked or (event == "c_call" and what.__name__ == "get"):
        sys.setprofile(None)
        signal.raise_signal(signal.SIGTERM)

told = hear()
sys.setprofile(tell)
print(heard(told))
"""


def test_a_signal_is_heard_wherever_the_wait_is():
    done = python(TOLD_IN_THE_WRONG_PLACE)
    assert done.stdout == f"{signal.SIGTERM:d}\n", done.stderr


def test_told_twice_it_does_not_wait():
    twice = (
        "import signal\n"
        "from autoscaler.cli.run import hear\n"
        "hear()\n"
        "for _ in range(2): signal.raise_signal(signal.SIGINT)\n"
    )
    assert python(twice).returncode == 130


def test_what_a_stop_may_take_is_less_than_what_is_promised():
    # five seconds are promised; what is left is for the web server and the end of the process
    assert pytest.approx(4.5) == GRACE + RELEASE
