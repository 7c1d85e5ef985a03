"""What the real API server says when it says no: the same statuses, reasons and sentences.

Each text was taken from kube-apiserver 1.37; the contract tests compare both servers.
"""

from __future__ import annotations

from typing import Any

from autoscaler.adapters.kubernetes.resources import Json, Resource

Cause = tuple[str, str, str]  # reason, message, field


class Refused(Exception):
    """An answer that is not a success.

    Parameters
    ----------
    status : int
        HTTP status.
    reason : str
        Machine-readable reason, as Kubernetes names it.
    message : str
        Sentence of the server.
    details : dict
        Name, group, kind, causes.
    """

    def __init__(
        self, status: int, reason: str, message: str, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            **({} if details is None else {"details": details}),
            "code": status,
        }


def _details(resource: Resource, name: str, kind: str) -> dict[str, Any]:
    group = {"group": resource.group} if resource.group else {}
    return {**({"name": name} if name else {}), **group, "kind": kind}


def _qualified(resource: Resource, plural_or_kind: str) -> str:
    return f"{plural_or_kind}.{resource.group}" if resource.group else plural_or_kind


def not_found(resource: Resource, name: str) -> Refused:
    """404 of one object."""
    message = f'{_qualified(resource, resource.plural)} "{name}" not found'
    return Refused(404, "NotFound", message, _details(resource, name, resource.plural))


def exists(resource: Resource, name: str) -> Refused:
    """409 of a create."""
    message = f'{_qualified(resource, resource.plural)} "{name}" already exists'
    return Refused(409, "AlreadyExists", message, _details(resource, name, resource.plural))


def stale(resource: Resource, name: str) -> Refused:
    """409 of a write with an old resourceVersion."""
    message = (
        f'Operation cannot be fulfilled on {_qualified(resource, resource.plural)} "{name}": '
        "the object has been modified; "
        "please apply your changes to the latest version and try again"
    )
    return Refused(409, "Conflict", message, _details(resource, name, resource.plural))


def patch_failed() -> Refused:
    """422 of a JSON Patch whose test failed, or whose path is not there: no word about which."""
    message = "the server rejected our request due to an error in our request"
    return Refused(422, "Invalid", message, {})


def invalid(resource: Resource, name: str, causes: list[Cause]) -> Refused:
    """422 of validation, with its causes."""
    texts = [f"{field}: {message}" for _, message, field in causes]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    message = f'{_qualified(resource, resource.kind)} "{name}" is invalid: {listed}'
    details = _details(resource, name, resource.kind)
    details["causes"] = [
        {"reason": reason, "message": text, "field": field} for reason, text, field in causes
    ]
    return Refused(422, "Invalid", message, details)


def bad_request(message: str) -> Refused:
    """400."""
    return Refused(400, "BadRequest", message)


def unauthorized() -> Refused:
    """401."""
    return Refused(401, "Unauthorized", "Unauthorized")


def unsupported_media_type() -> Refused:
    """415."""
    return Refused(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def forbidden(
    resource: Resource, name: str, user: str, verb: str, namespace: str | None
) -> Refused:
    """403 of RBAC."""
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    which = f' "{name}"' if name else ""
    message = (
        f'{_qualified(resource, resource.plural)}{which} is forbidden: User "{user}" cannot {verb} '
        f'resource "{resource.plural}" in API group "{resource.group}" {where}'
    )
    return Refused(403, "Forbidden", message, _details(resource, name, resource.plural))
