"""A scenario played and judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autoscaler.simulator.claims import Evidence, Verdict, judge
from autoscaler.simulator.life import Lived, live_ours, live_peer
from autoscaler.simulator.peers import chosen
from autoscaler.simulator.production import fly, run_of
from autoscaler.simulator.runs import Run, best_run, play
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


# long: two worlds, and a line for each field of what it gives
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
    reference = best.account.cost(world.service)
    peers = chosen(",".join(scenario.peers)) if scenario.peers else []
    runs: list[Run]
    left_out: list[str] = []
    lived: Lived | None = None
    writes = 0
    if scenario.world.plain:
        flight = fly(world, policy, progress=lambda done, of: progress(name, done / of))
        runs = [run_of(world, flight, reference)]
        runs += [play(world, peer, reference) for peer in peers]
        writes = len(flight.track.changes)
    else:
        flight, seed = None, scenario.traffic.seed
        troubles = troubles_of(scenario, world.begins)
        lived = live_ours(world, policy, troubles, reference, seed=seed)
        runs, writes = [lived.run], lived.writes
        for peer in peers:
            run = live_peer(world, peer, troubles, reference, seed=seed)
            if run is None:
                left_out.append(peer.name)
            else:
                runs.append(run)
    evidence = Evidence(
        runs=runs,
        counts={"writes": writes},
        lowered_in_doubt=len(lived.lowered_in_doubt) if lived else 0,
        lowered_after_restart=len(lived.lowered_after_restart) if lived else 0,
    )
    return Asked(
        name=name,
        scenario=scenario,
        simulated=Simulated(
            policy=policy,
            world=world,
            best=best,
            runs=runs,
            intervals={run.name: None for run in runs},
            flight=flight,
        ),
        verdicts=tuple(judge(claim, evidence) for claim in scenario.claims),
        left_out=tuple(left_out),
    )
