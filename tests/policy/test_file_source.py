"""Policies from files and mounted ConfigMaps: what an edit, a slip and an empty mount come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoscaler.adapters.policies import FilePolicySource, load, one_per_target, read_text
from autoscaler.errors import ObservationError, PolicyError
from tests.policy.making import GOOD


def policy(name: str, *, target: str | None = None, namespace: str = "llm") -> str:
    return (
        GOOD.replace("  name: qwen", f"  name: {name}", 1)
        .replace("namespace: llm", f"namespace: {namespace}")
        .replace("name: qwen}", f"name: {target or name}}}")
    )


def mount(directory: Path, version: str, files: dict[str, str]) -> None:
    """Write a ConfigMap volume as the kubelet does, and swap it in as one."""
    data = directory / f"..{version}"
    data.mkdir(parents=True)
    for name, text in files.items():
        (data / name).write_text(text)
    link = directory / "..data_tmp"
    link.symlink_to(data.name)
    link.replace(directory / "..data")
    for name in files:
        if not (directory / name).is_symlink():
            (directory / name).symlink_to(f"..data/{name}")


def keys(source: FilePolicySource) -> list[str]:
    return [found.key for found in source.list().policies]


def test_files_and_directories_are_read_together_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(policy("b"))
    (tmp_path / "a.yml").write_text(policy("a"))
    (tmp_path / "notes.txt").write_text("no policy")
    (tmp_path / ".hidden.yaml").write_text("no: policy")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c.yaml").write_text(policy("c"))
    source = FilePolicySource([tmp_path, tmp_path / "inner" / "c.yaml"])
    assert keys(source) == ["llm/a", "llm/b", "llm/c"]
    assert source.list().complete


def test_a_mounted_configmap_is_followed_through_its_versions(tmp_path: Path) -> None:
    mount(tmp_path, "2026_01", {"a.yaml": policy("a"), "b.yaml": policy("b")})
    source = FilePolicySource([tmp_path])
    assert keys(source) == ["llm/a", "llm/b"]
    # the new version lacks b; its old link is still there, and dangles, until the kubelet tidies up
    mount(tmp_path, "2026_02", {"a.yaml": policy("a").replace("3.2", "4.5")})
    listed = source.list()
    assert [found.key for found in listed.policies] == ["llm/a"]
    assert listed.policies[0].spec.capacity.per_replica == 4.5
    assert listed.complete


def test_a_bad_edit_is_refused_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(policy("a"))
    (tmp_path / "b.yaml").write_text(policy("b"))
    source = FilePolicySource([tmp_path])
    source.list()
    (tmp_path / "a.yaml").write_text(policy("a").replace("3.2", "none"))
    listed = source.list()
    assert [found.key for found in listed.policies] == ["llm/b"]
    assert [(refusal.key, refusal.message) for refusal in listed.refused] == [
        (
            "llm/a",
            f'{tmp_path}/a.yaml:10:26: spec.capacity.perReplica: found "none"; '
            "allowed: a number (above 0, at most 1e+12)",
        )
    ]
    assert listed.complete, "it is known which policy is broken, so others may be removed"


def test_a_file_that_is_no_yaml_makes_the_answer_incomplete(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [")
    (tmp_path / "b.yaml").write_text(policy("b"))
    listed = FilePolicySource([tmp_path]).list()
    assert [found.key for found in listed.policies] == ["llm/b"]
    assert [refusal.key for refusal in listed.refused] == [f"{tmp_path}/a.yaml"]
    assert not listed.complete


def test_a_policy_that_lost_its_name_makes_the_answer_incomplete(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(policy("a").replace("  name: a\n", ""))
    listed = FilePolicySource([tmp_path]).list()
    assert [refusal.key for refusal in listed.refused] == [f"{tmp_path}/a.yaml:1:1"]
    assert not listed.complete


def test_a_source_without_any_policy_removes_nothing(tmp_path: Path) -> None:
    source = FilePolicySource([tmp_path])
    with pytest.raises(ObservationError, match=r"no policy in .*: nothing is removed") as caught:
        source.list()
    assert caught.value.code == "PoliciesEmpty"
    (tmp_path / "other.yaml").write_text("kind: Deployment\napiVersion: apps/v1\n")
    with pytest.raises(ObservationError, match="no policy in"):
        source.list()


def test_a_path_that_is_gone_removes_nothing(tmp_path: Path) -> None:
    source = FilePolicySource([tmp_path / "gone"])
    with pytest.raises(ObservationError, match="policies cannot be read") as caught:
        source.list()
    assert caught.value.code == "PoliciesUnreadable"


def test_the_first_policy_on_a_target_stays(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(policy("a", target="x"))
    (tmp_path / "b.yaml").write_text(policy("b", target="x"))
    (tmp_path / "c.yaml").write_text(policy("c", target="x", namespace="other"))
    listed = FilePolicySource([tmp_path]).list()
    assert [found.key for found in listed.policies] == ["llm/a", "other/c"]
    assert [(refusal.key, refusal.message) for refusal in listed.refused] == [
        (
            "llm/b",
            f"{tmp_path}/b.yaml:1:1: spec.targetRef: found a second policy on "
            f"HorizontalPodAutoscaler llm/x; one policy for each target, and llm/a "
            f"({tmp_path}/a.yaml:1:1) has it",
        )
    ]


def test_the_first_policy_of_a_name_stays_and_is_not_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(policy("a") + "---\n" + policy("a", target="y"))
    with pytest.raises(PolicyError) as caught:
        load([tmp_path])
    assert str(caught.value) == (
        f"{tmp_path}/a.yaml:12:1: metadata.name: found a second policy llm/a; "
        f"the first is at {tmp_path}/a.yaml:1:1; rename one"
    )
    listed = FilePolicySource([tmp_path]).list()
    assert [found.key for found in listed.policies] == ["llm/a"]
    assert listed.refused == ()


def test_policies_of_a_cluster_are_held_apart_by_the_same_rule() -> None:
    texts = policy("old", target="x") + "---\n" + policy("new", target="x")
    read = [found.policy for found in read_text(texts.encode(), "p").found]
    listed = one_per_target(read)
    assert [found.key for found in listed.policies] == ["llm/old"]
    assert [(refusal.key, refusal.message) for refusal in listed.refused] == [
        (
            "llm/new",
            "spec.targetRef: found a second policy on HorizontalPodAutoscaler llm/x; "
            "one policy for each target, and llm/old has it",
        )
    ]


def test_a_command_gets_everything_or_one_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(policy("a"))
    assert [found.key for found in load([tmp_path / "a.yaml"])] == ["llm/a"]
    (tmp_path / "b.yaml").write_text("kind: Deployment\napiVersion: apps/v1\n")
    with pytest.raises(PolicyError, match=r"skipped a document of kind Deployment.*\n.*no TidePol"):
        load([tmp_path / "b.yaml"])
