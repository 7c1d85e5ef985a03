"""Giving floors back: of removed policies, of targets left annotated, and at uninstalling.

Level-triggered: whatever carries our annotation and is named by no policy is given back, once it
was seen so for long enough. So a removal that happened while no controller ran needs no record,
and a restart only makes the wait begin anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.adapters.kubernetes.floors import WRITE, send_guarded
from autoscaler.adapters.kubernetes.marks import annotation, namespace_is_paused
from autoscaler.adapters.kubernetes.problems import Denied, observing, writing
from autoscaler.adapters.kubernetes.resources import ORIGINAL_FLOOR, Json
from autoscaler.adapters.kubernetes.targets import KINDS, TargetKind, kind_of
from autoscaler.errors import ActuationError, ObservationError
from autoscaler.model import Target
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed

_log = logging.getLogger(__name__)

_Place = tuple[str, str, str]  # plural, namespace, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What became of one target whose floor was to be given back.

    Attributes
    ----------
    what : such as `HorizontalPodAutoscaler llm/qwen-32b`
    floor : the floor that stood
    original : the floor that is to stand again
    done : whether it was written
    message : why not, or until when it waits
    """

    what: str
    floor: int
    original: int
    done: bool
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marked:
    """An annotated target."""

    kind: TargetKind
    namespace: str
    name: str
    target: Target

    @property
    def place(self) -> _Place:
        return self.kind.resource.plural, self.namespace, self.name

    @property
    def what(self) -> str:
        return self.kind.resource.named(self.namespace, self.name)

    def returned(self, *, done: bool, message: str = "") -> Returned:
        original = self.target.floor if self.target.original is None else self.target.original
        return Returned(
            what=self.what,
            floor=self.target.floor,
            original=min(original, self.target.ceiling),
            done=done,
            message=message,
        )


class GivingBack:
    """Gives back what no policy names any more, slowly. For one thread.

    Parameters
    ----------
    cluster : Cluster
    may_write : callable
        Fencing, as for `KubernetesFloors`.
    namespaces : sequence of str
        Where to look; empty for the whole cluster.
    observe_only : bool
        Give nothing back.
    after : float
        Seconds to wait for targets whose policy was never seen; of others, its `release.after`.
    timeouts : Timeouts
        As for `KubernetesFloors`.
    clock : callable
        Monotonic seconds.
    controller : str
        As for `KubernetesFloors`: what another controller wrote is its own to give back, since its
        policies are not ours to see. What bears no name is anyone's.
    """

    def __init__(  # noqa: PLR0913  # one keyword for each thing that tests and command set
        self,
        cluster: Cluster,
        *,
        may_write: Callable[[], bool],
        namespaces: Sequence[str] = (),
        observe_only: bool = False,
        after: float = 600.0,
        timeouts: Timeouts = WRITE,
        clock: Callable[[], float] = time.monotonic,
        controller: str = "",
    ) -> None:
        self._cluster = cluster
        self._controller = controller
        self._may_write = may_write
        self._namespaces = tuple(namespaces)
        self._observe_only = observe_only
        self._default_after = after
        self._timeouts = timeouts
        self._clock = clock
        self._after: dict[_Place, float] = {}
        self._since: dict[tuple[_Place, str], float] = {}

    def seen(self, policies: Iterable[TidePolicy]) -> None:
        """Remember how slowly the floors of these are released, should they go.

        Told at every listing, from any thread: a policy may be gone before the next sweep, which
        therefore does not learn it again.
        """
        for policy in policies:
            self._after[_place_of(policy)] = policy.spec.release.after

    def sweep(self, listed: Listed, in_force: Iterable[TidePolicy] = ()) -> tuple[Returned, ...]:
        """Give back what is due.

        Parameters
        ----------
        listed : what the policy source holds now
        in_force : policies that are followed although the source no longer holds them in a
            usable form (last good versions)

        Returns
        -------
        tuple of Returned
            One for each annotated target without a policy, due or waiting.

        Raises
        ------
        ObservationError
            The targets could not be listed: nothing was given back.
        """
        followed = (*listed.policies, *in_force)
        named = {_place_of(policy) for policy in followed}
        # a source that is empty, or not wholly readable, removes nothing
        if not listed.policies or not listed.complete:
            self._since.clear()
            return ()
        # whose target is not known may be any in its namespace
        keys = {policy.key for policy in followed}
        unclear = {r.key.partition("/")[0] for r in listed.refused if r.key not in keys}
        orphans = [
            marked
            for marked in find_marked(self._cluster, self._namespaces)
            if self._ours(marked) and marked.place not in named and marked.namespace not in unclear
        ]
        now = self._clock()
        self._since = {
            (o.place, o.target.uid): self._since.get((o.place, o.target.uid), now) for o in orphans
        }
        return tuple(self._consider(orphan, now) for orphan in orphans)

    def _ours(self, marked: _Marked) -> bool:
        """Whether no other controller wrote it."""
        return marked.target.controller in {None, self._controller}

    def _consider(self, orphan: _Marked, now: float) -> Returned:
        """Give one back when it is due."""
        after = self._after.get(orphan.place, self._default_after)
        waited = now - self._since[orphan.place, orphan.target.uid]
        pending = orphan.returned(done=False)
        if pending.original < pending.floor and waited < after:
            left = after - waited
            return orphan.returned(done=False, message=f"no policy; lowered in {left:.0f} s")
        if self._observe_only:
            return orphan.returned(done=False, message="observing only")
        if not self._may_write():
            return orphan.returned(done=False, message="not the leader")
        returned = _give_back(self._cluster, orphan, self._may_write, timeouts=self._timeouts)
        if returned.done:
            _log.info("gave back %s: %d → %d", returned.what, returned.floor, returned.original)
        else:
            _log.warning("%s is not given back: %s", returned.what, returned.message)
        return returned


def restore(
    cluster: Cluster,
    *,
    namespaces: Sequence[str] = (),
    write: bool = True,
    only: Collection[str] | None = None,
) -> tuple[Returned, ...]:
    """Give every annotated target its original floor back at once, for uninstalling.

    With `write=False` only say what would be done; `only` picks targets by `TidePolicy.target_key`.

    Raises
    ------
    ObservationError
        The targets could not be listed.
    """
    marked = [one for one in find_marked(cluster, namespaces) if only is None or one.what in only]
    if not write:
        return tuple(one.returned(done=False) for one in marked)
    return tuple(_give_back(cluster, one, lambda: True, heed_pause=False) for one in marked)


def find_marked(cluster: Cluster, namespaces: Sequence[str] = ()) -> list[_Marked]:
    """Find every target that carries our annotation; those that must not be written are left out.

    Raises
    ------
    ObservationError
    """
    found = []
    for kind in KINDS:
        with observing():
            for namespace in namespaces or (None,):
                listing = cluster.list(kind.resource, namespace)
                found += [(kind, o) for o in listing if annotation(o, ORIGINAL_FLOOR) is not None]
    marked = []
    for kind, document in found:
        one = _read(kind, document)
        if one is not None:
            marked.append(one)
    return marked


def _read(kind: TargetKind, document: Json) -> _Marked | None:
    metadata = document["metadata"]
    try:
        target = kind.read(document)
    except ObservationError as error:
        _log.warning("not given back: %s", error)
        return None
    return _Marked(kind=kind, namespace=metadata["namespace"], name=metadata["name"], target=target)


def _give_back(
    cluster: Cluster,
    marked: _Marked,
    may_write: Callable[[], bool],
    *,
    heed_pause: bool = True,
    timeouts: Timeouts = WRITE,
) -> Returned:
    """Write the original floor and take our annotation away, if nothing moved."""
    try:
        if heed_pause and (marked.target.paused or _paused(cluster, marked.namespace)):
            return marked.returned(done=False, message="paused")
        if not may_write():
            return marked.returned(done=False, message="not the leader")
        operations = marked.kind.give_back(marked.target)
        at = (marked.namespace, marked.name)
        send_guarded(cluster, marked.kind, at, marked.target, operations, timeouts=timeouts)
    except ActuationError as error:
        return marked.returned(done=False, message=str(error))
    return marked.returned(done=True)


def _paused(cluster: Cluster, namespace: str) -> bool:
    try:
        with writing():
            return namespace_is_paused(cluster, namespace)
    except ActuationError as error:
        if isinstance(error.__cause__, Denied):
            return False
        raise


def _place_of(policy: TidePolicy) -> _Place:
    reference = policy.spec.target_ref
    return kind_of(reference).resource.plural, policy.metadata.namespace, reference.name
