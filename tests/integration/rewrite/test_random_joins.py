"""Over join trees of any shape and rows of any seed a normal form gives the same rows, and every reading runs."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.findings.driver import Rewritten, in_turn, readings
from engine.findings.lint import Context
from engine.question.question import Question
from engine.values.candidate import RuleKind
from schema_catalog.types import Table
from tests.integration.rewrite.conftest import Databases
from tests.support.golden_rules import SCHEMAS

QUESTION = "the different singers who did not sing in both 2014 and 2015"

CONDITIONS = ("{} = '2014'", "{} <> '2014'", "{} IN ('2014', '2015')", "{} IS NULL", "NOT {} LIKE '%x%'")

Source = tuple[str, Table]
"""An alias and its table."""


def columns(sources: list[Source], kind: str) -> st.SearchStrategy[str]:
    names = [f"{alias}.{c.name}" for alias, table in sources for c in table.columns if c.type == kind]
    return st.sampled_from(names)


def links(table: Table, alias: str, before: list[Source]) -> list[str]:
    """The conditions by which foreign keys join a table to those before it."""
    found = []
    for other_alias, other in before:
        for near, far, key in (
            *((alias, other_alias, key) for key in table.foreign_keys if key.ref_table == other.name),
            *((other_alias, alias, key) for key in other.foreign_keys if key.ref_table == table.name),
        ):
            found.append(f"{near}.{key.columns[0]} = {far}.{key.ref_columns[0]}")
    return found


@st.composite
def joined(draw: st.DrawFn, schema: str) -> str:
    """A select of one to four tables, most of them joined by foreign keys, with or without a condition."""
    tables = SCHEMAS[schema].tables
    sources: list[Source] = [("t0", draw(st.sampled_from(tables)))]
    text = f"FROM {sources[0][1].name} AS t0"
    for number in range(1, draw(st.integers(1, 4))):
        alias, table = f"t{number}", draw(st.sampled_from(tables))
        near, far = columns(sources, "integer"), columns([(alias, table)], "integer")
        by_key = links(table, alias, sources)
        condition = draw(st.sampled_from(by_key)) if by_key else f"{draw(near)} = {draw(far)}"
        side = draw(st.sampled_from(("JOIN", "JOIN", "JOIN", "LEFT JOIN")))
        sources.append((alias, table))
        text += f" {side} {table.name} AS {alias} ON {condition}"
    kept = draw(st.lists(st.sampled_from(sources), min_size=1, max_size=2, unique_by=lambda each: each[0]))
    shown = draw(st.sampled_from(("{}", "{}", "DISTINCT {}", "COUNT({})"))).format(
        draw(columns(kept, "integer"))
    )
    texts = [source for source in kept if any(c.type == "text" for c in source[1].columns)]
    if texts and draw(st.booleans()):
        text += f" WHERE {draw(st.sampled_from(CONDITIONS)).format(draw(columns(texts, 'text')))}"
    return f"SELECT {shown} {text}"


def check(databases: Databases, met: Counter[str], schema: str, sql: str, seed: int) -> None:
    snapshot = SCHEMAS[schema]
    context = Context(snapshot, Question(QUESTION))
    before = sorted(databases.rows(schema, seed, sql), key=repr)
    normal = in_turn(RuleKind.NORMALISE, Rewritten(sql), context)
    met["statements"] += 1
    met["normal forms"] += bool(normal.changes)
    assert sorted(databases.rows(schema, seed, normal.sql), key=repr) == before, normal.sql
    for each in readings(Rewritten(sql), context):
        met["readings"] += 1
        databases.rows(schema, seed, each.sql)


def test_normal_forms_keep_the_rows_and_readings_run(databases: Databases) -> None:
    met: Counter[str] = Counter()

    @settings(
        max_examples=200,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        schema = data.draw(st.sampled_from(("required", "required", "optional", "music")))
        check(databases, met, schema, data.draw(joined(schema)), data.draw(st.integers(0, 7)))

    run()
    assert met["normal forms"] >= 10, met
    assert met["readings"] >= 50, met
