"""Writing a floor: one guarded JSON Patch, or nothing.

The order of the checks is the point: what may decline without asking comes first, then what must
be asked (pause), and the lease is looked at again right before the request leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.adapters.kubernetes.marks import is_paused, namespace_is_paused
from autoscaler.adapters.kubernetes.problems import ApiError, Denied, Invalid, NotFound, writing
from autoscaler.adapters.kubernetes.resources import POLICIES, Json
from autoscaler.adapters.kubernetes.targets import TargetKind, kind_of
from autoscaler.errors import WriteConflict, WriteRefused
from autoscaler.model import Mode, Outcome, Target
from autoscaler.policy import TidePolicy

# Shorter than lease - renew (4 s by default): a write in flight when the leader stops proving its
# lease has ended before another can lead.
WRITE = Timeouts(connect=1.0, read=2.5)


class KubernetesFloors:
    """Implements `ports.FloorWriter` on a cluster. Safe to share between threads.

    Parameters
    ----------
    cluster : Cluster
    may_write : callable
        Fencing: whether we hold the lease at this moment.
    observe_only : bool
        Decline every write, whatever a policy's mode says.
    written : callable
        Told of every policy whose target was written to (`KubernetesTargets.forget`).
    timeouts : Timeouts
        Ends of the write itself; together less than lease - renew.
    controller : str
        Name of this controller and its replicas, noted on what they write to; "" for none.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        may_write: Callable[[], bool],
        observe_only: bool = False,
        written: Callable[[TidePolicy], None] | None = None,
        timeouts: Timeouts = WRITE,
        controller: str = "",
    ) -> None:
        self._cluster = cluster
        self._may_write = may_write
        self._observe_only = observe_only
        self._written = written
        self._timeouts = timeouts
        self._controller = controller

    def write(self, policy: TidePolicy, target: Target, floor: int) -> Outcome:
        """Move the floor of `target` to `floor` if the target is still as observed.

        Raises
        ------
        WriteConflict
            The target, the policy or a pause is not as it was: decide again.
        WriteRefused
            The API server said no.
        WriteUnavailable
            No answer.
        """
        if self._observe_only or policy.spec.mode is Mode.OBSERVE:
            return Outcome.OBSERVED
        if not self._may_write():
            return Outcome.NOT_LEADER
        kind = kind_of(policy.spec.target_ref)
        with writing():
            self._check_wish(policy)
            if not (target.floor_given and target.annotated):
                target = self._newest_version(policy, kind, target)
        # asked again as late as can be: the calls above may have taken longer than the lease
        if not self._may_write():
            return Outcome.NOT_LEADER
        self._send(policy, kind, target, floor)
        return Outcome.WRITTEN

    def _check_wish(self, policy: TidePolicy) -> None:
        """Make sure that nobody paused, changed or deleted the policy since it was read.

        Writes are rare, so this is cheap; it is what makes a pause act at once.
        """
        metadata = policy.metadata
        if self._namespace_is_paused(metadata.namespace):
            raise WriteConflict(f"namespace {metadata.namespace} was paused meanwhile")
        if metadata.uid is None:
            return  # from a file: there is no object to ask
        found = self._cluster.get(POLICIES, metadata.namespace, metadata.name)
        if found["metadata"]["uid"] != metadata.uid:
            raise WriteConflict(f"policy {policy.key} was deleted and made again meanwhile")
        if is_paused(found):
            raise WriteConflict(f"policy {policy.key} was paused meanwhile")
        if found["metadata"].get("generation") != metadata.generation:
            raise WriteConflict(f"policy {policy.key} was changed meanwhile")

    def _namespace_is_paused(self, namespace: str) -> bool:
        try:
            return namespace_is_paused(self._cluster, namespace)
        except Denied:
            return False  # the reader has said so already

    def _newest_version(self, policy: TidePolicy, kind: TargetKind, target: Target) -> Target:
        """Give the target the newest resourceVersion, where that must stand for an absent field.

        The HPA controller writes status every few seconds; only what we rely on counts.
        """
        reference, namespace = policy.spec.target_ref, policy.metadata.namespace
        found = self._cluster.get(kind.resource, namespace, reference.name)
        version = found["metadata"]["resourceVersion"]
        fresh = replace(target, version=version, annotated="annotations" in found["metadata"])
        moved = kind.moved(fresh, found)
        if moved:
            raise WriteConflict(f"{kind.resource.named(namespace, reference.name)}: {moved}")
        return fresh

    def _send(self, policy: TidePolicy, kind: TargetKind, target: Target, floor: int) -> None:
        """Send the patch; a 422 is told apart by reading again and comparing."""
        reference, namespace = policy.spec.target_ref, policy.metadata.namespace
        at = (namespace, reference.name)
        operations = kind.move(target, floor, self._controller)
        send_guarded(self._cluster, kind, at, target, operations, timeouts=self._timeouts)
        if self._written is not None:
            self._written(policy)


def send_guarded(
    cluster: Cluster,
    kind: TargetKind,
    at: tuple[str, str],
    target: Target,
    operations: list[Json],
    *,
    timeouts: Timeouts = WRITE,
) -> Json:
    """Send a JSON Patch to the target `at` (namespace, name) and return the object.

    Raises
    ------
    WriteConflict
        It is not as observed.
    WriteRefused, WriteUnavailable
    """
    namespace, name = at
    what = kind.resource.named(namespace, name)
    try:
        with writing():
            return cluster.patch_json(kind.resource, namespace, name, operations, timeouts=timeouts)
    except WriteRefused as error:
        # both a failed test and a floor that validation refuses are 422
        if not isinstance(error.__cause__, Invalid):
            raise
        moved = _what_moved(cluster, kind, at, target)
        if moved:
            raise WriteConflict(f"{what}: {moved}") from error
        if not error.__cause__.causes:
            raise WriteConflict(f"{what}: it changed and changed back: {error}") from error
        raise


def _what_moved(cluster: Cluster, kind: TargetKind, at: tuple[str, str], target: Target) -> str:
    """Say what is different now; when that cannot be read, say so."""
    try:
        return kind.moved(target, cluster.get(kind.resource, *at, timeouts=WRITE))
    except NotFound:
        return "it was deleted"
    except ApiError as error:
        return f"the patch was refused, and it could not be read again: {error}"
