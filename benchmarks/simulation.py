"""CPU of the replay and of production on the simulator's clock, on one core.

python -m benchmarks.simulation [--days 28] [--history 28] [--use ahead]

- a given floor over a service-year at 60 s: without reactive, and under the plain HPA
- 50 timelines over 28 days under the HPA, as `tune` replays candidates
- the production cycle and its nightly fits over 28 days at 60 s on 28 days of history, with the
  forecaster pinned that costs most (as `forecast.use`), and how much memory they add; the quickest
  tenth of the cycles and the quickest fit say what they cost with the machine to themselves
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 - after the threads are set

from autoscaler import tune  # noqa: E402 - as above
from autoscaler.model import Floats, Ints  # noqa: E402 - as above
from autoscaler.policy import TidePolicy  # noqa: E402 - as above
from autoscaler.reactive import PlainHpa  # noqa: E402 - as above
from autoscaler.replay import Service, clairvoyant, replay  # noqa: E402 - as above
from autoscaler.simulator.plain import PlainWorld  # noqa: E402 - as above
from autoscaler.simulator.ports import (  # noqa: E402 - as above
    NoRecords,
    PlainTarget,
    RecordedDemand,
    SimulatedPorts,
    names_of,
)
from autoscaler.simulator.production import Pilot, default_policy  # noqa: E402 - as above
from autoscaler.world.tides import Tide, make_tide  # noqa: E402 - as above

MINUTES = 1440
SERVICE = Service(capacity=3.0)


def best_of(times: int, run: Callable[[], object]) -> float:
    """Least CPU seconds of several runs."""
    found = []
    for _ in range(times):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def replays() -> None:
    """Replay a service-year, alone and under the HPA, and many timelines at once."""
    year = make_tide(Tide(peak=60.0, bursts=1.0), 365, seed=1)
    floors = clairvoyant(year, SERVICE)
    ones: Ints = np.ones(len(year), dtype=np.int64)
    print(
        f"year at 60 s, floor alone    {best_of(3, lambda: replay(year, floors, SERVICE)):7.3f} s"
    )
    under = best_of(3, lambda: replay(year, ones, SERVICE, PlainHpa()))
    print(f"year at 60 s, under the HPA  {under:7.3f} s")
    month: Floats = year[: 28 * MINUTES]
    many = np.stack([np.maximum(floors[: len(month)] + k % 7 - 3, 1) for k in range(50)])
    candidates = best_of(2, lambda: replay(month, many, SERVICE, PlainHpa()))
    print(f"50 x 28 days under the HPA   {candidates:7.3f} s")


def production(history: int, days: int, use: str) -> None:
    """Decisions and fits of production, apart."""
    demand = make_tide(Tide(peak=60.0), history + days, seed=2)
    world = PlainWorld(
        demand=demand, service=SERVICE, start=history * MINUTES, measured=history * MINUTES
    )
    policy = pinned(default_policy(world), use)
    target = PlainTarget()
    source = RecordedDemand(demand, 1_704_067_200.0, 60.0)
    ports = SimulatedPorts(demand=source, targets=target, floors=target, records=NoRecords())
    pilot = Pilot(policy, ports)
    begins = 1_704_067_200.0 + history * 86_400.0
    tune.learn(policy, source.read(policy, begins), begins)  # its imports are paid once a process
    fits: list[float] = []
    cycles: list[float] = []
    peaks: list[int] = []
    for step in range(days * MINUTES):
        now = 1_704_067_200.0 + (world.start + step) * 60.0
        before = len(pilot.learnings)
        began = time.process_time()
        pilot.tick(now)
        spent = time.process_time() - began
        (fits if len(pilot.learnings) > before else cycles).append(spent)
        if step % (7 * MINUTES) == 7 * MINUTES - 1:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    chosen = ", ".join(names_of(pilot.learnings))
    print(f"forecast.use {use}: chosen {chosen}")
    each, quick = 1000 * np.mean(cycles), 1000 * np.quantile(cycles, 0.1)
    print(
        f"{days:2} days of decisions         {sum(cycles):7.1f} s ({each:.2f} ms each, "
        f"{quick:.2f} ms in the quickest tenth)"
    )
    print(
        f"{len(fits):2} fits                      {sum(fits):7.1f} s ({np.mean(fits):.2f} s each, "
        f"{min(fits):.2f} s the quickest)"
    )
    print("peak memory by week, MB      " + ", ".join(str(peak) for peak in peaks))


def pinned(policy: TidePolicy, use: str) -> TidePolicy:
    """Pin a forecaster."""
    forecast = policy.spec.forecast.model_copy(update={"use": use})
    return policy.model_copy(update={"spec": policy.spec.model_copy(update={"forecast": forecast})})


def main(argv: list[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.simulation", description=__doc__)
    parser.add_argument("--days", type=int, default=28, help="days of production")
    parser.add_argument("--history", type=int, default=28, help="days of history before them")
    parser.add_argument("--use", default="ahead", help="forecaster pinned, or auto")
    given = parser.parse_args(argv)
    replays()
    production(given.history, given.days, given.use)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
