"""Crane's DSP forecast under EHPA, in the form that the reference table defines.

At each midnight: the last 15 days, clipped at their P99.9; one day or one week as the period, by
autocorrelation; FFT, terms faster than one an hour dropped unless among the 100 largest; the last
period of the inverse, times 1 + margin, is the forecast from now on; demand at a minute is the
largest of the next 60 minutes of it. Above the HPA, as EHPA's metrics are combined by maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats, Ints
from autoscaler.replay import largest_ahead, replicas_for
from autoscaler.simulator.peers import AboveFloors, Settings, scaled
from autoscaler.simulator.plain import PlainWorld


@dataclass(frozen=True, slots=True)
class Crane(AboveFloors):
    """DSP with a margin of 10 %, above the HPA."""

    name: str = "crane"
    source: str = "gocrane/crane: pkg/prediction/dsp and EffectiveHorizontalPodAutoscaler"
    history_days: int = 2

    @property
    def defaults(self) -> Settings:
        """One of Crane's own candidate margins, HPA at 70 %."""
        return {"margin": 0.1, "factor": 1.0, "target": 0.7}

    @property
    def grid(self) -> tuple[Settings, ...]:
        """Factor and target as for the other floors."""
        return tuple(
            {"margin": 0.1, "factor": factor, "target": target}
            for factor in (1.0, 1.2)
            for target in (0.6, 0.7, 0.8, 0.9)
        )

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:
        """Fit at each midnight of the grid."""
        load = np.empty(len(world.run_demand))
        for first in range(world.start, len(world.demand), world.day):
            past = world.demand[max(0, first - 15 * world.day) : first]
            begin = first - world.start
            load[begin : begin + world.day] = day_ahead(past, world.day, settings["margin"])
        floors = replicas_for(np.maximum(load, 0.0), world.service.capacity)
        return scaled(floors, settings["factor"])


def day_ahead(past: Floats, day: int, margin: float) -> Floats:
    """Forecast of the day after `past`, each step the largest of its next hour, shape (day,)."""
    hour = day // 24
    ahead = np.resize(last_period(past, day, margin), day + hour)
    return largest_ahead(ahead, hour)[:day]


def last_period(past: Floats, day: int, margin: float) -> Floats:
    """Smoothed last day or week of `past`, times 1 + margin: what repeats itself from now on."""
    clipped = np.minimum(past, np.percentile(past, 99.9))
    lag = 7 * day if _likeness(clipped, 7 * day) > _likeness(clipped, day) else day
    spectrum = np.fft.rfft(clipped)
    size = np.abs(spectrum)
    smallest_kept = np.sort(size)[-min(100, len(size))]
    fast = np.fft.rfftfreq(len(clipped), 1.0) > 24.0 / day
    spectrum[fast & (size < smallest_kept)] = 0
    period: Floats = np.fft.irfft(spectrum, len(clipped))[-lag:] * (1 + margin)
    return period


def _likeness(values: Floats, lag: int) -> float:
    """Autocorrelation at a lag; -1 when the history is shorter than two lags or does not vary."""
    z = values - values.mean()
    power = float((z * z).sum())
    if len(values) < 2 * lag or power == 0:
        return -1.0
    return float((z[lag:] * z[:-lag]).sum() / power)


PEERS = (Crane(),)
