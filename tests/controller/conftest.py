from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controller.stage import Stage, stage


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as made:
        yield made


@pytest.fixture
def foretide(world: Stage) -> Callable[..., tuple[int, str]]:
    """Run a command in a fresh process: exit code and what it printed."""

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "autoscaler.cli.main", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
        return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr

    return run
