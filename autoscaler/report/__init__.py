"""Pictures from plain arrays: on a terminal, as PNG, as one HTML file that opens from disk."""

from autoscaler.report.axes import local_time, utc_time, value_text
from autoscaler.report.html import write_html
from autoscaler.report.png import write_png
from autoscaler.report.shapes import Band, Chart, Line, Note, Report, Shape, Step, Table
from autoscaler.report.terminal import terminal

__all__ = [
    "Band",
    "Chart",
    "Line",
    "Note",
    "Report",
    "Shape",
    "Step",
    "Table",
    "local_time",
    "terminal",
    "utc_time",
    "value_text",
    "write_html",
    "write_png",
]
