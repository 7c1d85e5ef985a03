"""Checks the manifests of `deploy/` without a cluster, and its alerts as rules.

The lab's API server checks more (tests marked `lab`); this needs no cluster and names the file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml

from tests.lab.build import find

ROOT = Path(__file__).resolve().parent.parent
KUBERNETES = "1.37"
# kinds that are no part of Kubernetes: no schema to hold them against
FOREIGN = {"Kustomization", "Component", "PrometheusRule", "ServiceMonitor", "TidePolicy"}


def faults(path: Path) -> list[str]:
    """List what is wrong in one file."""
    found: list[str] = []
    where = path.relative_to(ROOT)
    for number, document in enumerate(yaml.safe_load_all(path.read_text()), start=1):
        kind = document.get("kind")
        if kind == "PrometheusRule":
            found += [f"{where}: {line}" for line in rule_faults(document["spec"])]
        if kind in FOREIGN:
            continue
        try:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
        except kubernetes_validate.ValidationError as error:
            at = ".".join(str(part) for part in error.path)
            found.append(f"{where}: document {number} ({kind}): {at}: {error.message}")
        except kubernetes_validate.SchemaNotFoundError:
            found.append(f"{where}: document {number}: Kubernetes {KUBERNETES} has no kind {kind}")
    return found


def rule_faults(spec: object) -> list[str]:
    """Ask promtool about a PrometheusRule's groups."""
    promtool = find("promtool")
    if promtool is None:
        return [
            "promtool is not there to check the rules: `python -m tests.lab --build prometheus`"
        ]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(spec, file)
        file.flush()
        command = [str(promtool), "check", "rules", "--lint=all", "--lint-fatal", file.name]
        answer = subprocess.run(command, check=False, capture_output=True, text=True)
    return [] if answer.returncode == 0 else (answer.stdout + answer.stderr).splitlines()


def main() -> int:
    """Check every YAML file below deploy/; return the exit code."""
    paths = sorted((ROOT / "deploy").rglob("*.yaml"))
    found = [line for path in paths for line in faults(path)]
    print("\n".join(found) if found else f"deploy: {len(paths)} files are valid")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
