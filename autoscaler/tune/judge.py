"""What a candidate would have cost on the service's last days, and who would have waited.

The autoscaler above is left out: what stands above our floor is not ours to know, and a floor that
is right without help is right with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscaler import plan
from autoscaler.capacity import lead_time, replicas_for
from autoscaler.forecast.base import LEVELS
from autoscaler.forecast.days import Days
from autoscaler.forecast.resolution import resolution
from autoscaler.forecast.response import Misses, Response, learn_response
from autoscaler.forecast.tidal import GROWTH
from autoscaler.forecast.width import HOURS
from autoscaler.model import Floats, Ints
from autoscaler.policy import TidePolicy
from autoscaler.reactive import PlainHpa
from autoscaler.replay import (
    Replayed,
    Service,
    clairvoyant,
    cost_of,
    late_fraction,
    replay,
    score_of,
)
from autoscaler.replay.doubt import Daily, daily
from autoscaler.tune.asked import asked_of

ORDER_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998)
"""Quantiles on which replicas may be ordered."""

HPA_WINDOW = 300.0
"""Seconds for which an HPA waits before it goes down."""

REPLAYED_DAYS = 14
"""Newest days that are replayed."""

BLOCKS = 4
"""Times within the replayed days at which corrections and quantiles are learnt anew."""

READ = 0.75
"""Share of a day that must have been read for it to be judged."""

_KEPT_LEADS = 24  # leads at which the median is looked up; between two the tide is all but flat


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Floors of one candidate on past days.

    Attributes
    ----------
    rows : shape (d,), rows of `Days`, consecutive
    wanted : shape (levels, d, per_day), before slow release and bounds
    floors : same shape, with them
    """

    rows: NDArray[np.int64]
    wanted: Ints
    floors: Ints

    def only(self, which: int) -> Trial:
        """Give one of its levels alone."""
        alone = slice(which, which + 1)
        return Trial(rows=self.rows, wanted=self.wanted[alone], floors=self.floors[alone])


class Judge:
    """Replays candidates on one service's past days."""

    def __init__(self, policy: TidePolicy, days: Days, period: float) -> None:
        spec = policy.spec
        self._days = days
        self._bounds = spec.floor
        self._lead = plan.steps_ahead(lead_time(spec.cold_start_seconds, period), days.step)
        self._after, self.row = spec.release.after, resolution(days)
        self._keep = plan.steps_ahead(spec.release.break_even, days.step)
        self.reach = min(self._lead + self._keep, days.per_day)
        """Slots after a day that a forecast made before its end still needs."""
        self.service = Service(
            capacity=spec.capacity.per_replica,
            cold=plan.steps_ahead(spec.cold_start_seconds, days.step),
            step=days.step,
            wait=spec.promise.wait,
            start_cost=spec.release.break_even,
            price=spec.price.per_percent_late,
        )
        self.whole = days.count if days.now == days.per_day else days.count - 1
        self._demand = _bridged(days)
        self._read = (~np.isnan(days.z)).mean(axis=1) >= READ
        self._asked = asked_of(spec, days, self._lead)
        self._ideal: dict[tuple[int, int, int], Replayed] = {}

    def trial(self, misses: Misses) -> Trial | None:
        """Floors that the candidate would have set; None when no day can be replayed."""
        usable = int(np.searchsorted(misses.rows, self.whole))
        first = max(min(3, usable // 2), usable - REPLAYED_DAYS, 1)
        if usable <= first:
            return None
        parts = []
        for block in np.array_split(np.arange(first, usable), BLOCKS):
            if len(block):
                known, step = np.arange(block[0]), self._days.step
                response = learn_response(misses, known, step, reach=self.reach)
                parts.append(self._order_and_keep(misses, block, response))
        order = np.concatenate([part[0] for part in parts], axis=1)
        keep = np.concatenate([part[1] for part in parts])
        return self.followed(misses.rows[first:usable], order, keep)

    def followed(self, rows: NDArray[np.int64], order: Ints, keep: Ints) -> Trial:
        """Floors from what must stand and what is kept, shape (m, steps of the rows) each.

        Replicas stand by a day's end as they do by the next day's start: one path over all days.
        """
        wanted = self._asked.ordered(plan.follow(order[..., 0], order, keep), rows)
        shape = (len(wanted), len(rows), -1)
        floors = self.released(wanted, self._after, rows)
        return Trial(rows=rows, wanted=wanted.reshape(shape), floors=floors.reshape(shape))

    def released(self, wanted: Ints, after: float, rows: NDArray[np.int64]) -> Ints:
        """Floors from wanted ones of the rows, shape (m, steps).

        Slow release (seconds), holds of the calendar and the bounds are in them.
        """
        after = plan.looking_back(after, self.row)
        held = plan.largest_behind(wanted, plan.steps_ahead(after, self.service.step))
        held = self._asked.held(held, rows)
        floors: Ints = np.maximum(held, 1 if self._bounds.min is None else self._bounds.min)
        return floors if self._bounds.max is None else np.minimum(floors, self._bounds.max)

    def seen(self, rows: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """Need that the newest demand and the last break-even show at each slot, flat."""
        start = int(rows[0]) * self._days.per_day
        stop = (int(rows[-1]) + 1) * self._days.per_day
        need = replicas_for(self._demand.ravel()[:stop], self.service.capacity)
        behind = plan.largest_behind(need, max(1, self._keep) - 1)
        return need[start - 1 : stop - 1], behind[start - 1 : stop - 1]

    def demand_on(self, rows: NDArray[np.int64]) -> Floats:
        """Demand of whole days, flat; holes are bridged by a line."""
        return self._demand[rows].ravel()

    def hpa(self, target: float | Floats) -> PlainHpa:
        """Give the reactive autoscaler above our floors, at one target or one for each timeline."""
        window = plan.steps_ahead(HPA_WINDOW, self.service.step) + 1
        return PlainHpa(target=target, window=window)

    def judged(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows say who was right: most of them was read. All of them where none was.

        An event's days and an outage's are bridged by a line, on which no tide is best.
        """
        read: NDArray[np.bool_] = self._read[rows]
        return read if read.any() else np.ones(len(rows), dtype=bool)

    def ideal(self, rows: NDArray[np.int64]) -> Replayed:
        """Replay the clairvoyant on days one after another, kept: all are read against it."""
        span = int(rows[0]), int(rows[-1]), len(rows)
        if span not in self._ideal:
            demand = self.demand_on(rows)
            self._ideal[span] = replay(demand, clairvoyant(demand, self.service), self.service)
        return self._ideal[span]

    def scores(self, trial: Trial, since: int = 0) -> Floats:
        """Score of every order level on the trial's days from row `since` on."""
        used = np.flatnonzero(trial.rows >= since)
        used = used[self.judged(trial.rows[used])]
        demand = self.demand_on(trial.rows[used])
        floors = trial.floors[:, used].reshape(len(trial.floors), -1)
        run = replay(demand, floors, self.service)
        perfect = self.ideal(trial.rows[used])
        return score_of(
            cost_of(run, self.service),
            float(cost_of(perfect, self.service)[0]),
            late_fraction(run, demand),
            self.service.price,
        )

    def daily(self, trial: Trial, rows: NDArray[np.int64]) -> Daily:
        """Account for a trial of one candidate on some of its days, day by day."""
        rows = rows[self.judged(rows)]
        demand = self.demand_on(rows)
        floors = trial.floors[:, np.isin(trial.rows, rows)].reshape(1, -1)
        run = replay(demand, floors, self.service)
        return daily(run, demand, self.service, self._days.per_day)[0]

    def _order_and_keep(
        self, misses: Misses, block: NDArray[np.int64], response: Response
    ) -> tuple[Ints, Ints]:
        """Need to order, shape (levels, n), and up to which a replica is kept, shape (n,)."""
        per_day = self._days.per_day
        expected = misses.expected[block]
        recent = misses.recent[:, block].reshape(3, -1)
        slots = np.arange(per_day)
        columns = [LEVELS.index(level) for level in ORDER_LEVELS]
        median = LEVELS.index(0.5)
        order = np.full((len(columns), len(block), per_day), -np.inf)
        keep = np.full((len(block), per_day), -np.inf)
        ordered = np.arange(self._lead + 1)
        leads = np.unique(
            np.r_[ordered, np.linspace(self._lead, self.reach, _KEPT_LEADS).astype(np.int64)]
        )
        away = leads.astype(np.float64)
        z = response.correction(recent, away).reshape(len(leads), len(block), per_day)
        for k, lead in enumerate(leads):
            z[k] += expected[:, lead : lead + per_day]
        at = (leads[:, None, None] + slots) % per_day
        wide = response.widths(z, at, misses.recent[:, block], away)
        kinds = np.tile(np.arange(HOURS), len(leads))
        spreads = response.spreads(kinds, np.repeat(away, HOURS)).reshape(len(leads), HOURS, -1)
        for k, by_kind in enumerate(spreads):
            spread = np.take(by_kind.T, at[k, 0] * HOURS // per_day, axis=1)  # a row for each level
            np.maximum(keep, z[k] + spread[median] * wide[k], out=keep)
            if leads[k] <= self._lead:
                for i, column in enumerate(columns):
                    np.maximum(order[i], z[k] + spread[column] * wide[k], out=order[i])
        cap = self.caps(misses.rows[block])
        capacity = self.service.capacity

        def need(z: Floats) -> Ints:
            shift = self._days.shift
            demand = np.minimum(np.exp(z) - shift, cap)
            return replicas_for(np.maximum(np.nan_to_num(demand, nan=0.0), 0.0), capacity)

        return need(order).reshape(len(columns), -1), need(keep).ravel()

    def caps(self, rows: NDArray[np.int64]) -> Floats:
        """Largest forecast allowed at each slot, as `Tidal.predict` does, shape (d, per_day)."""
        demand = self._demand
        before = np.maximum.accumulate(demand.max(axis=1))
        behind = max(1, round(900 / self._days.step))
        newest = plan.largest_behind(
            np.r_[demand[rows[0] - 1], demand[rows].ravel()][None, :], behind - 1
        )[0]
        per_day = self._days.per_day
        at = per_day - 1 + np.arange(len(rows) * per_day)  # the step before each
        caps: Floats = np.maximum(
            before[rows - 1][:, None], GROWTH * newest[at].reshape(len(rows), -1)
        )
        return caps


def _bridged(days: Days) -> Floats:
    """Demand by day with holes bridged by a line: a replay must know what arrived."""
    flat = np.exp(days.z.ravel()) - days.shift
    known = np.flatnonzero(~np.isnan(flat))
    bridged = np.interp(np.arange(len(flat)), known, flat[known])
    return np.maximum(bridged, 0.0).reshape(days.z.shape)
