"""Modules and functions stay small; one that is long says why, where it stands.

A long function has a comment `# long: why` on its `def` line or on the line above, or `(long: why)`
in its docstring; a long module says in its docstring that it is long, and why. A reason that is no
longer needed goes, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("autoscaler", "benchmarks", "tests", "tools")
MODULE, FUNCTION, DECIDE = 350, 40, 60  # lines
REASON = re.compile(r"[#(] ?long: \w")


def modules() -> list[Path]:
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def long_ones(text: str, name: str) -> Iterator[tuple[str, bool]]:
    """What is longer than it should be in a module, and whether it says why."""
    lines = text.splitlines()
    tree = ast.parse(text)
    if len(lines) > MODULE:
        said = re.search(r"\blong\b", ast.get_docstring(tree) or "") is not None
        yield f"{name}: {len(lines)} lines", said
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            above = lines[first - 2] if first > 1 else ""
            beside = [lines[node.lineno - 1], above, ast.get_docstring(node) or ""]
            said = any(REASON.search(line) for line in beside)
            if length > FUNCTION:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines", said
            elif said:
                yield f"{name}:{node.lineno}: {node.name} is not long any more", False


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_long_says_why(room: str):
    found = [
        what
        for path in modules()
        if path.relative_to(ROOT).parts[0] == room
        for what, said in long_ones(path.read_text(), str(path.relative_to(ROOT)))
        if not said
    ]
    assert not found, "\n".join(found)


def test_the_decision_fits_on_a_page():
    tree = ast.parse((ROOT / "autoscaler" / "decide.py").read_text())
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "decide"]
    assert [(n.end_lineno or 0) - n.lineno + 1 <= DECIDE for n in found] == [True]


def body(count: int) -> str:
    return "\n".join(f"    x = {i}" for i in range(count - 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"def f():\n{body(40)}\n", []),
        (f"def f():\n{body(41)}\n", [("m:1: f has 41 lines", False)]),
        (f"def f():  # long: a table\n{body(41)}\n", [("m:1: f has 41 lines", True)]),
        (f"# long: a table\n@g\ndef f():\n{body(41)}\n", [("m:3: f has 41 lines", True)]),
        (f'def f():\n    """Do (long: a table)."""\n{body(40)}\n', [("m:1: f has 41 lines", True)]),
        (f"# long:\ndef f():\n{body(41)}\n", [("m:2: f has 41 lines", False)]),
        ("# long: a table\ndef f():\n    x = 1\n", [("m:2: f is not long any more", False)]),
        ("x = 1\n" * 350, []),
        ("x = 1\n" * 351, [("m: 351 lines", False)]),
        ('"""One file, although it is long."""\n' + "x = 1\n" * 350, [("m: 351 lines", True)]),
    ],
)
def test_a_reason_is_asked_for_what_is_long_only(text: str, expected: list[tuple[str, bool]]):
    assert list(long_ones(text, "m")) == expected
