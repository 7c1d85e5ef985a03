"""What people use instead of Foretide, one file each, behind one protocol.

A module of this package that holds `PEERS` adds peers; nothing else has to be touched. Facts
about each come from its source or documentation, named in `source`; a number that the source does
not give is marked as ours where it stands.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from autoscaler.errors import InputError
from autoscaler.model import Ints
from autoscaler.replay import Replayed
from autoscaler.simulator.plain import PlainWorld
from autoscaler.simulator.stepping import Moment, played

Settings = Mapping[str, float]
Wish = Callable[[Moment], int]


class Peer(Protocol):
    """One way of choosing replicas, played in the plain world.

    Attributes
    ----------
    name : as in `--against`
    source : one line, where the algorithm is described
    defaults : its own settings when nobody tunes it
    grid : what "tuned in hindsight" may choose from, the defaults apart
    history_days : days of history without which it cannot begin
    """

    @property
    def name(self) -> str:
        """Name as in `--against`."""
        ...

    @property
    def source(self) -> str:
        """Where the algorithm is described."""
        ...

    @property
    def defaults(self) -> Settings:
        """Settings when nobody tunes it."""
        ...

    @property
    def grid(self) -> tuple[Settings, ...]:
        """What tuning in hindsight may choose from."""
        ...

    @property
    def history_days(self) -> int:
        """Days of history without which it cannot begin."""
        ...

    def run(self, world: PlainWorld, settings: Settings) -> Replayed:
        """Play the world from `world.start` on; step t may look at demand before t only."""
        ...


@runtime_checkable
class Floored(Protocol):
    """A peer that chooses a floor from demand alone, and leaves the rest to an HPA above."""

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:
        """Floor of each step of the run, shape (n - start,)."""
        ...


def scaled(floors: Ints, factor: float) -> Ints:
    """Floors times a margin, whole replicas again; a billionth is let go, as everywhere."""
    more: Ints = np.ceil(floors * factor - 1e-9).astype(np.int64)
    return more


class AboveFloors:
    """What every floored peer shares: its `run` is its floors under the HPA of its target."""

    def floors(self, world: PlainWorld, settings: Settings) -> Ints:
        """Floor of each step of the run, shape (n - start,)."""
        raise NotImplementedError  # every peer has its own

    def run(self, world: PlainWorld, settings: Settings) -> Replayed:
        """Replay the floors, with an HPA when the settings have a target."""
        return world.above(self.floors(world, settings), settings.get("target"))


@runtime_checkable
class Writing(Protocol):
    """A peer that writes replicas itself, step by step, on what it sees."""

    def wish(self, world: PlainWorld, settings: Settings) -> Wish:
        """Give a controller of its own memory: replicas for each moment of the run, in order."""
        ...


class ByWishes:
    """What every peer shares that writes replicas: its `run` plays its wishes."""

    def wish(self, world: PlainWorld, settings: Settings) -> Wish:
        """Give a controller of its own memory: replicas for each moment of the run, in order."""
        raise NotImplementedError  # every peer has its own

    def run(self, world: PlainWorld, settings: Settings) -> Replayed:
        """Play the wishes from `world.start` on."""
        return played(world, self.wish(world, settings))


def peers() -> dict[str, Peer]:
    """Every peer by name, in the order of the files' names."""
    found: dict[str, Peer] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        for peer in getattr(importlib.import_module(f"{__name__}.{module.name}"), "PEERS", ()):
            found[peer.name] = peer
    return found


def chosen(names: str) -> list[Peer]:
    """Peers of a comma-separated list, `all` or `none`.

    Raises
    ------
    InputError
        A name is not a peer's.
    """
    known = peers()
    if names == "none":
        return []
    if names == "all":
        return list(known.values())
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise InputError(f"no peer {', '.join(unknown)}; known are all, none, {', '.join(known)}")
    return [known[name] for name in names.split(",")]
