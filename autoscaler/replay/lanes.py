"""The replay under the plain HPA: parts of days side by side, exact as the plain loop.

The HPA makes each step depend on the one before. Time is cut into parts that run at once from a
guessed state (the hours before each part, started from calm); a part whose guess differs from what
the part before ended in runs again from the truth, until all agree. At the latest that happens
after as many passes as there are parts; on real tides after two or three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler.model import Floats, Ints
from autoscaler.reactive.plain import PlainHpa, plain_bounded, plain_wanted
from autoscaler.replay.service import Service, bounded

Bools = NDArray[np.bool_]

_CHUNK = 480  # steps that run side by side with others; a third of a day at 60 s
_WARM = 240  # steps before a chunk from which its guessed start state settles
_LANES = 1024  # with this many timelines cutting time gains nothing more


def under_hpa(  # long: cut, run and join belong together, on the same indices
    demand: Floats, floors: Ints, service: Service, hpa: PlainHpa
) -> tuple[Ints, Ints, Floats]:
    """Replay with the HPA, parts side by side; exact, see the module (one algorithm, one page)."""
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
    above = hpa.of(np.arange(chunks * m) % m)
    total, ready, backlog, end = _advance(lane_demand, lane_floors, start, service, above)
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
        part = _advance(
            lane_demand[:, wrong], lane_floors[:, wrong], begin, service, above.of(wrong)
        )
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
    total = bounded(np.maximum(floors, wanted), service)
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
        total[t + cold + 1] = bounded(np.maximum(floors[t], reactive), service)
        np.min(total[t + 1 : t + cold + 2], axis=0, out=ready[t])
        seen = demand[t]
        waiting = np.maximum(waiting + (seen - ready[t] * service.capacity) * service.step, 0.0)
        backlog[t] = waiting
    end = _State(total[steps:].copy(), wanted[steps:].copy(), waiting.copy(), seen.copy())
    return total[cold + 1 :], ready, backlog, end


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
    above = hpa.of(np.arange((chunks - 1) * m) % m)
    begin = _settled(lane_demand[0], lane_floors[0], service, above)
    later = _advance(lane_demand, lane_floors, begin, service, above)[3]
    return _State(
        np.concatenate([first.totals, later.totals], axis=1),
        np.concatenate([first.wanted, later.wanted], axis=1),
        np.concatenate([first.backlog, later.backlog]),
        np.concatenate([first.seen, later.seen]),
    )
