"""Policies that are custom resources: one LIST for the cluster, or one for each given namespace."""

from __future__ import annotations

from collections.abc import Sequence

from autoscaler.adapters.kubernetes.client import Cluster, Items
from autoscaler.adapters.kubernetes.problems import ApiError, NotFound
from autoscaler.adapters.kubernetes.resources import POLICIES, Json
from autoscaler.adapters.policies import one_per_target, parse_object
from autoscaler.errors import ObservationError, PolicyError
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed, Refusal


class ClusterPolicySource:
    """Implements `ports.PolicySource` on TidePolicy objects.

    Parameters
    ----------
    cluster : Cluster
    namespaces : sequence of str
        Where to look; empty for the whole cluster.
    """

    def __init__(self, cluster: Cluster, *, namespaces: Sequence[str] = ()) -> None:
        self._cluster = cluster
        self._namespaces = tuple(namespaces)

    def list(self) -> Listed:
        """Every policy there is now, oldest first: of two on one target the older one counts.

        Raises
        ------
        ObservationError
            The cluster did not answer, or does not know TidePolicy.
        """
        documents = sorted(self._read(), key=_age)
        policies: list[TidePolicy] = []
        refused: list[Refusal] = []
        for document in documents:
            try:
                policies.append(parse_object(document))
            except PolicyError as error:
                refused.append(_refusal(document, str(error)))
        unique = one_per_target(policies)
        return Listed(policies=unique.policies, refused=(*refused, *unique.refused))

    def _read(self) -> Items:
        found: Items = []
        try:
            for namespace in self._namespaces or (None,):
                found += self._cluster.list(POLICIES, namespace)
        except NotFound as error:
            raise ObservationError(
                f"the cluster knows no {POLICIES.kind} ({POLICIES.api_version}): apply the custom "
                "resource definition of deploy/, or give policies as files with -f",
                code="NoCustomResources",
            ) from error
        except ApiError as error:
            raise ObservationError(f"policies cannot be read: {error}", code=error.code) from error
        return found


def _age(document: Json) -> tuple[str, str, str]:
    metadata = document["metadata"]
    return metadata.get("creationTimestamp", ""), metadata.get("namespace", ""), metadata["name"]


def _refusal(document: Json, message: str) -> Refusal:
    metadata = document["metadata"]
    key = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
    return Refusal(key=key, message=message, generation=metadata.get("generation"))
