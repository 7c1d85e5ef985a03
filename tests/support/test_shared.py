"""The helper that finds the shared folder refuses to guess."""

from __future__ import annotations

import pytest

from tests.support import shared as module
from tests.support.shared import shared


def test_absent_path_skips_with_its_name():
    with pytest.raises(pytest.skip.Exception, match="shared/no/such/file"):
        shared("no", "such", "file")


def test_root_is_the_checkout():
    assert (module.ROOT / "pyproject.toml").is_file()
