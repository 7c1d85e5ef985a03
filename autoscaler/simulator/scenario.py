"""A scenario file: a question in words, traffic, policy, world, peers, and claims.

One YAML a question. Times inside are durations since the traffic's start (`9d20h`), so that a
scenario reads like its picture. Unknown keys are refused with what is allowed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, model_validator

from autoscaler.model import Floats
from autoscaler.policy import TidePolicy
from autoscaler.replay import Service
from autoscaler.schema.durations import format_duration
from autoscaler.schema.fields import Allowed, DurationIn, Model, refusal
from autoscaler.simulator.faults import Stretch
from autoscaler.simulator.life import Troubles
from autoscaler.simulator.plain import DAY, PlainWorld, steps_of
from autoscaler.world.starts import PhasedStart
from autoscaler.world.tides import (
    FLAT_DAY,
    FLAT_WEEK,
    LLM_DAY,
    LLM_WEEK,
    OFFICE_DAY,
    Happening,
    Tide,
    make_tide,
)

HOUR = 3600.0


def _date(text: str) -> str:
    """Take a date as it is written, once it is one."""
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise refusal(f'found "{text}"', "allowed: a date such as 2026-03-02") from error
    return text


def _divides(seconds: float) -> float:
    """Take a step that an hour is a whole number of."""
    if HOUR % seconds:
        found = f'found "{format_duration(seconds)}"'
        raise refusal(found, "an hour must be a whole number of steps, such as 30s, 1m, 5m")
    return seconds


Moment = Annotated[float, DurationIn("0s", "400d")]
Date = Annotated[str, AfterValidator(_date), Allowed("a date such as 2026-03-02")]
Stride = Annotated[float, DurationIn("1s", "1h"), AfterValidator(_divides)]
DAYS = {"llm": LLM_DAY, "office": OFFICE_DAY, "flat": FLAT_DAY}
WEEKS = {"llm": LLM_WEEK, "office": (1.0,) * 5 + (0.12, 0.08), "flat": FLAT_WEEK}


class Part(Model):
    """Base of every part: a number is one that can be counted with."""

    model_config = ConfigDict(allow_inf_nan=False)


class Stretched(Part):
    """A stretch of time since the traffic's start."""

    begin: Moment
    """When it begins, such as `9d20h`."""
    end: Moment
    """When it is over."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        """Refuse a stretch that ends before it begins: nothing would happen."""
        if self.end <= self.begin:
            begin, end = format_duration(self.begin), format_duration(self.end)
            raise refusal(f"found the end {end}", f"it must come after the begin {begin}")
        return self


class When(Stretched):
    """A stretch in which something goes wrong."""

    amount: float = 0.0
    """How much: replicas of a pool, a factor of wrong values, seconds of a clock that is off."""


class Happens(Stretched):
    """A stretch with its own factor of the demand."""

    factor: float = Field(ge=0)
    """What the mean demand is multiplied with."""
    ramp: Moment = 0.0
    """Over how long it comes and goes."""


class Traffic(Part):
    """A synthetic tide. Its first day is a Monday unless `start` says otherwise."""

    day: Literal["llm", "office", "flat"] = "llm"
    """Shape of the day."""
    week: Literal["llm", "office", "flat"] = "llm"
    """Shape of the week."""
    peak: float = Field(default=40.0, gt=0)
    """Mean demand per second at the highest hour."""
    days: int = Field(default=16, ge=3, le=400)
    """Length."""
    start: Date = "2026-03-02"
    """Local date at whose midnight it begins."""
    growth: float = Field(default=0.0, gt=-1)
    """Relative growth a week."""
    batch: float = Field(default=0.0, ge=0)
    """Extra demand per second every night from 1 to 5 h."""
    noise: float = Field(default=0.03, ge=0, le=2)
    """Slow noise, standard deviation in log."""
    dispersion: float = Field(default=3.0, ge=0)
    """Variance of arrivals over their mean."""
    bursts: float = Field(default=0.0, ge=0, le=1000)
    """Flash crowds a day at times that nobody can know."""
    burst_factor: float = Field(default=3.0, gt=0)
    """How high they are."""
    happenings: tuple[Happens, ...] = ()
    """Holidays, promotions, outages, regime changes."""
    seed: int = Field(default=1, ge=0)
    """Of everything that is drawn."""


class Starts(Part):
    """Cold starts by phase instead of a fixed time."""

    new_node: float = Field(default=0.2, ge=0, le=1)
    """Probability that node and image come first."""
    cached: float = Field(default=0.5, ge=0, le=1)
    """Probability that a warm node holds the weights."""
    failing: float = Field(default=0.0, ge=0, le=1)
    """Probability that a pod never becomes Ready."""
    shared: float = Field(default=8.0, gt=0)
    """Starts that the store feeds at full speed."""


class WorldSpec(Part):
    """The world: plain unless something goes wrong in it."""

    history: Moment = 7 * DAY
    """What is known before the run."""
    settle: Moment = DAY
    """From the start of the run to the evaluation."""
    step: Stride = 60.0
    """Step of the world and period of the controller."""
    hpa_target: float | None = Field(default=0.7, gt=0)
    """Target of the HPA above everyone; null for none."""
    cold_start: Moment | None = None
    """Of the world, when it is not the policy's."""
    starts: Starts | None = None
    """Cold starts by phase."""
    pool: tuple[When, ...] = ()
    """Stretches in which the GPUs allow only `amount` replicas."""
    patience: Moment | None = None
    """Clients give up after so long."""
    retry: float = Field(default=0.0, ge=0, le=1)
    """Share of those that come back."""
    metrics_away: tuple[When, ...] = ()
    """Prometheus does not answer."""
    metrics_gaps: tuple[When, ...] = ()
    """Samples that are never there."""
    metrics_wrong: tuple[When, ...] = ()
    """Samples that are multiplied by `amount`."""
    metrics_delay: Moment = 0.0
    """How late samples come."""
    metrics_scrape: Moment = 0.0
    """How often metrics are scraped; between two scrapes the older one is shown again."""
    api_away: tuple[When, ...] = ()
    """The API server does not answer."""
    conflicts: float = Field(default=0.0, ge=0, le=1)
    """Share of writes that find the object moved."""
    reverts: tuple[When, ...] = ()
    """An owner puts the floor back at once."""
    restarts: tuple[Moment, ...] = ()
    """The controller loses memory and knowledge."""
    clock: tuple[When, ...] = ()
    """The controller's clock is off by `amount` seconds."""

    @property
    def plain(self) -> bool:
        """Whether nothing goes wrong in it."""
        ordinary = {"history", "settle", "step", "hpa_target", "cold_start"}
        return not (self.model_fields_set - ordinary)


class Scenario(Part):
    """One question to the simulator."""

    question: str
    """In words."""
    traffic: Traffic = Traffic()
    """What arrives."""
    policy: dict[str, Any] = Field(default_factory=dict)
    """Fields of the policy's spec over the defaults of a scenario."""
    world: WorldSpec = WorldSpec()
    """Where it happens."""
    peers: tuple[str, ...] = ("hpa",)
    """Who else is asked."""
    claims: tuple[str, ...] = Field(min_length=1)
    """What must hold."""


def policy_document(scenario: Scenario, name: str) -> dict[str, Any]:
    """Give the policy's document: 4 /s a replica, acting, floor from 1, what the scenario says."""
    spec: dict[str, Any] = {
        "mode": "Act",
        "targetRef": {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "name": name,
        },
        "demand": {"query": "offered_requests_per_second"},
        "capacity": {"perReplica": 4.0},
        "floor": {"min": 1},
        **scenario.policy,
    }
    return {
        "apiVersion": "foretide.dev/v1alpha1",
        "kind": "TidePolicy",
        "metadata": {"name": name, "namespace": "scenario"},
        "spec": spec,
    }


def policy_of(scenario: Scenario, name: str) -> TidePolicy:
    """Build the policy of a scenario."""
    return TidePolicy.model_validate(policy_document(scenario, name))


def world_of(scenario: Scenario, policy: TidePolicy) -> PlainWorld:
    """Build the plain part of the world: traffic, service, and where run and evaluation begin."""
    spec, given = policy.spec, scenario.world
    begins = _midnight(scenario.traffic.start, spec.time_zone)
    demand = _demand(scenario.traffic, begins, spec.time_zone, given.step)
    cold = spec.cold_start_seconds if given.cold_start is None else given.cold_start
    start = round(given.history / given.step)
    return PlainWorld(
        demand=demand,
        service=Service(
            capacity=spec.capacity.per_replica,
            cold=steps_of(cold, given.step),
            step=given.step,
            wait=spec.promise.wait,
            start_cost=spec.release.break_even,
            price=spec.price.per_percent_late,
        ),
        start=start,
        measured=start + round(given.settle / given.step),
        target=given.hpa_target,
        begins=begins,
    )


def troubles_of(scenario: Scenario, begins: float) -> Troubles:
    """Give what goes wrong, in POSIX seconds."""
    given = scenario.world

    def stretches(whens: tuple[When, ...]) -> tuple[Stretch, ...]:
        return tuple(Stretch(begins + w.begin, begins + w.end, w.amount) for w in whens)

    starts = given.starts
    return Troubles(
        starts=None if starts is None else PhasedStart(**starts.model_dump()),
        pool=stretches(given.pool),
        patience=given.patience,
        retry=given.retry,
        metrics_away=stretches(given.metrics_away),
        metrics_gaps=stretches(given.metrics_gaps),
        metrics_wrong=stretches(given.metrics_wrong),
        metrics_delay=given.metrics_delay,
        metrics_scrape=given.metrics_scrape,
        api_away=stretches(given.api_away),
        conflicts=given.conflicts,
        reverts=stretches(given.reverts),
        restarts=tuple(begins + at for at in given.restarts),
        clock=stretches(given.clock),
    )


def _midnight(day: str, zone: str) -> float:
    """POSIX seconds of a local midnight."""
    return datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).timestamp()


def _demand(traffic: Traffic, begins: float, zone: str, step: float) -> Floats:
    """Draw the tide, by the clock on the wall of the policy's zone."""
    tide = Tide(
        peak=traffic.peak,
        day=DAYS[traffic.day],
        week=WEEKS[traffic.week],
        growth=traffic.growth,
        batch=traffic.batch,
        noise=traffic.noise,
        dispersion=traffic.dispersion,
        bursts=traffic.bursts,
        burst_factor=traffic.burst_factor,
        happenings=tuple(
            Happening(start=h.begin / DAY, end=h.end / DAY, factor=h.factor, ramp=h.ramp / DAY)
            for h in traffic.happenings
        ),
    )
    weekday = datetime.fromisoformat(traffic.start).weekday()
    tide = replace(tide, week=tide.week[weekday:] + tide.week[:weekday])
    hours = np.arange(traffic.days * 24)
    place = ZoneInfo(zone)

    def offset(at: float) -> float:
        shift = datetime.fromtimestamp(at, place).utcoffset() or timedelta()
        return shift.total_seconds()

    first = offset(begins)
    by_hour = np.asarray([offset(begins + 3600.0 * h) - first for h in hours])
    clock = np.repeat(by_hour, round(3600 / step)) if by_hour.any() else None
    return make_tide(tide, traffic.days, seed=traffic.seed, step=step, clock=clock)
