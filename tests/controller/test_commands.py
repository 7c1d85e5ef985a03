"""`once`, `restore` and the ways in which `explain` is asked wrongly, as real commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoscaler.adapters.kubernetes.resources import LEASES, ORIGINAL_FLOOR
from tests.controller.stage import Stage

pytestmark = pytest.mark.slow


def test_once_shows_decisions_and_writes_as_the_modes_say(world: Stage, foretide) -> None:
    world.service("acts")
    world.service("observes", mode="Observe")
    config = str(world.config())
    code, text = foretide("once", "--config", config, "--observe-only", "--json")
    shown = {row["policy"]: row for row in json.loads(text[: text.rindex("]") + 1])}
    assert code in {0, 3}, text
    assert shown["llm/acts"]["outcome"] == "Observed"
    assert (shown["llm/acts"]["present"], shown["llm/acts"]["floor"]) == (2, 6)
    assert world.writes() == []
    code, text = foretide("once", "--config", config)
    assert code in {0, 3}, text
    assert world.writes() == [(2, 6)]
    assert "llm/acts" in text
    assert "Written" in text
    lease = world.kubernetes.get(LEASES, "default", "foretide")
    assert not lease["spec"]["holderIdentity"]  # given back for the controller
    code, text = foretide("explain", str(world.records), "--policy", "llm/acts")
    assert code == 0, text
    assert "SAME" in text


def test_once_says_in_its_exit_code_that_a_policy_could_not_be_used(world: Stage, foretide) -> None:
    world.service("a", mode="Observe")
    (world.policies / "b.yaml").write_text("kind: TidePolicy\n", encoding="utf-8")
    code, text = foretide("once", "--config", str(world.config()))
    assert code == 2, text
    assert "cannot be used" in text
    assert "llm/a" in text


def test_explain_says_that_a_file_holds_no_records(foretide, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"\x00\xff not a record\n")
    code, text = foretide("explain", str(path))
    assert code == 2, text
    assert "no decision records in it" in text


def test_once_leaves_writing_to_a_controller_that_leads(world: Stage, foretide) -> None:
    world.service("a")
    world.kubernetes.put(
        {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": "foretide", "namespace": "default"},
            "spec": {"holderIdentity": "a controller", "leaseDurationSeconds": 60},
        }
    )
    code, text = foretide("once", "--config", str(world.config()))
    assert code == 3, text
    assert "NotLeader" in text
    assert "holds the lease" in text
    assert world.writes() == []


def test_restore_shows_then_gives_back(world: Stage, foretide) -> None:
    world.hpa("a", floor=9, **{ORIGINAL_FLOOR: "2"})
    world.hpa("b", floor=7, **{ORIGINAL_FLOOR: "3"})
    world.hpa("other", floor=5)
    world.policy("a")
    config = str(world.config())
    code, text = foretide("restore", "--all", "--dry-run", "--config", config)
    assert code == 0, text
    assert "llm/a: floor 9 → 2: would be given back" in text
    assert world.writes() == []
    code, text = foretide("restore", "--policy", "llm/a", "--config", config)
    assert code == 0, text
    assert (world.floor("a"), world.floor("b")) == (2, 7)
    code, text = foretide("restore", "--all", "--config", config, "--json")
    assert code == 0, text
    assert [row["done"] for row in json.loads(text)] == [True]
    assert [world.floor(name) for name in ("a", "b", "other")] == [2, 3, 5]
    code, text = foretide("restore", "--all", "--config", config)
    assert (code, text.startswith("Nothing to give back")) == (0, True)


def test_restore_that_is_refused_fails(world: Stage, foretide) -> None:
    world.hpa("a", floor=9, **{ORIGINAL_FLOOR: "2"})
    world.policy("a")
    world.kubernetes.deny(verb="patch")
    code, text = foretide("restore", "--all", "--config", str(world.config()))
    assert code == 1
    assert "NOT given back" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["restore"], "either --all or --policy"),
        (["restore", "--policy", "qwen"], "NAMESPACE/NAME"),
        (["explain", "{empty}"], "no decision records"),
        (["run", "--config", "{missing}"], "does not exist"),
        (["once", "--prometheus", "not a url"], "prometheus.url"),
    ],
)
def test_bad_input_is_exit_code_2(
    world: Stage, foretide, tmp_path: Path, arguments: list[str], said: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    world.policy("a")
    filled = [a.format(empty=empty, missing=tmp_path / "missing.yaml") for a in arguments]
    extra = [] if filled[0] in {"explain", "run"} else ["--config", str(world.config())]
    code, text = foretide(*filled, *extra)
    assert code == 2, text
    assert said in text
