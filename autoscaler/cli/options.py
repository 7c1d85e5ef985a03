"""What every command shares: options, exit codes, times and durations as flags, and how to print.

Importing this module must stay cheap (click and the standard library): it is imported by
`foretide --help`. Commands likewise import what they need inside their function.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

import click

if TYPE_CHECKING:
    from rich.console import Console

    from autoscaler.config import Config

Function = TypeVar("Function", bound=Callable[..., Any])


class ExitCode(IntEnum):
    """How a command ended. A command returns one of these (nothing means DONE)."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    IN_DOUBT = 3
    INTERRUPTED = 130


class DurationType(click.ParamType[float]):
    """A duration as in a policy (`30s`, `5m`, `1h30m`, `28d`); its value is seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds as a float; a bare number is refused, since its unit would be a guess."""
        if isinstance(value, int | float):
            return float(value)
        from autoscaler.schema.durations import parse_duration

        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class TimeType(click.ParamType[float]):
    """A moment with its zone (`2026-11-30T08:00+08:00`, `…Z`); its value is POSIX seconds."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """POSIX seconds; a time without a zone is refused, since it would be a guess."""
        if isinstance(value, int | float):
            return float(value)
        text = str(value)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            # a date that looks like one and is none is told apart from what is no date at all
            why = f" that exists: {error}" if _LIKE_A_DATE.match(text) else ""
            self.fail(
                f"{text!r} is not a time{why}; write it as 2026-11-30T08:00+08:00", param, ctx
            )
        if moment.tzinfo is None:
            self.fail(
                f"{text!r} has no zone; write {text}Z for UTC, or an offset such as {text}+08:00",
                param,
                ctx,
            )
        return moment.astimezone(UTC).timestamp()


_LIKE_A_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

DURATION = DurationType()
TIME = TimeType()


def policy_option(
    *, multiple: bool = False, required: bool = True
) -> Callable[[Function], Function]:
    """`-f/--policy`: a policy file (or, where a command takes several, files and folders)."""
    return click.option(
        "-f",
        "--policy",
        "policy" if not multiple else "policies",
        type=click.Path(exists=True, path_type=Path, dir_okay=multiple),
        required=required,
        multiple=multiple,
        metavar="PATH" if multiple else "FILE",
        help="Policy file or folder of policies; may be repeated." if multiple else "Policy file.",
    )


def common_options(function: Function) -> Function:
    """Add `--config --prometheus --context --json`, the last as argument `as_json`."""
    for option in (
        json_option,
        click.option(
            "--context", metavar="NAME", help="Context of the kubeconfig; default: the current one."
        ),
        click.option(
            "--prometheus", metavar="URL", help="Address of Prometheus, over the configuration's."
        ),
        click.option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Controller configuration: where Prometheus and the cluster are.",
        ),
    ):
        function = option(function)
    return function


def configuration(config: Path | None, prometheus: str | None, context: str | None) -> Config:
    """Read the configuration of this run: file, then environment, then the flags.

    Raises
    ------
    ConfigError
        It is not usable; every problem on its own line.
    """
    from autoscaler.adapters.configuration import load_config

    flags = {"prometheus.url": prometheus, "kubernetes.context": context}
    return load_config(config, os.environ, flags)


def wall_clock() -> float:
    """POSIX seconds now, from the controller's clock."""
    from autoscaler.controller.clock import WallClock

    return WallClock().now()


def json_option(function: Function) -> Function:
    """Add `--json` (argument `as_json`): one JSON document on stdout, nothing else."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document instead of text."
    )(function)


def examples(*pairs: tuple[str, str]) -> str:
    """Epilog of a command's help: each pair is what for, and the command line."""
    lines = [f"  # {what}\n  {line}" for what, line in pairs]
    return "\b\nExamples:\n" + "\n".join(lines)


def console(*, stderr: bool = False) -> Console:
    """Console for tables and progress: plain text without colour when it is not a terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


def say(text: str = "") -> None:
    """Print a line for a person on stderr, so that stdout stays what was asked for."""
    click.echo(text, err=True)


def print_json(document: object) -> None:
    """Print one JSON document on stdout; numbers that are not finite become null."""
    click.echo(json_text(document))


def json_text(document: object) -> str:
    """Write one JSON document; numbers that are not finite become null."""
    return json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: object) -> object:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def version() -> str:
    """Version of the installed distribution; in a bare checkout there is none to be read."""
    from importlib import metadata

    try:
        return metadata.version("foretide")
    except metadata.PackageNotFoundError:
        return "0+checkout"


def in_zone(at: float, zone: str) -> datetime:
    """Local time of POSIX seconds, with its zone."""
    return datetime.fromtimestamp(at, ZoneInfo(zone))


def duration_text(seconds: float) -> str:
    """Write a duration as in a policy, with at most two units: `1h30m`, `45s`, `28d`."""
    left = round(seconds)
    if left == 0:
        return "0s"
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts[:2])
