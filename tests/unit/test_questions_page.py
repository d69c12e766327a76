"""The page of what can be asked: no statement is invented, and the rules that rest on the schema are named."""

from __future__ import annotations

import re
from pathlib import Path

from engine.findings.rules import RULES
from engine.values.candidate import RuleKind

ROOT = Path(__file__).parents[2]
KINDS = [
    [cell.strip() for cell in row.strip("|").split("|")]
    for row in re.findall(r"^\| .+ \|$", (ROOT / "docs" / "questions.md").read_text("utf-8"), re.MULTILINE)[
        1:
    ]
]
GOLDEN = (ROOT / "tests" / "golden" / "rewrite", ROOT / "tests" / "golden" / "types")
WRITTEN = [file for folder in GOLDEN for file in sorted(folder.glob("*.sql"))]
WRITTEN.append(ROOT / "benchmarks" / "quality" / "workday" / "spellings.sql")


def test_every_statement_came_of_a_question_and_rules_are_named() -> None:
    known = {line.removesuffix(";") for file in WRITTEN for line in file.read_text("utf-8").splitlines()}
    shown = {each[3].strip("`") for each in KINDS}
    assert len(shown) == len(KINDS) > 15
    assert shown <= known
    named = {name for each in KINDS for name in re.findall(r"`(\w+)`", each[4])}
    assert named <= {rule.name for rule in RULES}
    assert {rule.name for rule in RULES if rule.by_facts or rule.kind is RuleKind.CORRECTION} <= named
