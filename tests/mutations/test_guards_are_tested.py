"""Each mutation of the catalogue, applied to a copy of the source, must make its test fail."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autoscaler import guard
from tests.mutations.catalogue import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package and of the core's tests, without the repository's pytest settings."""
    place = tmp_path_factory.mktemp("mutated")
    ignore = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(ROOT / "autoscaler", place / "autoscaler", ignore=ignore)
    (place / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "__init__.py", place / "tests")
    shutil.copytree(ROOT / "tests" / "core", place / "tests" / "core", ignore=ignore)
    (place / "pytest.ini").write_text("[pytest]\nmarkers = slow\nfilterwarnings = error\n")
    return place


def around(place: Path) -> dict[str, str]:
    """Environment in which the copy is tested, with its own code and nobody's options.

    `CI` makes Hypothesis try the same examples each time, without a deadline for any.
    """
    return os.environ | {"PYTHONPATH": str(place), "PYTEST_ADDOPTS": "", "CI": "true"}


def run(place: Path, test: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, test], cwd=place, env=around(place), capture_output=True, text=True, check=False
    )


def test_the_copy_is_what_runs(copy):
    found = subprocess.run(
        [sys.executable, "-c", "import autoscaler; print(autoscaler.__file__)"],
        cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(found.stdout.strip()).is_relative_to(copy)


@pytest.mark.mutation
def test_unmutated_every_named_test_passes(copy):
    tests = sorted({mutation.test for mutation in MUTATIONS})
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=copy, env=around(copy),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("of", guard.GUARDS, ids=lambda of: of.__name__)
def test_every_guard_is_mutated(of: guard.Guard):
    source = inspect.getsource(of)
    assert [m.name for m in MUTATIONS if m.module == "guard.py" and m.old.rstrip() in source]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_text_of_a_mutation_stands_once(mutation: Mutation):
    source = (ROOT / "autoscaler" / mutation.module).read_text()
    assert source.count(mutation.old) == 1


@pytest.mark.mutation
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_mutation_is_noticed(copy, mutation: Mutation):
    path = copy / "autoscaler" / mutation.module
    source = path.read_text()
    path.write_text(source.replace(mutation.old, mutation.new))
    try:
        done = run(copy, mutation.test)
    finally:
        path.write_text(source)
    # 1 is "tests failed"; anything else is a test that was not found or a broken file
    assert done.returncode == 1, f"{mutation.name} went unnoticed:\n{done.stdout}\n{done.stderr}"
