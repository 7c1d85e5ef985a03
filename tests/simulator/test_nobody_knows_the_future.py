"""Raw rows after a row replaced by noise change no decision up to that row's slot's end."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscaler.replay import Service
from autoscaler.simulator.peers import peers
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.production import default_policy
from autoscaler.simulator.simulation import simulate
from autoscaler.world.tides import Tide, make_tide
from autoscaler.world.traffic import Traffic, grid

pytestmark = pytest.mark.slow

SLOT = 600.0
DAYS = 10
DAY = 86_400.0
MONDAY = 1_704_067_200.0


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Raw rows of a traffic file and how a world is laid over them.

    Attributes
    ----------
    slot, step : seconds of a row and of a step; a row is held over its steps
    history : days before the run
    """

    values: np.ndarray
    slot: float
    step: float
    history: int

    def with_noise_after(self, row, seed):
        """Other rows after that row: mostly near nothing, now and then a hundredfold."""
        values = self.values.copy()
        rest = len(values) - row - 1
        values[row + 1 :] = np.random.default_rng(seed).gamma(0.3, 300.0, size=rest)
        return replace(self, values=values)

    def world(self, steps):
        """The world over history and so many steps of the run."""
        traffic = Traffic(
            times=np.arange(len(self.values)) * self.slot,
            values=self.values,
            column="x",
            slot=self.slot,
        )
        start = round(self.history * DAY / self.step)
        return PlainWorld(
            demand=grid(traffic, self.step, "hold")[: start + steps],
            service=Service(capacity=3.0, cold=5 if self.step == 60.0 else 1, step=self.step),
            start=start,
            measured=start,
            advised=True,
            begins=MONDAY,
        )

    def ends(self, row):
        """Step of the run whose decision is the first that sees all of the row."""
        return round(((row + 1) * self.slot - self.history * DAY) / self.step)


def rows_of(seed):
    rng = np.random.default_rng(seed)
    tide = 30 + 20 * np.sin(np.arange(DAYS * 144) / 144 * 2 * np.pi)
    values = tide * rng.gamma(8.0, 1 / 8.0, size=len(tide))
    return Rows(values=values, slot=SLOT, step=60.0, history=7)


@pytest.mark.parametrize("name", peers())
@settings(max_examples=4)
@given(seed=st.integers(0, 1000), row=st.integers(7 * 144, (DAYS - 1) * 144 - 2))
def test_peers(name, seed, row):
    peer, rows = peers()[name], rows_of(seed)
    # the last row is held for one step; the world is cut to whole days before it
    steps = (DAYS - 8) * 1440
    one, other = (
        peer.run(given.world(steps), peer.defaults).total[0, : rows.ends(row) + 1]
        for given in (rows, rows.with_noise_after(row, seed + 1))
    )
    assert one.tobytes() == other.tobytes()


@st.composite
def tides(draw):
    """Five days of history and up to a day and a half of a run, in coarse steps: fits are quick."""
    step = draw(st.sampled_from([300.0, 600.0]))
    slot = step * draw(st.sampled_from([1, 2, 3]))
    tide = Tide(peak=30.0, bursts=draw(st.sampled_from([0.0, 2.0])))
    values = make_tide(tide, 8, seed=draw(st.integers(0, 1000)), step=slot)
    return Rows(values=values, slot=slot, step=step, history=5)


def played(rows, steps, use, file):
    """Records, lines of the timeline and the target above, of a run of so many steps."""
    world = rows.world(steps)
    policy = default_policy(world)
    forecast = policy.spec.forecast.model_copy(update={"use": use})
    policy = policy.model_copy(
        update={"spec": policy.spec.model_copy(update={"forecast": forecast})}
    )
    run = simulate(policy, world, [], records=file).runs[0]
    lines = np.stack([run.replayed.total[0], run.floors, *run.expected]).T
    return file.read_bytes().splitlines(), lines, run.settings


@settings(max_examples=6)
@given(
    rows=tides(),
    at=st.floats(0.0, 1.5),
    use=st.sampled_from(["auto", "ahead"]),
    seed=st.integers(0, 1000),
)
def test_ours(rows, at, use, seed, tmp_path_factory):
    """Byte for byte: records, what was expected, floors and replicas up to the slot's end."""
    row = int((rows.history + at) * DAY / rows.slot)
    end, folder = rows.ends(row), tmp_path_factory.mktemp("runs")
    steps = end + round(2 * rows.slot / rows.step)  # far enough to see what comes later
    true, lines, target = played(rows, steps, use, folder / "true.jsonl")
    noisy, others, same = played(
        rows.with_noise_after(row, seed), steps, use, folder / "noisy.jsonl"
    )
    assert true[: end + 1] == noisy[: end + 1]
    assert lines[: end + 1].tobytes() == others[: end + 1].tobytes()
    assert target == same
    assert true != noisy  # what comes later does see it
