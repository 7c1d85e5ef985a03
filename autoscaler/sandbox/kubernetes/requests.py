"""From an HTTP request to an answer: routing, selectors, patches. No sockets here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from autoscaler.adapters.kubernetes.resources import ACCESS_REVIEWS, Json
from autoscaler.sandbox.kubernetes import answers
from autoscaler.sandbox.kubernetes.faults import Access, verb_of
from autoscaler.sandbox.kubernetes.kinds import Kind
from autoscaler.sandbox.kubernetes.patches import json_patch, merge_patch
from autoscaler.sandbox.kubernetes.store import Store, Who

_VERSION = {"major": "1", "minor": "37", "gitVersion": "v1.37.2-foretide-sandbox"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, with who sent it."""

    method: str
    path: str
    query: Mapping[str, str]
    content_type: str
    body: bytes
    user: str
    agent: str

    @classmethod
    def of(
        cls, method: str, target: str, headers: Mapping[str, str], body: bytes, user: str
    ) -> Request:
        """Build from what an HTTP server has in hand."""
        split = urlsplit(target)
        query = {k: v[-1] for k, v in parse_qs(split.query, keep_blank_values=True).items()}
        return cls(
            method=method,
            path=split.path,
            query=query,
            content_type=(headers.get("Content-Type") or "").split(";")[0].strip(),
            body=body,
            user=user,
            agent=(headers.get("User-Agent") or "unknown").split("/")[0],
        )

    @property
    def who(self) -> Who:
        """Writer: the field manager named, else the beginning of the user agent."""
        return Who(manager=self.query.get("fieldManager") or self.agent, user=self.user)

    def document(self) -> Any:
        """Body as JSON."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise answers.bad_request(f"error decoding body: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What a path points at."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(slots=True)
class Api:
    """The API over a store."""

    store: Store
    access: Access = field(default_factory=Access)

    def answer(self, request: Request) -> tuple[int, Json | str]:
        """Status and body of the answer."""
        if request.path == "/version":
            return 200, dict(_VERSION)
        if request.path in ("/readyz", "/healthz", "/livez"):
            return 200, "ok"
        if request.path == ACCESS_REVIEWS.path() and request.method == "POST":
            return 201, self.access.review(request.user, request.document())
        place = self._place(request.path)
        if place is None:
            return 404, "404 page not found\n"
        try:
            self._check_access(request, place)
            return self._serve(request, place)
        except answers.Refused as refusal:
            if request.method != "GET":
                self.store.note(
                    place.kind,
                    (place.namespace, place.name, place.subresource),
                    request.who,
                    verb_of(request.method, bool(place.name)),
                    refusal.status,
                )
            return refusal.status, refusal.body

    def _place(self, path: str) -> _Place | None:
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts[0] == "apis" and len(parts) >= 4:
            group, version, rest = parts[1], parts[2], parts[3:]
        elif parts[0] == "api" and len(parts) >= 3:
            group, version, rest = "", parts[1], parts[2:]
        else:
            return None
        namespace = ""
        if rest[0] == "namespaces" and len(rest) >= 3 and rest[2] != "status":
            namespace, rest = rest[1], rest[2:]
        kind = self.store.kind(group, version, rest[0])
        if kind is None or len(rest) > 3 or (rest[2:] and rest[2:] != ["status"]):
            return None
        return _Place(
            kind=kind,
            namespace=namespace,
            name=rest[1] if len(rest) > 1 else "",
            subresource=rest[2] if len(rest) > 2 else "",
        )

    def _check_access(self, request: Request, place: _Place) -> None:
        verb = verb_of(request.method, bool(place.name))
        resource = place.kind.resource
        # a GET of a namespace is a request within it, as RBAC sees it
        scope = place.name if resource.plural == "namespaces" else place.namespace
        if not self.access.allows(request.user, verb, resource.plural, scope, place.subresource):
            raise answers.forbidden(resource, place.name, request.user, verb, place.namespace)

    def _serve(self, request: Request, place: _Place) -> tuple[int, Json]:
        store, kind = self.store, place.kind
        if request.method == "GET":
            if place.name:
                return 200, store.get(kind, place.namespace, place.name)
            return 200, self._list(request, place)
        if request.method == "POST":
            document = request.document()
            self._check_strict(request, kind, document)
            return 201, store.create(kind, place.namespace, document, request.who)
        if request.method == "DELETE":
            gone = store.delete(kind, place.namespace, place.name, request.who)
            details = {"name": place.name, "uid": gone["metadata"]["uid"]}
            return 200, {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Success",
                "details": details,
            }
        return 200, self._change(request, place)

    def _change(self, request: Request, place: _Place) -> Json:
        """PUT and PATCH."""
        given = request.document()

        def make(before: Json) -> Json:
            if request.method == "PUT":
                wanted = given
            elif request.content_type == "application/json-patch+json":
                wanted = json_patch(before, given)
            elif request.content_type == "application/merge-patch+json":
                wanted = merge_patch(before, given)
            else:
                raise answers.unsupported_media_type()
            self._check_strict(request, place.kind, wanted)
            return dict(wanted)

        return self.store.change(
            place.kind,
            place.namespace,
            place.name,
            make,
            request.who,
            verb=verb_of(request.method, named=True),
            subresource=place.subresource,
        )

    def _check_strict(self, request: Request, kind: Kind, document: Json) -> None:
        """With fieldValidation=Strict an unknown field is refused instead of dropped."""
        if request.query.get("fieldValidation") != "Strict" or kind.schema is None:
            return
        unknown = kind.schema.unknown(document)
        if unknown:
            listed = ", ".join(f'unknown field "{path}"' for path in unknown)
            name, version = kind.resource.kind, kind.resource.version
            raise answers.bad_request(
                f'{name} in version "{version}" cannot be handled as a {name}: '
                f"strict decoding error: {listed}"
            )

    def _list(self, request: Request, place: _Place) -> Json:
        limit = int(request.query.get("limit") or 0)
        token = request.query.get("continue", "")
        items, metadata = self.store.page(place.kind, place.namespace, limit, token)
        labels = request.query.get("labelSelector", "")
        fields = request.query.get("fieldSelector", "")
        chosen = [i for i in items if _labelled(i, labels) and _fielded(i, fields)]
        return {
            "apiVersion": place.kind.resource.api_version,
            "kind": f"{place.kind.resource.kind}List",
            "metadata": metadata,
            "items": chosen,
        }


def _labelled(item: Json, selector: str) -> bool:
    """Whether labels satisfy `a=b,c!=d,e,!f`."""
    labels = item["metadata"].get("labels") or {}
    for term in filter(None, (part.strip() for part in selector.split(","))):
        if "!=" in term:
            key, value = term.split("!=", 1)
            good = labels.get(key) != value
        elif "=" in term:
            key, value = term.replace("==", "=").split("=", 1)
            good = labels.get(key) == value
        elif term.startswith("!"):
            good = term[1:] not in labels
        else:
            good = term in labels
        if not good:
            return False
    return True


def _fielded(item: Json, selector: str) -> bool:
    """Whether `metadata.name` and `metadata.namespace` are as selected."""
    for term in filter(None, selector.split(",")):
        path, value = term.replace("==", "=").split("=", 1)
        if path not in ("metadata.name", "metadata.namespace"):
            raise answers.bad_request(f"field label not supported: {path}")
        if item["metadata"].get(path.removeprefix("metadata.")) != value:
            return False
    return True
