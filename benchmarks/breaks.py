"""What falling back is worth when a service changes from one minute to the next.

    python -m benchmarks.breaks [--only TEXT]

Made tides that are learnt for two weeks and then are something else for three days, played by the
production cycle with and without it, under an HPA at 95 %. Printed: score, cost against the
clairvoyant, share late, and for how much of the time the safer side decided.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autoscaler.model import Floats, Ints
from autoscaler.simulator.plain import PlainWorld, account, plain_world
from autoscaler.simulator.ports import NoRecords, PlainTarget, RecordedDemand, SimulatedPorts
from autoscaler.simulator.production import Pilot, default_policy
from autoscaler.simulator.runs import best_run

DAY = 1440  # steps
BREAK = 14 * DAY + 300
END = 17 * DAY
BEGINS = 1_764_547_200.0


def smooth(at: Floats) -> Floats:
    """Rise and fall between 9 and 35 within a day."""
    rise: Floats = 22 - 13 * np.cos(2 * np.pi * at / DAY)
    return rise


def office(at: Floats) -> Floats:
    """Ramp within a minute at nine and at six."""
    clock = at % DAY
    return np.where((clock >= 540) & (clock < 1080), 29.0, 5.0)


def batches(at: Floats) -> Floats:
    """Work forty minutes of every two hours."""
    clock = at % 120
    return 8 + 22 * np.clip(np.minimum(clock / 6, (40 - clock) / 6), 0, 1)


def _moved(shape: Callable[[Floats], Floats], by: float) -> Callable[[Floats], Floats]:
    return lambda at: shape(at + by)


def _upside_down(at: Floats) -> Floats:
    return 34 - office(at)


def _wild(at: Floats) -> Floats:
    rng = np.random.default_rng(4)
    levels = np.exp(rng.normal(0, 0.6, len(at) // 15 + 1))
    wild: Floats = smooth(at) * np.repeat(levels, 15)[: len(at)]
    return wild


CASES = {
    "smooth tide, then another level every 15 min": (smooth, _wild),
    "batches every 2 h, then 55 min earlier": (batches, _moved(batches, 55)),
    "smooth tide, then 6 h earlier": (smooth, _moved(smooth, 360)),
    "office hours, then 6 h earlier": (office, _moved(office, 360)),
    "office hours, then upside down": (office, _upside_down),
    "smooth tide that goes on": (smooth, smooth),
}


def world_of(before: Callable[[Floats], Floats], after: Callable[[Floats], Floats]) -> PlainWorld:
    """World whose run begins with the break."""
    at = np.arange(END, dtype=np.float64)
    demand = np.r_[before(at[:BREAK]), after(at[BREAK:])]
    noise = np.random.default_rng(3).normal(0, 1.0, END)
    world = plain_world(np.maximum(demand + noise, 0.0), begins=BEGINS, target=0.95)
    return replace(world, start=BREAK, measured=BREAK)


def play(world: PlainWorld, *, watched: bool) -> tuple[Ints, float]:
    """Floors of the run, and how much of it the safer side decided."""
    policy = default_policy(world)
    target = PlainTarget(floor=policy.spec.floor.min or 1)
    demand = RecordedDemand(world.demand, world.begins, world.service.step)
    ports = SimulatedPorts(demand=demand, targets=target, floors=target, records=NoRecords())
    pilot = Pilot(policy, ports, period=world.service.step)
    floors, fallen = np.ones(END - world.start, dtype=np.int64), 0
    for step in range(-60, len(floors)):
        pilot.tick(world.begins + (world.start + step) * world.service.step)
        if not watched and pilot.knowledge is not None:
            pilot.knowledge = replace(pilot.knowledge, usual=None)
        if step >= 0:
            floors[step] = target.observe(policy).floor
            fallen += pilot.memory.live.fallen is not None
    return floors, fallen / len(floors)


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(prog="benchmarks.breaks", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    only = parser.parse_args().only
    print(f"{'score (cost, late)':<46} {'without':<24} {'with it':<24} of the time")
    for name, (before, after) in CASES.items():
        if only not in name:
            continue
        world = world_of(before, after)
        reference = best_run(world).account.cost(world.service)
        cells, share = [], 0.0
        for watched in (False, True):
            floors, share = play(world, watched=watched)
            found = account(world, world.above(floors, world.target), reference)
            cells.append(f"{found.score:.2f} ({found.cost_ratio:.2f}, {found.late_fraction:.2%})")
        print(f"{name:<46} {cells[0]:<24} {cells[1]:<24} {share:.0%}", flush=True)


if __name__ == "__main__":
    main()
