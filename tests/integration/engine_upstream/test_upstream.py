"""Statements on a real server: what plans, rows and errors look like, and what names mean."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.errors import DatabaseUnavailableError, UnsafeSQLError
from engine.values.messages import Asker
from engine.values.ports import StatementError
from pgparley.cluster import Cluster
from schema_catalog.logins import make_login
from schema_catalog.pg import Connection
from schema_catalog.types import Database

ANA = Asker("ana", "shop")


async def test_explain_gives_the_planners_cost(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    cheap = await databases.explain(shop, ANA, "SELECT 1", deadline)
    dear = await databases.explain(shop, ANA, "SELECT * FROM customers a, orders b, order_items c;", deadline)
    assert 0 < cheap < dear


async def test_run_gives_text_as_the_server_writes_it(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    sql = """SELECT true, NULL::int, 1.50, 0.1::float8, '10.0.0.1'::inet, ARRAY['a b', NULL], ROW(1, NULL),
                    '{"a": 1}'::jsonb, TIMESTAMP '2020-01-02 03:04:05', DATE '2020-01-02',
                    INTERVAL '1 day 2 hours', '\\x01'::bytea, 'x'::char(3), 'it''s', '' -- the end"""
    result = await databases.run(shop, ANA, sql, 10, deadline)
    assert result.rows == (
        (
            *("t", None, "1.50", "0.1", "10.0.0.1", '{"a b",NULL}', "(1,)", '{"a": 1}'),
            *("2020-01-02 03:04:05", "2020-01-02", "1 day 02:00:00", "\\x01", "x  ", "it's", ""),
        ),
    )
    assert [type_ for _, type_ in result.columns] == [
        *("boolean", "integer", "numeric", "double precision", "inet", "text[]", "text", "jsonb"),
        *("timestamp without time zone", "date", "interval", "bytea", "bpchar", "text", "text"),
    ]
    assert not result.truncated


async def test_types_that_other_servers_lack_are_text(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        """CREATE TYPE pair AS (a int, b text);
           CREATE DOMAIN cents AS int;
           CREATE TABLE moods (m mood, c cents, p pair, ms mood[], r regclass);
           INSERT INTO moods VALUES ('ok', 5, '(1,x)', '{sad}', 'customers'), (NULL, NULL, '(,)', NULL, NULL);
           GRANT SELECT ON moods TO ana"""
    )
    result = await databases.run(shop, ANA, "TABLE moods", 10, deadline)
    # The server itself describes a domain as its base type.
    assert result.columns == (("m", "text"), ("c", "integer"), ("p", "text"), ("ms", "text"), ("r", "text"))
    assert result.rows == (("ok", "5", "(1,x)", "{sad}", "customers"), (None, None, "(,)", None, None))


async def test_duplicate_and_missing_column_names(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    result = await databases.run(
        shop, ANA, 'SELECT id, id, 1, 2, name AS "A b" FROM customers ORDER BY id LIMIT 1', 10, deadline
    )
    assert [name for name, _ in result.columns] == ["id", "id", "?column?", "?column?", "A b"]
    assert result.rows == (("1", "1", "1", "2", "Ada"),)
    empty = await databases.run(shop, ANA, "SELECT FROM customers", 10, deadline)
    assert empty.columns == ()
    assert empty.rows == ((), (), (), ())


SHADOWS = """
CREATE FUNCTION upper(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''mine''::text';
CREATE FUNCTION value(text) RETURNS text LANGUAGE sql AS $$SELECT 'called'$$;
CREATE FUNCTION sly(int, smallint) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR = (LEFTARG = int, RIGHTARG = smallint, FUNCTION = sly);
CREATE DOMAIN date AS text;
"""


async def test_built_in_names_reach_what_is_built_in(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """A better match of types would beat pg_catalog's place on the search path: nothing else is on it."""
    await admin.execute(SHADOWS)
    for sql, right in (
        ("SELECT upper('a'::varchar)", "A"),
        ("SELECT f.value FROM unnest(ARRAY['x']) AS f (value)", "x"),
        ("SELECT 1 = 2::smallint", "f"),
        ("SELECT CASE 1 WHEN 2::smallint THEN 'mine' ELSE 'own' END", "own"),
        ("SELECT CAST('2020-01-02' AS date) + 1", "2020-01-03"),
    ):
        assert (await databases.run(shop, ANA, sql, 1, deadline)).rows == ((right,),), sql


async def test_a_function_of_a_row_is_no_column(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        """CREATE FUNCTION total(customers) RETURNS int LANGUAGE sql AS 'SELECT 1';
           CREATE FUNCTION any_row(anyelement) RETURNS int LANGUAGE sql AS 'SELECT 1'"""
    )
    for name in ("total", "any_row"):
        sql = f"SELECT c.{name} FROM customers c"
        assert await admin.fetch(sql)
        with pytest.raises(UnsafeSQLError, match="refused"):
            await databases.explain(shop, ANA, sql, deadline)


async def test_the_login_roles_settings_do_not_change_how_text_is_read(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """With backslash escapes, the server would see a call outside of the quotes that the guard saw."""
    await admin.execute("ALTER ROLE ana SET standard_conforming_strings = off")
    await admin.execute("ALTER ROLE ana SET search_path = 'nowhere'")
    # Two literals and a column. Read with the escapes, the first literal would end before the call.
    sql = r"SELECT '\', ' , pg_backend_pid(), \', name FROM customers"
    result = await databases.run(shop, ANA, sql, 1, deadline)
    assert result.rows[0][:2] == ("\\", " , pg_backend_pid(), \\")


async def test_the_search_path_is_the_databases(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        'GRANT USAGE ON SCHEMA "Archive" TO ana; GRANT SELECT ON ALL TABLES IN SCHEMA "Archive" TO ana'
    )
    archive = replace(shop, name="archive", search_path=("pg_catalog", "Archive"))
    assert (await databases.run(archive, ANA, 'SELECT "Id" FROM "Old Orders"', 5, deadline)).rows == (("1",),)
    with pytest.raises(StatementError, match="does not exist"):
        await databases.run(shop, ANA, 'SELECT "Id" FROM "Old Orders"', 5, deadline)


async def test_errors_of_the_server_keep_their_parts(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    with pytest.raises(StatementError) as caught:
        await databases.run(shop, ANA, "SELECT nam FROM customers", 5, deadline)
    assert caught.value.sqlstate == "42703"
    assert caught.value.message == 'column "nam" does not exist'
    assert caught.value.hint is not None
    assert caught.value.position == 8
    with pytest.raises(StatementError) as planned:
        await databases.explain(shop, ANA, "/* é */ SELECT nam FROM customers", deadline)
    assert planned.value.position == 8
    with pytest.raises(StatementError) as divided:
        await databases.run(shop, ANA, "SELECT 1 / (id - 1) FROM customers", 5, deadline)
    assert divided.value.sqlstate == "22012"


async def test_more_statements_than_connections_wait_their_turn(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    results = await asyncio.gather(
        *(databases.run(shop, ANA, f"SELECT {number}", 1, deadline) for number in range(20))
    )
    assert [result.rows for result in results] == [((str(number),),) for number in range(20)]


async def test_a_server_that_is_not_there(
    databases: Databases, shop: Database, server: Cluster, deadline: Deadline
) -> None:
    for dsn in (shop.dsn.replace(f"port={server.port}", "port=1"), server.dsn("missing", "catalog")):
        database = replace(shop, dsn=dsn)
        database = replace(database, logins=(make_login(database, "ana"),))
        with pytest.raises(DatabaseUnavailableError) as caught:
            await databases.run(database, ANA, "SELECT 1", 1, deadline)
        assert caught.value.sqlstate == "58000"
        with pytest.raises(DatabaseUnavailableError):
            await databases.readable(database, ANA)


async def test_closing_frees_the_connections(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await databases.run(shop, ANA, "SELECT 1", 1, deadline)
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgparley'"
    # The catalog's and the login's.
    assert await admin.fetchval(count) == 2
    await databases.aclose()
    while await admin.fetchval(count):
        pass
