"""Manifests, image and controller agree on names, ports and paths."""

from __future__ import annotations

import re
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

from autoscaler.adapters.configuration import load_config
from autoscaler.config import Config
from autoscaler.controller.web import Web
from tests.deploy.manifests import DEPLOY, MONITORING, documents, one
from tests.support.shared import ROOT


def configured(tmp_path: Path) -> Config:
    """The deployed configuration, read by the program."""
    file = tmp_path / "config.yaml"
    file.write_text(one("config.yaml")["data"]["config.yaml"])
    return load_config(file, {}, {})


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = one("deployment.yaml")["spec"]["template"]["spec"]
    return spec


def container() -> dict[str, Any]:
    (found,) = pod()["containers"]
    return found


def test_every_file_is_named_by_a_kustomization():
    for folder in (DEPLOY, MONITORING):
        named = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
        there = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
        assert set(named) == there
        assert len(named) == len(set(named))


def test_probes_and_service_reach_the_port_that_is_listened_on(tmp_path: Path):
    config = configured(tmp_path)
    (port,) = container()["ports"]
    assert port["containerPort"] == config.web.port
    assert config.web.address == "0.0.0.0"
    (service,) = one("service.yaml")["spec"]["ports"]
    assert service["targetPort"] == port["name"]
    (scraped,) = one("components/monitoring/service-monitor.yaml")["spec"]["endpoints"]
    assert scraped["port"] == service["name"]


def test_probed_pages_exist():
    web = Web("127.0.0.1", 0, CollectorRegistry(), healthy=lambda: "", ready=lambda: "")
    web.start()
    try:
        (scraped,) = one("components/monitoring/service-monitor.yaml")["spec"]["endpoints"]
        probes = [container()[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")]
        assert {probe["port"] for probe in probes} == {container()["ports"][0]["name"]}
        host, port = web.address
        for page in [*(probe["path"] for probe in probes), scraped["path"]]:
            with urllib.request.urlopen(f"http://{host}:{port}{page}", timeout=60) as answer:
                assert answer.status == 200
    finally:
        web.stop()


def test_what_is_written_is_on_a_volume_and_the_rest_is_read_only(tmp_path: Path):
    config = configured(tmp_path)
    mounts = {mount["mountPath"]: mount["name"] for mount in container()["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod()["volumes"]}
    assert container()["securityContext"]["readOnlyRootFilesystem"] is True
    directory = config.telemetry.records.directory
    assert directory in mounts
    assert "/tmp" in mounts  # where a kubeconfig's certificates and temporary files go
    room = volumes[mounts[directory]]["emptyDir"]["sizeLimit"]
    # half of it spare: a day's file is cut only when the next begins
    assert config.telemetry.records.megabytes * 1_000_000 < int(room.removesuffix("Gi")) << 30


def test_the_controller_is_called_as_it_is_deployed():
    arguments = container()["args"]
    assert arguments[0] == "run"
    file: str = arguments[arguments.index("--config") + 1]
    (mount,) = (m for m in container()["volumeMounts"] if file.startswith(m["mountPath"] + "/"))
    (volume,) = (v for v in pod()["volumes"] if v["name"] == mount["name"])
    assert volume["configMap"]["name"] == one("config.yaml")["metadata"]["name"]
    assert file.removeprefix(mount["mountPath"] + "/") in one("config.yaml")["data"]


def test_lease_and_account_are_those_of_the_role(tmp_path: Path):
    config = configured(tmp_path)
    role = next(each for each in documents("rbac.yaml") if each["kind"] == "Role")
    names = {name for rule in role["rules"] for name in rule.get("resourceNames", ())}
    assert names == {config.leader_election.name}
    # the pod's own namespace is where the lease is looked for
    assert config.leader_election.namespace is None
    assert role["metadata"]["namespace"] == one("deployment.yaml")["metadata"]["namespace"]
    assert pod()["serviceAccountName"] == one("service-account.yaml")["metadata"]["name"]


def test_a_stop_gets_more_time_than_the_controller_takes():
    assert pod()["terminationGracePeriodSeconds"] > 5


def test_the_image_is_made_of_what_is_there():
    text = (DEPLOY / "Dockerfile").read_text()
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", text, flags=re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert copied
    assert [source for source in copied if not (ROOT / source).exists()] == []
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert container()["image"] == f"foretide:{version}"
    assert f"foretide:{version}" in text
    user = re.findall(r"^USER (\d+)", text, flags=re.MULTILINE)
    assert user == [str(pod()["securityContext"]["runAsUser"])]
    assert user != ["0"]
