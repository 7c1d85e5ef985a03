"""What runs in the fit worker's process: one fit at a time, with a deadline, at low priority.

statsmodels and SciPy are imported by a fit, so only this process pays for them.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading

from autoscaler import tune
from autoscaler.model import History, Knowledge
from autoscaler.policy import TidePolicy

NICE = 10  # a fit gives way to every cycle


def begin() -> None:
    """Prepare the process: give way, die with the parent, leave Ctrl-C to the parent."""
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # candidates that fit badly are warned of, and statsmodels undoes filters; their score says so
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(logging.NullHandler())
    threading.Thread(target=_follow_parent, name="parent", daemon=True).start()


def _follow_parent() -> None:
    """End when the parent was killed: a pool's worker would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def learn(
    policy: TidePolicy,
    history: History,
    now: float,
    period: float,
    standing: tune.Standing | None,
    deadline: float,
) -> Knowledge:
    """`tune.tonight`; past the deadline the alarm ends this process, whatever it is inside of."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, deadline)
    try:
        return tune.tonight(policy, history, now, standing, period=period)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
