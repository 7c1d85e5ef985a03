"""Synthetic tides: traffic with every shape that a forecast meets, from one seed.

The demo, the scenarios and the tests run on these, so that the project needs no recorded traffic
of its own. A tide is a mean (day × week × growth × what happens on single dates) times slow
noise; arrivals are drawn from it, over-dispersed as those of real services.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscaler.model import Floats

DAY = 86400.0

# share of the peak at each hour: an LLM service's day, lunch dip at 12:30, evening peak at 21:00
LLM_DAY = (
    *(0.42, 0.30, 0.22, 0.18, 0.16, 0.17, 0.21, 0.32, 0.52, 0.74, 0.86, 0.84),
    *(0.66, 0.70, 0.86, 0.90, 0.88, 0.80, 0.72, 0.78, 0.93, 1.00, 0.88, 0.63),
)
OFFICE_DAY = (
    *(0.04, 0.03, 0.03, 0.03, 0.03, 0.04, 0.08, 0.25, 0.70, 0.97, 1.00, 0.92),
    *(0.45, 0.62, 0.95, 0.98, 0.92, 0.75, 0.35, 0.15, 0.09, 0.07, 0.06, 0.05),
)
FLAT_DAY = (1.0,) * 24
LLM_WEEK = (1.0, 1.0, 1.02, 1.0, 0.97, 0.78, 0.72)
FLAT_WEEK = (1.0,) * 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A stretch of time with its own factor, ramped in and out.

    Attributes
    ----------
    start, end : days since the tide's start (2.5 is noon of the third day)
    factor : what the mean is multiplied with (0 is an outage)
    ramp : days over which it comes and goes, inside the stretch
    """

    start: float
    end: float
    factor: float
    ramp: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tide:
    """Everything that shapes a synthetic tide.

    Attributes
    ----------
    peak : mean demand per second at the highest hour of an ordinary day
    day : 24 shares of the peak, at full hours, joined smoothly
    week : 7 factors, the first for the day at which the tide starts
    growth : relative growth a week
    happenings : holidays (days at 0.4), promotions, regime changes, outages
    batch : extra demand per second every night between the hours of `batch_hours`
    noise : standard deviation of the slow noise (half-life of `noise_minutes`), in log
    dispersion : variance of the arrivals of a second over their mean; 1 is Poisson, 0 none
    bursts : flash crowds a day at times that nobody can know
    burst_factor, burst_minutes : how much and how long, on average
    """

    peak: float = 40.0
    day: tuple[float, ...] = LLM_DAY
    week: tuple[float, ...] = LLM_WEEK
    growth: float = 0.0
    happenings: tuple[Happening, ...] = ()
    batch: float = 0.0
    batch_hours: tuple[float, float] = (1.0, 5.0)
    noise: float = 0.03
    noise_minutes: float = 45.0
    dispersion: float = 3.0
    bursts: float = 0.0
    burst_factor: float = 3.0
    burst_minutes: float = 10.0


def make_tide(
    tide: Tide, days: float, *, seed: int, step: float = 60.0, clock: Floats | None = None
) -> Floats:
    """Demand per second for every step of `days`, shape (n,), >= 0; same seed, same bytes.

    Parameters
    ----------
    tide : its shape; time 0 is local midnight
    days : length
    seed : of noise, bursts and arrivals; longer tides begin as shorter ones only in their mean
    step : seconds
    clock : what to add to each step's time to get what a clock on the wall shows, in seconds,
        shape (n,): a summer time that begins or ends
    """
    count = round(days * DAY / step)
    at = np.arange(count, dtype=np.float64) * (step / DAY)
    mean = mean_of(tide, at if clock is None else at + clock / DAY)
    noises, bursts, arrivals = np.random.default_rng(seed).spawn(3)
    mean = mean * np.exp(_slow_noise(tide, count, step, noises))
    mean = mean * _bursts(tide, count, step, bursts)
    return _arrivals(tide, mean, step, arrivals)


def mean_of(tide: Tide, at: Floats) -> Floats:
    """Mean demand per second at times in days, without noise, shape as `at`."""
    hours = at * 24.0 % 24.0
    share = _smooth(np.asarray(tide.day), hours)
    week = np.asarray(tide.week)[np.floor(at).astype(np.int64) % 7]
    mean: Floats = tide.peak * share * week * (1.0 + tide.growth) ** (at / 7.0)
    if tide.batch:
        begin, end = tide.batch_hours
        mean = mean + tide.batch * ((hours >= begin) & (hours < end))
    for happening in tide.happenings:
        mean = mean * _factor(happening, at)
    return mean


def _smooth(shares: Floats, hours: Floats) -> Floats:
    """Periodic Catmull-Rom curve through the hourly shares, not below 0."""
    low = np.floor(hours).astype(np.int64)
    x = hours - low
    p0, p1, p2, p3 = (shares[(low + k) % len(shares)] for k in (-1, 0, 1, 2))
    curve = p1 + 0.5 * x * (
        p2 - p0 + x * (2 * p0 - 5 * p1 + 4 * p2 - p3 + x * (3 * (p1 - p2) + p3 - p0))
    )
    smooth: Floats = np.maximum(curve, 0.0)
    return smooth


def _factor(happening: Happening, at: Floats) -> Floats:
    """Factor of one happening at times in days."""
    ramp = max(happening.ramp, 1e-9)
    inside = np.minimum(at - happening.start, happening.end - at) / ramp
    share = np.where((at >= happening.start) & (at < happening.end), np.clip(inside, 0, 1), 0.0)
    if happening.ramp == 0:
        share = ((at >= happening.start) & (at < happening.end)).astype(np.float64)
    factor: Floats = 1.0 + (happening.factor - 1.0) * share
    return factor


def _slow_noise(tide: Tide, count: int, step: float, rng: np.random.Generator) -> Floats:
    """AR(1) noise in log with the given spread and half-life."""
    if not tide.noise or not count:
        return np.zeros(count)
    keep = 0.5 ** (step / 60.0 / tide.noise_minutes)
    shocks = rng.standard_normal(count) * tide.noise * np.sqrt(1 - keep**2)
    shocks[0] = rng.standard_normal() * tide.noise
    level = np.empty(count)
    current = 0.0
    for i, shock in enumerate(shocks.tolist()):
        current = keep * current + shock
        level[i] = current
    return level


def _bursts(tide: Tide, count: int, step: float, rng: np.random.Generator) -> Floats:
    """Factor of flash crowds: Poisson in number, a minute's ramp up, an exponential fall."""
    factor = np.ones(count)
    if not tide.bursts or not count:
        return factor
    for _ in range(rng.poisson(tide.bursts * count * step / DAY)):
        first = int(rng.integers(count))
        height = (tide.burst_factor - 1.0) * rng.gamma(4.0, 0.25)
        length = tide.burst_minutes * 60.0 * rng.gamma(4.0, 0.25) / step
        tail = np.arange(min(count - first, int(8 * length) + 1))
        shape = height * np.exp(-tail / max(length, 1e-9)) * np.minimum(1.0, (tail + 1) * step / 60)
        factor[first : first + len(tail)] += shape
    return factor


def _arrivals(tide: Tide, mean: Floats, step: float, rng: np.random.Generator) -> Floats:
    """Draw the arrivals of every step: Poisson, or negative binomial when over-dispersed."""
    expected = np.maximum(mean, 0.0) * step
    if tide.dispersion <= 0:
        return expected / step
    if tide.dispersion <= 1:
        return rng.poisson(expected) / step
    # gamma-mixed Poisson with variance = dispersion * mean
    scale = tide.dispersion - 1.0
    rates = rng.gamma(np.maximum(expected / scale, 1e-12), scale)
    return rng.poisson(rates) / step
