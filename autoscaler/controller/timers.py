"""The few coarse timers, on APScheduler; policies have due times of their own (`workqueue`).

Every default of APScheduler that bit somebody is set here: runs are not dropped as misfires, do not
pile up and do not overlap; errors and overlaps are counted, since it only logs them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

logger = logging.getLogger(__name__)

KINDS = {
    EVENT_JOB_ERROR: "error",
    EVENT_JOB_MISSED: "missed",
    EVENT_JOB_MAX_INSTANCES: "overlap",
}


class Timers:
    """Timers by name.

    Parameters
    ----------
    trouble : told the timer and what was wrong: error, missed, overlap
    """

    def __init__(self, trouble: Callable[[str, str], None]) -> None:
        self._trouble = trouble
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(6)},
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
        )
        self._scheduler.add_listener(
            self._heard, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES
        )

    def every(self, name: str, seconds: float, job: Callable[[], object]) -> None:
        """Call `job` now and then every `seconds`; without jitter, which accumulates."""
        self._scheduler.add_job(
            job,
            IntervalTrigger(seconds=seconds, timezone=UTC),
            id=name,
            next_run_time=datetime.now(UTC),
        )

    def start(self) -> None:
        """Start all timers."""
        self._scheduler.start()

    def stop(self) -> None:
        """Start nothing any more; what runs goes on."""
        self._scheduler.shutdown(wait=False)

    def _heard(self, event: JobEvent) -> None:
        """Count and log what went wrong with a timer."""
        kind = KINDS.get(event.code, "error")
        self._trouble(event.job_id, kind)
        error = getattr(event, "exception", None)
        logger.error("timer %s: %s", event.job_id, kind, exc_info=error)
