"""managedFields: who wrote which field last, as the API server keeps it for updates.

Only what `Update` managers do (no server-side apply): a manager owns what it changed, and takes
it from everybody else. A list is one value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.sandbox.kubernetes.patches import same

Path = tuple[str, ...]
_UNOWNED = frozenset({"apiVersion", "kind"})
_OWNED_METADATA = frozenset({"annotations", "labels", "ownerReferences", "finalizers"})


@dataclass(slots=True)
class Entry:
    """What one manager owns, through the object itself or one subresource."""

    manager: str
    subresource: str
    time: str
    paths: set[Path] = field(default_factory=set)


def take(entries: list[Entry], before: Json, after: Json, entry: Entry) -> list[Entry]:
    """Entries after `entry.manager` turned `before` into `after` at `entry.time`."""
    old, new = leaves(before), leaves(after)
    changed = {path for path in new if path not in old or not same(old[path], new[path])}
    kept = []
    mine = entry
    for known in entries:
        if known.manager == entry.manager and known.subresource == entry.subresource:
            mine = Entry(known.manager, known.subresource, known.time, known.paths & new.keys())
            if changed - known.paths or known.paths - new.keys():
                mine.time = entry.time
        elif rest := (known.paths & new.keys()) - changed:
            kept.append(Entry(known.manager, known.subresource, known.time, rest))
    mine.paths = mine.paths | changed
    return [*kept, mine] if mine.paths else kept


def leaves(document: Json) -> dict[Path, Any]:
    """Every owned field of a document, by its path."""
    found: dict[Path, Any] = {}
    for key, value in document.items():
        if key == "metadata":
            owned = {k: v for k, v in value.items() if k in _OWNED_METADATA}
            _walk((key,), owned, found)
        elif key not in _UNOWNED:
            _walk((key,), value, found)
    return found


def _walk(path: Path, value: Any, found: dict[Path, Any]) -> None:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _walk((*path, key), inner, found)
    elif value is not None and not (len(path) == 1 and value == {}):
        found[path] = value


def render(entries: list[Entry], api_version: str) -> list[Json]:
    """Entries as `metadata.managedFields`."""
    return [
        {
            "manager": entry.manager,
            "operation": "Update",
            "apiVersion": api_version,
            "time": entry.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": _tree(entry.paths),
            **({"subresource": entry.subresource} if entry.subresource else {}),
        }
        for entry in entries
    ]


def _tree(paths: set[Path]) -> Json:
    tree: Json = {}
    for path in sorted(paths):
        node = tree
        for part in path:
            node = node.setdefault(f"f:{part}", {})
    return tree
