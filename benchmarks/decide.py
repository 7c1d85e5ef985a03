"""What one decision, one nightly fit and their memory cost on four weeks at one minute.

python -m benchmarks.decide [--days 28] [--repeat 300] [--use ahead]

Prints median and least CPU time of a decision and of its stages, with the forecaster pinned that
costs most (as `forecast.use`); the least CPU time of `tune.learn` without and with statsmodels (its
import, paid once a process, apart), and of a night between two choices; what the knowledge and the
history of a service hold in the controller's memory; and nights and memory again with a year of
history.
"""

from __future__ import annotations

import argparse
import gc
import os
import pickle
import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 - after the threads are set

from autoscaler.adapters.prometheus.kept import Answered, Kept  # noqa: E402 - as above
from autoscaler.decide import decide  # noqa: E402 - as above
from autoscaler.demand import regular  # noqa: E402 - as above
from autoscaler.forecast import FAST  # noqa: E402 - as above
from autoscaler.model import (  # noqa: E402 - as above
    Floats,
    History,
    Knowledge,
    Memory,
    Observation,
    Samples,
    Target,
)
from autoscaler.policy import TidePolicy  # noqa: E402 - as above
from autoscaler.tune import learn, refit, standing_of  # noqa: E402 - as above

NOW = 1_764_547_200.0
FITS = 5
YEAR = 365


def policy_of(use: str = "auto") -> TidePolicy:
    return TidePolicy.model_validate(
        {
            "metadata": {"name": "benchmark"},
            "spec": {
                "timeZone": "Asia/Shanghai",
                "targetRef": {
                    "apiVersion": "autoscaling/v2",
                    "kind": "HorizontalPodAutoscaler",
                    "name": "benchmark",
                },
                "demand": {"query": "demand"},
                "capacity": {"perReplica": 3.2},
                "forecast": {"use": use},
            },
        }
    )


def history_of(days: int) -> History:
    count = days * 1440
    times: Floats = NOW - 60.0 * count + 60.0 * np.arange(count, dtype=np.float64)
    clock = 2 * np.pi * (times % 86_400) / 86_400
    noise = np.random.default_rng(1).normal(0, 1.5, count)
    values = np.maximum(30 - 22 * np.cos(clock) + noise, 0.0).astype(np.float32)
    demand = Samples(times=times, values=values.astype(np.float64))
    return History(demand=demand, read_at=NOW)


def _ms(work: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Median and least: the second is what a quiet machine does."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e3, min(times) * 1e3


def held_by(policy: TidePolicy, history: History, knowledge: Knowledge) -> tuple[int, int]:
    """Bytes that a knowledge and a kept history hold, as the controller has them.

    Knowledge comes out of the process that learns; history is kept by the Prometheus adapter.
    """
    sent = pickle.dumps(knowledge)
    demand, query = history.demand, policy.spec.demand.query or ""

    def keep() -> Kept:
        last = float(demand.times[-1])
        kept = Kept(query, last=last, step=history.step, n=len(demand))
        kept.put(kept.first, last, Answered(series=(({}, demand.times, demand.values),)))
        return kept

    return _bytes(lambda: pickle.loads(sent)), _bytes(keep)


def _bytes(make: Callable[[], object]) -> int:
    """Memory that what is made holds on to."""
    make()  # what is made once a process does not count
    gc.collect()
    tracemalloc.start()
    made = make()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del made
    return held


def peak_of(work: Callable[[], object]) -> int:
    """Bytes that some work has at once, beside what was there before."""
    gc.collect()
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def nights(policy: TidePolicy, history: History) -> None:
    """Print what a night that chooses costs, what one that does not, and what is learnt."""
    knowledge = learn(policy, history, NOW)  # imports statsmodels
    standing = standing_of(knowledge, Memory())
    assert standing is not None
    for name, work in (
        ("learn, all", partial(learn, policy, history, NOW)),
        ("what stands, fitted again", partial(refit, policy, history, NOW, standing)),
    ):
        _, least = _ms(work, FITS)
        peak = peak_of(work) / 1e6
        print(f"{name:28} {least / 1e3:7.3f} s least of {FITS}, {peak:.0f} MB at once")
    known, kept = (held / 1e3 for held in held_by(policy, history, knowledge))
    print(f"{'knowledge and history':28} {known + kept:7.0f} kB ({known:.0f} + {kept:.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.decide", description=__doc__)
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--repeat", type=int, default=300)
    parser.add_argument("--use", default="ahead", help="forecaster pinned, or auto")
    given = parser.parse_args()
    policy, history = policy_of(given.use), history_of(given.days)
    target = Target(uid="u", version="1", floor=8, ceiling=40)
    observation = Observation(target=target, history=history)
    series, _ = regular(history, NOW)
    knowledge = learn(policy, history, NOW, shapes=FAST)
    levels = (0.1, 0.5, 0.9, 0.95)
    stages = {
        "decide": lambda: decide(policy, observation, knowledge, Memory(), NOW),
        "  demand.regular": lambda: regular(history, NOW),
        "  predict, 38 steps": lambda: knowledge.fitted.predict(series, 38, levels),
        "predict, 24 h": lambda: knowledge.fitted.predict(series, 1440, levels),
        "decide without knowledge": lambda: decide(policy, observation, None, Memory(), NOW),
    }
    print(f"{len(series)} points, chosen {knowledge.fitted.name} at {knowledge.order_level:g}")
    for name, work in stages.items():
        median, least = _ms(work, given.repeat)
        print(f"{name:28} {median:7.3f} ms median, {least:7.3f} ms least of {given.repeat}")
    _, least = _ms(partial(learn, policy, history, NOW, shapes=FAST), FITS)
    print(f"{'learn, NumPy alone':28} {least / 1e3:7.3f} s least of {FITS}")
    nights(policy, history)
    print(f"with {YEAR} days of history:")
    nights(policy, history_of(YEAR))


if __name__ == "__main__":
    main()
