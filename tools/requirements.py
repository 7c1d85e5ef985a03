"""Do pyproject.toml and the pinned requirements agree? Exit code 1 and every difference if not.

A dependency added to pyproject without `make lock` would otherwise be missing only on a fresh
machine. Also refuses what must never be in those files: an index URL, a pin without a hash.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# which dependency groups each file holds, besides the dependencies of the package
FILES: dict[str, tuple[str, ...]] = {
    "run": (),
    "build": ("build",),
    "test": ("test",),
    "lint": ("lint",),
    "browser": ("browser",),
    "lock": ("lock",),
    "go": ("go",),
}
# files that hold a group alone, without the dependencies of the package
ALONE = {"build", "lock", "go"}


def group(groups: dict[str, list[str | dict[str, str]]], name: str) -> list[str]:
    """List what a dependency group asks for, with the groups that it includes."""
    found: list[str] = []
    for item in groups[name]:
        found += [item] if isinstance(item, str) else group(groups, item["include-group"])
    return found


def pins(text: str) -> dict[str, list[str]]:
    """Pinned versions by normalised name; several where Python versions differ."""
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", text, flags=re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


def differences(name: str, wanted: list[str], text: str) -> list[str]:
    """Every way in which one requirements file does not hold what pyproject asks for."""
    where = f"requirements/{name}.txt"
    faults = [f"{where}: an address: {line}" for line in text.splitlines() if "://" in line]
    pinned = pins(text)
    faults += [
        f"{where}: no hash: {line}"
        for line in re.split(r"\n(?=\S)", text)
        if "==" in line and "--hash=sha256:" not in line
    ]
    for item in wanted:
        requirement = Requirement(item)
        versions = pinned.get(canonicalize_name(requirement.name))
        if versions is None:
            faults.append(f"{where}: {requirement.name} of pyproject.toml is not pinned")
            continue
        faults += [
            f"{where}: {requirement.name} {version} is not {requirement.specifier}"
            for version in versions
            if not requirement.specifier.contains(version, prereleases=True)
        ]
    return faults


def main() -> int:
    """Compare every file; return the exit code."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    faults: list[str] = []
    for name, names in FILES.items():
        wanted = [] if name in ALONE else list(project["project"]["dependencies"])
        for each in names:
            wanted += group(project["dependency-groups"], each)
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        faults += differences(name, wanted, text)
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    if faults:
        sys.stderr.write("run `make lock` and commit requirements/\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
