"""What a schema takes in each place, in words: for messages about mistakes and for the reference.

Both are written by one function, so that what a message allows is what the documentation says.
"""

from __future__ import annotations

import enum
import types
from typing import Any, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel

from autoscaler.schema.fields import Allowed, DurationIn

Path = tuple[str | int, ...]
Marks = tuple[Any, ...]

_PLAIN = {int: "a whole number", float: "a number", bool: "true | false", str: "text"}


def describe(kind: Any, marks: Marks = ()) -> str:
    """Say in words what a field of that type takes.

    Parameters
    ----------
    kind : type as annotated
    marks : pydantic's metadata of the field
    """
    kind, marks = bare(kind, marks)
    for mark in marks:
        if isinstance(mark, Allowed):
            return mark.words
        if isinstance(mark, DurationIn):
            return f"a duration between {mark.least} and {mark.most}"
    words = _of_values(kind) or _of_containers(kind) or _PLAIN[kind]
    unit = {str: " characters", tuple: " entries", dict: " entries"}.get(get_origin(kind) or kind)
    return words + _bounds(marks, unit or "")


def values_of(kind: Any) -> tuple[str, ...]:
    """Return the values of a type that has only some, else ()."""
    kind, _ = bare(kind)
    if get_origin(kind) is Literal:
        return tuple(str(value) for value in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return tuple(str(member.value) for member in kind)
    return ()


def keys_of(model: type[BaseModel]) -> dict[str, Any]:
    """Fields of a section by the name that is written."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def at(model: type[BaseModel], path: Path) -> tuple[Any, Marks]:
    """Type and metadata of what the schema has at `path`, or of the section it is not in."""
    kind: Any = model
    marks: Marks = ()
    for part in path:
        kind, _ = bare(kind)
        if get_origin(kind) in {tuple, dict}:
            kind, marks = get_args(kind)[get_origin(kind) is dict], ()
        elif is_section(kind) and part in keys_of(kind):
            field = keys_of(kind)[str(part)]
            kind, marks = field.annotation, tuple(field.metadata)
    return bare(kind, marks)


def bare(kind: Any, marks: Marks = ()) -> tuple[Any, Marks]:
    """Take the type out of `Annotated` and of `X | None`, and keep what was noted on the way."""
    while True:
        if get_origin(kind) in {Union, types.UnionType}:
            kind = next(inner for inner in get_args(kind) if inner is not type(None))
        elif hasattr(kind, "__metadata__"):
            kind, marks = get_args(kind)[0], (*kind.__metadata__, *marks)
        else:
            return kind, marks


def entry(kind: Any) -> Any:
    """Section of which a list consists; the type itself where it is no list of sections."""
    inner = get_args(kind)[0] if get_origin(kind) is tuple else kind
    inner, _ = bare(inner)
    return inner if is_section(inner) else kind


def is_section(kind: Any) -> bool:
    """Whether the type is a part of the schema with keys of its own."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _of_values(kind: Any) -> str:
    return " | ".join(values_of(kind))


def _of_containers(kind: Any) -> str:
    if is_section(kind):
        return f"a section with {', '.join(keys_of(kind))}"
    if get_origin(kind) is tuple and values_of(get_args(kind)[0]):
        return f"a list of {' | '.join(values_of(get_args(kind)[0]))}"
    return {tuple: "a list", dict: "a mapping of text to text"}.get(get_origin(kind), "")


def _bounds(marks: Marks, unit: str) -> str:
    """Words for minimum and maximum, wherever pydantic keeps them."""
    words = []
    for mark in (inner for outer in marks for inner in getattr(outer, "metadata", [outer])):
        match mark:
            case annotated_types.Gt(gt=bound):
                words.append(f"above {_number(bound)}")
            case annotated_types.Ge(ge=bound):
                words.append(f"at least {_number(bound)}")
            case annotated_types.Le(le=bound):
                words.append(f"at most {_number(bound)}")
            case annotated_types.MinLen():
                words.append("not empty")
            case annotated_types.MaxLen(max_length=bound):
                words.append(f"at most {bound}{unit}")
            case _:
                pass
    return f" ({', '.join(words)})" if words else ""


def _number(bound: Any) -> str:
    """Write a bound without digits that say nothing."""
    return f"{bound:g}" if isinstance(bound, float) else str(bound)
