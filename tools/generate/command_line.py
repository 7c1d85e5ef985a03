"""`docs/reference/command-line.md`: the help of every command, as the program prints it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from autoscaler.cli.main import COMMANDS, PROGRAM, cli

_HEAD = """\
<!-- Made from autoscaler/cli by `python -m tools.generate`; do not edit. -->
# Command line

What `--help` says, command by command. All commands end with one of these exit codes:

| code | meaning |
|---|---|
| 0 | done |
| 1 | failed: something that was asked did not answer, or a claim did not hold |
| 2 | bad input: a file, a flag, a configuration; the message says where and what is allowed |
| 3 | done, but in doubt: the inputs are to be distrusted, and the output says why |
| 130 | interrupted |

A time carries its zone (`2026-11-30T08:00+08:00`, `…Z`), a duration its unit (`90s`, `5m`, `28d`).
With `--json` one JSON document stands on the standard output and nothing else; what is for people
goes to the standard error.
"""
_WIDTH = 96


def text() -> str:
    """Give the whole file."""
    root = click.Context(cli, info_name=PROGRAM, terminal_width=_WIDTH, **cli.context_settings)
    lines = [_HEAD, *_section(cli, root, 2)]
    for name in COMMANDS:
        command = cli.get_command(root, name)
        if command is not None:
            lines += _all(command, root, name, 2)
    return "\n".join(lines)


def _all(command: click.Command, parent: click.Context, name: str, depth: int) -> Iterator[str]:
    """Yield a command, and below it those of a group."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=_WIDTH)
    yield from _section(command, context, depth)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                yield from _all(found, context, inner, depth + 1)


def _section(command: click.Command, context: click.Context, depth: int) -> Iterator[str]:
    """Heading and help of one command."""
    yield f"{'#' * depth} {context.command_path}\n"
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"```text\n{help_text}\n```\n"
