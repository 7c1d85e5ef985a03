"""Every shipped scenario can be read and built; some are run, all of them by CI's own call."""

from pathlib import Path

import numpy as np
import pytest

from autoscaler.errors import InputError
from autoscaler.simulator.asking import ask, scenarios_in
from autoscaler.simulator.peers import chosen
from autoscaler.simulator.scenario import policy_of, read_scenario, troubles_of, world_of

GALLERY = Path(__file__).parents[2] / "simulations"
FILES = scenarios_in(GALLERY)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario_can_be_built(path):
    scenario = read_scenario(path)
    policy = policy_of(scenario, path.stem)
    world = world_of(scenario, policy)
    chosen(",".join(scenario.peers))
    troubles_of(scenario, world.begins)
    assert scenario.question.strip().endswith("?")
    assert 0 < world.start < world.measured < len(world.demand)
    assert np.isfinite(world.demand).all()


def test_the_gallery_asks_what_was_promised():
    assert {path.stem for path in FILES} >= {
        *("clean-tide", "office-hours", "nightly-batch", "promotion-announced"),
        *("promotion-unannounced", "dst-spring", "dst-autumn", "new-service", "tenant-leaves"),
        *("outage-and-rebound", "flash-crowd", "no-tide", "cold-start-2m", "cold-start-5m"),
        *("cold-start-10m", "gpu-pool-exhausted", "prometheus-away-over-the-peak"),
        *("controller-restarted-at-the-peak", "owner-reverts-the-floor"),
    }


def test_summer_time_moves_the_tide_by_an_hour(tmp_path):
    path = tmp_path / "dst.yaml"
    path.write_text(
        "question: q?\nclaims: [score > 0]\npolicy: {timeZone: Europe/Berlin}\n"
        "traffic: {start: '2026-03-28', days: 3, noise: 0, dispersion: 0, week: flat}\n"
    )
    scenario = read_scenario(path)
    hours = world_of(scenario, policy_of(scenario, "dst")).demand.reshape(-1, 60)
    saturday, monday = hours[:24], hours[48:]
    assert np.allclose(monday[:-1], saturday[1:])  # an hour earlier in UTC
    assert not np.allclose(monday[:-1], saturday[:-1])


def small(tmp_path, claim, world="{step: 10m, history: 3d, settle: 1h}", extra=""):
    path = tmp_path / "small.yaml"
    path.write_text(
        f"question: Small?\ntraffic: {{peak: 20, days: 4}}\nworld: {world}\n"
        f"claims: ['{claim}']\n{extra}"
    )
    return path


@pytest.mark.slow
def test_claims_hold_and_fail(tmp_path):
    assert ask(small(tmp_path, "score >= 1")).holds
    failed = ask(small(tmp_path, "score < 0.5"))
    assert not failed.holds
    assert failed.verdicts[0].found.startswith("score is ")


@pytest.mark.slow
def test_a_world_with_troubles(tmp_path):
    world = "{step: 10m, history: 3d, settle: 1h, metricsAway: [{begin: 3d6h, end: 3d23h}]}"
    asked = ask(small(tmp_path, "no floor lowered while metrics are away", world))
    assert asked.holds
    assert {run.name for run in asked.simulated.runs} == {"foretide", "hpa"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question: q\nclaims: []\n", "claims: Tuple should have at least 1 item"),
        ("question: q\nclaims: [a]\nworlds: {}\n", "worlds: Extra inputs are not permitted"),
        ("question: q\nclaims: [a]\nworld: {step: 5}\n", "world.step: .*5"),
        ("question: q\nclaims: [a]\ntraffic: {day: moon}\n", "traffic.day: Input should be"),
        ("- a\n", "document: Input should be"),
        ("{", "cannot be read"),
    ],
)
def test_bad_scenarios_are_refused_in_words(tmp_path, text, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_scenario(path)


def test_a_bad_policy_in_a_scenario(tmp_path):
    path = small(tmp_path, "score > 0", extra="policy: {capacity: {perReplica: -1}}\n")
    with pytest.raises(InputError, match="policy"):
        policy_of(read_scenario(path), "small")
