"""Ways in which the sandbox's API server can be made to misbehave, and who is refused what."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from autoscaler.adapters.kubernetes.resources import Json


@dataclass(slots=True)
class _Fault:
    """One kind of misbehaviour, for the next `times` matching requests (None: until cleared)."""

    matches: Callable[[str, str], bool]
    status: int
    delay: float
    silent: bool
    times: int | None


class Faults:
    """Switches of misbehaviour. `method` and a part of the path (with query) select requests."""

    def __init__(self) -> None:
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._released = threading.Event()

    def fail(
        self, status: int, *, method: str = "", path: str = "", times: int | None = None
    ) -> None:
        """Answer with `status` (500, 503, 429, 409, 410 and the like)."""
        self._add(method, path, status=status, times=times)

    def silence(self, *, method: str = "", path: str = "", times: int | None = None) -> None:
        """Take the request and never answer, until `clear`."""
        self._add(method, path, silent=True, times=times)

    def drop(self, *, method: str = "", path: str = "", times: int | None = None) -> None:
        """Take the request and close the connection."""
        self._add(method, path, status=-1, times=times)

    def delay(
        self, seconds: float, *, method: str = "", path: str = "", times: int | None = None
    ) -> None:
        """Answer late, by wall-clock seconds."""
        self._add(method, path, delay=seconds, times=times)

    def clear(self) -> None:
        """Behave again, and let go whoever waits for an answer: its connection is closed."""
        with self._lock:
            self._faults.clear()
            self._released.set()
            self._released = threading.Event()

    def meet(self, method: str, path: str) -> int:
        """Suffer what is switched on: a status to answer with, 0 for none, -1 for no answer."""
        with self._lock:
            fault = next((f for f in self._faults if f.matches(method, path)), None)
            if fault is None:
                return 0
            if fault.times is not None:
                fault.times -= 1
                if fault.times <= 0:
                    self._faults.remove(fault)
            released = self._released
        if fault.silent:
            released.wait()
            return -1
        if fault.delay:
            released.wait(fault.delay)
        return fault.status

    def _add(
        self,
        method: str,
        path: str,
        *,
        status: int = 0,
        delay: float = 0.0,
        silent: bool = False,
        times: int | None = None,
    ) -> None:
        def matches(asked_method: str, asked_path: str) -> bool:
            return method in ("", asked_method) and path in asked_path

        with self._lock:
            self._faults.append(_Fault(matches, status, delay, silent, times))


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """What a user may not do; an empty field stands for everything."""

    user: str = ""
    verb: str = ""
    plural: str = ""
    namespace: str = ""
    subresource: str | None = None

    def covers(self, user: str, verb: str, plural: str, namespace: str, subresource: str) -> bool:
        """Whether this denial forbids the request."""
        return (
            self.user in ("", user)
            and self.verb in ("", verb)
            and self.plural in ("", plural)
            and self.namespace in ("", namespace)
            and self.subresource in (None, subresource)
        )


class Access:
    """Everything is allowed except what was denied."""

    def __init__(self) -> None:
        self.denials: list[Denial] = []

    def allows(
        self, user: str, verb: str, plural: str, namespace: str, subresource: str = ""
    ) -> bool:
        """Whether `user` may do it."""
        return not any(d.covers(user, verb, plural, namespace, subresource) for d in self.denials)

    def review(self, user: str, document: Json) -> Json:
        """Answer to a SelfSubjectAccessReview."""
        wanted = (document.get("spec") or {}).get("resourceAttributes") or {}
        allowed = self.allows(
            user,
            wanted.get("verb", ""),
            wanted.get("resource", ""),
            wanted.get("namespace", ""),
            wanted.get("subresource", ""),
        )
        return {**document, "metadata": {}, "status": {"allowed": allowed}}


def verb_of(method: str, named: bool) -> str:
    """RBAC verb of an HTTP method."""
    if method == "GET":
        return "get" if named else "list"
    return {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
