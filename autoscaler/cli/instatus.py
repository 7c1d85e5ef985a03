"""What the controller chose for a policy, read from the policy's status in the cluster.

Apart, because `tune` prefers it within the noise and `plan` compares its own choice with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autoscaler.adapters.kubernetes.client import Cluster
    from autoscaler.policy import TidePolicy


def chosen_in(cluster: Cluster, policy: TidePolicy) -> str:
    """Name of the candidate that the controller chose last; "" while its status names none.

    Raises
    ------
    ApiError
        There is no such policy in the cluster, or it cannot be read.
    """
    from autoscaler.adapters.kubernetes.resources import POLICIES

    found = cluster.get(POLICIES, policy.metadata.namespace, policy.metadata.name)
    learnt = (found.get("status") or {}).get("knowledge") or {}
    return str(learnt.get("candidate") or "")
