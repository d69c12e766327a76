"""What came of both mornings as the Markdown of docs/morning.md."""

from __future__ import annotations

import re
from collections.abc import Iterable

from docs.morning.from_psql import Done
from docs.morning.on_page import Shown

_HEAD = """\
# A morning of a DBA

Dora looks after the catalog: she is an `nl_admin`. First she works in psql alone, through the gateway, then on
[the page](page.md). `make morning` does both on the demo's databases and writes this page; a run that goes another
way fails. This one was made with MODEL. What calls return, further rows and further columns are left out.
"""

_ROWS = 3
"""Rows of a table that are shown at most."""

_FIELDS = ("kind", "explanation", "sql")
"""Columns of an answer that are shown."""


def transcript(typed: Iterable[Done], shown: Iterable[Shown], model: str) -> str:
    """The whole page. `model`: which one wrote statements, in words."""
    parts = [_HEAD.replace("MODEL", model), "## From psql\n\n`psql -h gateway -p 6432 -U dora catalog`\n"]
    parts += [_step(number, done) for number, done in enumerate(typed, 1)]
    parts.append("## On the page\n\nEverything was forgotten before. No script runs in the browser.\n")
    parts += [
        f"### {number}. {step.title}, on the page\n\n{step.why}\n\n![{step.title}](screenshots/{step.picture}.png)\n"
        for number, step in enumerate(shown, 1)
    ]
    return "\n".join(parts)


def _step(number: int, done: Done) -> str:
    lines = [
        f"{line.text}\n{_brief(line.text, _without_trailing(printed))}"
        for line, printed in zip(done.step.lines, done.printed, strict=True)
    ]
    return f"### {number}. {done.step.title}\n\n{done.step.why}\n\n```\n{''.join(lines).rstrip()}\n```\n"


def _without_trailing(printed: str) -> str:
    return re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE)


def _brief(text: str, printed: str) -> str:
    """What shows the step: nothing of a call, of an answer the first row, of a long table the first rows."""
    if text.startswith(("SELECT nl_catalog.", "\\c ", "ALTER ")):
        return ""
    lines = printed.splitlines()
    if text.startswith("NL:"):
        first = lines[1 : next((at for at, line in enumerate(lines) if line.startswith("-[ RECORD 2")), None)]
        kept = [
            line for line in first if line.partition("|")[0].strip() in _FIELDS and line.partition("|")[2]
        ]
        return "\n".join(sorted(kept, key=lambda line: _FIELDS.index(line.partition("|")[0].strip()))) + "\n"
    table = len(lines) > 1 and set(lines[1]) <= set("-+")
    head = 2 if table else 0
    rows = [line for line in lines[head:] if line]
    if (lines and lines[0].startswith("-[ RECORD")) or len(rows) <= _ROWS + 1:
        return printed
    return "\n".join([*lines[:head], *rows[: _ROWS - 1], "…", rows[-1]]) + "\n"
