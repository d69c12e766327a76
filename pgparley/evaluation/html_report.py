"""The report as one HTML file, for people: figures, what changed, each question. No script, no other file."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from pgparley.evaluation.report import Comparison, Report
from pgparley.evaluation.terminal_report import more_of, share_lines
from pgparley.terminal import printable


def html(report: Report, changes: Comparison | None, tried: str | None) -> bytes:
    """The file's bytes. `changes`: since a baseline, or by what is tried; `tried`: that file's name."""
    environment = Environment(
        loader=PackageLoader("pgparley.evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    page = environment.get_template("report.html").render(
        report=report, changes=changes, tried=tried, shares=share_lines(report.figures), more_of=more_of
    )
    return page.encode()


def _shown(value: object) -> object:
    """Texts come from databases and models: without control characters, but for the ends of lines."""
    return "\n".join(map(printable, value.split("\n"))) if isinstance(value, str) else value
