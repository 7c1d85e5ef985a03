"""The generated files are what the code says, and the CRD says what the API server can check."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from autoscaler.policy import Spec
from autoscaler.schema import words
from tests.policy.making import ROOT
from tools.generate.__main__ import FILES, main


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name](), "python -m tools.generate"


def test_check_fails_on_a_stale_file_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], root=tmp_path) == 0
    assert main(["--check"], root=tmp_path) == 0
    stale = tmp_path / "policies" / "README.md"
    stale.write_text("old\n")
    assert main(["--check"], root=tmp_path) == 1
    assert "policies/README.md is not what the code says" in capsys.readouterr().err
    assert stale.read_text() == "old\n"


def test_the_crd_has_columns_status_and_the_short_name() -> None:
    crd = yaml.safe_load((ROOT / "deploy" / "crd.yaml").read_text())["spec"]
    (version,) = crd["versions"]
    assert crd["names"]["shortNames"] == ["tide"]
    assert version["subresources"] == {"status": {}}
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert columns == ["Mode", "Target", "Floor", "Need", "Next", "Ready", "Age"]
    properties = version["schema"]["openAPIV3Schema"]["properties"]
    assert set(properties["spec"]["properties"]) == set(words.keys_of(Spec))
    assert properties["spec"]["required"] == ["targetRef", "demand", "capacity"]


def test_every_field_stands_in_the_reference() -> None:
    text = (ROOT / "policies" / "README.md").read_text()
    fields = [((name,), field) for name, field in words.keys_of(Spec).items()]
    while fields:
        path, field = fields.pop()
        item = words.entry(words.bare(field.annotation)[0])
        if words.is_section(item):
            fields += [((*path, name), inner) for name, inner in words.keys_of(item).items()]
        else:
            assert f"| `{'.'.join(path)}` |" in text
