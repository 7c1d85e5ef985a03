"""`python -m tools.generate` writes every generated file; `--check` only compares, and fails.

A generated file is one entry in `FILES`: its path, and the function that gives its whole text.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable
from pathlib import Path

from tools.generate import (
    command_line,
    configuration,
    crd,
    json_schema,
    metrics_reference,
    policy_reference,
    reasons_reference,
)

ROOT = Path(__file__).resolve().parents[2]

FILES: dict[str, Callable[[], str]] = {
    "deploy/crd.yaml": crd.text,
    "policies/schema.json": json_schema.text,
    "policies/README.md": policy_reference.text,
    "docs/reference/configuration.md": configuration.text,
    "docs/reference/metrics.md": metrics_reference.text,
    "docs/reference/reasons.md": reasons_reference.text,
    "docs/reference/command-line.md": command_line.text,
}


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write or compare all files; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; fail on a difference")
    check = parser.parse_args(arguments).check
    stale = [name for name, make in FILES.items() if not _settle(root / name, make(), check)]
    for name in stale:
        print(f"{name} is not what the code says; run: python -m tools.generate", file=sys.stderr)
    return 1 if stale else 0


def _settle(path: Path, wanted: str, check: bool) -> bool:
    """Bring one file to the wanted text; False when it differs and may only be compared."""
    present = path.read_text(encoding="utf-8") if path.exists() else ""
    if present == wanted:
        return True
    if check:
        lines = difflib.unified_diff(present.splitlines(), wanted.splitlines(), lineterm="", n=1)
        print("\n".join(list(lines)[:40]))
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(wanted, encoding="utf-8")
    print(f"wrote {path}")
    return True


if __name__ == "__main__":
    sys.exit(main())
