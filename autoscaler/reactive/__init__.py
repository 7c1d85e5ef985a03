"""The autoscaler above the floor, as pure step functions: the only model of it in the house.

Two of them: the *plain HPA* of the score's world, on many timelines at once, and the full
`autoscaling/v2` HPA with its windows, rate policies and pod metrics.
"""

from autoscaler.reactive.hpa import Direction, Hpa, HpaState, Look, Rule, hpa_step
from autoscaler.reactive.metrics import ExternalMetric, Metric, PodSeen, PodsMetric, ResourceMetric
from autoscaler.reactive.plain import PlainHpa, plain_bounded, plain_wanted

__all__ = [
    "Direction",
    "ExternalMetric",
    "Hpa",
    "HpaState",
    "Look",
    "Metric",
    "PlainHpa",
    "PodSeen",
    "PodsMetric",
    "ResourceMetric",
    "Rule",
    "hpa_step",
    "plain_bounded",
    "plain_wanted",
]
