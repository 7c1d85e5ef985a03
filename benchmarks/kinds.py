"""Days that are not like others, flown by production: `python -m benchmarks.kinds [NAME ...]`.

Office tides with holidays in the week, swapped working days, nights in which clocks change,
promotions and outages. Each day is flown by the simulator's own production cycle three times: with
the calendar given (for changes of the clock: with the time zone), without, and as if nothing had
happened. Score, late share and cost are those of that day alone, under an HPA at 95 %, against the
clairvoyant of the same day: geometric means over the seeds, of late shares plain ones. Whoever
decided, if not `ahead`, stands in brackets.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

import numpy as np

from autoscaler.forecast import FAST
from autoscaler.forecast.clock import wall_seconds
from autoscaler.model import Floats
from autoscaler.policy import TidePolicy
from autoscaler.replay import Service
from autoscaler.schema import walltime
from autoscaler.schema.calendar import WEEKDAYS
from autoscaler.simulator.plain import DAY, PlainWorld, account, reference_cost
from autoscaler.simulator.ports import NoRecords, PlainTarget, RecordedDemand, SimulatedPorts
from autoscaler.simulator.production import default_policy, fly
from autoscaler.world.tides import LLM_DAY, LLM_WEEK, OFFICE_DAY, Happening, Tide, make_tide

STEP, TARGET, CAPACITY = 60.0, 0.95, 2.0
BEFORE = 120  # steps that are flown before a day that is judged
BEGINS = date(2026, 8, 31)  # a Monday; days are counted from it
OFFICE = Tide(day=OFFICE_DAY, week=(1.0, 1.0, 1.02, 1.0, 0.95, 0.2, 0.15))
LLM = Tide(day=LLM_DAY, week=LLM_WEEK)
QUIETER = 0.85  # of a Sunday: no holiday is quite like one
SUNDAY = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A history with peculiar days, and the days that are judged after or on them.

    Attributes
    ----------
    judged : days that are judged, counted from the first of the tide, by what they are called
    odd : weekday that each peculiar day is like
    promoted : days at 2.5 times their demand, named as an event
    outage : first and last day of what was not read, in days; None for none
    zeros : whether the outage was read as nothing
    history : days of it that the policy asks for
    """

    name: str
    judged: dict[str, int]
    odd: dict[int, int]
    promoted: tuple[int, ...] = ()
    outage: tuple[float, float] | None = None
    zeros: bool = False
    tide: Tide = OFFICE
    zone: str = "UTC"
    begins: date = BEGINS
    history: int = 28


def off(*days: int) -> dict[int, int]:
    return dict.fromkeys(days, SUNDAY)


OUTAGE = (28 + 8 / 24, 29 + 21 / 24)  # 37 hours from Monday 08:00 on
CASES = (
    Case(name="Monday off", judged={"that Monday": 28, "Tuesday after it": 29}, odd=off(28)),
    Case(name="a week later", judged={"Monday after": 35, "Tuesday after": 36}, odd=off(28)),
    Case(
        name="bridge day",
        judged={"Thursday off": 31, "the bridge": 32, "Saturday after": 33, "Monday after": 35},
        odd=off(31, 32),
    ),
    Case(
        name="Golden week",
        judged={"first day": 31, "fifth day": 35, "day after it": 38, "swapped Saturday": 40,
                "Sunday after": 41, "Monday after": 42, "Thursday after": 45},
        odd=off(*range(31, 38)) | {40: 4},
    ),
    Case(
        name="Christmas", judged={"first Monday after": 42, "Tuesday": 43},
        odd=off(*range(28, 42)),
    ),
    Case(
        name="ten days known", judged={"that Monday": 28, "Tuesday after it": 29}, odd=off(28),
        history=10,
    ),
    Case(
        name="half-hour zone", judged={"that Monday": 28, "Tuesday after it": 29}, odd=off(28),
        zone="Asia/Kolkata",
    ),
    Case(
        name="clocks back", judged={"that Sunday": 34, "Monday after": 35}, odd={}, tide=LLM,
        zone="Europe/Berlin", begins=date(2026, 9, 21),
    ),
    Case(
        name="clocks forward", judged={"that Sunday": 34, "Monday after": 35}, odd={}, tide=LLM,
        zone="Europe/Berlin", begins=date(2027, 2, 22),
    ),
    Case(
        name="promotion", odd={}, promoted=(30, 31),
        judged={"Friday after it": 32, "Wednesday after": 37, "Thursday after": 38},
    ),
    Case(
        name="promoted Monday", odd={}, promoted=(28,),
        judged={"Tuesday after it": 29, "Monday after": 35, "Tuesday after": 36},
    ),
    Case(
        name="outage, holes", odd={}, outage=OUTAGE,
        judged={"Wednesday after it": 30, "Monday after": 35, "Tuesday after": 36},
    ),
    Case(
        name="outage, zeros", odd={}, outage=OUTAGE, zeros=True,
        judged={"Wednesday after it": 30, "Monday after": 35, "Tuesday after": 36},
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a judged day came to."""

    score: float
    late: float
    cost: float
    chosen: str


def tide_of(case: Case) -> Tide:
    week = np.asarray(case.tide.week)
    happenings = [
        Happening(
            start=day,
            end=day + 1,
            factor=float(week[like] / week[day % 7]) * (QUIETER if like == SUNDAY else 1.0),
        )
        for day, like in case.odd.items()
    ]
    happenings += [Happening(start=day, end=day + 1, factor=2.5) for day in case.promoted]
    return replace(case.tide, happenings=tuple(happenings))


def midnight(case: Case, day: int) -> float:
    return walltime.moments(case.begins + timedelta(days=day), "00:00", case.zone)[0]


def demand_of(case: Case, days: int, seed: int) -> Floats:
    begins = midnight(case, 0)
    wall = wall_seconds(begins, STEP, round(days * DAY / STEP), case.zone)
    clock = wall - wall[0] - STEP * np.arange(len(wall))
    return make_tide(tide_of(case), days, seed=seed, step=STEP, clock=clock)


def policy_of(world: PlainWorld, case: Case, *, told: bool) -> TidePolicy:
    document = default_policy(world).model_dump(mode="json", by_alias=True, exclude_unset=True)
    spec = document["spec"]
    spec["demand"]["history"] = f"{case.history}d"
    spec["timeZone"] = case.zone if told or not case.name.startswith("clocks") else "UTC"
    if told:
        spec["calendar"] = {
            "days": [
                {"date": str(case.begins + timedelta(days=day)), "like": str(WEEKDAYS[like])}
                for day, like in case.odd.items()
            ]
        }
        spec["events"] = [
            {
                "name": f"sale {day}",
                "start": f"{case.begins + timedelta(days=day)}T00:00",
                "end": f"{case.begins + timedelta(days=day + 1)}T00:00",
                "factor": 2.5,
            }
            for day in case.promoted
        ]
    return TidePolicy.model_validate(document)


def flown(case: Case, day: int, seed: int, *, told: bool) -> Seen:
    """Fly one day of a case, and two hours before it."""
    demand, begins = demand_of(case, day + 2, seed), midnight(case, 0)
    first, stop = (round((midnight(case, at) - begins) / STEP) for at in (day, day + 1))
    world = PlainWorld(
        demand=demand[:stop], service=Service(capacity=CAPACITY), start=first - BEFORE,
        measured=first, target=TARGET, begins=begins,
    )  # fmt: skip
    read = world.demand.copy()
    if case.outage is not None:
        low, high = (round(at * DAY / STEP) for at in case.outage)
        read[low:high] = 0.0 if case.zeros else np.nan
    target = PlainTarget(floor=1)
    source = RecordedDemand(read, begins, STEP)
    ports = SimulatedPorts(demand=source, targets=target, floors=target, records=NoRecords())
    flight = fly(world, policy_of(world, case, told=told), ports=ports, shapes=FAST)
    seen = account(world, world.above(flight.track.floors, TARGET), reference_cost(world))
    chosen = flight.learnings[-1].name
    return Seen(score=seen.score, late=seen.late_fraction, cost=seen.cost_ratio, chosen=chosen)


@lru_cache(maxsize=256)
def ordinary(tide: Tide, day: int, history: int, seed: int) -> Seen:
    """Fly a day of a tide on which nothing is peculiar."""
    plain = Case(name="plain", judged={}, odd={}, tide=tide, history=history)
    return flown(plain, day, seed, told=False)


def line(name: str, day: str, seen: list[list[Seen]]) -> str:
    cells = []
    for each in seen:
        score, cost = (
            float(np.exp(np.mean([np.log(getattr(one, of)) for one in each])))
            for of in ("score", "cost")
        )
        late = float(np.mean([one.late for one in each]))
        cells.append(f"{score:.2f} | {late:.2%} | {cost:.2f}")
        others = {one.chosen for one in each} - {"ahead"}
        cells[-1] += f" ({', '.join(sorted(others))})" if others else ""
    return f"| {name}: {day} | " + " | ".join(cells) + " |"


def lines(case: Case, seeds: range) -> Iterator[str]:
    for name, day in case.judged.items():
        told, untold = (
            [flown(case, day, seed, told=with_it) for seed in seeds] for with_it in (True, False)
        )
        plain = [ordinary(case.tide, day, case.history, seed) for seed in seeds]
        yield line(case.name, name, [told, untold, plain])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases; all by default")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    unknown = set(options.names) - {case.name for case in CASES}
    if unknown:
        parser.error(f"no case {sorted(unknown)[0]!r}; there are {[case.name for case in CASES]}")
    began = time.process_time()
    for of in ("| day | told | late | cost | not told | late | cost | ordinary | late | cost |",
               "|---" * 10 + "|"):  # fmt: skip
        print(of)
    for case in CASES:
        if not options.names or case.name in options.names:
            for text in lines(case, range(options.seeds)):
                print(text, flush=True)
    print(f"{time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main()
