"""Whatever query passes the guard, its names and its normal form can be computed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pglast.stream import RawStream

from engine.guard import Allowed, check
from engine.statement.canonical import canonical
from engine.statement.resolution import resolve
from schema_catalog.types import Column, Snapshot, Table, TableKind

GOLDEN = Path(__file__).parents[1] / "golden"


def table(name: str, columns: str, schema: str = "public") -> Table:
    return Table(
        schema, name, TableKind.TABLE, tuple(Column(column, "integer") for column in columns.split())
    )


SHOP = Snapshot(
    "shop",
    ("public",),
    (
        table("Old Orders", "Id Total", "Archive"),
        table("bookings", "room during address spot body"),
        table("customers", "id name city country joined referred_by tags profile"),
        table("order_items", "order_id product_id quantity"),
        table("orders", "id customer_id placed status"),
        table("products", "id name category price"),
    ),
)


def statements(path: str) -> list[str]:
    blocks = re.split(r"\n{2,}|\n(?:==|<>)\n", (GOLDEN / path).read_text("utf-8"))[1:]
    return [re.sub(r"^--.*\n", "", block.strip()) for block in blocks]


SEEDS = [
    sql
    for path in (
        *("guard/allowed.sql", "names/resolved.sql", "names/problems.sql"),
        *("canonical/equal.sql", "canonical/different.sql"),
    )
    for sql in statements(path)
]
WORDS = re.compile(r"""'[^']*'|"[^"]*"|\w+|\S""")
ALL_WORDS = sorted({word for sql in SEEDS for word in WORDS.findall(sql)})


@st.composite
def reworded(draw: st.DrawFn) -> str:
    """A golden statement with some of its words exchanged for words of the others."""
    words = WORDS.findall(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + draw(st.integers(0, 2))] = [draw(st.sampled_from(ALL_WORDS))]
        if not words:
            break
    return " ".join(words)


@given(reworded())
@example("SELECT (SELECT FROM orders) FROM customers")
@settings(max_examples=20 * settings().max_examples)
def test_names_and_normal_form(sql: str) -> None:
    if isinstance(check(sql), Allowed):
        resolution = resolve(sql, SHOP)
        assert all(problem.message for problem in resolution.problems)
        assert {key[:2] for key in resolution.columns} <= resolution.tables
        assert canonical(sql, SHOP) == canonical(f"{sql} -- again", SHOP)


@pytest.mark.parametrize("sql", statements("guard/allowed.sql") + statements("names/resolved.sql"))
def test_printing_a_statement_anew_changes_nothing(sql: str) -> None:
    assert canonical(RawStream()(sql), SHOP) == canonical(sql, SHOP)
