"""Files that a command leaves behind: the same three for every answer, and errors in words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from autoscaler.cli.options import json_text, say
from autoscaler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autoscaler.report import Report


@contextmanager
def writing(path: Path, option: str = "--out") -> Iterator[None]:
    """Say in words that a file, or a folder and what is in it, cannot be written."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        raise InputError(
            f"{option} {path}: {where} cannot be written: {error.strerror or error}"
        ) from error


def write_answer(page: Report, document: object, out: Path, name: str) -> None:
    """Write an answer as page, picture and JSON into a folder, and say where.

    Parameters
    ----------
    name : of the files, without their endings
    """
    from autoscaler.report import write_html, write_png

    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        write_html(page, out / f"{name}.html")
        write_png(page, out / f"{name}.png")
        (out / f"{name}.json").write_text(json_text(document) + "\n", encoding="utf-8")
    say(f"Written: {out / f'{name}.html'}, {name}.png, {name}.json")
