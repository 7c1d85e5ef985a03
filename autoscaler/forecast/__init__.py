"""Stage 2: a series and its calendar become quantiles of demand for every step ahead."""

from autoscaler.forecast.autoreg import AUTOREG
from autoscaler.forecast.base import LEVELS, FitImpossible, Forecaster, Shape
from autoscaler.forecast.calendar import ordinary, raised
from autoscaler.forecast.drawn import Drawn
from autoscaler.forecast.foresee import STRENGTH, foresee
from autoscaler.forecast.intermittent import INTERMITTENT
from autoscaler.forecast.kinds import Kinds, kinds_of
from autoscaler.forecast.naive import LAST_WEEK, YESTERDAY
from autoscaler.forecast.past_events import learn_events
from autoscaler.forecast.pinned import pinned
from autoscaler.forecast.profile import NO_TIDE, PROFILE
from autoscaler.forecast.recent import Recent
from autoscaler.forecast.tidal import Tidal, TidalForecaster

FAST: tuple[Shape, ...] = (NO_TIDE, YESTERDAY, LAST_WEEK, PROFILE, INTERMITTENT)
"""Shapes that need NumPy alone."""

ALL: tuple[Shape, ...] = (*FAST, AUTOREG)

__all__ = [
    "ALL",
    "AUTOREG",
    "FAST",
    "INTERMITTENT",
    "LAST_WEEK",
    "LEVELS",
    "NO_TIDE",
    "PROFILE",
    "STRENGTH",
    "YESTERDAY",
    "Drawn",
    "FitImpossible",
    "Forecaster",
    "Kinds",
    "Recent",
    "Shape",
    "Tidal",
    "TidalForecaster",
    "foresee",
    "kinds_of",
    "learn_events",
    "ordinary",
    "pinned",
    "raised",
]
