"""Where the cluster is: kubeconfig or pod, with tokens that rotate, and clear words otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
import yaml

from autoscaler.adapters.kubernetes import access
from autoscaler.adapters.kubernetes.client import _decode, _items_of
from autoscaler.adapters.kubernetes.problems import Busy, Denied, Unreachable, from_answer
from autoscaler.adapters.kubernetes.resources import HPAS
from autoscaler.errors import ConfigError
from autoscaler.sandbox.kubernetes import KubernetesServer
from tests.kubernetes.world import PATIENT


@pytest.fixture
def server() -> Iterator[KubernetesServer]:
    with KubernetesServer(tokens={"first": "pod", "second": "pod"}) as running:
        yield running


@pytest.fixture
def pod(tmp_path: Path) -> tuple[Path, Path]:
    """Token and certificate authority as the kubelet mounts them."""
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    authority.write_bytes(trustme.CA().cert_pem.bytes())
    token.write_text("first")
    return token, authority


def test_a_token_of_a_pod_is_read_again_when_it_rotates(
    server: KubernetesServer, pod: tuple[Path, Path]
):
    token, authority = pod
    host, port = server.url.removeprefix("http://").split(":")
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    cluster = access.in_cluster(token_file=token, ca_file=authority, environ=environ)
    assert cluster.server == f"https://{host}:{port}"
    # the sandbox speaks no TLS; everything else of the pod's configuration is used as it is
    cluster._client.configuration.host = server.url
    assert cluster.list(HPAS) == []
    token.write_text("expired")
    with pytest.raises(Denied, match="Unauthorized"):
        cluster.list(HPAS)
    token.write_text("second\n")
    assert cluster.list(HPAS) == []
    token.unlink()
    assert cluster.list(HPAS) == []
    cluster.close()


def test_outside_a_pod_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pod: tuple[Path, Path]
):
    with pytest.raises(ConfigError, match="no service account of a pod"):
        access.in_cluster(token_file=pod[0], ca_file=pod[1], environ={})
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError, match="set KUBECONFIG"):
        access.connect()


def test_a_kubeconfig_is_found_by_environment_and_its_contexts_by_name(
    server: KubernetesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(server.kubeconfig()))
    before = path.read_bytes()
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert access.connect().version().startswith("v1.37")
    with pytest.raises(ConfigError, match="context 'nowhere' cannot be used"):
        access.connect(context="nowhere")
    path.write_text("clusters: [")
    with pytest.raises(ConfigError, match="cannot be used"):
        access.connect()
    path.write_bytes(before)
    assert access.connect(kubeconfig=path, context="sandbox").list(HPAS) == []


_NAMES = "users: [{name: a, user: {}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("just text", "not the shape"),
        ("[1, 2]", "not the shape"),
        ("clusters: 3", "not the shape"),
        (f"{_NAMES}current-context: a\nclusters: [x]", ""),
        (
            f"{_NAMES}current-context: a\nclusters: [{{name: a, cluster: {{server: 5}}}}]",
            "not the shape",
        ),
        (
            f"{_NAMES}current-context: a\nclusters: [{{name: a, cluster: {{server: api}}}}]",
            "server: found 'api'; allowed: an address such as https://host:6443",
        ),
    ],
)
def test_what_is_no_kubeconfig_is_refused_in_words(tmp_path: Path, text: str, words: str):
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"the kubeconfig cannot be used: .*{words}"):
        access.connect(kubeconfig=path)


def test_nobody_listening_is_said_in_one_sentence():
    with KubernetesServer() as gone:
        kubeconfig = gone.kubeconfig()
    cluster = access.connect(kubeconfig=kubeconfig, timeouts=PATIENT)
    with pytest.raises(Unreachable, match=r"Connection refused$"):
        cluster.version()


def test_a_connection_that_the_server_dropped_costs_a_read_nothing(server: KubernetesServer):
    cluster = access.connect(kubeconfig=server.kubeconfig())
    server.faults.drop(times=1)
    assert cluster.list(HPAS) == []
    server.faults.drop()
    with pytest.raises(Unreachable, match="RemoteDisconnected"):
        cluster.list(HPAS)
    server.faults.clear()
    server.requests.clear()
    server.faults.drop()
    with pytest.raises(Unreachable):
        cluster.patch_json(HPAS, "default", "qwen", [])
    # a write is not sent twice: whether the first one happened is not known
    assert sum(server.requests.values()) == 1


def test_a_busy_server_and_a_continuation_that_expired(server: KubernetesServer):
    cluster = access.connect(kubeconfig=server.kubeconfig())
    cluster.page = 2
    for i in range(5):
        name = {"name": f"hpa-{i}"}
        spec = {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d"}}
        document = {"apiVersion": "autoscaling/v2", "kind": HPAS.kind, "metadata": name}
        server.put({**document, "spec": spec})
    server.faults.fail(410, path="continue=", times=1)
    assert len(cluster.list(HPAS)) == 5
    server.faults.fail(503, times=1)
    with pytest.raises(Busy, match="HTTP 503"):
        cluster.list(HPAS)
    clock = iter([0.0, 10.0, 21.0, 22.0])
    cluster._clock = lambda: next(clock)
    with pytest.raises(Unreachable, match="not complete after 20 s, 4 objects"):
        cluster.list(HPAS)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            b"<!DOCTYPE HTML>\n<html><body>Error 404</body></html>",
            "a web page, which no API server",
        ),
        (b"upstream\n  is gone", "upstream is gone"),
        (b"", "no message"),
        (b'{"kind": "Status", "message": "not here"}', "not here"),
    ],
)
def test_an_answer_of_something_else_is_one_line(body: bytes, words: str):
    said = str(from_answer(502, body, "GET /version"))
    assert said.startswith(f"GET /version: {words}")
    assert said.endswith("(HTTP 502)")
    assert "\n" not in said


@pytest.mark.parametrize("body", [b"null", b"[]", b"{", b"<html>", b"[" * 100_000])
def test_what_is_no_object_is_no_answer(body: bytes):
    with pytest.raises(Unreachable, match="the answer is not"):
        _decode(body, "GET /version")


@pytest.mark.parametrize("items", [["x"], {"a": 1}, [{}], [{"metadata": None}], "x"], ids=str)
def test_what_is_no_list_of_objects_is_not_an_empty_one(items: object):
    with pytest.raises(Unreachable, match="not a list of objects"):
        _items_of({"items": items}, "/api/v1/pods")
    assert _items_of({"items": None}, "/api/v1/pods") == []
