"""etcd and a real kube-apiserver on loopback: RBAC, tokens, aggregation, an audit log of writes."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.lab.api import Api
from tests.lab.process import Process, free_ports, wait_until

ADMIN = "admin-token"
# user name → token: each part of the control plane is a user of its own, so that the audit log and
# RBAC tell them apart; `nobody` may do nothing at all
TOKENS = {
    "admin": ADMIN,
    "nobody": "nobody-token",
    "system:kube-controller-manager": "kcm-token",
    "system:kube-scheduler": "scheduler-token",
    "kwok": "kwok-token",
}
_MASTERS = {"admin", "kwok"}

_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "None", "namespaces": ["kube-node-lease", "kube-system"]},
        {
            "level": "Request",
            "resources": [
                {"group": "autoscaling", "resources": ["horizontalpodautoscalers"]},
                {"group": "foretide.dev"},
                {"group": "coordination.k8s.io"},
                {"group": "apps", "resources": ["deployments/scale"]},
            ],
        },
        {"level": "None", "resources": [{"group": ""}, {"group": "events.k8s.io"}]},
        {"level": "Metadata"},
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write that the API server saw, from its audit log.

    Attributes
    ----------
    at : POSIX seconds at which the request arrived
    user : who; a service account is `system:serviceaccount:NAMESPACE:NAME`
    agent : its User-Agent
    resource : plural, with `/subresource` where there is one
    code : HTTP status of the answer
    body : what was sent (HPAs, policies, leases), or None
    """

    at: float
    user: str
    agent: str
    verb: str
    resource: str
    namespace: str
    name: str
    code: int
    body: Any = field(default=None, repr=False)


def _parse(line: str) -> Write:
    event = json.loads(line)
    ref = event.get("objectRef", {})
    sub = ref.get("subresource")
    return Write(
        at=datetime.datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp(),
        user=event["user"]["username"],
        agent=event.get("userAgent", ""),
        verb=event["verb"],
        resource=ref.get("resource", "") + (f"/{sub}" if sub else ""),
        namespace=ref.get("namespace", ""),
        name=ref.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        body=event.get("requestObject"),
    )


class ControlPlane:
    """A running API server with its etcd.

    Attributes
    ----------
    url : https://127.0.0.1:PORT
    ca : path of the certificate of the authority that signed it
    token : a token of the group system:masters
    api : the test's own client with that token
    signing_key : path of the key that signs the tokens of service accounts
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.token = ADMIN
        etcd, peer, self.port = free_ports(3)
        self.url = f"https://127.0.0.1:{self.port}"
        self._authority()
        self._etcd = self._start_etcd(etcd, peer)
        self._server = self._start_server(etcd)
        self.api = Api(self.url, str(self.ca), ADMIN)
        try:
            self._server.wait_ready(self._healthy)
            # made by the API server itself, a moment after it calls itself ready
            for name in ("default", "kube-system"):
                wait_until(lambda name=name: self.api.get("Namespace", name), f"namespace {name}")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End both programs."""
        self.api.close()
        self._server.stop()
        self._etcd.stop()

    def logs(self) -> str:
        """The end of the API server's log, for a failed test."""
        return self._server.tail()

    def audit(
        self, *, since: float = 0.0, resource: str | None = None, name: str | None = None
    ) -> list[Write]:
        """Writes that the API server saw, oldest first (reads are not logged)."""
        with open(self.home / "audit.log", encoding="utf-8") as log:
            writes = [_parse(line) for line in log if line.endswith("\n")]
        return [
            write
            for write in sorted(writes, key=lambda each: each.at)
            if write.at >= since
            and (resource is None or write.resource == resource)
            and (name is None or write.name == name)
        ]

    def kubeconfig(self, user: str = "admin") -> Path:
        """Write a kubeconfig for one of the users of `TOKENS`."""
        return self.kubeconfig_with(TOKENS[user], name=user.replace(":", "-"))

    def kubeconfig_with(self, token: str, *, name: str, server: str | None = None) -> Path:
        """Write a kubeconfig with any token, possibly through another address (a proxy)."""
        path = self.home / f"{name}.kubeconfig"
        cluster = {"server": server or self.url, "certificate-authority": str(self.ca)}
        context = {"cluster": "lab", "user": name, "namespace": "default"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": "lab", "context": context}],
            "current-context": "lab",
        }
        path.write_text(yaml.safe_dump(document))
        return path

    def service_account_token(self, namespace: str, name: str, seconds: int = 3600) -> str:
        """Ask the API server for a token of a service account, as the kubelet does for a pod."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        spec = {"spec": {"expirationSeconds": seconds}}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", **spec}
        token: str = self.api.call("POST", path, body)["status"]["token"]
        return token

    def wait_for_rights(self, user: str, namespace: str) -> None:
        """Wait until `user` may patch HPAs: the authorizer sees bindings a little later."""
        rights = {"group": "autoscaling", "resource": "horizontalpodautoscalers", "verb": "patch"}
        spec = {"user": user, "resourceAttributes": {**rights, "namespace": namespace}}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        wait_until(
            lambda: self.api.call("POST", path, body)["status"]["allowed"], f"rights of {user}"
        )

    def client_for(self, token: str) -> Api:
        """A client with another token; the caller closes it."""
        return Api(self.url, str(self.ca), token)

    def certificate(self, *names: str) -> tuple[Path, Path]:
        """A certificate for `names` signed by the cluster's authority: (certificate, key)."""
        issued = self._ca.issue_cert(*names)
        certificate, key = (self.home / f"{names[0]}.{end}" for end in ("crt", "key"))
        certificate.write_bytes(b"".join(each.bytes() for each in issued.cert_chain_pems))
        key.write_bytes(issued.private_key_pem.bytes())
        return certificate, key

    def _authority(self) -> None:
        import trustme  # noqa: PLC0415 (half a second that tests without a lab need not pay)

        self._ca = trustme.CA()
        self.ca = self.home / "ca.crt"
        self.ca.write_bytes(self._ca.cert_pem.bytes())
        proxy = self._ca.issue_cert("front-proxy", common_name="front-proxy")
        (self.home / "proxy.crt").write_bytes(proxy.cert_chain_pems[0].bytes())
        (self.home / "proxy.key").write_bytes(proxy.private_key_pem.bytes())
        _, self.signing_key = self.certificate("service-accounts.invalid")

    def _start_etcd(self, client: int, peer: int) -> Process:
        urls = f"http://127.0.0.1:{client}"
        return Process(
            "etcd",
            [
                f"--data-dir={self.home / 'etcd'}",
                f"--listen-client-urls={urls}",
                f"--advertise-client-urls={urls}",
                f"--listen-peer-urls=http://127.0.0.1:{peer}",
                f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                f"--initial-cluster=default=http://127.0.0.1:{peer}",
                "--unsafe-no-fsync",  # the data is thrown away
            ],
            self.home,
        )

    def _start_server(self, etcd: int) -> Process:
        home = self.home
        certificate, key = self.certificate("127.0.0.1", "localhost", "kubernetes.default.svc")
        (home / "audit.yaml").write_text(yaml.safe_dump(_AUDIT))
        (home / "tokens.csv").write_text(
            "".join(
                f'{token},{user},{user},"{"system:masters" if user in _MASTERS else ""}"\n'
                for user, token in TOKENS.items()
            )
        )
        flags = {
            "etcd-servers": f"http://127.0.0.1:{etcd}",
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "secure-port": self.port,
            "endpoint-reconciler-type": "none",  # the default one refuses loopback addresses
            "tls-cert-file": certificate,
            "tls-private-key-file": key,
            "client-ca-file": self.ca,
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-signing-key-file": self.signing_key,
            "service-account-key-file": self.signing_key,
            "service-cluster-ip-range": "10.0.0.0/24",
            "token-auth-file": home / "tokens.csv",
            "authorization-mode": "RBAC",
            "audit-policy-file": home / "audit.yaml",
            "audit-log-path": home / "audit.log",
            # what an aggregated metrics API needs
            "requestheader-client-ca-file": self.ca,
            "requestheader-allowed-names": "front-proxy",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "proxy-client-cert-file": home / "proxy.crt",
            "proxy-client-key-file": home / "proxy.key",
        }
        arguments = [f"--{name}={value}" for name, value in flags.items()]
        return Process("kube-apiserver", arguments, home)

    def _healthy(self) -> bool:
        import requests  # noqa: PLC0415 (kept beside its only use here)

        headers = {"Authorization": f"Bearer {ADMIN}"}
        url, ca = f"{self.url}/readyz", str(self.ca)
        answer = requests.get(url, headers=headers, verify=ca, timeout=20)
        return answer.status_code == 200
