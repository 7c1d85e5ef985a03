"""What lateness is worth, and what follows from it wherever nothing better was learnt."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from autoscaler.schema.fields import Model, Number

USUAL_ODDS = 19.0
"""Odds of the quantile on which replicas are ordered where nothing was learnt, at a price of
lateness of 1: the 0.95 quantile."""


def usual_level(price: float) -> float:
    """Quantile on which replicas are ordered where nothing was learnt, in (0, 1).

    A replica that is ordered for naught costs its time, demand that finds none costs the price
    times as much: the odds of the quantile are in proportion to the price.

    Parameters
    ----------
    price : `price.perPercentLate`, > 0
    """
    return USUAL_ODDS * price / (1 + USUAL_ODDS * price)


class Price(Model):
    """What lateness is worth."""

    per_percent_late: Annotated[Number, Field(ge=0.01, le=100, allow_inf_nan=False)] = 1.0
    """How many times its own replica-hours one per cent of late requests is worth. 1: a service
    that is one per cent late may cost twice as much if that makes nobody late. Higher orders more
    and keeps it longer. What is chosen is chosen by
    `cost × (1 + 100 × price × late share)`."""

    @property
    def level(self) -> float:
        """Quantile on which is ordered where nothing was learnt, of demand and of cold starts."""
        return usual_level(self.per_percent_late)
