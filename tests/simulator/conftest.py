"""Small worlds that the simulator's tests share."""

import numpy as np
import pytest

from autoscaler.replay import Service
from autoscaler.simulator.plain import PlainWorld


@pytest.fixture
def world_of():
    """Make a world from demand; the run starts after `history` days, evaluated from there on."""

    def make(demand, history, capacity=1.0, cold=5, target=0.7, begins=0.0):
        start = round(history * 1440)
        return PlainWorld(
            demand=np.asarray(demand, dtype=np.float64),
            service=Service(capacity=capacity, cold=cold),
            start=start,
            measured=start,
            target=target,
            begins=begins,
        )

    return make
