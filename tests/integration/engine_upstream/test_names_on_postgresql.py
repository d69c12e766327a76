"""Name resolution held against PostgreSQL: the same errors, the same output names, the same columns read."""

from __future__ import annotations

import re
from pathlib import Path

import asyncpg
import pytest

from engine.guard import Allowed, check
from engine.statement.binder import bind
from engine.statement.bound_query import Row
from engine.statement.resolution import resolve
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from schema_catalog.types import Database

GOLDEN = Path(__file__).parents[2] / "golden"

DEPENDENCIES = """
    SELECT n.nspname::text, c.relname::text, a.attname::text
    FROM pg_depend d
    JOIN pg_rewrite r ON r.oid = d.objid
    JOIN pg_class c ON c.oid = d.refobjid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      AND r.ev_class = 'probe'::regclass AND c.relname <> 'probe' AND d.refobjsubid > 0
"""


def blocks(name: str) -> list[str]:
    return [block.strip() for block in re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]]


def queries() -> list[str]:
    bodies = []
    for sql in (*blocks("guard/allowed.sql"), *blocks("names/resolved.sql")):
        verdict = check(sql)
        assert isinstance(verdict, Allowed)
        bodies.append(verdict.analysis.body)
    return bodies


async def test_right_names_have_no_problem(admin: Connection, shop: Database) -> None:
    snapshot = await introspect(admin, shop)
    found = {sql: [problem.message for problem in resolve(sql, snapshot).problems] for sql in queries()}
    assert {sql: problems for sql, problems in found.items() if problems} == {}


async def test_output_columns_are_called_as_postgresql_calls_them(admin: Connection, shop: Database) -> None:
    snapshot = await introspect(admin, shop)
    for sql in queries():
        bound = bind(sql, snapshot)
        # `*` over a function or over (x).* gives columns that only the server knows.
        if not any(source.open for source in bound.sources.values()) and ").*" not in sql:
            names = [attribute.name for attribute in (await admin.prepare(sql)).get_attributes()]
            assert list(bound.query.names) == names, sql


async def test_the_columns_read_are_those_that_a_view_would_depend_on(
    admin: Connection, shop: Database
) -> None:
    snapshot = await introspect(admin, shop)
    compared = 0
    for sql in queries():
        transaction = admin.transaction()
        await transaction.start()
        try:
            await admin.execute(f"CREATE VIEW probe AS SELECT EXISTS (\n{sql}\n) AS e")
            rows = await admin.fetch(DEPENDENCIES)
        finally:
            await transaction.rollback()
        expected = {tuple(row) for row in rows}
        columns = resolve(sql, snapshot).columns
        if any(isinstance(ref, Row) for ref in bind(sql, snapshot).refs.values()):
            # PostgreSQL notes a whole row as a use of the table; here it reads every column.
            assert columns > expected, sql
        else:
            assert columns == expected, sql
        compared += bool(expected)
    assert compared > 80


async def test_wrong_names_are_wrong_to_postgresql_too(admin: Connection, shop: Database) -> None:
    snapshot = await introspect(admin, shop)
    for block in blocks("names/problems.sql"):
        header, sql = block.split("\n", 1)
        sqlstate, message = header.removeprefix("-- ").split(": ", 1)
        (problem,) = resolve(sql, snapshot).problems
        assert problem.message.startswith(message), (sql, problem.message)
        with pytest.raises(asyncpg.PostgresError) as caught:
            await admin.prepare(sql)
        assert caught.value.sqlstate == sqlstate, sql
