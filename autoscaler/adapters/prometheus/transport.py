"""Requests to Prometheus that end in time and fail in words.

`prometheus-api-client` has no deadline (its `timeout=1` took 10 s), retries on its own, drops the
server's warnings about partial answers, and puts a POSTed query into the URL. All of that is the
session's business, so the session that it is given here does it right.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from prometheus_api_client import PrometheusConnect
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.exceptions import HTTPError

from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable

CONNECT = 3.0
"""Seconds for a connection: a server that takes longer is not there."""

PAUSE = 0.25
"""Seconds before the one retry."""

LONGEST_URL = 6000
"""Longer queries travel in a body: proxies refuse request lines over 8 kB."""

LARGEST = 256 * 2**20
"""Bytes of one answer beyond which it cannot be one service's demand."""

_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)


class Deadline:
    """A moment by which everything must be over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that remain, below 0 once it has passed."""
        return self._end - time.monotonic()


class Unwell(HistoryUnavailable):
    """The server itself, not the query, is the matter: a case for the breaker."""


class _Heard(threading.local):
    """What one thread's request in hand must keep to, and what was said beside its answer."""

    deadline: Deadline | None = None
    warnings: list[str] | None = None


class _TokenFile(AuthBase):
    """A bearer token, read for every request since tokens rotate."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        try:
            token = self._path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise HistoryUnavailable(
                f"the token file {self._path} of prometheus.bearerTokenFile cannot be read "
                f"({error}): check that it is mounted",
                code="NoToken",
            ) from error
        request.headers["Authorization"] = f"Bearer {token}"
        return request


class _AsGiven(AuthBase):
    """Leaves our header alone, where `requests` would put what it finds in ~/.netrc."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


class _Parsed(requests.Response):
    """A response whose JSON has been read once, for its warnings and for its data."""

    document: Any = None

    def json(self, **_: Any) -> Any:
        """Return the document."""
        return self.document


class Session(requests.Session):
    """A session whose requests keep to a deadline and raise HistoryUnavailable."""

    def __init__(self, config: Prometheus, *, connections: int) -> None:
        super().__init__()
        self.where = _without_secrets(str(config.url))
        self.timeout = config.timeout
        self._heard = _Heard()
        self._connections = connections
        self.verify = config.ca_file or True
        if config.cert_file and config.key_file:
            self.cert = (config.cert_file, config.key_file)

    def pool(self, url: str) -> None:
        """Take over the connections of `url`: enough of them, and no retries but our own."""
        self.mount(url, HTTPAdapter(pool_maxsize=self._connections, max_retries=0))

    @contextmanager
    def until(self, deadline: Deadline) -> Iterator[list[str]]:
        """Let this thread's requests end by `deadline`; gives the list that gathers warnings."""
        before = self._heard.deadline, self._heard.warnings
        warnings: list[str] = []
        self._heard.deadline, self._heard.warnings = deadline, warnings
        try:
            yield warnings
        finally:
            self._heard.deadline, self._heard.warnings = before

    def request(self, method: str, url: str, **kwargs: Any) -> requests.Response:  # type: ignore[override]  # only the arguments that the client library uses
        """Make a request, once more if that may help."""
        deadline = self._heard.deadline or Deadline(self.timeout)
        params = kwargs.get("params") or {}
        if sum(len(str(value)) for value in params.values()) > LONGEST_URL // 2:
            method, kwargs["data"], kwargs["params"] = "POST", params, None
        try:
            return self._once(method, url, deadline, kwargs)
        except Unwell:
            if deadline.left() < 2 * PAUSE:
                raise
            threading.Event().wait(PAUSE)
            return self._once(method, url, deadline, kwargs)

    def _once(
        self, method: str, url: str, deadline: Deadline, kwargs: dict[str, Any]
    ) -> requests.Response:
        left = deadline.left()
        if left <= 0:
            raise self._late(deadline)
        kwargs = {**kwargs, "timeout": (min(CONNECT, left), left), "stream": True}
        try:
            response = super().request(method, url, **kwargs)
            body = self._body(response, deadline)
        except requests.exceptions.SSLError as error:
            raise Unwell(
                f"no safe connection to Prometheus at {self.where} ({_cause(error)}): check "
                "prometheus.caFile, certFile and keyFile",
                code="TlsFailed",
            ) from error
        except requests.exceptions.ConnectTimeout as error:
            raise Unwell(
                f"no connection to Prometheus at {self.where} within {min(CONNECT, left):.3g} s: "
                "check the address and what filters packets on the way",
                code="Timeout",
            ) from error
        except requests.exceptions.ReadTimeout as error:
            raise self._late(deadline) from error
        except (requests.exceptions.RequestException, HTTPError, OSError) as error:
            raise Unwell(
                f"Prometheus at {self.where} cannot be reached ({_cause(error)}): check that it "
                "runs and that prometheus.url is its address as seen from here",
                code="Unreachable",
            ) from error
        return self._read(response, body)

    def _late(self, deadline: Deadline) -> Unwell:
        return Unwell(
            f"Prometheus at {self.where} did not answer in full within {deadline.seconds:.3g} s: "
            "look at its load, or give it longer by prometheus.timeout",
            code="Timeout",
        )

    def _body(self, response: requests.Response, deadline: Deadline) -> bytes:
        """Read the body piece by piece, since a timeout of a socket starts anew at every piece."""
        pieces, size = [], 0
        raw = response.raw
        try:
            while True:
                left = deadline.left()
                if left <= 0:
                    raise self._late(deadline)
                if raw.connection is not None and raw.connection.sock is not None:
                    raw.connection.sock.settimeout(left)
                piece = raw.read1(1 << 20, decode_content=True)
                if not piece:
                    break
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST:
                    raise HistoryUnavailable(
                        f"an answer of Prometheus at {self.where} is larger than "
                        f"{LARGEST >> 20} MB: let the query sum its series",
                        code="TooLarge",
                    )
        except TimeoutError as error:
            raise self._late(deadline) from error
        except HTTPError as error:
            if deadline.left() <= 0:
                raise self._late(deadline) from error
            raise
        else:
            return b"".join(pieces)
        finally:
            response.close()

    def _read(self, response: requests.Response, body: bytes) -> requests.Response:
        """Turn a whole response into data for the client library, or into an error in words."""
        status = response.status_code
        answer = _Parsed()
        answer.status_code = status
        try:
            answer.document = json.loads(body)
        except (ValueError, RecursionError) as error:  # no JSON, or nested without end
            self._check(status, _text(body))
            raise HistoryUnavailable(
                f"{self.where} answered with something that is not Prometheus' JSON "
                f"({_text(body)}): is prometheus.url right, or a login page in between?",
                code="NotPrometheus",
            ) from error
        document = answer.document
        if not isinstance(document, dict) or document.get("status") != "success":
            error_text = document.get("error") if isinstance(document, dict) else None
            self._check(status, str(error_text or _text(body)))
            raise HistoryUnavailable(
                f"{self.where} answered JSON that is not Prometheus' ({_text(body)})",
                code="NotPrometheus",
            )
        if self._heard.warnings is not None:
            # `infos` are advice about the query; only `warnings` say that data may be missing
            self._heard.warnings.extend(str(text) for text in document.get("warnings") or ())
        return answer

    def _check(self, status: int, said: str) -> None:
        """Raise what an HTTP status stands for."""
        if status in {401, 403}:
            raise HistoryUnavailable(
                f"Prometheus at {self.where} refuses us (HTTP {status}: {said}): check "
                "prometheus.bearerTokenFile, tenant and headers",
                code="Denied",
            )
        if status == 429 or status >= 500:  # a second try may cure it
            raise Unwell(
                f"Prometheus at {self.where} is not well (HTTP {status}: {said})",
                code="ServerError",
            )
        if status == 422:
            raise HistoryUnavailable(
                f"Prometheus at {self.where} could not evaluate the query (HTTP 422: {said})",
                code="QueryFailed",
            )
        if status == 400:
            raise HistoryUnavailable(
                f"Prometheus at {self.where} refused the query (HTTP 400: {said})",
                code="QueryRefused",
            )
        if status >= 300:
            raise HistoryUnavailable(
                f"{self.where} does not answer as Prometheus does (HTTP {status}: {said}): is "
                "prometheus.url right, with the path under which the API is served?",
                code="NotPrometheus",
            )


def connect(config: Prometheus, *, connections: int) -> tuple[PrometheusConnect, Session]:
    """Client library on a session of ours; both may be used from many threads."""
    url = str(config.url).rstrip("/")
    headers = dict(config.headers)
    if config.tenant:
        headers["X-Scope-OrgID"] = config.tenant
    session = Session(config, connections=connections)
    auth: AuthBase | None = None
    if config.bearer_token_file:
        auth = _TokenFile(config.bearer_token_file)
    elif any(name.lower() == "authorization" for name in headers):
        auth = _AsGiven()
    client = PrometheusConnect(url=url, headers=headers, auth=auth, session=session)
    session.pool(url)  # the client has just mounted its own, with three retries and ten connections
    return client, session


def _without_secrets(url: str) -> str:
    """Address without user, password and query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _cause(error: BaseException) -> str:
    """Innermost reason of a chain, which is the one a person can act upon."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return f"{type(error).__name__}: {str(error)[:200]}"


def _text(body: bytes) -> str:
    """Beginning of a body, on one line; of a web page its title."""
    text = body[:2000].decode("utf-8", "replace")
    if text.lstrip().startswith("<"):
        title = _TITLE.search(text)
        named = f" {' '.join(title[1].split())!r}" if title else ""
        return f"a web page{named}"
    return " ".join(text[:200].split()) or "empty"
