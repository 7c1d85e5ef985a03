"""Policies from files, directories and mounted ConfigMaps.

A mounted ConfigMap is a directory whose entries are links through `..data`, which the kubelet
swaps as one: it is resolved once for each reading, so that a reading never mixes two versions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from autoscaler.adapters.policies.text import Broken, Reading, listed, read_text, unique
from autoscaler.errors import ObservationError, PolicyError
from autoscaler.policy import TidePolicy
from autoscaler.ports import Listed
from autoscaler.schema.documents import MAX_BYTES, too_large
from autoscaler.schema.problems import Problem

NO_POLICY = "no TidePolicy in it (apiVersion: foretide.dev/v1alpha1, kind: TidePolicy)"
SUFFIXES = (".yaml", ".yml")


class FilePolicySource:
    """All policies of some files and directories, read anew for each question.

    A directory stands for its entries `*.yaml` and `*.yml`, without subdirectories.

    Parameters
    ----------
    paths : files or directories
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._paths = tuple(Path(path) for path in paths)
        self._known: dict[str, tuple[bytes, Reading]] = {}

    def list(self) -> Listed:
        """Every policy there is now.

        Raises
        ------
        ObservationError
            A path is gone or unreadable, or there is no policy at all: more likely a mistake in
            mounting than the wish to remove every policy.
        """
        reading = Reading()
        present: dict[str, tuple[bytes, Reading]] = {}
        try:
            for shown, path in _files(self._paths):
                raw = _limited(path)
                known = self._known.get(shown)
                if known is None or known[0] != raw:
                    known = (raw, _reading(raw, shown))
                present[shown] = known
                reading += known[1]
        except OSError as error:
            raise ObservationError(
                f"policies cannot be read: {error}", code="PoliciesUnreadable"
            ) from error
        self._known = present
        if not reading.found and not reading.broken:
            names = ", ".join(str(path) for path in self._paths)
            raise ObservationError(
                f"no policy in {names}: nothing is removed; to give floors back, "
                "delete policies one by one or use `foretide restore`",
                code="PoliciesEmpty",
            )
        return listed(unique(reading))


def read_paths(paths: Iterable[str | Path]) -> Reading:
    """Read everything at once, for a command: what cannot be read is a problem as well."""
    reading = Reading()
    try:
        for shown, path in _files([Path(path) for path in paths]):
            reading += _reading(_limited(path), shown)
    except OSError as error:
        where = str(error.filename or "")
        problem = Problem(where=where, found=f"cannot be read: {error.strerror or error}")
        reading += Reading(broken=(Broken(key="", where=where, problems=(problem,)),))
    return unique(reading)


def load(paths: Iterable[str | Path]) -> tuple[TidePolicy, ...]:
    """Policies of some files, or one error with everything that is wrong in them.

    Raises
    ------
    PolicyError
        One line for each problem; also when there is no policy at all.
    """
    paths = list(paths)
    reading = read_paths(paths)
    if reading.problems:
        raise PolicyError("\n".join(str(problem) for problem in reading.problems))
    if not reading.found:
        names = ", ".join(str(path) for path in paths)
        raise PolicyError("\n".join([*reading.skipped, f"{names}: {NO_POLICY}"]))
    return tuple(found.policy for found in reading.found)


def _files(paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Name to show and path to read of every file, directories in order of name."""
    for path in paths:
        if not path.is_dir():
            yield str(path), path
            continue
        inner = Path(os.path.realpath(path / "..data")) if (path / "..data").is_dir() else path
        for entry in sorted(inner.iterdir()):
            if entry.suffix in SUFFIXES and not entry.name.startswith(".") and entry.is_file():
                yield str(path / entry.name), entry


def _limited(path: Path) -> bytes:
    """Bytes of a file, at most one more than the limit; a size is given for those beyond it."""
    if path.exists() and not path.is_file():
        raise OSError(None, "not a regular file", str(path))
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _reading(raw: bytes, shown: str) -> Reading:
    """Read a file's bytes; a large one is refused with its true size."""
    if len(raw) > MAX_BYTES:
        problem = too_large(shown, Path(shown).stat().st_size)
        return Reading(broken=(Broken(key="", where=shown, problems=(problem,)),))
    return read_text(raw, shown)
