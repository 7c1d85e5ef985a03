"""Charts, tables and facts on a terminal, with the signs and colours that it can show."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

from rich.table import Table as RichTable
from rich.text import Text

from autoscaler.cli.options import console
from autoscaler.report import Chart, Table, terminal


def picture(chart: Chart, *, height: int = 10) -> str:
    """Draw a chart for this terminal: its width, ASCII where it must be, colour where it may."""
    return terminal(
        chart,
        width=min(shutil.get_terminal_size((80, 24)).columns, 120),
        height=height,
        unicode=unicode(),
        colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
    )


def unicode() -> bool:
    """Whether the terminal shows more than ASCII."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return encoding.startswith("utf") and os.environ.get("TERM") != "dumb"


def print_table(table: Table) -> None:
    """Print a table with plain lines."""
    rich = RichTable(
        title=table.title or None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    for index, column in enumerate(table.columns):
        if index in table.sentences:
            rich.add_column(column, justify="left", overflow="fold")
            continue
        # as narrow as its cells and the longest word of its name, which is wrapped
        pieces = column.replace("-", "- ").split()
        cells = [row[index] for row in table.rows]
        width = max(len(text) for text in (*cells, *pieces))
        rich.add_column(
            textwrap.fill(column, width, break_long_words=False),
            justify="left" if index == 0 else "right",
            width=width,
            overflow="fold",
        )
    for index, row in enumerate(table.rows):
        rich.add_row(*map(Text, row), style="bold green" if index == table.strong else None)
    out = console()
    out.print(rich)
    if table.note:
        out.print(Text(table.note, style="dim"))
    out.print()


def print_wrapped(text: str, indent: str = "") -> None:
    """Print a text within the width of the terminal, later lines as far in as `indent` is wide."""
    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    print(textwrap.fill(text, width, subsequent_indent=" " * len(indent)))


def print_facts(facts: tuple[tuple[str, str], ...]) -> None:
    """Print label and text pairs as two columns."""
    rich = RichTable(box=None, pad_edge=False, show_header=False)
    rich.add_column(style="dim", no_wrap=True)
    rich.add_column(overflow="fold")
    for label, text in facts:
        rich.add_row(Text(label), Text(text))
    console().print(rich)
