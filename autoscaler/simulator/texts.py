"""YAML files that a simulation is given, as documents that know their lines."""

from __future__ import annotations

from pathlib import Path

from autoscaler.errors import InputError
from autoscaler.schema.documents import Document, UnreadableTextError, parse


def read_documents(path: Path) -> tuple[Document, ...]:
    """Parse all documents of a file.

    Raises
    ------
    InputError
        It cannot be read, or is no YAML.
    """
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnreadableTextError as error:
        raise InputError(str(error.problem)) from error
