"""A PNG is written, of the promised width, and the same bytes for the same report."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from autoscaler.report import write_png
from tests.report.making import report


@pytest.mark.slow  # matplotlib takes a second to import and half a second a picture
def test_same_report_same_picture(tmp_path: Path) -> None:
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    write_png(report(), first)
    write_png(report(), second)
    content = first.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert 1500 <= width <= 1700
    assert height > 800
    assert content == second.read_bytes()
