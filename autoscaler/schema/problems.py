"""What is wrong with what a person wrote: where, what was found, what is allowed, what is near.

Pydantic knows which rule was broken; this module knows how to say it to somebody who has never
heard of pydantic, and what the schema would have accepted in that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from autoscaler.schema import words
from autoscaler.schema.fields import DurationIn
from autoscaler.schema.words import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    found : what stands there, in words
    allowed : what could stand there
    path : where in the document, () for the whole
    where : `file:line:column`, the name of a variable, or "" when the path says it all
    near : the nearest valid name
    key : whether it is about the key rather than its value
    """

    found: str
    allowed: str = ""
    path: Path = ()
    where: str = ""
    near: str = ""
    key: bool = False

    def __str__(self) -> str:
        """`where: path: found; allowed; did you mean …?` without what is not known."""
        body = "; ".join(part for part in (self.found, self.allowed) if part)
        near = f"; did you mean {self.near}?" if self.near else ""
        return ": ".join(part for part in (self.where, dotted(self.path), body) if part) + near

    def position(self) -> tuple[int, ...]:
        """Line and column, to put problems of one text in its order."""
        return tuple(int(part) for part in self.where.rsplit(":", 2)[1:] if part.isdigit())


def dotted(path: Path) -> str:
    """Write a path as `spec.events[0].start`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def explain(error: ValidationError, model: type[BaseModel]) -> Iterator[Problem]:
    """Put a validation error of `model` into words, in the order of the schema."""
    for line in error.errors(include_url=False):
        raw: Path = line["loc"]
        key = bool(raw) and raw[-1] == "[key]"
        path = raw[:-1] if key else raw
        kind, found = line["type"], line["input"]
        if kind == "missing":
            takes = words.describe(*words.at(model, path))
            yield Problem(path=path, found="missing", allowed=f"required: {takes}")
        elif kind == "extra_forbidden":
            section, _ = words.at(model, path[:-1])
            names = words.keys_of(section)
            yield Problem(
                path=path,
                found="unknown key",
                allowed=f"allowed: {', '.join(names)}",
                near=nearest(str(path[-1]), [*names, *getattr(section, "foreign_keys", ())]),
                key=True,
            )
        elif kind == "refused":
            context = line["ctx"]
            yield Problem(
                path=path, **{**context, "near": context["near"] or _near(found, model, path)}
            )
        else:
            allowed = "a label name" if key else words.describe(*words.at(model, path))
            yield Problem(
                path=path,
                found=f"found {shown(found)}",
                allowed=f"allowed: {allowed}",
                near=_near(found, model, path),
                key=key,
            )


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the most similar of the names, or "" when none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415  # only on the way to an error

    lower = {name.lower(): name for name in names}
    found = get_close_matches(
        word.lower().replace("_", "").replace("-", ""), lower, n=1, cutoff=0.7
    )
    return lower[found[0]] if found else ""


def shown(value: Any) -> str:
    """Write a value as a person would have, shortened."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…" ({len(value)} characters)'
    if isinstance(value, dict):
        return "a mapping of keys"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return str(value)


def _near(found: Any, model: type[BaseModel], path: Path) -> str:
    """Return the nearest valid value, where only some values are valid."""
    kind, marks = words.at(model, path)
    if any(isinstance(mark, DurationIn) for mark in marks):
        whole = isinstance(found, int) and not isinstance(found, bool) and found > 0
        return f"{found}s" if whole else ""
    return nearest(found, words.values_of(kind)) if isinstance(found, str) else ""
