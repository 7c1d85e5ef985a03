"""The reason that says who was pinned by the policy, and who decides in its place if it cannot."""

from __future__ import annotations

from autoscaler.model import Code, Reason
from autoscaler.schema.candidates import AUTO


def pinned(use: str, by: str) -> tuple[Reason, ...]:
    """Say that `forecast.use` is not the replay's own choice; nothing when it is.

    Parameters
    ----------
    use : as in the policy
    by : name of the forecaster that made the forecast
    """
    if use == AUTO:
        return ()
    sentence = f"forecast.use: {use} is pinned by the policy"
    held = use.partition("@")[0] == by
    if not held:
        sentence += f", and cannot be used yet: {by} speaks in its place"
    return (Reason(code=Code.PINNED, sentence=sentence, numbers={"held": float(held)}),)
