"""What one decision and one nightly fit cost on four weeks at one minute.

python -m benchmarks.decide [--days 28] [--repeat 300] [--use ahead]

Prints median and least wall time of a decision and of its stages, with the forecaster pinned that
costs most (as `forecast.use`), and CPU time of `tune.learn` without and with statsmodels (its
import, paid once a process, apart).
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 - after the threads are set

from autoscaler.decide import decide  # noqa: E402 - as above
from autoscaler.demand import regular  # noqa: E402 - as above
from autoscaler.forecast import ALL, FAST  # noqa: E402 - as above
from autoscaler.model import History, Memory, Observation, Samples, Target  # noqa: E402 - as above
from autoscaler.policy import TidePolicy  # noqa: E402 - as above
from autoscaler.tune import learn  # noqa: E402 - as above

NOW = 1_764_547_200.0


def _policy(use: str = "auto") -> TidePolicy:
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


def _history(days: int) -> History:
    count = days * 1440
    times = NOW - 60.0 * count + 60.0 * np.arange(count)
    clock = 2 * np.pi * (times % 86_400) / 86_400
    noise = np.random.default_rng(1).normal(0, 1.5, count)
    values = np.maximum(30 - 22 * np.cos(clock) + noise, 0.0).astype(np.float32)
    demand = Samples(times=times, values=values.astype(np.float64))
    return History(demand=demand, read_at=NOW)


def _ms(work: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Median and least: the second is what a quiet machine does."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3, min(times) * 1e3


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.decide", description=__doc__)
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--repeat", type=int, default=300)
    parser.add_argument("--use", default="ahead", help="forecaster pinned, or auto")
    given = parser.parse_args()
    policy, history = _policy(given.use), _history(given.days)
    target = Target(uid="u", version="1", floor=8, ceiling=40)
    observation = Observation(target=target, history=history)
    series, _ = regular(history, NOW)
    learning = _cpu(lambda: learn(policy, history, NOW, shapes=FAST))
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
    print(f"{'learn, NumPy alone':28} {learning:7.3f} s CPU")
    learn(policy, history, NOW, shapes=ALL)  # imports statsmodels
    print(f"{'learn, all':28} {_cpu(lambda: learn(policy, history, NOW)):7.3f} s CPU")


if __name__ == "__main__":
    main()
