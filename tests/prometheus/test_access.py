"""Tenants, tokens that rotate, certificates of both sides."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autoscaler.adapters.prometheus import PrometheusDemand
from autoscaler.config import Prometheus
from autoscaler.errors import HistoryUnavailable
from autoscaler.sandbox.prometheus import PrometheusServer
from tests.prometheus.data import NOW, policy

ASKED = policy(query="rps", history="2d")


@pytest.fixture
def server() -> Iterator[PrometheusServer]:
    with PrometheusServer(lambda: NOW) as server:
        server.append("rps", {}, [NOW - 60, NOW], [7.0, 7.0])
        yield server


def read(server: PrometheusServer, **settings: object) -> float:
    """Newest value, through a configuration."""
    source = PrometheusDemand(Prometheus.model_validate({"url": server.url, **settings}))
    try:
        return float(source.read(ASKED, NOW).demand.values[-1])
    finally:
        source.close()


def test_a_tenant_and_further_headers_are_sent(server: PrometheusServer):
    server.require = {"X-Scope-OrgID": "team-a", "X-Extra": "1"}
    assert read(server, tenant="team-a", headers={"X-Extra": "1"}) == 7.0
    with pytest.raises(HistoryUnavailable, match="refuses us") as refused:
        read(server, tenant="team-b")
    assert refused.value.code == "Denied"


def test_a_token_is_read_again_when_it_rotates(server: PrometheusServer, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("first\n")
    server.require = {"Authorization": "Bearer first"}
    settings = Prometheus(url=server.url, bearer_token_file=str(token))
    source = PrometheusDemand(settings)
    source.read(ASKED, NOW)
    token.write_text("second")
    server.require = {"Authorization": "Bearer second"}
    assert source.read(ASKED, NOW).demand.values[-1] == 7.0
    source.close()


def test_a_token_file_that_is_not_there_is_named(server: PrometheusServer, tmp_path: Path):
    with pytest.raises(HistoryUnavailable, match=r"absent.*prometheus\.bearerTokenFile") as refused:
        read(server, bearerTokenFile=str(tmp_path / "absent"))
    assert refused.value.code == "NoToken"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and a server's and a client's certificate signed by it."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make certificates")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-subj")
    usage = ("-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-x509", *new, "/CN=authority", *usage, "-keyout", "ca.key", "-out", "ca.pem")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
    for name in ("server", "client"):
        openssl("req", *new, f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")
    return folder


@pytest.fixture
def safe(certificates: Path) -> Iterator[PrometheusServer]:
    """A server that shows a certificate and asks for one."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates / "ca.pem")
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    with PrometheusServer(lambda: NOW, tls=context) as server:
        server.append("rps", {}, [NOW], [7.0])
        yield server


def test_both_sides_show_their_certificates(safe: PrometheusServer, certificates: Path):
    ours = {
        "certFile": str(certificates / "client.pem"),
        "keyFile": str(certificates / "client.key"),
    }
    assert read(safe, caFile=str(certificates / "ca.pem"), **ours) == 7.0


def test_an_unknown_authority_is_refused_in_words(safe: PrometheusServer):
    with pytest.raises(HistoryUnavailable, match=r"prometheus\.caFile") as refused:
        read(safe, timeout="5s")
    assert refused.value.code == "TlsFailed"


def test_without_our_certificate_we_are_refused(safe: PrometheusServer, certificates: Path):
    with pytest.raises(HistoryUnavailable) as refused:
        read(safe, caFile=str(certificates / "ca.pem"), timeout="5s")
    assert refused.value.code in {"TlsFailed", "Unreachable"}


def test_a_file_that_is_not_there_is_named(server: PrometheusServer, tmp_path: Path):
    absent = str(tmp_path / "absent.pem")
    with pytest.raises(HistoryUnavailable, match="absent"):
        read(server, url=server.url.replace("http:", "https:"), caFile=absent, timeout="5s")
