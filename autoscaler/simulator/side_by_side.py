"""Calls in processes of their own, which can be ended at once when somebody presses Ctrl-C.

A pool of `concurrent.futures` waits for everything that is under way, and a Ctrl-C that is raised
within its queues may leave a lock taken (https://github.com/python/cpython/issues/74174).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from signal import SIG_IGN, SIGINT, signal
from typing import Any, TypeVar

from autoscaler.errors import ForetideError
from autoscaler.interruption import Interrupted

Answer = TypeVar("Answer")
# seconds between two looks at whether somebody interrupted
GLANCE = 0.1


def side_by_side(
    function: Callable[..., Answer],
    arguments: Sequence[tuple[Any, ...]],
    jobs: int,
    halted: Callable[[], bool] = lambda: False,
) -> Iterator[Answer]:
    """Call a function with each of the arguments, some at once, and give answers in their order.

    Parameters
    ----------
    function, arguments : can be pickled, as can the answers
    jobs : processes at a time
    halted : asked now and then; True ends what is under way

    Raises
    ------
    Interrupted
        `halted` said so.
    ForetideError, or what a call raised
        A process ended without an answer.
    """
    waiting = deque(enumerate(arguments))
    running: dict[Connection, tuple[int, Process]] = {}
    done: dict[int, Answer] = {}
    try:
        for wanted in range(len(arguments)):
            while wanted not in done:
                while waiting and len(running) < jobs:
                    index, given = waiting.popleft()
                    connection, process = _started(function, given)
                    running[connection] = index, process
                for connection in _ready(running):
                    index, process = running.pop(connection)
                    done[index] = _answer(connection, process)
                if halted():
                    raise Interrupted
            yield done.pop(wanted)
    finally:
        _end(running)


def _ready(running: Mapping[Connection, object]) -> list[Connection]:
    """Those that have something to say, after a glance at most."""
    heard = wait(list(running), GLANCE)
    return [connection for connection in running if connection in heard]


def _end(running: Mapping[Connection, tuple[int, Process]]) -> None:
    """End what is under way."""
    for connection, (_, process) in running.items():
        connection.close()
        process.kill()
        process.join()


def _started(function: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Connection, Process]:
    """Start a call; its answer comes through the connection."""
    ours, theirs = Pipe(duplex=False)
    process = Process(target=_work, args=(theirs, function, given), daemon=True)
    process.start()
    theirs.close()  # so that its end is seen when the process is gone
    return ours, process


def _work(connection: Connection, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Call, answer, and be gone; Ctrl-C is left to the parent, which knows what it means."""
    signal(SIGINT, SIG_IGN)
    try:
        answer = (True, function(*given))
    except Exception as error:  # noqa: BLE001 - the parent raises it
        answer = (False, error)
    connection.send(answer)
    connection.close()
    # nothing is flushed: what the parent had not yet written, and its locks, were copied too
    os._exit(0)


def _answer(connection: Connection, process: Process) -> Any:
    """Take the answer of a call that is over.

    Raises
    ------
    ForetideError
        There is none.
    """
    try:
        good, answer = connection.recv()
    except EOFError:
        process.join()
        raise ForetideError(
            f"a process ended without an answer (exit code {process.exitcode}; killed, or out of "
            "memory?); --jobs 1 needs the least"
        ) from None
    finally:
        connection.close()
    process.join()
    if not good:
        raise answer
    return answer
