"""The golden pairs of the rules, executed: a rule is what its kind says on real rows."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import psycopg
import pytest

from engine.findings.driver import Rewritten, in_turn
from engine.statement.resolution import resolve
from engine.values.candidate import RuleKind
from tests.integration.rewrite.conftest import Databases, Rows
from tests.support.golden_rules import BY_NAME, Pair, pairs

SEEDS = range(40)
HIGHEST = BY_NAME["highest_known"]


def changed(kind: RuleKind) -> list[Pair]:
    return [pair for pair in pairs(kind) if pair.after is not None]


def name(pair: Pair) -> str:
    return f"{pair.rule.name}: {pair.before}"


def after(pair: Pair) -> str:
    assert pair.after is not None
    return pair.after


def result(databases: Databases, pair: Pair, seed: int, sql: str) -> Rows:
    """The rows, in their order where the statement sets one."""
    found = databases.rows(pair.schema, seed, sql)
    return found if " ORDER BY " in sql else sorted(found, key=repr)


def test_a_normal_form_gives_the_same_rows(databases: Databases) -> None:
    tried = [each for each in changed(RuleKind.NORMALISE) if each.rule != HIGHEST]
    given = set()
    for seed, pair in product(SEEDS, tried):
        before = result(databases, pair, seed, pair.before)
        assert before == result(databases, pair, seed, after(pair)), (name(pair), seed)
        if before:
            given.add(name(pair))
    assert given == set(map(name, tried)), "rows to compare"


def test_the_highest_is_known(databases: Databases) -> None:
    before = "SELECT total FROM orders ORDER BY total DESC LIMIT 1"
    known = Pair(HIGHEST, before, None, "trade").applied(before)
    assert known is not None
    highest = "SELECT MAX(total) FROM orders HAVING COUNT(*) > 0"
    found = [[databases.rows("trade", seed, sql) for sql in (before, known, highest)] for seed in SEEDS]
    assert all(second == third for _, second, third in found)
    assert any(first != second for first, second, _ in found)


@pytest.mark.parametrize("schema", ["optional", "music"])
def test_where_the_rule_leaves_a_join_it_could_not_be_left_out(databases: Databases, schema: str) -> None:
    joined = (
        "SELECT c.concert_id FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id ORDER BY 1"
    )
    alone = "SELECT c.concert_id FROM concert AS c ORDER BY 1"
    assert Pair(BY_NAME["drop_total_join"], joined, None, schema).applied(joined) is None
    assert any(databases.rows(schema, seed, joined) != databases.rows(schema, seed, alone) for seed in SEEDS)


def refused(databases: Databases, pair: Pair) -> bool:
    if resolve(pair.before, pair.snapshot).problems:
        return True
    try:
        databases.rows(pair.schema, 0, pair.before)
    except psycopg.Error:
        return True
    return False


def test_what_is_repaired_was_refused_and_runs(databases: Databases) -> None:
    written = []
    for pair in changed(RuleKind.REPAIR):
        assert refused(databases, pair), name(pair)
        repaired = in_turn(RuleKind.REPAIR, Rewritten(pair.before), pair.context)
        assert pair.rule.name in {change.rule for change in repaired.changes}, name(pair)
        assert resolve(repaired.sql, pair.snapshot).problems == (), name(pair)
        written.append((pair.schema, repaired.sql))
    for seed, (schema, sql) in product(SEEDS[:4], written):
        databases.rows(schema, seed, sql)


def test_a_reading_runs_as_well_and_says_something_else(databases: Databases) -> None:
    alike = [
        pair for kind in (RuleKind.READING, RuleKind.BESIDE, RuleKind.REPETITION) for pair in changed(kind)
    ]
    for seed in SEEDS:
        alike = [
            pair
            for pair in alike
            if result(databases, pair, seed, pair.before) == result(databases, pair, seed, after(pair))
        ]
    assert list(map(name, alike)) == []


def test_a_correction_runs_as_well(databases: Databases) -> None:
    for seed, pair in product(SEEDS[:2], changed(RuleKind.CORRECTION)):
        databases.rows(pair.schema, seed, after(pair))


NUMBERS = {
    "1200": Decimal(1200),
    "1,200": Decimal(1200),
    "1,200,300.50 sqm": Decimal("1200300.50"),
    "12 km": Decimal(12),
    "12km": Decimal(12),
    " 7": Decimal(7),
    "-3.5": Decimal("-3.5"),
    "+4": Decimal(4),
    "45%": Decimal(45),
    "0.5": Decimal("0.5"),
    "1,20": None,
    "1,2000": None,
    "1.2.3": None,
    "12.": None,
    "1e5": None,
    "2014-05-01": None,
    "12:30": None,
    "n/a": None,
    "over 9000": None,
    "٣": None,
    "": None,
    None: None,
}


def test_the_numbers_of_texts(databases: Databases) -> None:
    pair = Pair(BY_NAME["text_as_number"], "SELECT SUM(capacity) FROM stadium", None)
    sql = pair.applied("SELECT SUM(capacity) FROM stadium GROUP BY stadium_id ORDER BY stadium_id")
    assert sql is not None
    texts = ["NULL" if text is None else f"'{text}'" for text in NUMBERS]
    values = ", ".join(f"({n}, {text})" for n, text in enumerate(texts))
    given = f"(VALUES {values}) AS stadium (stadium_id, capacity)"
    found = databases.rows("music", 0, sql.replace("FROM stadium GROUP", f"FROM {given} GROUP"))
    assert dict(zip(NUMBERS, (number for (number,) in found), strict=True)) == NUMBERS
