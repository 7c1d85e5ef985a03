"""What becomes of demand that is not served at once: it waits, gives up, or comes back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """What one step did to the queue.

    Attributes
    ----------
    served : work done for somebody who still waited, in demand
    backlog : what waits at the end of the step
    lost : what gave up in it
    """

    served: float
    backlog: float
    lost: float = 0.0


class Queue(Protocol):
    """Demand that waits in front of the replicas."""

    @property
    def backlog(self) -> float:
        """Demand that waits now."""
        ...

    def step(self, demand: float, served: float, dt: float) -> Arrived:
        """Let `demand` per second arrive for `dt` seconds while `served` per second is carried."""
        ...


class PatientQueue:
    """Nobody gives up: W <- max(0, W + (demand - served) * dt), the rule of `replay`."""

    def __init__(self) -> None:
        self._waiting = 0.0

    @property
    def backlog(self) -> float:
        """Demand that waits now."""
        return self._waiting

    def step(self, demand: float, served: float, dt: float) -> Arrived:
        """Let one step pass."""
        before = self._waiting
        self._waiting = max(0.0, before + (demand - served) * dt)
        return Arrived(served=before + demand * dt - self._waiting, backlog=self._waiting)


class ImpatientQueue:
    """Clients give up after `patience` seconds, and the engine's work on them is lost.

    First come, first served, as a real engine: in overload it works on the oldest requests, whose
    clients leave while it does, so that goodput falls far below capacity and comes back only when
    the demand falls. A share `retry` of those that gave up comes back `pause` seconds later.

    The queue is kept as parcels (age, amount). Capacity is spent on a parcel while it is younger
    than `patience`; of what is being worked on when it ages out the work is lost. A request takes
    `service` seconds from first work to end, so one begun later than `patience - service` after
    its arrival is worked on in vain: that is where goodput goes.
    """

    def __init__(
        self,
        *,
        patience: float = 30.0,
        service: float = 2.0,
        retry: float = 0.0,
        pause: float = 10.0,
    ) -> None:
        self.patience, self.service, self.retry, self.pause = patience, service, retry, pause
        self._parcels: deque[list[float]] = deque()  # [arrived at, amount], oldest first
        self._returning: deque[tuple[float, float]] = deque()  # (at, amount)
        self._now = 0.0

    @property
    def backlog(self) -> float:
        """Demand that waits now."""
        return sum(amount for _, amount in self._parcels)

    def step(self, demand: float, served: float, dt: float) -> Arrived:
        """Let one step pass, second by second."""
        good = gone = 0.0
        seconds = max(1, round(dt))
        for _ in range(seconds):
            done, left = self._second(demand, served, dt / seconds)
            good, gone = good + done, gone + left
        return Arrived(served=good, backlog=self.backlog, lost=gone)

    def _second(self, demand: float, served: float, dt: float) -> tuple[float, float]:
        """Arrive, work on the oldest, give up; return work in time and what was lost."""
        self._now += dt
        amount = demand * dt + self._back()
        if amount:
            self._parcels.append([self._now, amount])
        able, good, gone = served * dt, 0.0, 0.0
        while self._parcels and able > 1e-12:
            arrived, amount = self._parcels[0]
            taken = min(amount, able)
            able -= taken
            if self._now - arrived + self.service <= self.patience:
                good += taken
            else:
                gone += taken  # worked on, and nobody waits for it any more
            self._parcels[0][1] = amount - taken
            if amount - taken <= 1e-12:
                self._parcels.popleft()
        while self._parcels and self._now - self._parcels[0][0] > self.patience:
            gone += self._parcels.popleft()[1]
        if gone and self.retry:
            self._returning.append((self._now + self.pause, gone * self.retry))
        return good, gone

    def _back(self) -> float:
        """Collect the requests that come back now."""
        amount = 0.0
        while self._returning and self._returning[0][0] <= self._now:
            amount += self._returning.popleft()[1]
        return amount
