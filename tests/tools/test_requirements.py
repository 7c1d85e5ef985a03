"""What `make lint` finds when pyproject.toml and the pinned requirements part ways."""

from __future__ import annotations

from tools.requirements import differences, group

HASH = "    --hash=sha256:00\n"


def test_agreement_is_silent():
    assert differences("run", ["numpy>=2.2"], f"numpy==2.4.6 \\\n{HASH}") == []


def test_names_are_compared_normalised():
    assert differences("run", ["PyYAML>=6"], f"pyyaml==6.0.4 \\\n{HASH}") == []


def test_a_dependency_that_is_not_pinned():
    (fault,) = differences("run", ["numpy>=2.2", "rich>=14"], f"numpy==2.4.6 \\\n{HASH}")
    assert "rich" in fault


def test_every_version_must_satisfy_pyproject():
    text = f"numpy==2.1.0 ; python_version < '3.12' \\\n{HASH}numpy==2.4.6 \\\n{HASH}"
    (fault,) = differences("run", ["numpy>=2.2"], text)
    assert "2.1.0" in fault


def test_an_address_and_a_missing_hash_are_refused():
    text = f"--index-url https://index.invalid/simple\nnumpy==2.4.6 \\\n{HASH}rich==15.0.0\n"
    address, unhashed = differences("run", [], text)
    assert "index.invalid" in address
    assert "rich==15.0.0" in unhashed


def test_groups_include_groups():
    groups = {"a": ["x"], "b": [{"include-group": "a"}, "y"]}
    assert group(groups, "b") == ["x", "y"]
