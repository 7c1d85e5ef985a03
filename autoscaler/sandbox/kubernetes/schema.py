"""Structural schemas of custom resources: pruning, defaults and validation, as far as we use them.

Not here: CEL rules (`x-kubernetes-validations`) and formats. What the real API server makes of the
whole schema is asked in the lab.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.sandbox.kubernetes.answers import Cause

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_KEEP = "x-kubernetes-preserve-unknown-fields"


class Schema:
    """One openAPIV3Schema of a custom resource."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def unknown(self, document: Json) -> list[str]:
        """Paths of fields that the schema does not name (what strict validation refuses)."""
        found: list[str] = []
        for key in document.keys() - {"apiVersion", "kind", "metadata"}:
            known = (self._root.get("properties") or {}).get(key)
            if known is not None:
                _prune(copy.deepcopy(document[key]), known, key, found)
            elif not self._root.get(_KEEP):
                found.append(key)
        return sorted(found)

    def settle(self, document: Json) -> None:
        """Drop unknown fields and fill in defaults, in place."""
        for key in document.keys() - {"apiVersion", "kind", "metadata"}:
            known = (self._root.get("properties") or {}).get(key)
            if known is not None:
                _prune(document[key], known, key, [])
            elif not self._root.get(_KEEP):
                del document[key]
        _fill(document, self._root)

    def validate(self, document: Json) -> list[Cause]:
        """Say what is wrong, field by field, in the order of the schema."""
        causes: list[Cause] = []
        _check(document, self._root, "", causes)
        return causes


def _prune(value: Any, schema: Mapping[str, Any], path: str, found: list[str]) -> None:
    if isinstance(value, list):
        for i, item in enumerate(value):
            _prune(item, schema.get("items") or {}, f"{path}[{i}]", found)
        return
    if not isinstance(value, dict) or schema.get(_KEEP):
        return
    properties = schema.get("properties") or {}
    rest = schema.get("additionalProperties")
    for key in list(value):
        if key in properties:
            _prune(value[key], properties[key], f"{path}.{key}", found)
        elif isinstance(rest, Mapping):
            _prune(value[key], rest, f"{path}.{key}", found)
        elif not rest:
            found.append(f"{path}.{key}")
            del value[key]


def _fill(value: Any, schema: Mapping[str, Any]) -> None:
    if isinstance(value, list):
        for item in value:
            _fill(item, schema.get("items") or {})
        return
    if not isinstance(value, dict):
        return
    for key, inner in (schema.get("properties") or {}).items():
        if key not in value and "default" in inner:
            value[key] = copy.deepcopy(inner["default"])
        if key in value:
            _fill(value[key], inner)


def _check(value: Any, schema: Mapping[str, Any], path: str, causes: list[Cause]) -> None:
    wanted = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        wanted = None
    if value is None and schema.get("nullable"):
        return
    if wanted and not _is(value, wanted):
        name = f'"{_type_name(value)}"'
        text = f"Invalid value: {name}: {path or '<root>'} in body must be of type {wanted}: {name}"
        causes.append(("FieldValueTypeInvalid", text, path))
        return
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(f'"{item}"' for item in schema["enum"])
        text = f'Unsupported value: "{value}": supported values: {allowed}'
        causes.append(("FieldValueNotSupported", text, path))
    _check_bounds(value, schema, path, causes)
    if isinstance(value, dict):
        _check_object(value, schema, path, causes)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _check(item, schema.get("items") or {}, f"{path}[{i}]", causes)
    _check_choices(value, schema, path, causes)


def _check_object(value: Json, schema: Mapping[str, Any], path: str, causes: list[Cause]) -> None:
    properties = schema.get("properties") or {}
    missing = (key for key in schema.get("required") or () if key not in value)
    causes += [("FieldValueRequired", "Required value", _join(path, key)) for key in missing]
    rest = schema.get("additionalProperties")
    for key, inner in value.items():
        if path or key not in ("metadata", "apiVersion", "kind"):
            child = properties.get(key) or (rest if isinstance(rest, Mapping) else {})
            _check(inner, child, _join(path, key), causes)


def _check_bounds(value: Any, schema: Mapping[str, Any], path: str, causes: list[Cause]) -> None:
    """Check numbers, lengths and patterns."""
    problems = []
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and (value < low or (schema.get("exclusiveMinimum") and value == low)):
            problems.append(
                f"greater than {low}"
                if schema.get("exclusiveMinimum")
                else f"greater than or equal to {low}"
            )
        if high is not None and value > high:
            problems.append(f"less than or equal to {high}")
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            text = f"Invalid value: \"{value}\": {path} in body should match '{schema['pattern']}'"
            causes.append(("FieldValueInvalid", text, path))
        if len(value) < schema.get("minLength", 0):
            problems.append(f"at least {schema['minLength']} chars long")
    for problem in problems:
        text = f"Invalid value: {value}: {path} in body should be {problem}"
        causes.append(("FieldValueInvalid", text, path))


def _check_choices(value: Any, schema: Mapping[str, Any], path: str, causes: list[Cause]) -> None:
    """Check oneOf and anyOf: how many alternatives the value satisfies."""
    for word in ("oneOf", "anyOf"):
        options = schema.get(word)
        if not options or schema.get("x-kubernetes-int-or-string"):
            continue
        good = 0
        for option in options:
            wrong: list[Cause] = []
            _check(value, option, path, wrong)
            negated = option.get("not")
            if negated is not None:
                unwanted: list[Cause] = []
                _check(value, negated, path, unwanted)
                good += not wrong and bool(unwanted)
            else:
                good += not wrong
        if good == 0 or (word == "oneOf" and good > 1):
            text = f'Invalid value: "": "{path}" must validate one and only one schema ({word})'
            causes.append(("FieldValueInvalid", text, path))


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[wanted])


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return next((name for name, types in _TYPES.items() if isinstance(value, types)), "null")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
