"""Several recorders as one: each is told, and none that fails disturbs another or the cycle."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from autoscaler.model import Knowledge, Memory, Observation, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Recorder

logger = logging.getLogger(__name__)


class Together:
    """Recorder that tells several others, in order.

    Parameters
    ----------
    recorders : whom to tell
    failed : told the name of the error when one of them raised, which is a bug there
    """

    def __init__(
        self, recorders: Sequence[Recorder], failed: Callable[[str], None] = lambda _kind: None
    ) -> None:
        self._recorders, self._failed = tuple(recorders), failed

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,
        result: Result,
    ) -> None:
        """Tell all of them."""
        for recorder in self._recorders:
            try:
                recorder.record(policy, observation, knowledge, memory, result)
            except Exception as error:  # a recorder must never disturb a decision
                self._failed(type(error).__name__)
                logger.exception(
                    "%s could not record a decision",
                    type(recorder).__name__,
                    extra={"policy": policy.key},
                )

    def forget(self, key: str) -> None:
        """Tell those that keep something about each policy that one is gone."""
        for recorder in self._recorders:
            forget = getattr(recorder, "forget", None)
            if forget is not None:
                forget(key)
