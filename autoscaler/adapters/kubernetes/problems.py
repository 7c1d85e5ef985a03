"""What can go wrong between us and the API server, and which of our errors that is.

ApiError                 any answer that is not a success
├── NotFound             404
├── Denied               401, 403
├── Conflict             409
├── Invalid              422; `causes` says which fields, empty when a `test` of a patch failed
├── Expired              410: a continued LIST that is too old
├── Busy                 429 and 5xx: try later
└── Unreachable          no answer: refused, reset, black-holed
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoscaler.errors import (
    ForetideError,
    TargetUnavailable,
    WriteConflict,
    WriteRefused,
    WriteUnavailable,
)


class ApiError(ForetideError):
    """An answer of the API server that is not a success.

    Parameters
    ----------
    message : str
        What the server said.
    status : int
        HTTP status, 0 when there was no answer.
    causes : tuple of (field, message)
        What the server found wrong, field by field.
    """

    code = "ApiError"

    def __init__(
        self, message: str, *, status: int = 0, causes: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.causes = causes


class NotFound(ApiError):
    """The object, or the whole kind, is not there."""

    code = "NotFound"


class Denied(ApiError):
    """We may not do this (401, 403)."""

    code = "Denied"


class Conflict(ApiError):
    """The object changed since it was read, or exists already."""

    code = "Conflict"


class Invalid(ApiError):
    """The server understood and refused (422)."""

    code = "Invalid"


class Expired(ApiError):
    """A continued LIST is too old (410)."""

    code = "Expired"


class Busy(ApiError):
    """The server cannot answer now (429, 5xx)."""

    code = "Busy"


class Unreachable(ApiError):
    """No answer. Whether a write happened is unknown."""

    code = "Unreachable"


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Denied,
    403: Denied,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: Invalid,
    429: Busy,
}


def from_answer(status: int, body: bytes, what: str) -> ApiError:
    """Error for an answer with a status that is not a success."""
    kind = _BY_STATUS.get(status, Busy if status >= 500 else ApiError)
    message, causes = _read_status(body)
    return kind(f"{what}: {message or 'no message'} (HTTP {status})", status=status, causes=causes)


def _read_status(body: bytes) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Message and causes of a `Status` document; of any other text, its beginning."""
    try:
        document: Any = json.loads(body)
        details = document.get("details") or {}
        causes = tuple(
            (str(cause.get("field", "")), str(cause.get("message", "")))
            for cause in details.get("causes") or ()
        )
        return str(document.get("message", "")), causes
    except (ValueError, AttributeError):
        text = " ".join(body[:200].decode("utf-8", "replace").split())
        if text.startswith("<"):
            return "a web page, which no API server answers with: is the address right?", ()
        return text, ()


@contextmanager
def observing() -> Iterator[None]:
    """Turn what the API server did into what a reader of targets raises."""
    try:
        yield
    except ApiError as error:
        raise TargetUnavailable(str(error), code=error.code) from error


@contextmanager
def writing() -> Iterator[None]:
    """Turn what the API server did into what a writer of floors raises (422 apart)."""
    try:
        yield
    except (NotFound, Conflict) as error:
        raise WriteConflict(f"{error}; it is not as it was observed") from error
    except (Busy, Unreachable) as error:
        raise WriteUnavailable(f"{error}; whether it was written is unknown") from error
    except ApiError as error:
        raise WriteRefused(str(error)) from error
