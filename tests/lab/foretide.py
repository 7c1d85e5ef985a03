"""`foretide run` as a child process, with the rights that `deploy/` gives it and no others."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from tests.lab.plane import ControlPlane
from tests.lab.process import PATIENCE, Process, free_ports

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE = "foretide"
ACCOUNT = "foretide"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"


def manifests() -> list[dict[str, Any]]:
    """Documents of `deploy/`, in the order of its kustomization."""
    folder = ROOT / "deploy"
    names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    return [
        document
        for name in names
        for document in yaml.safe_load_all((folder / name).read_text())
        if document is not None
    ]


def add_account(plane: ControlPlane, name: str) -> str:
    """Create a further service account with the rights of `deploy/`; return its user name."""
    meta = {"name": name, "namespace": NAMESPACE}
    plane.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    for document in manifests():
        if not document["kind"].endswith("RoleBinding"):
            continue
        subject = {"kind": "ServiceAccount", **meta}
        bound = {**document["metadata"], "name": f"{document['metadata']['name']}-{name}"}
        plane.api.apply({**document, "metadata": bound, "subjects": [subject]})
    user = f"system:serviceaccount:{NAMESPACE}:{name}"
    plane.wait_for_rights(user, "default")
    return user


class Foretide:
    """One running controller.

    Parameters
    ----------
    home : folder for its configuration, records and log
    config : as in the configuration file; web.port and the kubeconfig are filled in here
    policies : files or folders (`-f`); without any, the cluster's TidePolicy objects
    account : service account that it runs as
    server : address of the API server, if not its own (a proxy)
    """

    def __init__(
        self,
        plane: ControlPlane,
        home: Path,
        config: dict[str, Any],
        *,
        policies: tuple[Path, ...] = (),
        account: str = ACCOUNT,
        server: str | None = None,
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self.records = home / "records"
        token = plane.service_account_token(NAMESPACE, account)
        kubeconfig = plane.kubeconfig_with(token, name=f"{account}-{port}", server=server)
        whole = {
            **config,
            "kubernetes": {"kubeconfig": str(kubeconfig), **config.get("kubernetes", {})},
            "telemetry": {"records": {"directory": str(self.records)}, "logs": {"format": "json"}},
            "web": {"port": port},
        }
        file = home / "config.yaml"
        file.write_text(yaml.safe_dump(whole))
        arguments = ["-m", "autoscaler.cli.main", "run", "--config", str(file)]
        for path in policies:
            arguments += ["-f", str(path)]
        # nothing of the desk's own settings (KUBECONFIG, FORETIDE_…, proxies) reaches it
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        environment = {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        self.process = Process(
            sys.executable, arguments, home, name="foretide", environment=environment
        )

    def wait_ready(self, timeout: float = PATIENCE) -> None:
        """Wait until every policy was observed once (`/readyz`)."""
        self.process.wait_ready(self.ready, timeout)

    def ready(self) -> bool:
        """What `/readyz` says."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=20) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            error.close()
            return False

    def metrics(self) -> str:
        """The text of `/metrics`."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=20) as answer:
            text: str = answer.read().decode()
        return text

    def stop(self) -> int:
        """SIGTERM, and the exit code; it promises 5 s, on a machine that lets it run."""
        return self.process.stop(grace=60.0)
