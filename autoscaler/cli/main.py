"""The command `foretide`: which commands there are, and the exit code of each way of ending.

A command's module is imported when that command runs, never to list it: `foretide --help` and a
press of TAB must answer at once, while some commands import scientific libraries.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem, get_completion_class

from autoscaler.cli.options import ExitCode, examples, version
from autoscaler.errors import ForetideError, InputError

PROGRAM = "foretide"
COMPLETE_VARIABLE = "_FORETIDE_COMPLETE"


class Entry(NamedTuple):
    """One line of `foretide --help`; the command itself is `autoscaler.cli.<name>.command`."""

    section: str
    help: str


_START = "Start here"
_POLICY = "One policy, before anything is written"
_CLUSTER = "In the cluster"
_PAST = "The past"

COMMANDS: dict[str, Entry] = {
    "demo": Entry(_START, "Three days of an LLM service in a minute; needs no cluster."),
    "completion": Entry(_START, "Print the completion script of a shell."),
    "check": Entry(_POLICY, "Check policy files; with --live also Prometheus and the cluster."),
    "plan": Entry(_POLICY, "The day ahead: demand, need, floor, when it changes and why."),
    "tune": Entry(_POLICY, "Which forecaster and rule fit a service, by its own past."),
    "calendar": Entry(_POLICY, "The days that a policy believes in, and from which source."),
    "run": Entry(_CLUSTER, "Run the controller."),
    "once": Entry(_CLUSTER, "Run one cycle and print its decisions."),
    "restore": Entry(_CLUSTER, "Give the floors back that were found, before uninstalling."),
    "explain": Entry(_PAST, "One recorded decision, stage by stage, replayed and compared."),
    "simulate": Entry(_PAST, "What a policy would have done and cost, against its alternatives."),
    "trace": Entry(_PAST, "Import, export and describe recorded traffic."),
}


class LazyGroup(click.Group):
    """A group that knows the names and one-line helps of its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        """Names in the order of the help."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """Import the one command that is asked for."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"autoscaler.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the table of commands, by section, from the static texts."""
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            rows = [(name, e.help) for name, e in COMMANDS.items() if e.section == section]
            with formatter.section(section):
                formatter.write_dl(rows, col_max=12)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name from the static table."""
        names = [
            CompletionItem(name, help=entry.help)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the nearest name."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(unknown_command(args[0]))
        return super().resolve_command(ctx, args)


def unknown_command(name: str) -> str:
    """Sentence about a command that does not exist."""
    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.7)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no command {name!r}.{hint} There are: {', '.join(COMMANDS)}."


def print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print the version and end, when `--version` was given."""
    if wanted and not ctx.resilient_parsing:
        click.echo(f"{PROGRAM} {version()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        ("see it work, without a cluster", "foretide demo"),
        ("what would tomorrow look like?", "foretide plan -f policies/vllm.yaml"),
        ("run it and let it only watch", "foretide run -f policies/ --observe-only"),
    )
    + "\n\nExit codes: 0 done, 1 failed, 2 bad input, 3 done but in doubt, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Know the tide before it comes: move a service's minReplicas ahead of its demand.

    Foretide forecasts the demand of an LLM inference service from its Prometheus history and raises
    the floor (minReplicas) early enough that the replicas are ready when the tide arrives. The
    autoscaler that stands above the floor keeps working.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; no error of a user ends in a traceback."""
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name=PROGRAM,
            complete_var=COMPLETE_VARIABLE,
            standalone_mode=False,
        )
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return ExitCode.BAD_INPUT
    except click.ClickException as error:
        error.show()
        return ExitCode.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return ExitCode.INTERRUPTED
    except InputError as error:
        click.echo(f"Error: {error}", err=True)
        return ExitCode.BAD_INPUT
    except ForetideError as error:
        click.echo(f"Error: {error}", err=True)
        return ExitCode.FAILED
    return int(result) if isinstance(result, int) else ExitCode.DONE


def completion_script(shell: str) -> str:
    """Text that a shell evaluates to complete this command line."""
    complete = get_completion_class(shell)
    if complete is None:
        raise InputError(f"no completion for the shell {shell!r}; there is for bash, zsh and fish")
    return complete(cli, {}, PROGRAM, COMPLETE_VARIABLE).source()


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run())


if __name__ == "__main__":
    main()
