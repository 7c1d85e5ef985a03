"""Peers played in a world, at their defaults and tuned in hindsight, each with its account."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autoscaler.replay import Replayed
from autoscaler.simulator.peers import Peer, Settings
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
    """

    name: str
    settings: Settings
    replayed: Replayed
    account: Account
    cpu_seconds: float


def best_run(world: PlainWorld) -> Run:
    """Play the clairvoyant."""
    began = time.process_time()
    replayed = world.best()
    reference = reference_cost(world)
    return Run(
        name="clairvoyant",
        settings={},
        replayed=replayed,
        account=account(world, replayed, reference),
        cpu_seconds=time.process_time() - began,
    )


def play(world: PlainWorld, peer: Peer, reference: float) -> Run:
    """Play a peer at its defaults."""
    began = time.process_time()
    replayed = peer.run(world, peer.defaults)
    return Run(
        name=peer.name,
        settings=peer.defaults,
        replayed=replayed,
        account=account(world, replayed, reference),
        cpu_seconds=time.process_time() - began,
    )


def play_tuned(world: PlainWorld, peer: Peer, reference: float) -> Run:
    """Play a peer over its whole grid and keep the best score: nobody could have known it."""
    began = time.process_time()
    best: tuple[Settings, Replayed, Account] | None = None
    for settings in (peer.defaults, *peer.grid):
        replayed = peer.run(world, settings)
        scored = account(world, replayed, reference)
        if best is None or scored.score < best[2].score:
            best = settings, replayed, scored
    assert best is not None  # the defaults are always played
    return Run(
        name=f"{peer.name} tuned",
        settings=best[0],
        replayed=best[1],
        account=best[2],
        cpu_seconds=time.process_time() - began,
    )


def play_all(
    world: PlainWorld, against: Iterable[Peer], reference: float, *, tuned: bool
) -> Iterator[Run]:
    """Play every peer whose history is there, and each also tuned when asked."""
    for peer in against:
        if peer.history_days * world.day > world.start:
            continue
        yield play(world, peer, reference)
        if tuned:
            yield play_tuned(world, peer, reference)
