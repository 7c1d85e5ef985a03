"""The one door to the API server: dicts in, dicts out, every call with an end.

`kubernetes` gives the transport (kubeconfig, TLS, auth plugins, connection pool); its typed models
are not used, since a typed read-modify-write drops the fields it does not know and importing them
costs seconds. Its own retries are off: urllib3 would repeat a PUT after a read timeout, and three
times the timeout is no timeout.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import urllib3
from kubernetes.client.api_client import ApiClient
from kubernetes.client.configuration import Configuration
from kubernetes.client.exceptions import ApiException

from autoscaler.adapters.kubernetes.problems import Expired, Unreachable, from_answer
from autoscaler.adapters.kubernetes.resources import ACCESS_REVIEWS, FIELD_MANAGER, Json, Resource

_JSON = "application/json"
_JSON_PATCH = "application/json-patch+json"
_MERGE_PATCH = "application/merge-patch+json"
Items = list[Json]  # named here, where `list` is not yet the method of a class


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long a call may take.

    Attributes
    ----------
    connect : seconds until the connection stands
    read : seconds of silence after which the answer is given up
    total : seconds for a whole paginated LIST
    """

    connect: float = 3.0
    read: float = 8.0
    total: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the API server says about something that we might do."""

    allowed: bool
    reason: str = ""


class Cluster:
    """An API server. Safe to share between threads.

    Parameters
    ----------
    configuration : Configuration
        Where it is and who we are (`access.connect` builds it).
    timeouts : Timeouts
        Ends of every call that names none of its own.
    clock : callable
        Monotonic seconds, for the deadline of a paginated LIST.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        timeouts: Timeouts | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        configuration.retries = urllib3.Retry(0)
        configuration.keep_alive = True
        self.timeouts = timeouts or Timeouts()
        self.server: str = configuration.host
        self.page = 500  # what kubectl asks for: bounds the memory of both sides
        self._clock = clock
        self._client = ApiClient(configuration)
        self._client.user_agent = "foretide"

    def close(self) -> None:
        """Close every pooled connection."""
        self._client.close()

    def get(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        timeouts: Timeouts | None = None,
    ) -> Json:
        """One object as it stands now."""
        return self._call("GET", resource.path(namespace, name), timeouts=timeouts)

    def list(self, resource: Resource, namespace: str | None = None, *, labels: str = "") -> Items:
        """Every object of a namespace, or of the cluster: paginated, with one deadline for all.

        A continuation that expired is answered by one unpaginated LIST, as client-go does.
        """
        path = resource.path(namespace)
        deadline = self._clock() + self.timeouts.total
        base: dict[str, Any] = {"labelSelector": labels} if labels else {}
        items: Items = []
        token = ""
        while True:
            query = {**base, "limit": self.page, **({"continue": token} if token else {})}
            try:
                page = self._call("GET", path, query)
            except Expired:
                return _items_of(self._call("GET", path, base), path)
            items += _items_of(page, path)
            token = (page.get("metadata") or {}).get("continue") or ""
            if not token:
                return items
            if self._clock() > deadline:
                raise Unreachable(
                    f"LIST {path}: not complete after {self.timeouts.total:g} s, "
                    f"{len(items)} objects so far"
                )

    def create(
        self,
        resource: Resource,
        namespace: str | None,
        body: Json,
        *,
        timeouts: Timeouts | None = None,
    ) -> Json:
        """Create an object and return it as stored."""
        return self._write("POST", resource.path(namespace), body, _JSON, timeouts)

    def replace(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: Json,
        *,
        timeouts: Timeouts | None = None,
    ) -> Json:
        """Replace an object; the resourceVersion in `body` guards it."""
        return self._write("PUT", resource.path(namespace, name), body, _JSON, timeouts)

    def patch_json(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        operations: Sequence[Json],
        *,
        timeouts: Timeouts | None = None,
    ) -> Json:
        """Apply a JSON Patch; a failed `test` in it is `Invalid` without causes."""
        path = resource.path(namespace, name)
        return self._write("PATCH", path, list(operations), _JSON_PATCH, timeouts)

    def patch_merge(self, resource: Resource, namespace: str | None, name: str, body: Json) -> Json:
        """Apply a merge patch: null removes, lists are replaced."""
        return self._write("PATCH", resource.path(namespace, name), body, _MERGE_PATCH, None)

    def patch_status(
        self, resource: Resource, namespace: str | None, name: str, status: Mapping[str, Any]
    ) -> Json:
        """Merge `status` into the status subresource; null removes a field."""
        path = resource.path(namespace, name, "status")
        return self._write("PATCH", path, {"status": dict(status)}, _MERGE_PATCH, None)

    def delete(self, resource: Resource, namespace: str | None, name: str) -> None:
        """Delete an object."""
        self._call("DELETE", resource.path(namespace, name))

    def can_i(
        self,
        verb: str,
        resource: Resource,
        namespace: str | None = None,
        name: str = "",
        *,
        subresource: str = "",
    ) -> Access:
        """Whether the API server would let us, by SelfSubjectAccessReview."""
        attributes = {
            "verb": verb,
            "group": resource.group,
            "resource": resource.plural,
            "subresource": subresource,
            "namespace": namespace or "",
            "name": name,
        }
        review = {
            "apiVersion": ACCESS_REVIEWS.api_version,
            "kind": ACCESS_REVIEWS.kind,
            "spec": {"resourceAttributes": attributes},
        }
        status = self.create(ACCESS_REVIEWS, None, review).get("status") or {}
        reason = status.get("reason") or status.get("evaluationError") or ""
        return Access(allowed=bool(status.get("allowed")), reason=reason)

    def version(self) -> str:
        """Version of the API server, such as `v1.37.2`."""
        return str(self._call("GET", "/version").get("gitVersion", "unknown"))

    def _write(
        self, method: str, path: str, body: Any, content_type: str, timeouts: Timeouts | None
    ) -> Json:
        """Write under our own field manager: without one the manager is `OpenAPI-Generator`."""
        query = {"fieldManager": FIELD_MANAGER}
        return self._call(
            method, path, query, body=body, content_type=content_type, timeouts=timeouts
        )

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        body: Any = None,
        content_type: str = _JSON,
        timeouts: Timeouts | None = None,
    ) -> Json:
        """One request, one answer as a dict.

        A GET whose kept-alive connection was closed by the server meanwhile is asked once more.
        """
        what = f"{method} {path}"
        for attempt in (1, 2):
            try:
                status, answer = self._send(method, path, query, body, content_type, timeouts)
            except urllib3.exceptions.HTTPError as error:
                if attempt == 1 and method == "GET" and _was_dropped(error):
                    continue
                raise Unreachable(f"{what} on {self.server}: {_say(error)}") from error
            except ApiException as error:
                # the package raises its own only for TLS failures here
                raise Unreachable(f"{what} on {self.server}: {error.reason}") from error
            if not 200 <= status < 300:
                raise from_answer(status, answer, what)
            return _decode(answer, what)
        raise AssertionError("unreachable: the loop returns or raises")

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Any,
        content_type: str,
        timeouts: Timeouts | None,
    ) -> tuple[int, bytes]:
        """Send one request and read the whole answer."""
        ends = timeouts or self.timeouts
        request = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": _JSON, "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
        )
        response = self._client.call_api(*request, _request_timeout=(ends.connect, ends.read))
        try:
            return response.status, response.read()
        except BaseException:
            # a half-read answer must not go back into the pool
            response.response.close()
            raise


def _was_dropped(error: urllib3.exceptions.HTTPError) -> bool:
    """Whether an idle connection had been closed under us: nothing was asked yet."""
    reason = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error
    return isinstance(reason, urllib3.exceptions.ProtocolError)


def _say(error: urllib3.exceptions.HTTPError) -> str:
    """Shortest true sentence about a transport error."""
    reason = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error
    if isinstance(reason, urllib3.exceptions.NewConnectionError):
        return str(reason).rsplit("] ", 1)[-1]
    if isinstance(reason, urllib3.exceptions.ConnectTimeoutError):
        return "no connection within the connect timeout"
    if isinstance(reason, urllib3.exceptions.ReadTimeoutError):
        return "connected, but no answer within the read timeout"
    return str(reason).rsplit(": ", 1)[-1] if reason else type(error).__name__


def _decode(answer: bytes, what: str) -> Json:
    """Answer as a dict; anything else is not the API that we speak."""
    try:
        document = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise Unreachable(f"{what}: the answer is not JSON: {answer[:80]!r}") from error
    if not isinstance(document, dict):
        raise Unreachable(f"{what}: the answer is not an object: {answer[:80]!r}")
    return document


def _items_of(page: Json, path: str) -> Items:
    """Objects of one page of a LIST, each with metadata; Go writes an empty list as null."""
    items = page.get("items") or []
    if not isinstance(items, list) or not all(
        isinstance(item, dict) and isinstance(item.get("metadata"), dict) for item in items
    ):
        raise Unreachable(f"GET {path}: the answer is not a list of objects")
    return items
