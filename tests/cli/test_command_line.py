"""The command line: help without imports, versions, completion, and what each ending returns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from autoscaler.cli import main
from autoscaler.cli.main import COMMANDS, Entry, cli, completion_script, run
from autoscaler.errors import ForetideError, PolicyError

ROOT = Path(__file__).resolve().parent.parent.parent
# what makes an import slow; none of it may be needed to print a help or complete a word
HEAVY = ("numpy", "pydantic", "rich", "kubernetes", "statsmodels", "matplotlib", "requests", "yaml")


def foretide(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "autoscaler.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def imported(stderr: str) -> set[str]:
    lines = [line for line in stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}


def test_help_lists_every_command_and_imports_nothing_heavy() -> None:
    done = foretide("--help")
    assert done.returncode == 0
    for name, entry in COMMANDS.items():
        assert f"  {name}" in done.stdout
        assert entry.help in done.stdout
    assert "Exit codes" in done.stdout
    assert imported(done.stderr).isdisjoint(HEAVY)


def test_completing_a_command_imports_nothing_heavy() -> None:
    done = foretide(_FORETIDE_COMPLETE="bash_complete", COMP_WORDS="foretide e", COMP_CWORD="1")
    assert done.stdout.split() == ["plain,explain"]
    assert imported(done.stderr).isdisjoint(HEAVY)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_entry_is_a_command_with_help_and_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Examples:" in text
    assert f"foretide {name}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_s_help_needs_nothing_heavy(name: str) -> None:
    done = foretide(name, "--help")
    assert done.returncode == 0
    assert imported(done.stderr).isdisjoint(HEAVY)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("foretide ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(shell: str) -> None:
    script = completion_script(shell)
    assert "_FORETIDE_COMPLETE" in script
    assert "foretide" in script


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("simu", ["simulate"]), ("completion f", ["fish"]), ("plan --hor", ["--horizon"])],
)
def test_bash_completes(tmp_path: Path, typed: str, completed: list[str]) -> None:
    program = tmp_path / "foretide"
    program.write_text(
        f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m autoscaler.cli.main "$@"\n'
    )
    program.chmod(0o755)
    script = tmp_path / "complete.bash"
    script.write_text(completion_script("bash"))
    words = typed.split()
    done = subprocess.run(
        [
            *("bash", "-c"),
            f'source "{script}"; COMP_WORDS=(foretide {typed}); COMP_CWORD={len(words)}; '
            "_foretide_completion foretide; printf '%s\\n' \"${COMPREPLY[@]}\"",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.stderr == ""
    assert done.stdout.split() == completed


def test_an_unknown_command_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["plam"]) == 2
    assert "Did you mean 'plan'?" in capsys.readouterr().err


def test_no_argument_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Start here" in capsys.readouterr().err


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> dict[str, BaseException | int | None]:
    """A command `ending` that ends as the test says."""
    how: dict[str, BaseException | int | None] = {}

    @click.command
    def command() -> int | None:
        end = how["as"]
        if isinstance(end, BaseException):
            raise end
        return end

    monkeypatch.setitem(COMMANDS, "ending", Entry("Test", "End."))
    monkeypatch.setitem(sys.modules, "autoscaler.cli.ending", command_module(command))
    return how


def command_module(command: click.Command) -> object:
    class Module:
        pass

    module = Module()
    module.command = command  # type: ignore[attr-defined] # stands in for a module
    return module


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        (None, 0, ""),
        (3, 3, ""),
        (PolicyError("policy.yaml:3:5: spec: unknown"), 2, "Error: policy.yaml:3:5: spec: unknown"),
        (ForetideError("it broke"), 1, "Error: it broke"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (click.UsageError("no such thing"), 2, "no such thing"),
    ],
)
def test_each_ending_has_its_code(
    ending: dict[str, BaseException | int | None],
    end: BaseException | int | None,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending["as"] = end
    assert run(["ending"]) == code
    written = capsys.readouterr().err
    assert said in written
    assert "Traceback" not in written


def test_a_bug_is_not_hidden(ending: dict[str, BaseException | int | None]) -> None:
    ending["as"] = ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        run(["ending"])


def test_the_group_is_what_the_console_script_runs() -> None:
    assert main.cli is cli
