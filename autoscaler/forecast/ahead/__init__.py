"""One predictive distribution of the need a lead ahead: location, scale and tails.

What orders a replica is not a quantile of demand but how much demand is expected above what
stands. So demand at the lead, and its largest until a break-even later, are each forecast as a
whole distribution: where it lies (robust regression on the clock's tables and the last minutes),
how wide it is just now (from recent misses, and misses at that clock), and how its tail falls off
(empirical, by level of the location). The shift of the logarithm, the constants and what each part
is worth were tried on recorded traffic: leaving out the recent misses or the recent minutes costs
most, the weekly table least.
"""

from autoscaler.forecast.ahead.fitted import Reach, TideAhead, reach_of
from autoscaler.forecast.ahead.model import (
    MASSES,
    Model,
    fit_model,
    fit_models,
    predict_strip,
    strip_of,
)
from autoscaler.forecast.ahead.tables import Tables, tables_of

__all__ = [
    "MASSES",
    "Model",
    "Reach",
    "Tables",
    "TideAhead",
    "fit_model",
    "fit_models",
    "predict_strip",
    "reach_of",
    "strip_of",
    "tables_of",
]
