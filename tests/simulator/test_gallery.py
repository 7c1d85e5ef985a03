"""Every shipped scenario can be read and built; some are run, all of them by CI's own call."""

from pathlib import Path

import numpy as np
import pytest

from autoscaler.errors import InputError
from autoscaler.simulator.asking import ask
from autoscaler.simulator.reading import read_question, read_questions, scenarios_in
from autoscaler.simulator.scenario import troubles_of, world_of

GALLERY = Path(__file__).parents[2] / "simulations"
FILES = scenarios_in(GALLERY)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario_can_be_built(path):
    question = read_question(path)
    scenario = question.scenario
    world = world_of(scenario, question.policy)
    troubles_of(scenario, world.begins)
    assert [peer.name for peer in question.peers] == list(scenario.peers)
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
        *("impatient-clients", "impatient-clients-at-nine"),
    }


def test_summer_time_moves_the_tide_by_an_hour(tmp_path):
    path = tmp_path / "dst.yaml"
    path.write_text(
        "question: q?\nclaims: [score > 0]\npolicy: {timeZone: Europe/Berlin}\n"
        "traffic: {start: 2026-03-28, days: 3, noise: 0, dispersion: 0, week: flat}\n"
        "world: {history: 1d}\n"
    )
    question = read_question(path)
    hours = world_of(question.scenario, question.policy).demand.reshape(-1, 60)
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


def question(*given, **more):
    return read_question(small(*given, **more))


@pytest.mark.slow
def test_claims_hold_and_fail(tmp_path):
    assert ask(question(tmp_path, "score >= 1")).holds
    failed = ask(question(tmp_path, "score < 0.5"))
    assert not failed.holds
    assert failed.verdicts[0].found.startswith("score is ")


@pytest.mark.slow
def test_a_world_with_troubles(tmp_path):
    world = "{step: 10m, history: 3d, settle: 1h, metricsAway: [{begin: 3d6h, end: 3d23h}]}"
    claim = "no floor lowered while metrics are away"
    asked = ask(question(tmp_path, claim, world, extra="peers: [hpa, kpa, keda-cron]\n"))
    assert asked.holds
    assert [run.name for run in asked.simulated.runs] == ["foretide", "hpa", "kpa", "keda-cron"]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("question: q\nclaims: []\n", "2:9: claims: ", "found a list of 0; allowed: a list (not"),
        ("claims: [score > 0]\n", "1:1: question: ", "missing; required: text"),
        (
            "question: q\nclaims: [score > 0]\nworlds: {}\n",
            "3:1: worlds: ",
            "peers, claims; did you mean world?",
        ),
        ("question: q\nclaims: [score > 0]\nworld: {step: 5}\n", "3:15: world.step: ", "found 5"),
        ("question: q\nclaims: [score > 0]\nworld: {step: 7m}\n", "3:15: world.step: ", "an hour"),
        (
            "question: q\nclaims: [score > 0]\ntraffic: {day: moon}\n",
            "3:16: traffic.day: ",
            'found "moon"; allowed: llm | office | flat',
        ),
        (
            "question: q\nclaims: [score > 0]\ntraffic: {start: 2026-02-30}\n",
            "3:18: traffic.start: ",
            'found "2026-02-30"; allowed: a date',
        ),
        (
            "question: q\nclaims: [score > 0]\nworld: {hpaTarget: .inf}\n",
            "3:20: world.hpaTarget: ",
            "found inf; allowed: a number (above 0)",
        ),
        (
            "question: q\nclaims: [score > 0]\nworld:\n  pool:\n  - {begin: 3d, end: 2d}\n",
            "5:5: world.pool[0]: ",
            "found the end 2d; it must come after the begin 3d",
        ),
        (
            "question: q\nclaims: [score > 0]\nworld: {apiAway: [{begin: 30d, end: 31d}]}\n",
            "3:19: world.apiAway[0]: ",
            "begins after 30d; the traffic has 16 days",
        ),
        (
            "question: q\nclaims: [score > 0]\ntraffic: {days: 8}\n",
            "1:1: world: ",
            "history and settle take 8d; the traffic has 8 days",
        ),
        (
            "question: q\nclaims: [score > 0]\npeers: [hpa, keda-corn]\n",
            "3:14: peers[1]: ",
            "; did you mean keda-cron?",
        ),
        (
            "question: q\nclaims: [score > 0, scor > 0]\n",
            "2:21: claims[1]: ",
            'found the metric "scor"; allowed: score, cost_ratio',
        ),
        (
            "question: q\nclaims: [score < 2 × kpa]\n",
            "2:10: claims[0]: ",
            'found the run "kpa"; allowed: foretide, hpa',
        ),
        ("question: q\nclaims: [writes < hpa]\n", "2:10: claims[0]: ", "is counted of ours only"),
        (
            "question: q\nclaims: [score > 0]\npolicy: {capacity: {perReplica: -1}}\n",
            "3:33: policy.capacity.perReplica: ",
            "found -1; allowed: a number (above 0",
        ),
        ("question: q\nquestion: r\nclaims: [score > 0]\n", "2:1: question: ", "a second time"),
        ("- a\n", "1:1: ", "found a list of 1; a mapping with question"),
        ("{", "", "no YAML"),
        ("question: q\n---\nquestion: q\n", "", "found 2 documents; a scenario is one"),
    ],
)
def test_mistakes_are_told_at_their_place(tmp_path, text, where, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as told:
        read_question(path)
    lines = str(told.value).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"{path}:{where}")
    assert message in lines[0]


def test_every_mistake_of_every_file_is_told_before_anything_is_played(tmp_path):
    (tmp_path / "a.yaml").write_text("question: q\nclaims: [score]\npeers: [moon]\n")
    (tmp_path / "b.yaml").write_text("question: q\n")
    small(tmp_path, "score > 0")
    with pytest.raises(InputError) as told:
        read_questions(tmp_path)
    places = [line.split(": ")[0] for line in str(told.value).splitlines()]
    assert places == [
        f"{tmp_path}/{place}" for place in ("a.yaml:2:10", "a.yaml:3:9", "b.yaml:1:1")
    ]
    with pytest.raises(InputError, match="no scenario"):
        read_questions(tmp_path / "nothing-there")
