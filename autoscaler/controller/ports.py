"""What the controller needs beyond a cycle's four ports: to lead, to learn, to give floors back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from autoscaler.model import History, Knowledge
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed, Recorder, Refusal
from autoscaler.tune import Standing


class Leadership(Protocol):
    """Which of several controllers may write."""

    def start(self) -> None:
        """Begin to ask for it, in the background."""
        ...

    def release(self) -> None:
        """Give it up, so that another takes over at once."""
        ...

    def is_leader(self) -> bool:
        """Whether that can be proven at this very moment; asked before every write."""
        ...


class Learner(Protocol):
    """Who learns knowledge; `tune.tonight` in another process, or right here."""

    def learn(
        self,
        policy: TidePolicy,
        history: History,
        now: float,
        period: float,
        standing: Standing | None,
    ) -> Knowledge:
        """Learn, or raise; may take minutes. `standing` is what stands."""
        ...

    def rest(self) -> None:
        """Nothing to learn for a while."""
        ...

    def stop(self) -> None:
        """Stop for good, at once."""
        ...


class Returned(Protocol):
    """What became of one target whose floor is to be given back."""

    @property
    def what(self) -> str:
        """Which target."""
        ...

    @property
    def done(self) -> bool:
        """Whether it was written."""
        ...

    @property
    def message(self) -> str:
        """Why not, or until when it waits."""
        ...


class GivesBack(Protocol):
    """Gives back, slowly, the floors of targets that no policy names any more."""

    def seen(self, policies: Iterable[TidePolicy]) -> None:
        """Remember how slowly the floors of these are released, should they go."""
        ...

    def sweep(self, listed: Listed, in_force: Iterable[TidePolicy] = ()) -> Sequence[Returned]:
        """Give back what is due; `in_force` are last good versions that the source lost.

        Raises
        ------
        ObservationError
            The cluster did not answer.
        """
        ...


class GivesNothing:
    """For runs that must not give anything back."""

    def seen(self, policies: Iterable[TidePolicy]) -> None:
        """Do nothing."""

    def sweep(
        self,
        listed: Listed,  # noqa: ARG002 the port's signature
        in_force: Iterable[TidePolicy] = (),  # noqa: ARG002 the port's signature
    ) -> Sequence[Returned]:
        """Do nothing."""
        return ()


class Records(Recorder, Protocol):
    """A recorder that also hears what was learnt and which policies are gone or refused."""

    def learnt(
        self, policy: TidePolicy, history: History, knowledge: Knowledge, period: float
    ) -> None:
        """`knowledge` was learnt from `history`."""
        ...

    def forget(self, policy: TidePolicy) -> None:
        """Let go of a policy that is no more."""
        ...

    def refused(self, refusals: Mapping[str, Refusal]) -> None:
        """Hear, by key, which policies cannot be used now; last good versions stay in force."""
        ...

    def close(self) -> None:
        """Bring everything to an end."""
        ...
