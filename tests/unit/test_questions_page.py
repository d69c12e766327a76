"""What can be asked, in docs/surface.md: each example has a statement that is executed elsewhere, none invented."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "surface.md").read_text("utf-8")
GOLDEN = ROOT / "tests" / "golden"
WRITTEN = [file for folder in ("rewrite", "types") for file in sorted((GOLDEN / folder).glob("*.sql"))]
WRITTEN.append(ROOT / "benchmarks" / "quality" / "workday" / "spellings.sql")


def test_every_example_has_a_statement_that_was_executed() -> None:
    section = PAGE.split("## What can be asked\n")[1].split("\n## ")[0]
    asked = [row.split("|")[2].strip() for row in re.findall(r"^\| .+ \|$", section, re.MULTILINE)[1:]]
    examples = re.findall(r"^-- (.+)\n(.+);$", (GOLDEN / "examples.sql").read_text("utf-8"), re.MULTILINE)
    known = {line.removesuffix(";") for file in WRITTEN for line in file.read_text("utf-8").splitlines()}
    assert [question for question, _ in examples] == asked
    assert len(asked) > 15
    assert {statement for _, statement in examples} <= known
