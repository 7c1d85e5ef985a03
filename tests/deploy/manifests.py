"""Documents of `deploy/`, as the tests look at them."""

from __future__ import annotations

from typing import Any

import yaml

from tests.support.shared import ROOT

DEPLOY = ROOT / "deploy"
MONITORING = DEPLOY / "components" / "monitoring"


def documents(name: str) -> list[dict[str, Any]]:
    """All documents of one file."""
    return [each for each in yaml.safe_load_all((DEPLOY / name).read_text()) if each]


def one(name: str) -> dict[str, Any]:
    """The only document of a file."""
    (document,) = documents(name)
    return document
