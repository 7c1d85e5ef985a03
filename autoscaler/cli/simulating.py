"""What `foretide simulate` was given, as policy, traffic and switches; and its progress."""

from __future__ import annotations

import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autoscaler.cli.options import configuration, console, say, wall_clock
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autoscaler.policy import TidePolicy
    from autoscaler.simulator.simulation import Progress, Switches
    from autoscaler.world.traffic import Per, Traffic


def one_policy(path: object) -> TidePolicy:
    """Read the one policy of a file."""
    from autoscaler.adapters.policies import load

    if not isinstance(path, Path):
        raise InputError("-f/--policy: a policy is needed (or --scenario, which brings its own)")
    policies = load([path])
    if len(policies) != 1:
        names = ", ".join(policy.key for policy in policies)
        raise InputError(f"{path}: found {len(policies)} policies ({names}); one is played")
    return policies[0]


def traffic_of(policy: TidePolicy, given: dict[str, object]) -> tuple[Traffic, str]:
    """Read the traffic from a file, or from Prometheus."""
    trace = given["trace"]
    if isinstance(trace, Path):
        from autoscaler.world.traffic import read_traffic

        per: Per | None = None if given["per"] is None else _per(str(given["per"]))
        traffic = read_traffic(trace, text(given["column"]), per)
        for line in traffic.refused[:5]:
            say(f"{trace}: {line}")
        if traffic.refused:
            say(f"{trace}: {len(traffic.refused)} rows were not used")
        return traffic, trace.name.removesuffix(".gz").removesuffix(".csv")
    if given["prometheus"] is None and given["config"] is None:
        raise InputError("--trace FILE, --prometheus URL or --scenario PATH: one is needed")
    from autoscaler.simulator.foreign import from_prometheus

    config = given["config"]
    settings = configuration(
        config if isinstance(config, Path) else None, text(given["prometheus"]), None
    )
    traffic = from_prometheus(policy, settings, wall_clock(), whole(given["days"]))
    return traffic, f"{policy.key}, {given['days']} days"


def switches_of(given: dict[str, object]) -> Switches:
    """Collect the switches of the plain world."""
    from autoscaler.simulator.hpa_file import read_hpa
    from autoscaler.simulator.simulation import Switches
    from autoscaler.tune.advice import PRESENT

    hpa_file = given["hpa_file"]
    step = number(given["step"]) or 0.0
    if not step or 3600 % step:
        raise InputError(
            f"--step: found {step:g} s; an hour must be a whole number of steps (30s, 1m, 5m)"
        )
    for option in ("replicas_at_p99", "hpa_target"):
        found = number(given[option])
        if found is not None and not math.isfinite(found):
            raise InputError(f"--{option.replace('_', '-')}: found {found:g}; a number is needed")
    if given["no_hpa"] and isinstance(hpa_file, Path):
        raise InputError("--no-hpa and --hpa exclude each other")
    return Switches(
        replicas_at_p99=number(given["replicas_at_p99"]),
        cold_start=number(given["cold_start"]),
        step=step,
        within="hold" if given["within_slot"] == "hold" else "linear",
        target=None if given["no_hpa"] else number(given["hpa_target"]) or PRESENT,
        advised=given["hpa_target"] is None,
        manifest=read_hpa(hpa_file) if isinstance(hpa_file, Path) else None,
        since=number(given["since"]),
        until=number(given["until"]),
    )


@contextmanager
def writing(path: Path, option: str = "--out") -> Iterator[None]:
    """Say in words that a file, or a folder and what is in it, cannot be written."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        raise InputError(
            f"{option} {path}: {where} cannot be written: {error.strerror or error}"
        ) from error


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """Progress with remaining time on stderr, when that is a terminal and nobody wants JSON."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<28}"), BarColumn(), TimeRemainingColumn())
    shown = console(stderr=True)
    with Progress(*columns, console=shown, transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=1.0)

        def told(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        yield told


def _per(given: str) -> Per:
    """Give one of the two ways; click allows no other."""
    return "second" if given == "second" else "slot"


def text(value: object) -> str | None:
    """Give an option that is text."""
    return None if value is None else str(value)


def number(value: object) -> float | None:
    """Give an option that is a number."""
    return None if value is None else float(str(value))


def whole(value: object) -> int:
    """Give an option that is a whole number."""
    return int(str(value))
