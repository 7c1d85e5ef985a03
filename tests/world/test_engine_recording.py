"""Impatient clients do to our queue what they did to a real engine.

The recording: vLLM on two cores, capacity about 9.6 requests/s, clients that give up after 30 s.
Runs where that folder stands beside the checkout (or FORETIDE_SHARED names it).
"""

import csv
import gzip
import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from autoscaler.world.queue import ImpatientQueue

SHARED = Path(os.environ.get("FORETIDE_SHARED", Path(__file__).parents[3] / "shared"))
REQUESTS = SHARED / "engine" / "vllm-0.32-cpu" / "requests.csv.gz"

# phase begins, goodput per second, waiting at its end, as measured on the engine
PHASES = (
    (0, 3.0, 0),
    (180, 5.0, 0),
    (300, 9.2, 108),
    (420, 9.3, 312),
    (480, 4.6, 504),
    (540, 0.7, 448),
    (600, 0.0, 505),
    (720, 2.1, 0),
    (780, 2.4, 0),
    (840, None, None),
)


@pytest.mark.skipif(not REQUESTS.exists(), reason="the reference folder is not beside the checkout")
def test_goodput_collapses_and_returns_as_on_the_engine():
    with gzip.open(REQUESTS, "rt") as file:
        arrivals = [float(row["arrival_s"]) for row in csv.DictReader(file)]
    counts = np.bincount(np.floor(arrivals).astype(int), minlength=840)
    queue = ImpatientQueue(patience=30.0)
    steps = [queue.step(float(count), 9.6, 1.0) for count in counts[:840]]
    for (begin, goodput, waiting), (end, _, _) in itertools.pairwise(PHASES):
        served = np.mean([step.served for step in steps[begin:end]])
        # in the first saturated minute it matters which second the collapse begins in
        assert served == pytest.approx(goodput, abs=2.0 if begin == 480 else 0.75), begin
        assert steps[end - 1].backlog == pytest.approx(waiting, rel=0.15, abs=3), begin
