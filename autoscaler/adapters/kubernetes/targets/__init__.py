"""The kinds of scaling targets that a floor can be written to: one file each, one line here."""

from autoscaler.adapters.kubernetes.targets.hpa import Hpa
from autoscaler.adapters.kubernetes.targets.kind import Scaled, TargetKind
from autoscaler.policy import TargetRef

KINDS: tuple[TargetKind, ...] = (Hpa(),)

_BY_NAME = {(kind.resource.api_version, kind.resource.kind): kind for kind in KINDS}


def kind_of(reference: TargetRef) -> TargetKind:
    """Kind of the target that a policy names; the schema admits no other than those registered."""
    return _BY_NAME[reference.api_version, reference.kind]


__all__ = ["KINDS", "Scaled", "TargetKind", "kind_of"]
