"""What a floor timeline would have cost, and who would have waited: the judge of every choice.

`tune` chooses by it, the simulator and the benchmarks report by it, and a reader can recompute
it: the rules are the *plain world* (docs/explanation), a page long.

- What is ordered (`total`) becomes max(floor, reactive, 1). What is added at step t serves from
  t + cold. What is removed comes off pending replicas first, the latest due first, then off
  ready ones at once. So replicas are a stack, level k is ready when it was ordered through all
  of [t - cold, t], and `ready` is a sliding minimum of `total`.
- Backlog: W <- max(0, W + (demand - ready * capacity) * step). The requests of a step are late
  when W after it exceeds wait * ready * capacity.
- cost = replica-seconds ordered + start cost * replicas started;
  score = cost / clairvoyant's cost * (1 + 100 * price * late fraction).

Many timelines are replayed at once. Without a reactive the whole replay is closed form. With one,
time is cut into days that run side by side from a guessed state; a day whose guess differs from
what the day before ended in runs again from the truth, until all agree. The result is exactly
that of the plain loop, at a fraction of its time.

Pure: no I/O, no clock. Demands are per second, durations seconds, times whole steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats, Ints
from autoscaler.reactive import PlainHpa, plain_bounded, plain_wanted

Bools = NDArray[np.bool_]

_CHUNK = 1440  # steps that run side by side with others; a day at 60 s
_WARM = 360  # steps before a chunk from which its guessed start state settles
_LANES = 1024  # with this many timelines cutting time gains nothing more


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a replay must know of a service.

    Attributes
    ----------
    capacity : demand per second that one ready replica carries, > 0
    cold : steps from ordering a replica until it serves
    step : seconds
    wait : promised wait in seconds; a longer backlog makes requests late
    start_cost : replica-seconds that one start is worth (`release.breakEven`)
    price : `price.perPercentLate`: replica-hours, relative, that one per cent late is worth
    ceiling : most replicas that can be ordered (`maxReplicas`)
    """

    capacity: float
    cold: int = 5
    step: float = 60.0
    wait: float = 5.0
    start_cost: float = 1800.0
    price: float = 1.0
    ceiling: int | None = None


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


def replay(
    demand: Floats,
    floors: Ints,
    service: Service,
    hpa: PlainHpa | None = None,
) -> Replayed:
    """Replay floor timelines, all at once, optionally under the plain HPA.

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
        total = _bounded(floors, service)
        ready = ready_of(total, service.cold)
        backlog = backlog_of(demand, ready, service)
        return _finished(total, ready, backlog, demand, service)
    total, ready, backlog = _under_hpa(demand, floors, service, hpa)
    return _finished(total, ready, backlog, demand, service)


def ready_of(total: Ints, cold: int) -> Ints:
    """Ready replicas of ordered ones, shape (m, n): the sliding minimum over [t - cold, t].

    Before the first step everything counts as ordered for long.
    """
    n = total.shape[1]
    ready = total.copy()
    span = 1  # ready holds the minimum over the last `span` steps
    while span < cold + 1:
        shift = min(span, cold + 1 - span)
        if shift < n:
            np.minimum(ready[:, shift:], ready[:, :-shift].copy(), out=ready[:, shift:])
        span += shift
    return ready


def backlog_of(demand: Floats, ready: Ints, service: Service) -> Floats:
    """Backlog at the end of each step, shape (m, n): Lindley's recursion in closed form.

    W_t = S_t - min(0, min_{s<=t} S_s) with S the running sum of what each step adds; what is
    left of rounding (relative 1e-12 of the sum) is cut to 0.
    """
    drift = (demand - ready * service.capacity) * service.step
    total = np.cumsum(drift, axis=1)
    lowest = np.minimum(np.minimum.accumulate(total, axis=1), 0.0)
    backlog = total - lowest
    backlog[backlog <= 1e-12 * np.abs(lowest)] = 0.0
    return backlog


def clairvoyant(demand: Floats, service: Service) -> Ints:
    """Floor timeline that knows the future, shape (n,): what every score is read against.

    need = max(1, ceil(demand / capacity)); floor(t) = largest need of [t, t + cold + 1]; then for
    every level k the gaps of {floor >= k} that are cheaper kept than started again are closed.
    A reference, not a proven bound.
    """
    need = need_of(demand, service)
    floor = _largest_ahead(need, service.cold + 1)
    return close_gaps(floor, int(service.start_cost // service.step))


def need_of(demand: Floats, service: Service) -> Ints:
    """Whole replicas for a demand: max(1, ceil(demand / capacity)), within the ceiling."""
    need = np.maximum(np.ceil(demand / service.capacity), 1).astype(np.int64)
    return need if service.ceiling is None else np.minimum(need, service.ceiling)


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
    low = np.iinfo(np.int64).min
    padded = np.concatenate([np.full(span, low), floor, np.full(span, low)])
    ahead = _largest_ahead(padded, longest)
    closed: Ints = -_largest_ahead(-ahead[::-1], longest)[::-1]
    return np.maximum(closed[span : span + n], floor)


def cost_of(run: Replayed, service: Service) -> Floats:
    """Replica-seconds ordered plus what starts cost, shape (m,)."""
    held: Floats = run.total.sum(axis=1) * service.step
    return held + service.start_cost * run.started.sum(axis=1)


def late_fraction(run: Replayed, demand: Floats) -> Floats:
    """Late share of all requests, shape (m,); 0 when nothing arrives."""
    everything = float(demand.sum())
    if everything <= 0:
        return np.zeros(len(run.late))
    late: Floats = run.late @ demand / everything
    return late


def score_of(cost: Floats, reference: float, late: Floats, price: float = 1.0) -> Floats:
    """Score: cost over the clairvoyant's, times 1 + 100 * price * late fraction. 1 is perfect."""
    result: Floats = np.asarray(cost) / reference * (1 + 100 * price * np.asarray(late))
    return result


def by_day(values: NDArray[np.generic], steps: int = 1440) -> NDArray[np.generic]:
    """Sum (m, n) values over whole days, shape (m, n // steps); a partial last day is left out."""
    m, n = values.shape
    days = n // steps
    return np.asarray(values[:, : days * steps].reshape(m, days, steps).sum(axis=2))


def _finished(
    total: Ints, ready: Ints, backlog: Floats, demand: Floats, service: Service
) -> Replayed:
    """Tell late steps from the backlog and wrap up."""
    late = (backlog > service.wait * service.capacity * ready) & (demand > 0)
    before = total[:, 0] if total.shape[1] else np.zeros(len(total), dtype=np.int64)
    return Replayed(total=total, ready=ready, backlog=backlog, late=late, before=before)


def _bounded(total: Ints, service: Service) -> Ints:
    """At least one replica, at most the ceiling."""
    total = np.maximum(total, 1)
    return total if service.ceiling is None else np.minimum(total, service.ceiling)


def _largest_ahead(values: Ints, ahead: int) -> Ints:
    """Largest of [t, t + ahead], shape (n,); beyond the end there is nothing."""
    reversed_min = ready_of(-values[None, ::-1], ahead)
    largest: Ints = -reversed_min[0, ::-1]
    return largest


@dataclass(slots=True)
class _State:
    """Where lanes stand between two steps; columns are lanes."""

    totals: Ints  # (cold + 1, lanes), newest last
    wanted: Ints  # (window - 1, lanes), newest last
    backlog: Floats  # (lanes,)
    seen: Floats  # (lanes,), demand of the step before

    def differs(self, other: _State) -> Bools:
        """Tell for each lane whether the two states are not the very same."""
        unlike: Bools = (self.totals != other.totals).any(axis=0)
        unlike |= (self.wanted != other.wanted).any(axis=0)
        unlike |= self.backlog != other.backlog
        unlike |= self.seen != other.seen
        return unlike

    def lanes(self, which: NDArray[np.generic]) -> _State:
        """Pick lanes."""
        return _State(
            self.totals[:, which], self.wanted[:, which], self.backlog[which], self.seen[which]
        )

    def put(self, which: NDArray[np.generic], new: _State) -> None:
        """Replace lanes."""
        self.totals[:, which] = new.totals
        self.wanted[:, which] = new.wanted
        self.backlog[which] = new.backlog
        self.seen[which] = new.seen


def _settled(first: Floats, floors: Ints, service: Service, hpa: PlainHpa) -> _State:
    """Start lanes as if their first demand and floor had stood for long, all served."""
    wanted = np.ceil(first / (service.capacity * hpa.target)).astype(np.int64)
    total = _bounded(np.maximum(floors, wanted), service)
    return _State(
        totals=np.repeat(total[None, :], service.cold + 1, axis=0),
        wanted=np.repeat(wanted[None, :], hpa.window - 1, axis=0),
        backlog=np.zeros(len(total)),
        seen=first.copy(),
    )


def _advance(
    demand: Floats, floors: Ints, state: _State, service: Service, hpa: PlainHpa
) -> tuple[Ints, Ints, Floats, _State]:
    """Run lanes through `steps` steps from `state`; demand and floors have shape (steps, lanes).

    Longer than most functions because it is the one hot loop: a call a step would double its time.
    """
    steps, lanes = demand.shape
    cold, window = service.cold, hpa.window
    total = np.empty((cold + 1 + steps, lanes), dtype=np.int64)
    wanted = np.empty((window - 1 + steps, lanes), dtype=np.int64)
    ready = np.empty((steps, lanes), dtype=np.int64)
    backlog = np.empty((steps, lanes))
    total[: cold + 1], wanted[: window - 1] = state.totals, state.wanted
    waiting, seen = state.backlog, state.seen
    for t in range(steps):
        present = total[t + cold]
        proposal = plain_wanted(seen + waiting / service.step, present, service.capacity, hpa)
        wanted[t + window - 1] = proposal
        reactive = plain_bounded(proposal, wanted[t : t + window].max(axis=0), present)
        total[t + cold + 1] = _bounded(np.maximum(floors[t], reactive), service)
        np.min(total[t + 1 : t + cold + 2], axis=0, out=ready[t])
        seen = demand[t]
        waiting = np.maximum(waiting + (seen - ready[t] * service.capacity) * service.step, 0.0)
        backlog[t] = waiting
    end = _State(total[steps:].copy(), wanted[steps:].copy(), waiting.copy(), seen.copy())
    return total[cold + 1 :], ready, backlog, end


def _under_hpa(
    demand: Floats, floors: Ints, service: Service, hpa: PlainHpa
) -> tuple[Ints, Ints, Floats]:
    """Replay with the HPA, days side by side; exact, see the module's text."""
    m, n = floors.shape
    length = _CHUNK if m < _LANES and n > 2 * _CHUNK else n
    chunks = -(-n // length)
    # a lane is one chunk of one timeline: lane = chunk * m + timeline; the tail is padded by calm
    padded = np.concatenate([demand, np.zeros(chunks * length - n)])
    beneath = np.concatenate(
        [floors, np.repeat(floors[:, -1:], chunks * length - n, axis=1)], axis=1
    )
    lane_demand = np.repeat(padded.reshape(chunks, length), m, axis=0).T
    lane_floors = beneath.reshape(m, chunks, length).transpose(2, 1, 0).reshape(length, -1)
    start = _guess(padded, beneath, (length, chunks), service, hpa)
    total, ready, backlog, end = _advance(lane_demand, lane_floors, start, service, hpa)
    for _ in range(chunks):
        wrong = (
            np.flatnonzero(
                end.lanes(np.arange(0, (chunks - 1) * m)).differs(
                    start.lanes(np.arange(m, chunks * m))
                )
            )
            + m
        )
        if not len(wrong):
            break
        begin = end.lanes(wrong - m)
        start.put(wrong, begin)
        part = _advance(lane_demand[:, wrong], lane_floors[:, wrong], begin, service, hpa)
        total[:, wrong], ready[:, wrong], backlog[:, wrong] = part[:3]
        end.put(wrong, part[3])

    def whole(lanes: NDArray[np.generic]) -> NDArray[np.generic]:
        back = lanes.reshape(length, chunks, m).transpose(2, 1, 0).reshape(m, -1)
        return np.ascontiguousarray(back[:, :n])

    return (
        whole(total).astype(np.int64, copy=False),
        whole(ready).astype(np.int64, copy=False),
        whole(backlog).astype(np.float64, copy=False),
    )


def _guess(
    demand: Floats, floors: Ints, shape: tuple[int, int], service: Service, hpa: PlainHpa
) -> _State:
    """Guess the state at the start of every chunk by running the steps just before it."""
    length, chunks = shape
    m = len(floors)
    first = _settled(np.repeat(demand[:1], m), floors[:, 0], service, hpa)
    if chunks == 1:
        return first
    warm = min(_WARM, length)
    borders = np.arange(1, chunks) * length
    at = borders[:, None] - warm + np.arange(warm)  # (chunks - 1, warm)
    lane_demand = np.repeat(demand[at], m, axis=0).T
    lane_floors = floors[:, at].transpose(2, 1, 0).reshape(warm, -1)
    begin = _settled(lane_demand[0], lane_floors[0], service, hpa)
    later = _advance(lane_demand, lane_floors, begin, service, hpa)[3]
    return _State(
        np.concatenate([first.totals, later.totals], axis=1),
        np.concatenate([first.wanted, later.wanted], axis=1),
        np.concatenate([first.backlog, later.backlog]),
        np.concatenate([first.seen, later.seen]),
    )
