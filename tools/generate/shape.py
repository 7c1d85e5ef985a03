"""Pydantic's JSON Schema of the models, made plain: references resolved, no titles, no nulls.

Pydantic says "may be null" for a field that may be left out. Our documents know no null: a key is
there or it is not.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from autoscaler.schema.durations import format_duration
from autoscaler.schema.fields import DurationIn

_OURS = ("x-least", "x-most")


def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of a model, nested instead of by reference."""
    schema = model.model_json_schema(by_alias=True)
    result = _plain(schema, schema.get("$defs", {}))
    assert isinstance(result, dict)
    return result


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        # what stands beside the reference (the field's own words) goes before what it points to
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _plain({**definitions[name], **beside}, definitions)
    if "anyOf" in node:
        kinds = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
        assert len(kinds) == 1, "only `X | None` is known here"
        beside = {key: value for key, value in node.items() if key != "anyOf"}
        return _plain({**kinds[0], **beside}, definitions)
    result = {
        key: _properties(value, definitions) if key == "properties" else _plain(value, definitions)
        for key, value in node.items()
        if key not in {"$defs", "title", "default", *_OURS}
    }
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if isinstance(words := result.get("description"), str):
        default = node.get("default")
        if "x-least" in node and default is not None:
            default = format_duration(default)
        said = f" Default: {default}." if isinstance(default, str | int | float) else ""
        result["description"] = " ".join(words.split()) + said
    return result


def _properties(properties: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Make plain each property; a property may itself be called `title` or `default`."""
    return {name: _plain(inner, definitions) for name, inner in properties.items()}


def written(value: Any, marks: tuple[Any, ...] = ()) -> str:
    """Write a default as it would stand in a document; "" for "none"."""
    if value in (None, (), {}):
        return ""
    if any(isinstance(mark, DurationIn) for mark in marks):
        return format_duration(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(written(entry) for entry in value)
    return str(getattr(value, "value", value))
