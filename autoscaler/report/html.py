"""A report as one HTML file: opens from disk, loads nothing, can be mailed and printed.

Every text is escaped, the data are a JSON block, and a content security policy lets the page run
only the two scripts whose hashes it names, so that a hostile policy or label stays text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from autoscaler.model import Floats
from autoscaler.report.shapes import Band, Chart, Report, Shape, Step, Table, whole
from autoscaler.report.thin import thin

#: points a curve keeps: half a minute's drawing at most, and 28 days still show every 3 minutes
MOST_POINTS = 20_000
#: letters of a cell that is not broken over lines, such as an interval
SHORT = 14


def write_html(report: Report, path: Path) -> None:
    """Write the report to `path`; the same report gives the same bytes."""
    path.write_text(page(report), encoding="utf-8")


def page(report: Report) -> str:
    """Return the whole page as text."""
    scripts = [_static("uPlot.iife.min.js"), _static("report.js")]
    styles = [_static("uPlot.min.css"), _static("report.css")]
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{html.escape(report.title)}</title>",
        *(f"<style>{style}</style>" for style in styles),
        "</head>",
    ]
    tail = [
        f'<script type="application/json" id="data">{_embedded(_data(report))}</script>',
        f"<!-- uPlot is used under this licence:\n{_static('uPlot.LICENSE')}-->",
        *(f"<script>{script}</script>" for script in scripts),
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join([*head, *_body(report), *tail])


def _body(report: Report) -> list[str]:
    """Everything that is readable without a script: title, lead, facts, tables."""
    lines = ["<body>", "<main>", "<header>", f"<h1>{html.escape(report.title)}</h1>"]
    if report.lead:
        lines.append(f'<p class="lead">{html.escape(report.lead)}</p>')
    lines.append("</header>")
    lines += _facts("Advice", report.advice)
    lines += [line for table in report.tables for line in _table(table)]
    lines += [
        '<section id="charts" aria-label="Charts"></section>',
        '<noscript><p class="note">The charts need JavaScript; the tables do not.</p></noscript>',
    ]
    lines += [line for table in report.details for line in _table(table)]
    lines += _facts("What was run", report.facts)
    lines += [f"<footer>{html.escape(report.footer)}</footer>", "</main>"]
    return lines


def _facts(title: str, facts: tuple[tuple[str, str], ...]) -> list[str]:
    """Labels with their texts; nothing without any."""
    if not facts:
        return []
    return [
        f'<section class="facts"><h2>{html.escape(title)}</h2><dl>',
        *(
            f"<div{_wide(text)}><dt>{html.escape(label)}</dt><dd>{html.escape(text)}</dd></div>"
            for label, text in facts
        ),
        "</dl></section>",
    ]


def _wide(text: str) -> str:
    """Let a long text run over the whole width."""
    return ' class="wide"' if len(text) > 70 else ""


def _table(table: Table) -> list[str]:
    """One table, scrollable sideways where the screen is narrow."""
    lines = ['<section class="table">']
    if table.title:
        lines.append(f"<h2>{html.escape(table.title)}</h2>")
    lines.append('<div class="scroll" tabindex="0"><table>')
    kinds = [' class="text"' if i in table.sentences else "" for i in range(len(table.columns))]
    cells = "".join(
        f'<th scope="col"{kind}>{html.escape(name)}</th>'
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    lines.append(f"<thead><tr>{cells}</tr></thead><tbody>")
    for index, row in enumerate(table.rows):
        first, *others = (html.escape(cell) for cell in row)
        mark = ' class="strong"' if index == table.strong else ""
        lines.append(
            f'<tr{mark}><th scope="row">{first}</th>'
            + "".join(
                f"<td{k}>{_unbroken(cell)}</td>" for cell, k in zip(others, kinds[1:], strict=True)
            )
            + "</tr>"
        )
    lines.append("</tbody></table></div>")
    if table.note:
        lines.append(f'<p class="note">{html.escape(table.note)}</p>')
    lines.append("</section>")
    return lines


def _unbroken(cell: str) -> str:
    """Keep a short figure with its unit on one line, on paper too, where cells wrap."""
    return cell if len(cell) > SHORT or "/" in cell else cell.replace(" ", "\u00a0")


def _data(report: Report) -> dict[str, Any]:
    """Charts in the compact form that `report.js` reads."""
    return {"charts": [_chart(thin(chart, MOST_POINTS)) for chart in report.charts]}


def _chart(chart: Chart) -> dict[str, Any]:
    start = round(float(chart.times[0]), 3)
    gaps = np.diff(chart.times)
    regular = bool(np.all(np.abs(gaps - gaps[0]) < 1e-6))
    return {
        "title": chart.title,
        "unit": chart.unit,
        "zone": chart.zone,
        "now": chart.now,
        "whole": whole(chart),
        "start": start,
        "count": len(chart.times),
        "gaps": float(gaps[0]) if regular else [round(float(gap), 3) for gap in gaps],
        "series": [_shape(shape) for shape in chart.series],
        "notes": [
            {"at": note.at, "text": note.text, "group": note.group}
            for note in sorted(chart.notes, key=lambda note: note.at)
        ],
    }


def _shape(shape: Shape) -> dict[str, Any]:
    common: dict[str, Any] = {
        "label": shape.label,
        "group": shape.group,
        "tone": shape.tone,
        "shown": shape.shown,
    }
    if isinstance(shape, Band):
        lower, upper = _numbers(shape.lower), _numbers(shape.upper)
        return common | {"kind": "band", "lower": lower, "upper": upper}
    if isinstance(shape, Step):
        at, values = _changes(shape.values)
        return common | {"kind": "step", "fill": shape.fill, "at": at, "values": values}
    return common | {"kind": "line", "values": _numbers(shape.values)}


def _numbers(values: Floats) -> list[float | None]:
    """Four significant digits are more than a screen shows; a missing number is null."""
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values.tolist()]


def _changes(values: Floats) -> tuple[list[int], list[float | None]]:
    """Find the indices at which a staircase changes, and its value from there on."""
    before, after = values[:-1], values[1:]
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    at = np.concatenate(([0], np.flatnonzero(~same) + 1))
    return at.tolist(), _numbers(values[at])


def _embedded(data: dict[str, Any]) -> str:
    """JSON that cannot end its script block and that no parser takes for markup."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hashes(texts: list[str]) -> str:
    """Content security policy sources for inline texts."""
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def _static(name: str) -> str:
    """Read a file of `static/`."""
    return (resources.files("autoscaler.report") / "static" / name).read_text(encoding="utf-8")
