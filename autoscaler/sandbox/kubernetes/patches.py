"""JSON Patch (RFC 6902: add, remove, replace, test) and merge patch (RFC 7396) on documents."""

from __future__ import annotations

import copy
from typing import Any

from autoscaler.sandbox.kubernetes.answers import bad_request, patch_failed


def json_patch(document: Any, operations: Any) -> Any:
    """Document after all operations; the given one stays as it is.

    Raises
    ------
    Refused
        422 without details when a test fails or a path is not there; 400 when it is no patch.
    """
    if not isinstance(operations, list):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp"
        )
    result = copy.deepcopy(document)
    for operation in operations:
        _apply(result, operation)
    return result


def _apply(document: Any, operation: Any) -> None:
    """Apply one operation in place."""
    kind = operation.get("op")
    parent, key = _resolve(document, operation.get("path", ""))
    if kind == "add":
        if isinstance(parent, list):
            parent.insert(
                len(parent) if key == "-" else _index(key, len(parent)), _value(operation)
            )
        else:
            parent[key] = _value(operation)
        return
    present = _present(parent, key)
    if kind == "remove":
        del parent[present]
    elif kind == "replace":
        parent[present] = _value(operation)
    elif kind != "test" or not same(parent[present], operation.get("value")):
        raise patch_failed()


def _resolve(document: Any, path: str) -> tuple[Any, str]:
    """Container and last token of a JSON pointer."""
    if not path.startswith("/"):
        raise patch_failed()
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in path[1:].split("/")]
    for token in tokens[:-1]:
        document = document[_present(document, token)]
    if not isinstance(document, dict | list):
        raise patch_failed()
    return document, tokens[-1]


def _present(container: Any, token: str) -> Any:
    """Key or index of something that is there."""
    if isinstance(container, dict) and token in container:
        return token
    if isinstance(container, list):
        return _index(token, len(container) - 1)
    raise patch_failed()


def _index(token: str, last: int) -> int:
    if not token.isdigit() or int(token) > last:
        raise patch_failed()
    return int(token)


def _value(operation: Any) -> Any:
    if "value" not in operation:
        raise patch_failed()
    return copy.deepcopy(operation["value"])


def same(left: Any, right: Any) -> bool:
    """Equality of JSON: `1` is not `true`, unlike in Python."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def merge_patch(document: Any, patch: Any) -> Any:
    """Document after a merge patch: null removes, objects merge, anything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result
