"""Where the recorded traffic and engine runs lie, on the machines that have them.

They are not part of this repository: a test that wants them asks `shared(...)` and is skipped, with
a reason, where the folder is not present.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("FORETIDE_SHARED", ROOT.parent / "shared"))


def shared(*parts: str) -> Path:
    """Path inside the shared folder, or skip the calling test where it is not present."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(('shared', *parts))}, which is not on this machine")
    return path
