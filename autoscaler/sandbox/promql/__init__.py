"""As much PromQL as Foretide itself asks for, over series in memory.

The fakes of the tests and the demo's Prometheus evaluate the *same texts* as a real one, so that
no test asserts what a text looks like: it asserts what the text says about known traffic.
"""

from autoscaler.sandbox.promql.evaluate import Row, evaluate
from autoscaler.sandbox.promql.store import STALE, Store
from autoscaler.sandbox.promql.syntax import ParseError, parse

__all__ = ["STALE", "ParseError", "Row", "Store", "evaluate", "parse"]
