"""Peers played in a world, at their defaults and tuned in hindsight, each with its account."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from autoscaler.interruption import Interrupted
from autoscaler.model import Floats, Ints
from autoscaler.replay import Replayed, clairvoyant
from autoscaler.simulator.peers import Floored, Peer, Settings
from autoscaler.simulator.plain import Account, PlainWorld, account, reference_cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run in a world.

    Attributes
    ----------
    name : the peer's, with ` tuned` when its settings were chosen in hindsight; ours is `foretide`
    settings : as played
    replayed : replicas and backlog from the start of the run on
    account : over the evaluation
    cpu_seconds : of this process, for playing it (all settings together when tuned)
    floors : shape (n - start,), None where the peer has none (it writes replicas)
    expected : median and upper demand that was expected for each step, shape (2, n - start)
    changes : step of the run and reasons of every change of the floor, where reasons are known
    """

    name: str
    settings: Settings
    replayed: Replayed
    account: Account
    cpu_seconds: float
    floors: Ints | None = None
    expected: Floats | None = None
    changes: tuple[tuple[int, str], ...] = ()


def best_run(world: PlainWorld) -> Run:
    """Play the clairvoyant."""
    began = time.process_time()
    replayed = world.best()
    return Run(
        name="clairvoyant",
        settings={},
        replayed=replayed,
        account=account(world, replayed, reference_cost(world)),
        cpu_seconds=time.process_time() - began,
        floors=clairvoyant(world.demand, world.service)[world.start :],
    )


def settings_for(world: PlainWorld, peer: Peer) -> Settings:
    """Give the settings that nobody tuned: the peer's own, with the HPA of the world above.

    Without an HPA in the world a floor stands alone; the HPA itself and other peers that scale by
    themselves keep their own target.
    """
    settings = dict(peer.defaults)
    if "target" in settings and world.target is not None:
        settings["target"] = world.target
    elif isinstance(peer, Floored) and world.target is None and peer.name != "hpa":
        settings.pop("target", None)
    return settings


def play(world: PlainWorld, peer: Peer, reference: float) -> Run:
    """Play a peer at its defaults."""
    return _played(world, peer, settings_for(world, peer), reference)


def play_tuned(
    world: PlainWorld, peer: Peer, reference: float, halted: Callable[[], bool] = lambda: False
) -> Run:
    """Play a peer over its whole grid and keep the best score: nobody could have known it.

    Raises
    ------
    Interrupted
        `halted` said so: the best of a part of the grid is not what hindsight would choose.
    """
    began = time.process_time()
    runs = []
    for settings in (settings_for(world, peer), *peer.grid):
        if halted():
            raise Interrupted
        runs.append(_played(world, peer, settings, reference))
    best = min(runs, key=lambda run: run.account.score)
    spent = time.process_time() - began
    return replace(best, name=f"{peer.name} tuned", cpu_seconds=spent)


def _played(world: PlainWorld, peer: Peer, settings: Settings, reference: float) -> Run:
    """Play a peer with given settings."""
    began = time.process_time()
    floors = peer.floors(world, settings) if isinstance(peer, Floored) else None
    if floors is None:
        replayed = peer.run(world, settings)
    else:
        replayed = world.above(floors, settings.get("target"))
    return Run(
        name=peer.name,
        settings=settings,
        replayed=replayed,
        account=account(world, replayed, reference),
        cpu_seconds=time.process_time() - began,
        floors=floors,
    )


def play_all(
    world: PlainWorld,
    against: Iterable[Peer],
    reference: float,
    *,
    tuned: bool,
    halted: Callable[[], bool] = lambda: False,
) -> Iterator[Run]:
    """Play every peer whose history is there, and each also tuned when asked.

    Raises
    ------
    Interrupted
        `halted`, asked before each replay, said so.
    """
    for peer in against:
        if peer.history_days * world.day > world.start:
            continue
        if halted():
            raise Interrupted
        yield play(world, peer, reference)
        if tuned:
            yield play_tuned(world, peer, reference, halted)
