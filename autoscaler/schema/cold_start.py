"""How long a replica takes until it serves: one number, or how it is spread.

Starts are not alike: the image is on the node or it is not, ten that start at once share one
registry. Three quantiles say so; between them the logarithm of the time is drawn along a line over
the quantiles of a normal distribution, as times of this kind are skewed.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Annotated, Any, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from autoscaler.schema.fields import DurationIn, Model, refusal

Start = Annotated[float, DurationIn("0s", "6h")]
LEVELS = (0.5, 0.9, 0.99)
_AT = tuple(NormalDist().inv_cdf(level) for level in LEVELS)
_LEAST = 1e-3  # seconds: a logarithm needs more than none


class ColdStart(Model):
    """How long a new replica takes.

    Either `duration`, or how starts are spread: all of `p50`, `p90`, `p99`.
    """

    duration: Start = 300.0
    """From ordering a replica until it is Ready: scheduling, image, weights, warm-up. Take a slow
    start rather than the mean. Five minutes is usual for a model of 30 billion parameters whose
    image is on the node."""
    p50: Start | None = None
    """Time within which half of the starts are Ready."""
    p90: Start | None = None
    """Time within which nine starts of ten are Ready."""
    p99: Start | None = None
    """Time within which all but one start of a hundred are Ready. With the three, replicas are
    ordered as much ahead as `price.perPercentLate` pays for: by default the 0.95 quantile."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [name for name in ("p50", "p90", "p99") if getattr(self, name) is not None]
        if not given:
            return self
        if len(given) < len(LEVELS):
            raise refusal(f"found only {', '.join(given)}", "all of p50, p90, p99, or duration")
        if "duration" in self.model_fields_set:
            raise refusal("found duration beside p50, p90, p99", "one way to say it")
        if list(self.spread) != sorted(self.spread):
            raise refusal("found quantiles that fall", "p50 <= p90 <= p99")
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = handler(self)
        if self.spread:
            found.pop("duration", None)  # a default, which beside a spread would be a second word
        return found

    @property
    def spread(self) -> tuple[float, ...]:
        """Seconds at `LEVELS`; empty where one number is all that is known."""
        known = (self.p50, self.p90, self.p99)
        return tuple(seconds for seconds in known if seconds is not None)

    def at(self, level: float) -> float:
        """Seconds within which a share of the starts is Ready; nothing is known beyond p50, p99."""
        if not self.spread:
            return self.duration
        at = NormalDist().inv_cdf(level)
        if at <= _AT[0]:
            return self.spread[0]
        logs = [math.log(max(seconds, _LEAST)) for seconds in self.spread]
        for low in range(len(_AT) - 1):
            if at <= _AT[low + 1]:
                part = (at - _AT[low]) / (_AT[low + 1] - _AT[low])
                return float(round(math.exp(logs[low] + part * (logs[low + 1] - logs[low]))))
        return self.spread[-1]
