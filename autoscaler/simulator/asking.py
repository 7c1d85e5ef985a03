"""A scenario played and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autoscaler.interruption import Interrupted, Interruption, interruption
from autoscaler.simulator.claims import Evidence, Verdict, judge
from autoscaler.simulator.life import live_ours, live_peer
from autoscaler.simulator.peers import Peer
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.production import Flight, fly, run_of
from autoscaler.simulator.reading import Question
from autoscaler.simulator.runs import Run, best_run, play
from autoscaler.simulator.scenario import Scenario, troubles_of, world_of
from autoscaler.simulator.side_by_side import side_by_side
from autoscaler.simulator.simulation import Simulated

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A scenario with its answer."""

    name: str
    scenario: Scenario
    simulated: Simulated
    verdicts: tuple[Verdict, ...]

    @property
    def traffic(self) -> str:
        """What was drawn, for the title of a report."""
        return f"a drawn tide (seed {self.scenario.traffic.seed})"

    @property
    def holds(self) -> bool:
        """Whether every claim does."""
        return all(verdict.holds for verdict in self.verdicts)


def ask(question: Question, progress: Progress = lambda _what, _share: None) -> Asked:
    """Play a scenario and judge its claims.

    Raises
    ------
    Interrupted
        Half a scenario says nothing about its claims.
    """
    with interruption() as noted:
        return _ask(question, progress, noted)


def _ask(question: Question, progress: Progress, noted: Interruption) -> Asked:
    """Play a scenario until somebody interrupts."""

    def told(what: str, share: float) -> None:
        if noted.came:
            raise Interrupted
        progress(what, share)

    world = world_of(question.scenario, question.policy)
    best = best_run(world)
    play_it = _plain if question.scenario.world.plain else _troubled
    answer = play_it(question, world, best.account.cost(world.service), told)
    runs = answer.evidence.runs
    return Asked(
        name=question.name,
        scenario=question.scenario,
        simulated=Simulated(
            policy=question.policy,
            world=world,
            best=best,
            runs=runs,
            intervals={run.name: None for run in runs},
            flight=answer.flight,
        ),
        verdicts=tuple(judge(claim, answer.evidence) for claim in question.scenario.claims),
    )


def ask_all(
    questions: Sequence[Question], jobs: int, halted: Callable[[], bool] = lambda: False
) -> Iterator[Asked]:
    """Play several questions at once, in processes; the answers come in the questions' order.

    Raises
    ------
    Interrupted
        `halted`, asked now and then, said so.
    """
    yield from side_by_side(ask, [(question,) for question in questions], jobs, halted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What came of it."""

    evidence: Evidence
    flight: Flight | None = None


def _plain(question: Question, world: PlainWorld, reference: float, progress: Progress) -> _Answer:
    """Play a world in which nothing goes wrong."""
    flight = fly(
        world, question.policy, progress=lambda done, of: progress(question.name, done / of)
    )
    if flight.steps < len(world.run_demand):
        raise Interrupted
    runs = [run_of(world, flight, reference)]
    runs += _others(question, progress, lambda peer: play(world, peer, reference))
    writes = len(flight.track.changes)
    return _Answer(evidence=Evidence(runs=runs, counts={"writes": writes}), flight=flight)


def _troubled(
    question: Question, world: PlainWorld, reference: float, progress: Progress
) -> _Answer:
    """Live in a world with troubles."""
    seed = question.scenario.traffic.seed
    troubles = troubles_of(question.scenario, world.begins)
    lived = live_ours(
        world,
        question.policy,
        troubles,
        reference,
        seed=seed,
        progress=lambda done, of: progress(question.name, done / of),
    )

    def life(peer: Peer) -> Run:
        return live_peer(world, peer, troubles, reference, seed=seed)

    evidence = Evidence(
        runs=[lived.run, *_others(question, progress, life)],
        counts={"writes": lived.writes},
        lowered_in_doubt=len(lived.lowered_in_doubt),
        lowered_after_restart=len(lived.lowered_after_restart),
    )
    return _Answer(evidence=evidence)


def _others(question: Question, progress: Progress, played: Callable[[Peer], Run]) -> Sequence[Run]:
    """Play the peers, and tell which one is at it."""
    runs = []
    for peer in question.peers:
        progress(f"{question.name}: {peer.name}", 1.0)
        runs.append(played(peer))
    return runs
