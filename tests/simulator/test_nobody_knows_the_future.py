"""Raw rows after a row replaced by noise change no decision up to that row's slot's end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscaler.replay import Service
from autoscaler.simulator.peers import peers
from autoscaler.simulator.plain import PlainWorld
from autoscaler.world.traffic import Traffic, grid

SLOT = 600.0
DAYS = 10


def world_of(values):
    traffic = Traffic(times=np.arange(len(values)) * SLOT, values=values, column="x", slot=SLOT)
    demand = grid(traffic, within="hold")
    # the last row is held for one step; the world is cut to whole days before it
    return PlainWorld(
        demand=demand[: (DAYS - 1) * 1440],
        service=Service(capacity=3.0),
        start=7 * 1440,
        measured=7 * 1440,
    )


def rows_of(seed):
    rng = np.random.default_rng(seed)
    tide = 30 + 20 * np.sin(np.arange(DAYS * 144) / 144 * 2 * np.pi)
    return tide * rng.gamma(8.0, 1 / 8.0, size=len(tide))


@pytest.mark.slow
@pytest.mark.parametrize("name", peers())
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1000), row=st.integers(7 * 144, (DAYS - 1) * 144 - 2))
def test_peers(name, seed, row):
    peer = peers()[name]
    rows = rows_of(seed)
    noisy = rows.copy()
    noisy[row + 1 :] = np.random.default_rng(seed + 1).gamma(0.3, 300.0, size=len(rows) - row - 1)
    until = round((row + 1) * SLOT / 60) - 7 * 1440
    one = peer.run(world_of(rows), peer.defaults).total[0, : until + 1]
    other = peer.run(world_of(noisy), peer.defaults).total[0, : until + 1]
    assert one.tobytes() == other.tobytes()
