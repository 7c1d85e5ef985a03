"""Cost, lateness, score, and the clairvoyant that they are read against."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats, Ints
from autoscaler.replay.run import Replayed
from autoscaler.replay.service import Service, ready_of

Numbers = TypeVar("Numbers", Ints, Floats)


def clairvoyant(demand: Floats, service: Service) -> Ints:
    """Floor timeline that knows the future, shape (n,): what every score is read against.

    need = max(1, ceil(demand / capacity)); floor(t) = largest need of [t, t + cold + 1]; then for
    every level k the gaps of {floor >= k} that are cheaper kept than started again are closed.
    A reference, not a proven bound.
    """
    need = need_of(demand, service)
    floor = largest_ahead(need, service.cold + 1)
    return close_gaps(floor, int(service.start_cost // service.step))


def need_of(demand: Floats, service: Service) -> Ints:
    """Whole replicas for a demand: max(1, ceil(demand / capacity)), within the ceiling."""
    need = np.maximum(replicas_for(demand, service.capacity), 1)
    return need if service.ceiling is None else np.minimum(need, service.ceiling)


def replicas_for(demand: Floats | float, capacity: float) -> Ints:
    """Whole replicas that carry a demand, 0 for none.

    Rounding must not turn exactly k replicas into k + 1: a billionth of one is let go. Production
    (`capacity.replicas_for`) lets go a millionth of the demand, which it has in float32; a world
    is exact, and its score can be worked out by others.
    """
    whole: Ints = np.ceil(np.asarray(demand) / capacity - 1e-9).astype(np.int64)
    return whole


def close_gaps(floor: Ints, longest: int) -> Ints:
    """Raise every valley of at most `longest` steps to the lower of its banks, shape (n,).

    For each level k: gaps of {floor >= k} not longer than `longest`, with the level reached on
    both sides. That is a morphological closing, except that the ends of the timeline are no
    banks: max over every window of longest + 1 steps, then the min, both looking one way.
    """
    n = len(floor)
    if longest <= 0 or n == 0:
        return floor.copy()
    span = longest + 1
    low = -1  # below every floor, and not so low that its negative overflows
    padded = np.concatenate([np.full(span, low), floor, np.full(span, low)])
    ahead = largest_ahead(padded, longest)
    closed: Ints = -largest_ahead(-ahead[::-1], longest)[::-1]
    return np.maximum(closed[span : span + n], floor)


def largest_ahead(values: Numbers, ahead: int) -> Numbers:
    """Largest of [t, t + ahead], shape (n,); beyond the end there is nothing."""
    smallest = ready_of(-values[None, ::-1], ahead)
    largest: Numbers = -smallest[0, ::-1]
    return largest


def cost_of(run: Replayed, service: Service) -> Floats:
    """Replica-seconds ordered plus what starts cost, shape (m,)."""
    held: Floats = run.total.sum(axis=1) * service.step
    held += service.start_cost * run.started.sum(axis=1)
    return held


def late_fraction(run: Replayed, demand: Floats) -> Floats:
    """Late share of all requests, shape (m,); 0 when nothing arrives."""
    everything = float(demand.sum())
    if everything <= 0:
        return np.zeros(len(run.late))
    # picked and summed: a product of flags and numbers costs ten times as much
    return np.array([float(demand[late].sum()) for late in run.late]) / everything


def score_of(cost: Floats, reference: float, late: Floats, price: float = 1.0) -> Floats:
    """Score: cost over the clairvoyant's, times 1 + 100 * price * late fraction. 1 is perfect."""
    result: Floats = np.asarray(cost) / reference * (1 + 100 * price * np.asarray(late))
    return result


def by_day(values: NDArray[np.generic], steps: int = 1440) -> NDArray[np.generic]:
    """Sum (m, n) values over whole days, shape (m, n // steps); a partial last day is left out."""
    m, n = values.shape
    days = n // steps
    return np.asarray(values[:, : days * steps].reshape(m, days, steps).sum(axis=2))
