"""Demand history from Prometheus, or from whatever speaks its query API (Thanos, Mimir, …).

`prometheus-api-client` makes the requests. What it leaves open is added here, one module each: an
end to every answer and errors in words (`transport`), one breaker for all policies (`breaker`),
history that is kept and only added to (`kept`), and what to look for when nothing is found
(`probe`).
"""

from autoscaler.adapters.prometheus.demand import PrometheusDemand
from autoscaler.adapters.prometheus.probe import Probe

__all__ = ["Probe", "PrometheusDemand"]
