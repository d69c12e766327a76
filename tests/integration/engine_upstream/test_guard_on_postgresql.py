"""What the guard allows, held against the server: it runs, it exists, and nothing in it is volatile."""

from __future__ import annotations

import re
from pathlib import Path

import asyncpg

from engine.guard import Allowed, allowed, check
from schema_catalog.pg import Connection

GOLDEN = Path(__file__).parents[2] / "golden" / "guard"


def blocks(name: str) -> list[str]:
    return [block.strip() for block in re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]]


async def test_every_golden_query_is_legitimate(admin: Connection) -> None:
    failed = []
    for sql in blocks("allowed.sql"):
        verdict = check(sql)
        assert isinstance(verdict, Allowed)
        try:
            async with admin.transaction(readonly=True):
                await admin.fetch(verdict.analysis.body)
        except asyncpg.PostgresError as error:
            failed.append((sql, str(error)))
    assert failed == []


async def test_every_allowed_function_exists_and_none_is_volatile(admin: Connection) -> None:
    rows = await admin.fetch(
        """SELECT DISTINCT proname::text, provolatile = 'v' AS volatile, proretset, l.lanname::text
           FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
           WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ($1)""",
        sorted(allowed.FUNCTIONS),
    )
    assert {row["proname"] for row in rows} == allowed.FUNCTIONS
    assert [row["proname"] for row in rows if row["volatile"]] == []


async def test_no_allowed_function_takes_a_name_to_look_up_or_gives_one(admin: Connection) -> None:
    """Text search names a configuration, a lookup that reads no table of a user's; nothing else does."""
    rows = await admin.fetch(
        """SELECT DISTINCT p.proname::text FROM pg_proc p
           JOIN pg_type t ON t.oid = ANY (p.proargtypes::oid[] || p.prorettype)
           WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY ($1)
             AND (t.typname ~ '^reg' AND t.typname <> 'regconfig'
                  OR t.typname IN ('internal', 'refcursor', 'xml'))
           ORDER BY 1""",
        sorted(allowed.FUNCTIONS),
    )
    # text(xml) is a cast; numeric_support and such are reached through none of these names.
    assert [row["proname"] for row in rows] == ["text"]


async def test_every_allowed_operator_exists_and_none_calls_a_volatile_function(admin: Connection) -> None:
    rows = await admin.fetch(
        """SELECT DISTINCT oprname::text, p.provolatile = 'v' AS volatile
           FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
           WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprname = ANY ($1)""",
        sorted(allowed.OPERATORS),
    )
    # The server writes != as <>.
    assert {row["oprname"] for row in rows} == allowed.OPERATORS - {"!="}
    assert [row["oprname"] for row in rows if row["volatile"]] == []


async def test_every_allowed_type_exists_and_is_no_lookup(admin: Connection) -> None:
    spelled = {"smallint", "integer", "int", "bigint", "boolean", "real", "decimal"}
    rows = await admin.fetch(
        """SELECT typname::text, typtype::text, typinput::text FROM pg_type
           WHERE typnamespace = 'pg_catalog'::regnamespace AND typname = ANY ($1)""",
        sorted(allowed.TYPES),
    )
    assert {row["typname"] for row in rows} >= allowed.TYPES - spelled
    assert {row["typtype"] for row in rows} <= {"b", "r", "m"}


async def test_every_relation_of_the_system_is_refused(admin: Connection) -> None:
    rows = await admin.fetch(
        """SELECT n.nspname::text, c.relname::text
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
             AND c.relkind IN ('r', 'v', 't')"""
    )
    assert len(rows) > 200
    passed = [
        (schema, name)
        for schema, name in rows
        for sql in (f'TABLE {schema}."{name}"', f'SELECT * FROM "{name}"')
        # The views of information_schema are found by their bare names only where it is on the path.
        if isinstance(check(sql), Allowed) and not (schema == "information_schema" and "*" in sql)
    ]
    assert passed == []


async def test_a_row_of_a_table_reaches_no_dangerous_function(admin: Connection) -> None:
    """`t.f` calls f with t's row: built-ins that take any row and are volatile all start with pg_."""
    rows = await admin.fetch(
        """SELECT proname::text FROM pg_proc p JOIN pg_type t ON t.oid = p.proargtypes[0]
           WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.provolatile = 'v' AND p.pronargs >= 1
             AND p.pronargs - p.pronargdefaults <= 1 AND t.typname IN ('any', 'anyelement', 'record',
                 'anynonarray', 'anycompatible', 'anycompatiblenonarray')"""
    )
    assert rows
    assert [row["proname"] for row in rows if not row["proname"].startswith("pg_")] == []


async def test_the_dot_that_reads_files_is_real(admin: Connection) -> None:
    sql = "SELECT f.pg_read_file FROM unnest(ARRAY['PG_VERSION']) AS f"
    assert (await admin.fetchval(sql)).strip() == "18"
    assert not isinstance(check(sql), Allowed)
