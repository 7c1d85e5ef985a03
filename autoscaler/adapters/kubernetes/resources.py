"""The API resources that Foretide touches, named once: their paths and their groups.

A resource is data, so that a further kind of target costs one line here and one file in `targets/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

# An object of the API as it came: a dict, so that fields we do not know survive.
Json = dict[str, Any]

FIELD_MANAGER = "foretide"
PAUSED = "foretide.dev/paused"
ORIGINAL_FLOOR = "foretide.dev/original-floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind of object as the API server names it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str = ""
    ) -> str:
        """URL path of the collection, of one object, or of one of its subresources."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if namespace is not None and self.namespaced:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/" + "/".join(parts)

    def named(self, namespace: str | None, name: str) -> str:
        """How messages call one object."""
        return f"{self.kind} {namespace}/{name}" if namespace else f"{self.kind} {name}"


HPAS = Resource(
    group="autoscaling",
    version="v2",
    plural="horizontalpodautoscalers",
    kind="HorizontalPodAutoscaler",
)
DEPLOYMENTS = Resource(group="apps", version="v1", plural="deployments", kind="Deployment")
STATEFUL_SETS = Resource(group="apps", version="v1", plural="statefulsets", kind="StatefulSet")
NAMESPACES = Resource(
    group="", version="v1", plural="namespaces", kind="Namespace", namespaced=False
)
POLICIES = Resource(
    group="foretide.dev", version="v1alpha1", plural="tidepolicies", kind="TidePolicy"
)
LEASES = Resource(group="coordination.k8s.io", version="v1", plural="leases", kind="Lease")
EVENTS = Resource(group="events.k8s.io", version="v1", plural="events", kind="Event")
ACCESS_REVIEWS = Resource(
    group="authorization.k8s.io",
    version="v1",
    plural="selfsubjectaccessreviews",
    kind="SelfSubjectAccessReview",
    namespaced=False,
)
