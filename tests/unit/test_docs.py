"""The picture in README.md is what its script draws; examples of docs/surface.md have statements that are executed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from engine.app.pipeline import STAGES

DOCS = Path(__file__).parents[2] / "docs"
FLOW = runpy.run_path(str(DOCS / "flow.py"))


def test_the_picture_is_up_to_date_and_has_the_stages_of_the_pipeline() -> None:
    drawn: str = FLOW["draw"]()
    assert drawn == (DOCS / "flow.svg").read_text("utf-8")
    shown = [stage for _, stages, _ in FLOW["GROUPS"] for stage in stages]
    assert shown == [stage.__name__ for stage in STAGES]


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
