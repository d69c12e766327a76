"""Every rule by its golden pairs: what it makes, what it leaves alone; and that it is on the page for operators."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.findings.rules import LINTS, RULES
from engine.statement.read import statement_of
from engine.values.candidate import RuleKind
from tests.support.golden_rules import Pair, pairs

PAIRS = pairs()


def name(pair: Pair) -> str:
    return f"{pair.rule.name}: {pair.before}"


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_the_rule_gives_what_the_pair_says_and_leaves_that_alone(pair: Pair) -> None:
    assert pair.applied(pair.before) == pair.after
    assert pair.after is None or pair.applied(pair.after) is None


def test_what_lints_look_at_is_shared_and_stays_as_it_is() -> None:
    for pair in PAIRS:
        read = statement_of(pair.before, pair.snapshot).apart
        if read is not None:
            before = read.sql
            for lint in LINTS:
                if lint.says is not None:
                    tuple(lint.says(read, pair.context))
            assert read.sql == before


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_pairs_of_both_sorts(rule: object) -> None:
    sorts = {pair.after is None for pair in PAIRS if pair.rule is rule}
    assert sorts == {True, False}


def test_no_two_rules_have_one_name_and_kinds_come_in_their_order() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    kinds = [rule.kind for rule in RULES]
    order = [
        RuleKind.NORMALISE,
        RuleKind.REPAIR,
        RuleKind.READING,
        RuleKind.BESIDE,
        RuleKind.CORRECTION,
        RuleKind.REPETITION,
    ]
    assert kinds == sorted(kinds, key=order.index)


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
