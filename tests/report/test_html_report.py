"""The HTML report is well-formed, loads nothing, and takes no text for markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from autoscaler.report import Chart, Line, Note, Table, write_html
from autoscaler.report.html import page
from tests.report.making import report

HOSTILE = "</script><img src=x onerror=alert(1)>&\"'\u2028<!--"
_VOID = {"meta", "br", "img", "link", "hr", "input"}


class Reader(HTMLParser):
    """Collects what a browser would see: open tags, texts by element, and mistakes of nesting."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
            self.inside.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.inside[self.open[-1]][-1] += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


def test_it_is_well_formed_and_loads_nothing() -> None:
    seen = read(page(report()))
    assert seen.wrong == []
    assert seen.open == []
    assert [attrs for _, attrs in seen.tags if "src" in attrs or "href" in attrs] == []


def test_the_policy_allows_exactly_the_scripts_and_styles_inside() -> None:
    seen = read(page(report()))
    policy = next(
        str(a["content"]) for t, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    texts = [*seen.inside["style"], *seen.inside["script"][1:]]  # the first script is data
    for text in texts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert len(texts) == policy.count("sha256-") == 4


def test_hostile_texts_stay_texts() -> None:
    chart = Chart(
        title=HOSTILE,
        unit=HOSTILE,
        times=np.arange(3.0),
        series=(Line(label=HOSTILE, group=HOSTILE, values=np.arange(3.0)),),
        notes=(Note(at=1.0, text=HOSTILE),),
    )
    table = Table(columns=(HOSTILE, "b"), rows=((HOSTILE, HOSTILE),), title=HOSTILE, note=HOSTILE)
    text = page(
        report(
            title=HOSTILE,
            lead=HOSTILE,
            facts=((HOSTILE, HOSTILE),),
            tables=(table,),
            charts=(chart,),
            footer=HOSTILE,
        )
    )
    seen = read(text)
    assert seen.wrong == []
    assert not [tag for tag, _ in seen.tags if tag == "img"]
    assert seen.inside["h1"] == [HOSTILE]
    embedded = json.loads(seen.inside["script"][0])
    assert embedded["charts"][0]["title"] == HOSTILE
    assert embedded["charts"][0]["notes"][0]["text"] == HOSTILE


def test_numbers_survive_and_holes_are_null() -> None:
    values = np.array([1.23456, np.nan, np.inf, 4e7])
    chart = Chart(
        title="t", unit="u", times=np.arange(4.0), series=(Line(label="x", values=values),)
    )
    data = json.loads(read(page(report(charts=(chart,)))).inside["script"][0])
    assert data["charts"][0]["series"][0]["values"] == [1.235, None, None, 4e7]


def test_four_weeks_at_a_minute_stay_small(tmp_path: Path) -> None:
    count = 28 * 1440
    rng = np.random.default_rng(3)
    chart = Chart(
        title="t",
        unit="u",
        times=np.arange(count) * 60.0,
        series=(Line(label="x", values=rng.gamma(50.0, size=count)),),
    )
    path = tmp_path / "report.html"
    write_html(report(charts=(chart,)), path)
    assert path.stat().st_size < 450_000


def test_same_report_same_bytes() -> None:
    assert page(report()) == page(report())


def test_no_machine_path_or_time_of_writing_inside() -> None:
    text = page(report())
    assert not re.search(r"/(home|root|tmp|work)/", text)
