"""Calls in processes of their own: order, errors, a process that is gone, an end at once."""

import os
import signal
import time
from contextlib import closing

import pytest

from autoscaler.errors import ForetideError, TraceError
from autoscaler.interruption import Interrupted, interruption
from autoscaler.simulator.side_by_side import side_by_side

LONG = 600.0  # nobody waits for it


def doubled(value):
    return 2 * value


def second_after_first(path, value):
    """The first of two waits until the second is over, so that they must run at once."""
    if value == 1:
        while not path.exists():
            time.sleep(0.01)
    else:
        path.touch()
    return value


def failing(value):
    if value == 2:
        raise TraceError(f"{value} is no trace")
    return value


def gone(_value):
    os._exit(7)


def pid_then_sleep(path):
    path.write_text(str(os.getpid()))
    time.sleep(LONG)


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_answers_come_in_the_order_of_the_arguments(jobs):
    assert list(side_by_side(doubled, [(i,) for i in range(5)], jobs)) == [0, 2, 4, 6, 8]


def test_some_run_at_once(tmp_path):
    given = [(tmp_path / "here", 1), (tmp_path / "here", 2), (tmp_path / "here", 3)]
    assert list(side_by_side(second_after_first, given, 2)) == [1, 2, 3]


def test_what_a_call_raises_is_raised_here():
    answers = side_by_side(failing, [(1,), (2,), (3,)], 1)
    assert next(answers) == 1
    with pytest.raises(TraceError, match="2 is no trace"):
        next(answers)


def test_a_process_that_ends_without_an_answer_is_told():
    with pytest.raises(ForetideError, match="without an answer \\(exit code 7"):
        list(side_by_side(gone, [(1,)], 2))


def ended(path):
    """Whether the process that wrote its number there is gone."""
    try:
        os.kill(int(path.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_an_interruption_ends_what_is_under_way(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]

    def halted():
        if all(path.exists() and path.read_text() for path in paths) and not noted.came:
            signal.raise_signal(signal.SIGINT)
        return noted.came

    with interruption() as noted, pytest.raises(Interrupted):
        list(side_by_side(pid_then_sleep, [(path,) for path in paths], 2, halted))
    assert all(ended(path) for path in paths)


def test_whoever_does_not_want_the_rest_ends_it(tmp_path):
    path = tmp_path / "a"
    given = [(doubled, 4), (pid_then_sleep, path)]
    with closing(side_by_side(called, given, 2)) as answers:
        assert next(answers) == 8
        while not (path.exists() and path.read_text()):
            time.sleep(0.01)
    assert ended(path)


def called(function, value):
    return function(value)
