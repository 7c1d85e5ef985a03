"""A scenario file: a question in words, traffic, policy, world, peers, and claims.

One YAML a question. Times inside are durations since the traffic's start (`9d20h`), so that a
scenario reads like its picture. Unknown keys are refused with what is allowed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
import yaml
from pydantic import BeforeValidator, Field, ValidationError

from autoscaler.errors import InputError
from autoscaler.model import Floats
from autoscaler.policy import TidePolicy
from autoscaler.replay import Service
from autoscaler.schema.durations import parse_duration
from autoscaler.schema.fields import Model
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

Moment = Annotated[float, BeforeValidator(parse_duration)]
DAYS = {"llm": LLM_DAY, "office": OFFICE_DAY, "flat": FLAT_DAY}
WEEKS = {"llm": LLM_WEEK, "office": (1.0,) * 5 + (0.12, 0.08), "flat": FLAT_WEEK}


class When(Model):
    """A stretch of time since the traffic's start."""

    begin: Moment
    """When it begins, such as `9d20h`."""
    end: Moment
    """When it is over."""
    amount: float = 0.0
    """How much: replicas of a pool, a factor of wrong values, seconds of a clock that is off."""


class Happens(Model):
    """A stretch with its own factor of the demand."""

    begin: Moment
    """When it begins."""
    end: Moment
    """When it is over."""
    factor: float = Field(ge=0)
    """What the mean demand is multiplied with."""
    ramp: Moment = 0.0
    """Over how long it comes and goes."""


class Traffic(Model):
    """A synthetic tide. Its first day is a Monday unless `start` says otherwise."""

    day: Literal["llm", "office", "flat"] = "llm"
    """Shape of the day."""
    week: Literal["llm", "office", "flat"] = "llm"
    """Shape of the week."""
    peak: float = Field(default=40.0, gt=0)
    """Mean demand per second at the highest hour."""
    days: int = Field(default=16, ge=3)
    """Length."""
    start: str = "2026-03-02"
    """Local date at whose midnight it begins."""
    growth: float = 0.0
    """Relative growth a week."""
    batch: float = 0.0
    """Extra demand per second every night from 1 to 5 h."""
    noise: float = 0.03
    """Slow noise, standard deviation in log."""
    dispersion: float = 3.0
    """Variance of arrivals over their mean."""
    bursts: float = 0.0
    """Flash crowds a day at times that nobody can know."""
    burst_factor: float = 3.0
    """How high they are."""
    happenings: tuple[Happens, ...] = ()
    """Holidays, promotions, outages, regime changes."""
    seed: int = 1
    """Of everything that is drawn."""


class Starts(Model):
    """Cold starts by phase instead of a fixed time."""

    new_node: float = Field(default=0.2, ge=0, le=1)
    """Probability that node and image come first."""
    cached: float = Field(default=0.5, ge=0, le=1)
    """Probability that a warm node holds the weights."""
    failing: float = Field(default=0.0, ge=0, le=1)
    """Probability that a pod never becomes Ready."""
    shared: float = Field(default=8.0, gt=0)
    """Starts that the store feeds at full speed."""


class WorldSpec(Model):
    """The world: plain unless something goes wrong in it."""

    history: Moment = 7 * DAY
    """What is known before the run."""
    settle: Moment = DAY
    """From the start of the run to the evaluation."""
    step: Moment = 60.0
    """Step of the world and period of the controller."""
    hpa_target: float | None = 0.7
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


class Scenario(Model):
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


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises
    ------
    InputError
        It is not one; every mistake on its own line.
    """
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    try:
        return Scenario.model_validate(document)
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(str(part) for part in found['loc']) or 'document'}: {found['msg']}"
            for found in error.errors(include_url=False)
        ]
        raise InputError("\n".join(lines)) from error


def policy_of(scenario: Scenario, name: str) -> TidePolicy:
    """Build the policy: 4 /s a replica, acting, floor from 1, and what the scenario says."""
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
    try:
        return TidePolicy.model_validate(
            {
                "apiVersion": "foretide.dev/v1alpha1",
                "kind": "TidePolicy",
                "metadata": {"name": name, "namespace": "scenario"},
                "spec": spec,
            }
        )
    except ValidationError as error:
        lines = [
            f"policy.{'.'.join(str(part) for part in found['loc'][1:])}: {found['msg']}"
            for found in error.errors(include_url=False)
        ]
        raise InputError("\n".join(lines)) from error


def world_of(scenario: Scenario, policy: TidePolicy) -> PlainWorld:
    """Build the plain part of the world: traffic, service, and where run and evaluation begin."""
    spec, given = policy.spec, scenario.world
    begins = _midnight(scenario.traffic.start, spec.time_zone)
    demand = _demand(scenario.traffic, begins, spec.time_zone, given.step)
    cold = spec.cold_start.duration if given.cold_start is None else given.cold_start
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


def _midnight(date: str, zone: str) -> float:
    """POSIX seconds of a local midnight."""
    try:
        return datetime.fromisoformat(date).replace(tzinfo=ZoneInfo(zone)).timestamp()
    except ValueError as error:
        raise InputError(f"traffic.start: {date!r} is no date; write it as 2026-03-02") from error


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
