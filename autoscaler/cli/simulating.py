"""What `simulate` and `tune` are given, as policy, traffic and switches; and their progress."""

from __future__ import annotations

import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autoscaler.cli.options import configuration, console, say, wall_clock
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autoscaler.policy import TidePolicy
    from autoscaler.simulator.simulation import Progress, Switches
    from autoscaler.world.traffic import Per, Traffic


class _Finite(click.FloatRange):
    """A number within bounds, and a number at all: `nan` is within any, `inf` has no use."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            where = "" if param is None else f"{param.opts[0]}: "
            raise InputError(f"{where}found {found:g}; a number is needed")
        return found


POSITIVE = _Finite(min=0, min_open=True)
# of an HPA: a share of a replica's capacity. Twice is more than anybody means, 70 is a percentage
TARGET = _Finite(min=0, min_open=True, max=2)


def traffic_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say which traffic is replayed: a file, or the policy's own history."""
    for option in reversed(_TRAFFIC):
        command = option(command)
    return command


_TRAFFIC = (
    click.option(
        "--trace",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Traffic file: CSV, may be compressed.",
    ),
    click.option(
        "--column", metavar="NAME", help="Its value column; default: the first known name."
    ),
    click.option(
        "--per",
        type=click.Choice(["slot", "second"]),
        help="Whether its values are totals per slot (default) or per second.",
    ),
    click.option(
        "--within-slot",
        type=click.Choice(["linear", "hold"]),
        default="linear",
        show_default=True,
        help="What demand does between two rows of it.",
    ),
    click.option(
        "--replicas-at-p99",
        type=POSITIVE,
        metavar="N",
        help="Capacity from the traffic instead of the policy's.",
    ),
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Controller configuration: where Prometheus is.",
    ),
    click.option("--prometheus", metavar="URL", help="Take the policy's own history from there."),
)


def one_policy(path: object, wanted: str = "one is played") -> TidePolicy:
    """Read the one policy of a file; `wanted` ends what is said where there are others."""
    from autoscaler.adapters.policies import load

    if not isinstance(path, Path):
        raise InputError("-f/--policy: a policy is needed (or --scenario, which brings its own)")
    policies = load([path])
    if len(policies) != 1:
        names = ", ".join(policy.key for policy in policies)
        raise InputError(f"{path}: found {len(policies)} policies ({names}); {wanted}")
    return policies[0]


def traffic_of(policy: TidePolicy, given: dict[str, object]) -> tuple[Traffic, str]:
    """Read the traffic from a file, or from Prometheus."""
    trace = given["trace"]
    if isinstance(trace, Path):
        from autoscaler.world.traffic import read_traffic

        per: Per | None = None if given["per"] is None else _per(str(given["per"]))
        traffic = read_traffic(trace, text(given["column"]), per)
        for line in traffic.remarks(5):
            say(f"{trace}: {line}")
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

    hpa_file = given["hpa_file"]
    step = number(given["step"]) or 0.0
    if not step or 3600 % step:
        raise InputError(
            f"--step: found {step:g} s; an hour must be a whole number of steps (30s, 1m, 5m)"
        )
    return Switches(
        replicas_at_p99=number(given["replicas_at_p99"]),
        cold_start=number(given["cold_start"]),
        step=step,
        within="hold" if given["within_slot"] == "hold" else "linear",
        target=target_of(given),
        advised=given["hpa_target"] is None,
        manifest=read_hpa(hpa_file) if isinstance(hpa_file, Path) else None,
        since=number(given["since"]),
        until=number(given["until"]),
    )


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """Progress with remaining time on stderr, when that is a terminal and nobody wants JSON."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<28}"), BarColumn(), TimeRemainingColumn())
    shown = console(stderr=True)
    off = quiet or not shown.is_terminal  # else an empty line is left before what is said
    with Progress(*columns, console=shown, transient=True, disable=off) as bar:
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


def target_of(given: dict[str, object]) -> float | None:
    """Target of the HPA above the floors, None for no HPA; two answers to that are refused."""
    from autoscaler.tune.advice import PRESENT

    said = [
        f"--{name.removesuffix('_file').replace('_', '-')}"
        for name in ("no_hpa", "hpa_file", "hpa_target")
        if given.get(name)
    ]
    if len(said) > 1:
        raise InputError(f"{said[0]} and {said[1]} exclude each other")
    return None if given["no_hpa"] else number(given["hpa_target"]) or PRESENT


def number(value: object) -> float | None:
    """Give an option that is a number."""
    return None if value is None else float(str(value))


def whole(value: object) -> int:
    """Give an option that is a whole number."""
    return int(str(value))
