"""What the documents show is true: links lead somewhere, examples load, commands exist.

A block of YAML is a policy, a configuration or a manifest; a line of a console block that starts
with `foretide` or `make` must be one that the program, or the Makefile, understands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from autoscaler.adapters.configuration import load_config
from autoscaler.adapters.policies.text import read_text
from autoscaler.cli.main import COMMANDS, cli
from tests.support.shared import ROOT

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "policies").glob("*.md")),
    *sorted((ROOT / "tests").rglob("README.md")),
    *sorted((ROOT / "deploy").rglob("*.md")),
    *sorted((ROOT / "simulations").rglob("*.md")),
]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)

# what surrounds a block that shows only a part of a policy's spec
SPEC = {
    "mode": "Observe",
    "targetRef": {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "name": "x"},
    "demand": {"preset": "vllm"},
    "capacity": {"perReplica": 1},
    "coldStart": {"duration": "5m"},
    "floor": {"min": 1},
}
WHOLE = {
    "apiVersion": "foretide.dev/v1alpha1",
    "kind": "TidePolicy",
    "metadata": {"name": "x", "namespace": "x"},
}


def blocks(*languages: str) -> Iterator[object]:
    """Code blocks in one of the languages, as test parameters named after their place."""
    for path in DOCUMENTS:
        text = path.read_text()
        for match in FENCE.finditer(text):
            if match.group(1) in languages:
                line = text.count("\n", 0, match.start()) + 1
                yield pytest.param(match.group(2), id=f"{path.relative_to(ROOT)}:{line}")


def commands() -> Iterator[object]:
    """Lines of console blocks that call a program of ours, continuation lines joined."""
    for block in blocks("console", "sh", "bash", "shell"):
        text = block.values[0].replace("\\\n", " ")
        for number, line in enumerate(text.splitlines()):
            called = line.strip().removeprefix("$ ").partition(" | ")[0]
            if called.startswith(("foretide ", "make ")):
                yield pytest.param(called, id=f"{block.id}+{number}")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path):
    prose = FENCE.sub("", path.read_text())
    links = re.findall(r"\]\(([^)\s]+)\)", prose)
    local = [link.partition("#")[0] for link in links if "://" not in link]
    assert [link for link in local if link and not (path.parent / link).exists()] == []


@pytest.mark.parametrize("text", list(blocks("yaml")))
def test_a_block_of_yaml_is_what_it_says(text: str, tmp_path: Path):
    documents = list(yaml.safe_load_all(text))
    if any(isinstance(each, dict) and each.get("kind") == "TidePolicy" for each in documents):
        reading = read_text(text.encode(), "block.yaml")
        # a file called wrong.yaml shows what is said about mistakes
        assert bool(reading.problems) == text.startswith("# wrong.yaml"), reading.problems
        return
    keys = {key for each in documents if isinstance(each, dict) for key in each}
    if keys & {"kind", "groups"}:
        return  # a manifest of Kubernetes or of others; rules of Prometheus
    if keys <= SPEC.keys() | {"events", "release", "promise", "timeZone", "calendar", "recurring"}:
        whole = {**WHOLE, "spec": {**SPEC, **documents[0]}}
        assert read_text(yaml.safe_dump(whole).encode(), "block.yaml").problems == ()
        return
    file = tmp_path / "config.yaml"
    file.write_text(text)
    load_config(file, {}, {})


@pytest.mark.parametrize("line", list(commands()))
def test_a_command_shown_is_understood(line: str):
    program, *arguments = shlex.split(line, comments=True)
    if program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
        asked = [each for each in arguments if "=" not in each and not each.startswith("-")]
        assert set(asked) <= set(targets)
        return
    understood(cli, arguments)


def understood(group: click.Group, arguments: list[str]) -> None:
    """Parse a command line without running it; files that it names need not exist."""
    if arguments[0] in ("--version", "--help"):
        return
    assert arguments[0] in COMMANDS
    context = click.Context(group, **group.context_settings)
    command = group.get_command(context, arguments[0])
    assert command is not None
    if "--help" in arguments:
        return
    if isinstance(command, click.Group):
        subcommand = command.get_command(context, arguments[1])
        assert subcommand is not None
        command, arguments = subcommand, arguments[1:]
    with click.Context(command, info_name=arguments[0], parent=context) as parsing:
        parsing.resilient_parsing = True
        command.parse_args(parsing, list(arguments[1:]))
        unknown = [each for each in arguments[1:] if each.startswith("--")]
    known = {name for parameter in command.params for name in parameter.opts}
    assert {each.partition("=")[0] for each in unknown} <= known
