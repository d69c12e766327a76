"""Every rule is on the page for operators, as what it is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from engine.findings.rules import LINTS, RULES

PAGE = (Path(__file__).parents[4] / "docs" / "rewriting.md").read_text("utf-8")


def test_the_page_lists_the_rules_in_their_order_with_their_kinds() -> None:
    table = PAGE.partition("## The rules")[2].partition("## Settings")[0]
    assert re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE) == [
        (rule.name, rule.kind.value) for rule in RULES
    ]


def test_the_page_lists_what_only_speaks() -> None:
    table = PAGE.partition("| lint |")[2].partition("Foreign keys")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [
        lint.name for lint in LINTS if lint.fix is None
    ]
