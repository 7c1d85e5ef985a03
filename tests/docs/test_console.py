"""Console blocks of the documents do what they show, in order, for somebody who follows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.newcomer import missing, newcomer
from tests.support.shared import ROOT

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^# (\S+\.yaml)\n")
FOLLOWED = [
    path
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
    if "```console\n$ foretide" in path.read_text()
]


def sessions(block: str) -> list[tuple[str, str]]:
    """Commands of a console block, each with what it is shown to print."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]


def test_there_is_something_to_follow():
    assert ROOT / "docs" / "tutorial" / "README.md" in FOLLOWED


@pytest.mark.slow  # real processes, one for each command
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", FOLLOWED, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_can_be_followed(path: Path, tmp_path: Path):
    with newcomer(tmp_path) as somebody:
        for match in FENCE.finditer(path.read_text()):
            language, text = match.groups()
            named = NAMED.match(text)
            if language == "yaml" and named:
                (tmp_path / named.group(1)).write_text(text)
            if language != "console":
                continue
            for command, shown in sessions(text):
                if not command.startswith("foretide "):
                    continue
                if command.startswith("foretide run"):
                    printed = somebody.watch(command, shown)
                else:
                    printed = somebody.run(command)
                assert missing(shown, printed) == "", f"$ {command}\n{printed}"


@pytest.mark.parametrize(
    ("shown", "printed", "found"),
    [
        ("floor 4\nneed 9\n", "floor 10\nneed 3\n", ""),
        ("floor 4\n", "need 10\nfloor 3\n", "floor N"),
        ("…\nfloor 4\n", "need 10\nfloor 3\n", ""),
        ("llm/a: floor … is needed\n", "llm/a: floor 3, which is needed\n", ""),
        ("floor 4\n…\nok\n", "floor 10\nmore\nnot\n", "ok"),
        ("at Mon 30 Nov 08:43 +0800\n", "at Tue 1 Dec 09:03 +0800\n", ""),
    ],
)
def test_comparing_sees_what_is_different(shown: str, printed: str, found: str):
    assert missing(shown, printed) == found
