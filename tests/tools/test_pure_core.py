"""The core reaches no network, disk or clock: it imports nothing that could.

Who may import whom inside the package is import-linter's; this is about the standard library and
what is installed. (Clock calls by name are banned by ruff.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "autoscaler"
CORE = (
    *("errors", "model", "schema", "policy", "dates", "reactive", "demand", "forecast", "capacity"),
    *("plan", "guard", "remember", "replay", "decide", "tune", "ports", "cycle"),
)
ALLOWED = {
    # the standard library's pure parts, and the log of a fit
    *("__future__", "collections", "contextlib", "dataclasses", "datetime", "decimal", "enum"),
    *("functools", "itertools", "logging", "math", "operator", "re", "typing", "types"),
    *("array", "bisect", "difflib", "statistics", "warnings", "zoneinfo"),
    *("numpy", "scipy", "statsmodels", "pydantic", "pydantic_core", "annotated_types", "yaml"),
    *("holidays", "importlib"),  # days as data, and which version of them: part of the knowledge
    "autoscaler",
}


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level names of all imports, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def files(module: str) -> list[Path]:
    folder = PACKAGE / module
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


@pytest.mark.parametrize("module", CORE)
def test_a_core_module_imports_nothing_that_reaches_out(module: str):
    for path in files(module):
        tree = ast.parse(path.read_text())
        assert set(imported(tree)) <= ALLOWED, path
        opened = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"open", "print", "input", "exec", "eval"}
        ]
        assert not opened, f"{path}: {opened}"
