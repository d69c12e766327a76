"""What came of both mornings as the Markdown of docs/morning.md."""

from __future__ import annotations

import re
from collections.abc import Iterable

from docs.morning.from_psql import Done
from docs.morning.on_page import Shown

_HEAD = """\
# A morning of a DBA

Dora looks after the catalog: she is an `nl_admin`. From nothing she registers three databases (those of the demo),
sees what they lack, imports what a dbt project says of one, defines two terms, hides a table, verifies a query, mends a
question that failed, and accepts a rename. First in psql alone, through the gateway; then the same on
[the page](page.md). `make morning` does both with the embedded model, and writes this page; this one was made with
MODEL. Every line is what psql printed, and a run that goes another way fails instead.
The steps are in [`docs/morning`](morning), and a test goes through them in the suite.
"""


def transcript(typed: Iterable[Done], shown: Iterable[Shown], model: str) -> str:
    """The whole page. `model`: which one wrote statements, in words."""
    parts = [_HEAD.replace("MODEL", model), "## From psql\n\n`psql -h gateway -p 6432 -U dora catalog`\n"]
    parts += [_step(number, done) for number, done in enumerate(typed, 1)]
    parts.append("## On the page\n\nEverything was forgotten before. No script runs in the browser.\n")
    parts += [
        f"### {number}. {step.title}: on the page\n\n{step.why}\n\n![{step.title}](screenshots/{step.picture}.png)\n"
        for number, step in enumerate(shown, 1)
    ]
    return "\n".join(parts)


def _step(number: int, done: Done) -> str:
    lines = [
        f"{line.text}\n{_without_trailing(printed)}"
        for line, printed in zip(done.step.lines, done.printed, strict=True)
    ]
    return f"### {number}. {done.step.title}\n\n{done.step.why}\n\n```\n{''.join(lines).rstrip()}\n```\n"


def _without_trailing(printed: str) -> str:
    return re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE)
