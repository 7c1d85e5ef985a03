"""Where Prometheus and the cluster are, the periods, where telemetry goes: one for a controller.

Nothing about a single service stands here; that is the policy's. The same setting has one name in
the file (`prometheus.url`), in the environment (`FORETIDE_PROMETHEUS_URL`) and on the command line;
`adapters.configuration.merge` knows which of them wins. `docs/reference/configuration.md` is
generated from the docstrings under the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, Field, Strict, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from autoscaler.schema.fields import Allowed, DurationIn, Model, refusal

PREFIX = "FORETIDE_"

_Flag = Annotated[bool, Strict()]
_Text = Annotated[str, Allowed("text, not empty"), Field(min_length=1, max_length=4096)]


class Prometheus(Model):
    """The server that demand history is read from, or anything that speaks its query API."""

    url: (
        Annotated[
            str,
            Allowed("an address such as http://prometheus.monitoring:9090"),
            Field(pattern=r"^https?://[^\s/]+", max_length=2048),
        ]
        | None
    ) = None
    """Base address, such as `http://prometheus.monitoring:9090`, with the path prefix if there is
    one. No default: a guess would read somebody else's metrics."""
    tenant: _Text | None = None
    """Sent as `X-Scope-OrgID` to a server with tenants (Mimir, Cortex, Thanos receive)."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of every query. For a secret use `bearerTokenFile`."""
    bearer_token_file: _Text | None = None
    """File with a token; read again for every request, since tokens rotate."""
    ca_file: _Text | None = None
    """Certificate authorities that the server's certificate is checked against (PEM). Left out:
    those of the system. The check cannot be turned off."""
    cert_file: _Text | None = None
    """Our own certificate (PEM), for servers that ask for one. Together with `keyFile`."""
    key_file: _Text | None = Field(default=None, validate_default=True)
    """Key of `certFile` (PEM)."""
    timeout: Annotated[float, DurationIn("1s", "5m")] = 20.0
    """Time for one whole answer, all chunks and retries included. Twenty seconds leave room for a
    second try within a 60 s cycle."""

    @field_validator("key_file", mode="after")
    @classmethod
    def _both(cls, key: str | None, info: ValidationInfo) -> str | None:
        if "cert_file" in info.data and (key is None) != (info.data["cert_file"] is None):
            raise refusal("found only one of certFile and keyFile", "both or neither")
        return key


class Kubernetes(Model):
    """The cluster whose floors are moved."""

    kubeconfig: _Text | None = None
    """Path of a kubeconfig. Left out: `KUBECONFIG` or `~/.kube/config` where there is one, else the
    service account of the pod."""
    context: _Text | None = None
    """Context of the kubeconfig. Left out: its current one."""
    namespaces: tuple[_Text, ...] = ()
    """Namespaces in which policies are looked for. Empty: all of them, which needs a ClusterRole;
    with names, a Role in each is enough."""
    connect_timeout: Annotated[float, DurationIn("100ms", "1m")] = 3.0
    """Time to open a connection. The API server is near: longer means it is not there."""
    read_timeout: Annotated[float, DurationIn("1s", "5m")] = 10.0
    """Longest silence within an answer, so that a connection that went dead is noticed within a
    cycle."""


class Policies(Model):
    """Where policies come from."""

    paths: tuple[_Text, ...] = ()
    """Files and directories (a mounted ConfigMap, for clusters where no custom resource definition
    may be installed). Empty: TidePolicy objects in the cluster."""


class Records(Model):
    """Decision records: every decision can be replayed from them alone."""

    directory: _Text | None = None
    """Where records are written. Left out: none are."""
    keep: Annotated[float, DurationIn("1d", "400d")] = 14 * 86_400.0
    """How long they are kept. Two weeks cover "what happened the week before last"."""
    megabytes: Annotated[int, Strict(), Field(ge=10, le=1_000_000)] = 4096
    """Most space they take, in MB of 10⁶ bytes; the oldest days go first. 200 policies at a
    period of 60 s write under 300 MB a day."""


class Logs(Model):
    """Log lines on standard error."""

    format: Literal["auto", "text", "json"] = "auto"
    """`text` is for people, `json` for a log store; `auto` is text on a terminal, else JSON."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least important level that is printed."""


class Telemetry(Model):
    """What Foretide says about itself."""

    records: Records = Records()
    """Decision records."""
    logs: Logs = Logs()
    """Log lines."""


class LeaderElection(Model):
    """One of several controllers writes, the others observe: a Lease says which."""

    enabled: _Flag = True
    """Whether a Lease is needed to write. Without it nothing but you keeps a second controller
    from writing too."""
    lease: Annotated[float, DurationIn("3s", "5m")] = 10.0
    """How long a Lease holds without being renewed: the longest time without a leader."""
    renew: Annotated[float, DurationIn("1s", "5m")] = 6.0
    """The leader stops writing when it could not renew within this time. Less than `lease`: the
    difference is the margin between two leaders."""
    retry: Annotated[float, DurationIn("100ms", "1m")] = 2.0
    """Time between two tries to renew or to acquire. Less than `renew`."""
    name: _Text = "foretide"
    """Name of the Lease."""
    namespace: _Text | None = None
    """Namespace of the Lease. Left out: that of the pod, outside a cluster `default`."""
    identity: _Text | None = None
    """Name of this controller on the Lease, unique. Left out: host name and a random part."""

    @field_validator("renew", mode="after")
    @classmethod
    def _before_the_end(cls, renew: float, info: ValidationInfo) -> float:
        if renew >= info.data.get("lease", renew + 1):
            raise refusal(f"found {renew:g}s", f"less than lease ({info.data['lease']:g}s)")
        return renew

    @field_validator("retry", mode="after")
    @classmethod
    def _more_than_once(cls, retry: float, info: ValidationInfo) -> float:
        if retry >= info.data.get("renew", retry + 1):
            raise refusal(f"found {retry:g}s", f"less than renew ({info.data['renew']:g}s)")
        return retry


class Web(Model):
    """Our own HTTP server: `/metrics`, `/healthz`, `/readyz`."""

    address: _Text = "127.0.0.1"
    """Address to listen on. In a pod `0.0.0.0` or `::`, so that probes reach it; the default is
    safe on a desk."""
    port: Annotated[int, Strict(), Field(ge=0, le=65_535)] = 8080
    """Port to listen on; 0 takes a free one."""


class Config(Model):
    """Configuration of one controller or one run of a command."""

    prometheus: Prometheus = Prometheus()
    """Where demand history is read."""
    kubernetes: Kubernetes = Kubernetes()
    """Where floors are moved."""
    policies: Policies = Policies()
    """Where policies come from."""
    period: Annotated[float, DurationIn("1s", "1h")] = 60.0
    """Time between two cycles of a policy. It is part of every lead time; Prometheus rarely knows
    more after less than a minute."""
    step: Annotated[float, DurationIn("10s", "1h")] = 60.0
    """Resolution at which demand is read, in whole seconds that divide an hour. Finer steps see
    noise, coarser ones come late."""
    observe_only: _Flag = False
    """Write nothing to any target whatever the policies' modes say: the brake for everything."""
    leader_election: LeaderElection = LeaderElection()
    """Who of several controllers writes."""
    telemetry: Telemetry = Telemetry()
    """Records and logs."""
    web: Web = Web()
    """Our own HTTP server."""

    @field_validator("step", mode="after")
    @classmethod
    def _divides_an_hour(cls, step: float) -> float:
        if 3600 % step or step % 1:
            raise refusal(
                f"found {step:g}s", "whole seconds that divide an hour, such as 60s or 5m"
            )
        return step


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting under all its names.

    Attributes
    ----------
    path : keys in the file, such as ("prometheus", "url")
    environment : name of the environment variable
    field : pydantic's field, with type, default and documentation
    """

    path: tuple[str, ...]
    environment: str
    field: FieldInfo

    @property
    def name(self) -> str:
        """The path with dots, as in messages and on the command line."""
        return ".".join(self.path)


@cache
def settings() -> tuple[Setting, ...]:
    """Every setting there is, in the order of the schema."""
    return tuple(_settings(Config, (), ()))


def _settings(
    model: type[BaseModel], path: tuple[str, ...], words: tuple[str, ...]
) -> Iterator[Setting]:
    """Walk the schema down to the settings proper."""
    for name, field in model.model_fields.items():
        at = (*path, field.alias or name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _settings(field.annotation, at, (*words, name.upper()))
        else:
            yield Setting(
                path=at, environment=PREFIX + "_".join((*words, name.upper())), field=field
            )
