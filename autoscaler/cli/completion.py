"""`foretide completion`: the script that lets a shell complete commands, options and files."""

from __future__ import annotations

import click

from autoscaler.cli.options import examples


@click.command(
    epilog=examples(
        (
            "bash, for this user",
            "foretide completion bash > ~/.local/share/bash-completion/completions/foretide",
        ),
        ("zsh, for this session", "source <(foretide completion zsh)"),
        (
            "fish, for this user",
            "foretide completion fish > ~/.config/fish/completions/foretide.fish",
        ),
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL on stdout."""
    from autoscaler.cli.main import completion_script

    click.echo(completion_script(shell))
