"""Name resolution where a server is of no help: hidden and shadowed tables, and texts that are no query.

What PostgreSQL can be asked is tested against it in `tests/integration/engine_upstream`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.guard.analyse import UnreadableError
from engine.statement.canonical import canonical
from engine.statement.problems import ambiguous_column, not_in_from, unknown_column, unknown_table
from engine.statement.resolution import resolve
from schema_catalog.types import Column, Snapshot, Table, TableKind


def table(name: str, columns: str, schema: str = "public") -> Table:
    return Table(
        schema, name, TableKind.TABLE, tuple(Column(column, "integer") for column in columns.split())
    )


SNAPSHOT = Snapshot(
    "shop",
    ("sales", "public"),
    (table("orders", "id total secret"), table("people", "id name"), table("orders", "id amount", "sales")),
)


def test_the_search_path_decides_which_table_is_meant_and_others_are_suggested_whole() -> None:
    assert resolve("SELECT amount FROM orders", SNAPSHOT).columns == {("sales", "orders", "amount")}
    assert resolve("SELECT total FROM public.orders", SNAPSHOT).columns == {("public", "orders", "total")}
    assert resolve("SELECT 1 FROM orders, public.orders", SNAPSHOT).problems == ()
    both = "SELECT sales.orders.id, public.orders.id FROM sales.orders, public.orders"
    assert resolve(both, SNAPSHOT).columns == {("sales", "orders", "id"), ("public", "orders", "id")}
    narrow = replace(SNAPSHOT, search_path=())
    (problem,) = resolve("SELECT 1 FROM people", narrow).problems
    assert problem == unknown_table(("people",), ("public.people",))


def test_a_hidden_table_is_not_found_and_hides_what_it_shadows() -> None:
    """sales.orders is not readable: the bare name still finds it, so that the other needs its schema."""
    readable = frozenset(
        {("public", "orders", "id"), ("public", "orders", "total"), ("public", "people", "id")}
    )
    seen = SNAPSHOT.restricted_to(readable)
    (problem,) = resolve("SELECT id FROM orders", seen).problems
    assert problem == unknown_table(("orders",), ("public.orders",))
    assert resolve("SELECT id FROM public.orders", seen).problems == ()
    (hidden,) = resolve("SELECT secret FROM public.orders", seen).problems
    assert hidden == unknown_column(("secret",), (), ())
    (near,) = resolve("SELECT secre FROM public.orders", seen).problems
    assert "secret" not in near.message


def test_every_problem_is_told_once() -> None:
    sql = "SELECT people.naem, x.id, id FROM people JOIN orders ON true WHERE people.naem = 1 AND x.id = 2"
    assert resolve(sql, SNAPSHOT).problems == (
        unknown_column(("people", "naem"), ("people.name",), ()),
        not_in_from(("x",), (), ()),
        ambiguous_column("id", ("people.id", "orders.id")),
    )


def test_names_in_messages_are_written_as_sql_writes_them() -> None:
    odd = replace(SNAPSHOT, tables=(table("Odd Table", "Total select"),), search_path=("public",))
    messages = [
        problem.message for problem in resolve('SELECT total, o."selec" FROM "Odd Table" o', odd).problems
    ]
    assert messages == [
        'column total does not exist here; did you mean o."Total"?',
        'column o.selec does not exist here; did you mean o."select"?',
    ]


@pytest.mark.parametrize("sql", ["", "SELECT 1; SELECT 2", "DELETE FROM people", "SELEC", "SELECT (" * 900])
def test_what_is_no_query_is_told_apart(sql: str) -> None:
    with pytest.raises(UnreadableError):
        resolve(sql, SNAPSHOT)


def test_what_has_no_normal_form_is_compared_as_written_and_what_grows_out_of_hand_read() -> None:
    whole_row = "SELECT row_to_json(p) FROM people p"
    assert canonical(whole_row, SNAPSHOT) == canonical("select ROW_TO_JSON( p )\nFROM people p --", SNAPSHOT)
    assert canonical(whole_row, SNAPSHOT) != canonical("SELECT row_to_json(q) FROM people q", SNAPSHOT)
    unknown = "SELECT missing FROM people"
    assert canonical(unknown, SNAPSHOT) == canonical("SELECT  missing FROM people", SNAPSHOT)
    assert canonical("no (  query", SNAPSHOT) == "no ( query"
    steps = ", ".join(f"x{n} AS (SELECT a.id FROM x{n - 1} a, x{n - 1} b)" for n in range(1, 18))
    sql = f"WITH x0 AS (SELECT id FROM people), {steps} SELECT id FROM x17"
    assert canonical(sql, SNAPSHOT)
    assert resolve(sql, SNAPSHOT).columns == {("public", "people", "id")}


def test_a_column_that_is_sorted_by_is_not_the_output_of_its_name() -> None:
    given, output = (
        "SELECT id + 1 AS {0} FROM people ORDER BY {0} + 1",
        "SELECT id + 1 AS {0} FROM people ORDER BY {0}",
    )
    assert canonical(given.format("id"), SNAPSHOT) != canonical(given.format("name"), SNAPSHOT)
    assert canonical(output.format("id"), SNAPSHOT) == canonical(output.format("name"), SNAPSHOT)
