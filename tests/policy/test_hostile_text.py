"""Text that is meant, or happens, to break a reader of YAML: refused in words, quickly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.adapters.policies import read_paths, read_text
from autoscaler.schema import documents
from tests.policy.making import GOOD

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.fixture(params=["C", "Python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both parsers of PyYAML: the C one is not in every build."""
    if request.param == "C":
        assert hasattr(yaml, "CSafeLoader"), "the C parser is in every wheel that we pin"
    chosen = yaml.CSafeLoader if request.param == "C" else yaml.SafeLoader
    monkeypatch.setattr(documents, "_LOADER", chosen)
    return str(request.param)


def problems(raw: bytes) -> list[str]:
    return [str(problem) for problem in read_text(raw, "p.yaml").problems]


@pytest.mark.usefixtures("loader")
class TestWithEachParser:
    def test_a_billion_laughs_are_refused_at_the_first(self) -> None:
        told = problems(BOMB.encode())
        assert "p.yaml:2:8: b[0]: found the alias *a; write the value out" in told
        assert len(told) < 200

    def test_an_alias_of_itself_is_refused(self) -> None:
        assert "p.yaml:1:8: a[0]: found the alias *x; write the value out" in problems(
            b"a: &x [*x]"
        )

    def test_a_merge_key_is_refused(self) -> None:
        told = problems(GOOD.encode() + b"  release: {<<: {after: 5m}}\n")
        assert "found the merge key <<; write the values out" in told[0]

    def test_deep_nesting_ends_early(self) -> None:
        told = problems(b"a: " + b"[" * 40_000 + b"]" * 40_000)
        # libyaml has a limit of its own, and reads ahead
        (only,) = told
        assert "more than 32 levels of nesting" in only or "maximum nesting depth" in only

    def test_broken_yaml_is_told_at_its_place(self) -> None:
        (told,) = problems(b"a: [1, 2\nb: 3\n")
        assert told.startswith("p.yaml:2:2: no YAML: ")

    def test_a_key_that_is_no_text_is_refused(self) -> None:
        assert problems(b"? [a]\n: b\n") == ["p.yaml:1:3: found a key that is no text"]

    def test_a_tag_that_would_run_code_is_only_text(self) -> None:
        told = problems(b"a: !!python/object/apply:os.system ['echo no']")
        tag = "tag:yaml.org,2002:python/object/apply:os.system"
        assert f"p.yaml:1:4: a: found the tag {tag}; plain values without tags" in told

    def test_words_of_yaml_1_1_are_read_as_kubernetes_reads_them(self) -> None:
        (document,) = documents.parse(
            b"[on, yes, 12:30:45, 1_000, 0777, 2026-11-10, 0x1F, '7', !!str 7, 7, 7.5, .inf, true]",
            "p.yaml",
        )
        assert document.value == [
            "on", "yes", "12:30:45", "1_000", "0777", "2026-11-10", "0x1F", "7", "7", 7, 7.5,
            float("inf"), True,
        ]  # fmt: skip

    def test_a_number_of_a_million_digits_is_only_text(self) -> None:
        (document,) = documents.parse(b"a: " + b"9" * 900_000, "p.yaml")
        assert isinstance(document.value["a"], float | str)

    def test_several_documents_are_read_and_others_skipped_in_words(self) -> None:
        other = "kind: Deployment\napiVersion: apps/v1\n"
        reading = read_text(f"---\n{GOOD}---\n{other}---\n---\n- 1\n".encode(), "p.yaml")
        assert [found.policy.key for found in reading.found] == ["llm/qwen"]
        assert reading.skipped == (
            "p.yaml:13:1: skipped a document of kind Deployment (apps/v1); only TidePolicy is read",
        )
        assert [str(problem) for problem in reading.problems] == [
            "p.yaml:17:1: found a list of 1; a mapping with apiVersion, kind, metadata, spec"
        ]

    @given(st.binary(max_size=200))
    def test_any_bytes_are_read_or_refused(self, raw: bytes) -> None:
        read_text(raw, "p.yaml")  # any other end than a Reading is an exception, and fails

    @given(st.text(st.sampled_from("ab:-[]{},&*!|>#?%@`'\" \n\t0.~<"), max_size=60))
    def test_any_punctuation_is_read_or_refused(self, text: str) -> None:
        read_text(text.encode(), "p.yaml")


def test_bytes_that_are_no_utf8_are_told() -> None:
    assert problems(b"a: \xff\xfe") == [
        "p.yaml: byte 0xff at offset 3, which is not UTF-8; UTF-8 text"
    ]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert problems(b"\xef\xbb\xbf" + GOOD.encode()) == []


def test_a_file_of_10_mb_is_refused_unread(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 10_000_000)
    assert [str(problem) for problem in read_paths([large]).problems] == [
        f"{large}: 10.0 MB; at most 1 MB; a policy takes about 1 kB: is it another file?"
    ]


def test_a_file_just_within_the_limit_is_read(tmp_path: Path) -> None:
    full = tmp_path / "full.yaml"
    full.write_bytes(GOOD.encode() + b"#" * (documents.MAX_BYTES - len(GOOD)))
    assert [found.policy.key for found in read_paths([full]).found] == ["llm/qwen"]


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert [str(problem) for problem in read_paths([pipe]).problems] == [
        f"{pipe}: cannot be read: not a regular file"
    ]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone.yaml"
    assert [str(problem) for problem in read_paths([gone]).problems] == [
        f"{gone}: cannot be read: No such file or directory"
    ]
