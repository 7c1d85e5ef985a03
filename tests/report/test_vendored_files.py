"""The files of others are the ones that THIRD_PARTY.md names, byte for byte."""

from __future__ import annotations

import hashlib
import re
from importlib import resources

STATIC = resources.files("autoscaler.report") / "static"


def test_sums_agree() -> None:
    text = (STATIC / "THIRD_PARTY.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|", text)
    assert {name for name, _ in rows} == {"uPlot.iife.min.js", "uPlot.min.css"}
    for name, digest in rows:
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest


def test_the_licence_travels_with_every_report() -> None:
    assert "Permission is hereby granted" in (STATIC / "uPlot.LICENSE").read_text("utf-8")
