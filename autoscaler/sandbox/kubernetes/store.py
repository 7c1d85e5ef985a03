"""The objects of the sandbox cluster: versions, conflicts, subresources, and who wrote what.

One lock around everything: an API server serialises writes of one object in etcd, and this one
is not asked often enough for more.
"""

from __future__ import annotations

import base64
import copy
import json
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from autoscaler.adapters.kubernetes.resources import Json
from autoscaler.sandbox.kubernetes import answers, ownership
from autoscaler.sandbox.kubernetes.kinds import BUILT_IN, CRDS, Kind, custom

Key = tuple[str, str, str]  # plural.group, namespace, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Who asks: the field manager and the authenticated user."""

    manager: str
    user: str = "sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write that was tried.

    Attributes
    ----------
    at : seconds of the sandbox's clock
    status : HTTP status it was answered with
    before, after : the object around it, None where there was none
    """

    at: float
    who: Who
    verb: str
    kind: str
    namespace: str
    name: str
    subresource: str
    status: int
    before: Json | None
    after: Json | None


def rfc3339(seconds: float) -> str:
    """Timestamp as the API server writes it, whole seconds in UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """Objects by kind, namespace and name.

    Parameters
    ----------
    clock : callable
        POSIX seconds; simulated time is welcome.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.audit: list[Write] = []
        self.lock = threading.RLock()
        self._clock = clock
        self._version = 0
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        self._objects: dict[Key, Json] = {}
        self._owners: dict[Key, list[ownership.Entry]] = {}
        for kind in BUILT_IN:
            self._install(kind)

    def kind(self, group: str, version: str, plural: str) -> Kind | None:
        """Kind that is served under these names."""
        return self._kinds.get((group, version, plural))

    def kind_of(self, document: Json) -> Kind:
        """Kind of a whole document.

        Raises
        ------
        KeyError
            The sandbox does not serve it.
        """
        wanted = document["apiVersion"], document["kind"]
        for kind in self._kinds.values():
            if (kind.resource.api_version, kind.resource.kind) == wanted:
                return kind
        raise KeyError(f"the sandbox serves no {wanted[1]} of {wanted[0]}")

    def get(self, kind: Kind, namespace: str, name: str) -> Json:
        """Copy of one object."""
        with self.lock:
            found = self._objects.get(_key(kind, namespace, name))
            if found is None:
                raise answers.not_found(kind.resource, name)
            return copy.deepcopy(found)

    def page(self, kind: Kind, namespace: str, limit: int, token: str) -> tuple[list[Json], Json]:
        """Objects in order of namespace and name, and the list's metadata."""
        start = _decode_token(token)
        with self.lock:
            group = _key(kind, "", "")[0]
            keys = sorted(k for k in self._objects if k[0] == group and namespace in ("", k[1]))
            rest = [k for k in keys if (k[1], k[2]) > start] if token else keys
            chosen = rest[:limit] if limit else rest
            items = [copy.deepcopy(self._objects[k]) for k in chosen]
            metadata: Json = {"resourceVersion": str(self._version)}
        if len(rest) > len(chosen):
            metadata["continue"] = _encode_token(chosen[-1][1], chosen[-1][2])
            metadata["remainingItemCount"] = len(rest) - len(chosen)
        return items, metadata

    def create(self, kind: Kind, namespace: str, document: Json, who: Who) -> Json:
        """Store a new object."""
        metadata = dict(document.get("metadata") or {})
        name = metadata.get("name") or ""
        if not name and metadata.get("generateName"):
            name = metadata["name"] = metadata["generateName"] + uuid.uuid4().hex[:5]
        with self.lock:
            if namespace and self._namespace_is_missing(namespace):
                raise answers.not_found(self._kinds["", "v1", "namespaces"].resource, namespace)
            if _key(kind, namespace, name) in self._objects:
                raise answers.exists(kind.resource, name)
            metadata.pop("resourceVersion", None)
            metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": rfc3339(self._clock())}
            if namespace:
                metadata["namespace"] = namespace
            new = {**document, "metadata": metadata}
            if kind.status:
                new.pop("status", None)
            return self._store(kind, None, new, who, "create")

    def change(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        make: Callable[[Json], Json],
        who: Who,
        *,
        verb: str = "patch",
        subresource: str = "",
    ) -> Json:
        """Store what `make` turns the present object into, under the lock.

        Of the result only what `subresource` covers is taken. A resourceVersion in it that is not
        the present one is a conflict.
        """
        with self.lock:
            before = self.get(kind, namespace, name)
            wanted = make(copy.deepcopy(before))
            version = (wanted.get("metadata") or {}).get("resourceVersion")
            if version is None and kind.guarded and verb == "update":
                text = "Invalid value: 0: must be specified for an update"
                cause = ("FieldValueInvalid", text, "metadata.resourceVersion")
                raise answers.invalid(kind.resource, name, [cause])
            if version not in (None, before["metadata"]["resourceVersion"]):
                raise answers.stale(kind.resource, name)
            if subresource == "status":
                metadata = dict(before["metadata"])
                after = {**before, "metadata": metadata, "status": wanted.get("status", {})}
            else:
                after = {**wanted, "metadata": _keep_identity(before, wanted)}
                if kind.status:
                    after.pop("status", None)
                    after |= {"status": before["status"]} if "status" in before else {}
            return self._store(kind, before, after, who, verb, subresource)

    def delete(self, kind: Kind, namespace: str, name: str, who: Who) -> Json:
        """Remove an object and return it."""
        with self.lock:
            before = self.get(kind, namespace, name)
            del self._objects[_key(kind, namespace, name)]
            self._owners.pop(_key(kind, namespace, name), None)
            self._version += 1
            self.note(kind, (namespace, name, ""), who, "delete", 200, (before, None))
            return before

    def note(
        self,
        kind: Kind,
        at: tuple[str, str, str],
        who: Who,
        verb: str,
        status: int,
        states: tuple[Json | None, Json | None] = (None, None),
    ) -> None:
        """Add one line to the audit: `at` is namespace, name, subresource; `states` around it."""
        self.audit.append(
            Write(
                at=self._clock(),
                who=who,
                verb=verb,
                kind=kind.resource.kind,
                namespace=at[0],
                name=at[1],
                subresource=at[2],
                status=status,
                before=states[0],
                after=states[1],
            )
        )

    def _store(
        self,
        kind: Kind,
        before: Json | None,
        after: Json,
        who: Who,
        verb: str,
        subresource: str = "",
    ) -> Json:
        """Default, validate, count and keep; an update that changes nothing keeps its version."""
        metadata = after["metadata"]
        after["apiVersion"], after["kind"] = kind.resource.api_version, kind.resource.kind
        kind.default(after)
        if kind.schema is not None:
            kind.schema.settle(after)
        causes = kind.schema.validate(after) if kind.schema is not None else kind.validate(after)
        if causes:
            raise answers.invalid(kind.resource, metadata["name"], causes)
        at = metadata.get("namespace", ""), metadata["name"], subresource
        key = _key(kind, *at[:2])
        if before is not None and _content(before) == _content(after):
            self.note(kind, at, who, verb, 200, (before, before))
            return before
        self._version += 1
        if kind.counted:
            moved = before is None or before.get("spec") != after.get("spec")
            metadata["generation"] = int(metadata.get("generation") or 0) + moved
        metadata["resourceVersion"] = str(self._version)
        entry = ownership.Entry(who.manager, subresource, rfc3339(self._clock()))
        owners = ownership.take(self._owners.get(key, []), before or {}, after, entry)
        self._owners[key] = owners
        metadata["managedFields"] = ownership.render(owners, kind.resource.api_version)
        self._objects[key] = after
        if kind.resource == CRDS:
            for served in custom(after):
                self._install(served)
        result = copy.deepcopy(after)
        self.note(kind, at, who, verb, 201 if before is None else 200, (before, result))
        return result

    def _install(self, kind: Kind) -> None:
        resource = kind.resource
        self._kinds[resource.group, resource.version, resource.plural] = kind

    def _namespace_is_missing(self, namespace: str) -> bool:
        return ("namespaces.", "", namespace) not in self._objects


def _key(kind: Kind, namespace: str, name: str) -> Key:
    return f"{kind.resource.plural}.{kind.resource.group}", namespace, name


def _keep_identity(before: Json, wanted: Json) -> Json:
    """Metadata that a write asked for, with what no write can change."""
    fixed = ("name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion")
    kept = {k: before["metadata"][k] for k in fixed if k in before["metadata"]}
    asked = {
        k: v
        for k, v in (wanted.get("metadata") or {}).items()
        if k not in fixed and not (k in ("annotations", "labels") and not v)
    }
    return {**kept, **asked}


def _content(document: Json) -> Json:
    """Document without what every write changes."""
    volatile = ("resourceVersion", "managedFields")
    metadata = {k: v for k, v in document["metadata"].items() if k not in volatile}
    return {**document, "metadata": metadata}


def _encode_token(namespace: str, name: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([namespace, name]).encode()).decode()


def _decode_token(token: str) -> tuple[str, str]:
    if not token:
        return "", ""
    try:
        place: Any = json.loads(base64.urlsafe_b64decode(token))
        return str(place[0]), str(place[1])
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise answers.bad_request(f"invalid continue token: {error}") from error
