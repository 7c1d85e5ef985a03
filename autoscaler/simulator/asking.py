"""A scenario played and judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autoscaler.policy import TidePolicy
from autoscaler.simulator.claims import Evidence, Verdict, judge
from autoscaler.simulator.life import live_ours, live_peer
from autoscaler.simulator.peers import Peer, chosen
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.production import Flight, fly, run_of
from autoscaler.simulator.runs import best_run, play
from autoscaler.simulator.scenario import (
    Scenario,
    policy_of,
    read_scenario,
    troubles_of,
    world_of,
)
from autoscaler.simulator.simulation import Simulated


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A scenario with its answer.

    Attributes
    ----------
    left_out : peers that cannot live in a world with troubles
    """

    name: str
    scenario: Scenario
    simulated: Simulated
    verdicts: tuple[Verdict, ...]
    left_out: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every claim does."""
        return all(verdict.holds for verdict in self.verdicts)


def scenarios_in(path: Path) -> list[Path]:
    """Give the scenario files of a folder, or the one file."""
    if path.is_file():
        return [path]
    return sorted((*path.glob("*.yaml"), *path.glob("*.yml")))


def ask(path: Path, progress: Callable[[str, float], None] = lambda _what, _share: None) -> Asked:
    """Play a scenario file and judge its claims.

    Raises
    ------
    InputError
        The file, its policy or a claim is not usable.
    """
    scenario = read_scenario(path)
    name = path.stem
    policy = policy_of(scenario, name)
    world = world_of(scenario, policy)
    best = best_run(world)
    question = _Question(
        scenario=scenario,
        policy=policy,
        world=world,
        reference=best.account.cost(world.service),
        peers=tuple(chosen(",".join(scenario.peers)) if scenario.peers else ()),
    )
    if scenario.world.plain:
        answer = _plain(question, lambda done, of: progress(name, done / of))
    else:
        answer = _troubled(question)
    runs = answer.evidence.runs
    return Asked(
        name=name,
        scenario=scenario,
        simulated=Simulated(
            policy=policy,
            world=world,
            best=best,
            runs=runs,
            intervals={run.name: None for run in runs},
            flight=answer.flight,
        ),
        verdicts=tuple(judge(claim, answer.evidence) for claim in scenario.claims),
        left_out=answer.left_out,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A scenario made ready."""

    scenario: Scenario
    policy: TidePolicy
    world: PlainWorld
    reference: float
    peers: tuple[Peer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What came of it."""

    evidence: Evidence
    flight: Flight | None = None
    left_out: tuple[str, ...] = ()


def _plain(question: _Question, progress: Callable[[int, int], None]) -> _Answer:
    """Play a world in which nothing goes wrong."""
    world, reference = question.world, question.reference
    flight = fly(world, question.policy, progress=progress)
    runs = [run_of(world, flight, reference)]
    runs += [play(world, peer, reference) for peer in question.peers]
    writes = len(flight.track.changes)
    return _Answer(evidence=Evidence(runs=runs, counts={"writes": writes}), flight=flight)


def _troubled(question: _Question) -> _Answer:
    """Live in a world with troubles."""
    world, reference = question.world, question.reference
    seed = question.scenario.traffic.seed
    troubles = troubles_of(question.scenario, world.begins)
    lived = live_ours(world, question.policy, troubles, reference, seed=seed)
    others = [live_peer(world, peer, troubles, reference, seed=seed) for peer in question.peers]
    evidence = Evidence(
        runs=[lived.run, *(run for run in others if run is not None)],
        counts={"writes": lived.writes},
        lowered_in_doubt=len(lived.lowered_in_doubt),
        lowered_after_restart=len(lived.lowered_after_restart),
    )
    silent = zip(question.peers, others, strict=True)
    return _Answer(
        evidence=evidence, left_out=tuple(peer.name for peer, run in silent if run is None)
    )
