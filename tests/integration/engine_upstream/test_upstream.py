"""Statements on a real server: plans, rows and errors, what names mean, how much is read, and how they end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from engine.guard import Allowed
from engine.guard.analyse import analyse
from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, DatabaseUnavailableError, QuotaError, UnsafeSQLError
from engine.values.messages import Asker
from engine.values.ports import StatementError
from engine.values.role_limits import ResultCaps
from engine.values.settings import UpstreamSettings
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


async def test_the_names_of_types_are_no_askers_setting(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """They are remembered for all who ask."""
    await admin.execute("ALTER ROLE ana SET quote_all_identifiers = on")
    for asker in (ANA, Asker('Bob "B', "shop")):
        result = await databases.run(shop, asker, "SELECT 'a'::text, current_date", 1, deadline)
        assert [type_ for _, type_ in result.columns] == ["text", "date"]


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


async def test_rows_are_capped_and_keep_their_order(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    sql = "SELECT id FROM customers ORDER BY id DESC"
    capped = await databases.run(shop, ANA, sql, 3, deadline)
    assert capped.rows == (("4",), ("3",), ("2",))
    assert capped.truncated
    exact = await databases.run(shop, ANA, sql, 4, deadline)
    assert len(exact.rows) == 4
    assert not exact.truncated


async def test_long_values_are_cut_where_they_are_made(shop: Database, deadline: Deadline) -> None:
    databases = Databases(UpstreamSettings(caps=(ResultCaps(value_bytes=100, answer_bytes=1000),)))
    result = await databases.run(shop, ANA, "SELECT lpad('', 100, 'x'), lpad('', 101, 'ü')", 5, deadline)
    assert (result.rows, result.shortened, result.truncated) == ((("x" * 100, "ü" * 25),), True, False)
    whole = await databases.run(shop, ANA, "SELECT lpad('', 100, 'x'), NULL::text, 7", 5, deadline)
    assert (whole.rows, whole.shortened) == ((("x" * 100, None, "7"),), False)
    await databases.aclose()


async def test_an_answer_is_cut_at_its_size(shop: Database, deadline: Deadline) -> None:
    databases = Databases(UpstreamSettings(caps=(ResultCaps(value_bytes=100, answer_bytes=1000),)))
    sql = "SELECT lpad('', 90, 'x') FROM generate_series(1, 50)"
    result = await databases.run(shop, ANA, sql, 40, deadline)
    assert (len(result.rows), result.truncated, result.shortened) == (11, True, False)
    exact = await databases.run(
        shop, ANA, "SELECT lpad('', 90, 'x') FROM generate_series(1, 11)", 40, deadline
    )
    assert (len(exact.rows), exact.truncated) == (11, False)
    await databases.aclose()


async def test_caps_are_by_database_and_role() -> None:
    small, ana, rest = (
        ResultCaps(database="small", value_bytes=1),
        ResultCaps(role="ana", value_bytes=2),
        ResultCaps(value_bytes=3),
    )
    settings = UpstreamSettings(caps=(small, ana, rest))
    assert settings.caps_of("small", "ana") is small
    assert settings.caps_of("shop", "ana") is ana
    assert settings.caps_of("shop", "bob") is rest
    assert UpstreamSettings().caps_of("shop", "bob") == ResultCaps()


async def test_a_message_of_any_size_is_not_swallowed(
    shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """An error's text is made by whoever raises it, and no row cap counts it."""
    await admin.execute(
        """CREATE SCHEMA ana AUTHORIZATION ana; SET ROLE ana;
           CREATE FUNCTION ana.loud() RETURNS int LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION '%', repeat('x', 60000000); END $$;
           CREATE VIEW ana.noise AS SELECT ana.loud() AS n; RESET ROLE"""
    )
    databases = Databases(UpstreamSettings(caps=(ResultCaps(answer_bytes=1000),)))
    with pytest.raises(StatementError) as caught:
        await databases.run(shop, ANA, "SELECT n FROM ana.noise", 1, deadline)
    assert (caught.value.sqlstate, caught.value.message) == ("54000", "the server's answer is too large")
    assert (await databases.run(shop, ANA, "SELECT 1", 1, deadline)).rows == (("1",),)
    await databases.aclose()


BOB = Asker('Bob "B', "shop")

ENDLESS = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r"

ENDLESS_ACTIVITY = """FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
                      AND query LIKE '%UNION ALL SELECT 1 FROM r%'"""


async def test_explain_runs_nothing(databases: Databases, shop: Database, deadline: Deadline) -> None:
    await databases.explain(shop, ANA, ENDLESS, deadline)


async def test_a_statement_ends_with_its_deadline(databases: Databases, shop: Database) -> None:
    with pytest.raises(CancelledError) as caught:
        await databases.run(shop, ANA, ENDLESS, 1, Deadline(time.monotonic() + 0.4))
    assert caught.value.sqlstate == "57014"
    with pytest.raises(CancelledError):
        await databases.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() - 1))


async def test_a_statement_ends_with_its_own_timeout(shop: Database, deadline: Deadline) -> None:
    hurried = Databases(UpstreamSettings(statement_timeout=2.0))
    with pytest.raises(CancelledError, match="statement timeout"):
        await hurried.run(shop, ANA, ENDLESS, 1, deadline)
    await hurried.aclose()


async def test_a_locked_table_is_not_waited_for(
    shop: Database, admin: Connection, deadline: Deadline
) -> None:
    hurried = Databases(UpstreamSettings(lock_timeout=0.1))
    async with admin.transaction():
        await admin.execute("LOCK TABLE customers")
        with pytest.raises(StatementError) as caught:
            await hurried.explain(shop, ANA, "SELECT 1 FROM customers", deadline)
    assert caught.value.sqlstate == "55P03"
    await hurried.aclose()


async def test_a_cancelled_caller_cancels_the_statement(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    running = f"SELECT count(*) {ENDLESS_ACTIVITY}"
    task = asyncio.create_task(databases.run(shop, ANA, ENDLESS, 1, deadline), name="endless")
    while not await admin.fetchval(running):
        pass
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while await admin.fetchval(running):
        pass
    assert (await databases.run(shop, ANA, "SELECT 1", 1, deadline)).rows == (("1",),)


async def test_a_lost_connection_is_replaced(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    task = asyncio.create_task(databases.run(shop, ANA, ENDLESS, 1, deadline), name="endless")
    kill = f"SELECT count(pg_terminate_backend(pid)) {ENDLESS_ACTIVITY}"
    while not await admin.fetchval(kill):
        pass
    with pytest.raises(DatabaseUnavailableError):
        await task
    assert (await databases.run(shop, ANA, "SELECT 1", 1, deadline)).rows == (("1",),)


BURNING = "SELECT translate(lpad('', 16000, 'a'), lpad('', 16000, 'b'), '')"
"""Planned for seconds, in a function over constants that never looks whether it should stop."""


@pytest.fixture
async def burning(
    shop: Database, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Databases]:
    """Whose guard lets everything through, and which has read its rules."""
    monkeypatch.setattr("engine.upstream.databases.check", lambda sql, _rules: Allowed(analyse(sql)))
    made = Databases(UpstreamSettings(overdue_per_asker=2, pool_size=2))
    await made.explain(shop, ANA, "SELECT 1", deadline)
    yield made
    await made.aclose()


async def both_run_out(verb: Callable[..., Awaitable[object]], shop: Database) -> None:
    soon = Deadline(time.monotonic() + 0.5)
    outcomes = await asyncio.gather(
        *(verb(shop, ANA, BURNING, soon) for _ in range(2)), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} == {CancelledError}


async def test_what_does_not_stop_is_left_and_counted(
    burning: Databases, shop: Database, deadline: Deadline
) -> None:
    await both_run_out(burning.plan, shop)
    assert burning.overdue == 2
    with pytest.raises(QuotaError) as caught:
        await burning.run(shop, ANA, "SELECT 1", 1, deadline, chosen=True)
    assert caught.value.sqlstate == "53400"
    # Nobody else waits for them.
    assert (await burning.run(shop, BOB, "SELECT 1", 1, deadline, chosen=True)).rows == (("1",),)
    while burning.overdue == 2:
        await burning.run(shop, BOB, "SELECT 1", 1, Deadline(time.monotonic() + 10))
    # The asker's own next statement waits for the last of them, in the lane of those who ran out of time.
    soon = Deadline(time.monotonic() + 20)
    assert (await burning.run(shop, ANA, "SELECT 1", 1, soon, chosen=True)).rows == (("1",),)
    assert burning.overdue == 0


async def test_what_the_engine_tries_for_a_question_refuses_its_asker_nothing(
    burning: Databases, shop: Database, deadline: Deadline
) -> None:
    await both_run_out(burning.explain, shop)
    assert burning.overdue == 2
    # What the asker chooses runs at once; what is tried for the next question waits, and is not refused.
    assert (await burning.run(shop, ANA, "SELECT 1", 1, deadline, chosen=True)).rows == (("1",),)
    assert burning.overdue == 2
    with pytest.raises(CancelledError):
        await burning.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() + 0.1))
    await burning.explain(shop, ANA, "SELECT 1", deadline)
    assert burning.overdue == 0
