"""Several recorders as one: each is told, and none that fails disturbs another or the cycle."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from autoscaler.model import History, Knowledge, Memory, Observation, Result
from autoscaler.policy import TidePolicy
from autoscaler.ports import Recorder, Refusal

logger = logging.getLogger(__name__)


class Together:
    """Recorder that tells several others, in order.

    Beyond `record`, it passes on to whoever has such a method: `learnt`, `forget`, `refused`,
    `close`.

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
        """Tell all of them of a cycle."""
        self._tell("record", policy, observation, knowledge, memory, result)

    def learnt(
        self, policy: TidePolicy, history: History, knowledge: Knowledge, period: float
    ) -> None:
        """Tell what knowledge was learnt from."""
        self._tell("learnt", policy, history, knowledge, period)

    def forget(self, policy: TidePolicy) -> None:
        """Tell that a policy is gone."""
        self._tell("forget", policy)

    def refused(self, refusals: Mapping[str, Refusal]) -> None:
        """Tell, by key, which policies cannot be used now: last good versions are in force."""
        self._tell("refused", refusals)

    def close(self) -> None:
        """Tell that this is the end."""
        self._tell("close")

    def _tell(self, what: str, *arguments: object) -> None:
        """Call one method of every recorder that has it; none disturbs another."""
        for recorder in self._recorders:
            method = getattr(recorder, what, None)
            if method is None:
                continue
            try:
                method(*arguments)
            except Exception as error:  # whatever it is, it must not reach the decision
                self._failed(type(error).__name__)
                logger.exception("%s.%s failed", type(recorder).__name__, what)


class WhenLeading:
    """Recorder for what only the leader says to the cluster: status and Events."""

    def __init__(self, inner: Together, is_leader: Callable[[], bool]) -> None:
        self._inner, self._is_leader = inner, is_leader

    def record(
        self,
        policy: TidePolicy,
        observation: Observation | None,
        knowledge: Knowledge | None,
        memory: Memory,
        result: Result,
    ) -> None:
        """Pass a cycle on, while we lead."""
        if self._is_leader():
            self._inner.record(policy, observation, knowledge, memory, result)

    def forget(self, policy: TidePolicy) -> None:
        """Pass it on in any case."""
        self._inner.forget(policy)

    def refused(self, refusals: Mapping[str, Refusal]) -> None:
        """Pass it on in any case: it says nothing to anybody by itself."""
        self._inner.refused(refusals)

    def close(self) -> None:
        """Pass it on."""
        self._inner.close()
