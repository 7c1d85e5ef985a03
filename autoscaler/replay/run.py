"""One call that turns floor timelines into replicas, backlog and lateness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats, Ints
from autoscaler.reactive.plain import PlainHpa
from autoscaler.replay.lanes import under_hpa
from autoscaler.replay.service import Service, backlog_of, bounded, ready_of

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """Replicas and backlog of m timelines over n steps.

    Attributes
    ----------
    total : shape (m, n), replicas ordered in each step
    ready : shape (m, n), replicas that serve in each step
    backlog : shape (m, n), demand that waits at the end of each step
    late : shape (m, n), whether the demand of the step is late
    before : shape (m,), replicas ordered just before the first step
    """

    total: Ints
    ready: Ints
    backlog: Floats
    late: Bools
    before: Ints

    @property
    def started(self) -> Ints:
        """Replicas started in each step, shape (m, n)."""
        previous = np.concatenate([self.before[:, None], self.total[:, :-1]], axis=1)
        started: Ints = np.maximum(self.total - previous, 0)
        return started

    def since(self, first: int) -> Replayed:
        """Give the same replay from step `first` on (the evaluation after a settling time)."""
        before = self.total[:, first - 1] if first else self.before
        return Replayed(
            total=self.total[:, first:],
            ready=self.ready[:, first:],
            backlog=self.backlog[:, first:],
            late=self.late[:, first:],
            before=before,
        )


def replay(  # long: half of it is the contract of its arrays
    demand: Floats,
    floors: Ints,
    service: Service,
    hpa: PlainHpa | None = None,
) -> Replayed:
    """Replay floor timelines, all at once, optionally under the plain HPA.

    More text than code: 20 lines of it are the contract.

    At the first step everything ordered is taken as ready and no backlog stands; the HPA has seen
    the first step's own demand before it.

    Parameters
    ----------
    demand : shape (n,), finite, per second, >= 0
    floors : shape (n,) or (m, n), the floor that stands in each step
    service : capacity, cold start, promise
    hpa : the reactive autoscaler above, or None

    Returns
    -------
    Replayed
        Arrays of shape (m, n); m = 1 for a single timeline.

    Raises
    ------
    ValueError
        The shapes do not agree, or demand is not finite.
    """
    floors = np.atleast_2d(np.asarray(floors, dtype=np.int64))
    demand = np.asarray(demand, dtype=np.float64)
    if demand.ndim != 1 or floors.ndim != 2 or floors.shape[1] != len(demand):
        raise ValueError(f"demand {demand.shape} and floors {floors.shape} do not agree on steps")
    if not np.isfinite(demand).all():
        raise ValueError("demand must be finite: fill what is unknown before a replay")
    if floors.shape[1] == 0:
        none = np.zeros(floors.shape, dtype=np.int64)
        return _finished(none, none, none.astype(np.float64), demand, service)
    if hpa is None:
        total = bounded(floors, service)
        ready = ready_of(total, service.cold)
        backlog = backlog_of(demand, ready, service)
        return _finished(total, ready, backlog, demand, service)
    total, ready, backlog = under_hpa(demand, floors, service, hpa)
    return _finished(total, ready, backlog, demand, service)


def _finished(
    total: Ints, ready: Ints, backlog: Floats, demand: Floats, service: Service
) -> Replayed:
    """Tell late steps from the backlog and wrap up."""
    patience = service.wait * service.capacity * ready
    late = (backlog > patience * (1 + 1e-9)) & (demand > 0)
    before = total[:, 0] if total.shape[1] else np.zeros(len(total), dtype=np.int64)
    return Replayed(total=total, ready=ready, backlog=backlog, late=late, before=before)
