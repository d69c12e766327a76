"""Statements on a real server as the asking user: who may read what, for how long, and how failures look."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import asyncpg
import pytest

from engine.core.deadline import Deadline
from engine.core.ports import StatementError
from engine.errors import (
    CancelledError,
    DatabaseUnavailableError,
    NotPermittedError,
    QuotaError,
    UnsafeSQLError,
)
from engine.guard import Allowed
from engine.guard.analyse import analyse
from engine.settings import ResultCaps, UpstreamSettings
from engine.types import Asker
from engine.upstream import Databases
from pgparley.cluster import Cluster
from schema_catalog.logins import make_login
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection
from schema_catalog.types import Database, Login

ANA = Asker("ana", "shop")
BOB = Asker('Bob "B', "shop")

ENDLESS = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r"
ENDLESS_ACTIVITY = """FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
                      AND query LIKE '%UNION ALL SELECT 1 FROM r%'"""


async def test_explain_gives_the_planners_cost(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    cheap = await databases.explain(shop, ANA, "SELECT 1", deadline)
    dear = await databases.explain(shop, ANA, "SELECT * FROM customers a, orders b, order_items c;", deadline)
    assert 0 < cheap.cost < dear.cost
    assert cheap.rows == 1 < dear.rows


async def test_explain_runs_nothing(databases: Databases, shop: Database, deadline: Deadline) -> None:
    started = time.monotonic()
    await databases.explain(shop, ANA, ENDLESS, deadline)
    assert time.monotonic() - started < 5


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
    assert result.rows == (("ok", "5", "(1,x)", "{sad}", "public.customers"), (None, None, "(,)", None, None))


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


async def test_privileges_are_the_askers(databases: Databases, shop: Database, deadline: Deadline) -> None:
    assert await databases.run(shop, ANA, "SELECT current_user", 1, deadline)
    visible = await databases.run(shop, ANA, "SELECT id, name FROM products", 10, deadline)
    assert len(visible.rows) == 3
    for sql in (
        "SELECT price FROM products",
        "SELECT count(*) FROM products p WHERE p.price > 1",
        "TABLE bookings",
    ):
        for call in (
            databases.explain(shop, ANA, sql, deadline),
            databases.run(shop, ANA, sql, 1, deadline),
        ):
            with pytest.raises(StatementError) as caught:
                await call
            assert caught.value.sqlstate == "42501"
    # Another asker has another connection.
    result = await databases.run(shop, BOB, "SELECT current_user, count(*) FROM customers", 1, deadline)
    assert result.rows == (('Bob "B', "4"),)
    with pytest.raises(StatementError, match="permission denied for table orders"):
        await databases.explain(shop, BOB, "SELECT * FROM orders", deadline)


async def test_row_level_security_is_the_askers(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        """ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
           CREATE POLICY own ON customers TO ana USING (city = 'London')"""
    )
    result = await databases.run(shop, ANA, "SELECT name FROM customers ORDER BY name", 10, deadline)
    assert result.rows == (("Ada",), ("Dan",))


@pytest.mark.parametrize("role", ["stranger", "postgres", "nobody", "none", 'x"; RESET ROLE; --'])
async def test_who_has_no_login_runs_nothing(
    databases: Databases, shop: Database, deadline: Deadline, role: str
) -> None:
    asker = Asker(role, "shop")
    with pytest.raises(NotPermittedError) as caught:
        await databases.run(shop, asker, "SELECT 1", 1, deadline)
    assert caught.value.sqlstate == "42501"
    assert caught.value.hint is not None
    assert f"pgparley catalog login shop {quote_ident(role)}" in caught.value.hint
    assert await databases.readable(shop, asker) == frozenset()


async def test_a_login_that_the_server_refuses(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    refused = replace(shop, logins=(make_login(shop, "stranger"),))
    with pytest.raises(DatabaseUnavailableError, match="does not answer") as caught:
        await databases.run(refused, Asker("stranger", "shop"), "SELECT 1", 1, deadline)
    assert "not permitted to log in" in (caught.value.detail or "")


async def test_an_asker_may_have_another_name_there(
    databases: Databases, shop: Database, server: Cluster, deadline: Deadline
) -> None:
    elsewhere = replace(shop, logins=(make_login(shop, "ana", server.dsn("shop", 'Bob "B')),))
    result = await databases.run(elsewhere, ANA, "SELECT current_user", 1, deadline)
    assert result.rows == (('Bob "B',),)
    assert {table for _, table, _ in await databases.readable(elsewhere, ANA)} == {"customers"}


async def test_the_guard_stands_before_the_server(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    for sql in (
        "DELETE FROM customers",
        "SELECT pg_sleep(1)",
        "SELECT 1; SELECT 2",
        "SELECT 1) AS t; --",
        "",
    ):
        with pytest.raises(UnsafeSQLError) as caught:
            await databases.run(shop, ANA, sql, 1, deadline)
        assert caught.value.sqlstate == "NL005"
        with pytest.raises(UnsafeSQLError):
            await databases.explain(shop, ANA, sql, deadline)


async def test_the_transaction_cannot_write(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """The second wall alone: a view whose function writes passes any reading of the statement."""
    await admin.execute(
        """CREATE TABLE log (at timestamptz); GRANT INSERT, SELECT ON log TO ana;
           CREATE SCHEMA tools; GRANT USAGE ON SCHEMA tools TO ana;
           CREATE FUNCTION tools.note() RETURNS int LANGUAGE sql VOLATILE SECURITY DEFINER
               AS 'INSERT INTO public.log VALUES (now()) RETURNING 1';
           CREATE VIEW sly AS SELECT tools.note() AS n; GRANT SELECT ON sly TO ana"""
    )
    with pytest.raises(StatementError) as caught:
        await databases.run(shop, ANA, "SELECT n FROM sly", 1, deadline)
    assert caught.value.sqlstate == "25006"
    assert await admin.fetchval("SELECT count(*) FROM log") == 0


SHADOWS = {
    "a function": (
        "CREATE FUNCTION upper(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''mine''::text'",
        "SELECT upper('a'::varchar)",
        "A",
    ),
    "a function in FROM": (
        "CREATE FUNCTION value(text) RETURNS text LANGUAGE sql AS $$SELECT 'called'$$",
        "SELECT f.value FROM unnest(ARRAY['x']) AS f (value)",
        "x",
    ),
    "an operator": (
        """CREATE FUNCTION sly(int, bigint) RETURNS bool LANGUAGE sql AS 'SELECT true';
           CREATE OPERATOR = (LEFTARG = int, RIGHTARG = smallint, FUNCTION = sly)""",
        "SELECT 1 = 2::smallint",
        "f",
    ),
    "an operator that is not written": (
        """CREATE FUNCTION sly(int, smallint) RETURNS bool LANGUAGE sql AS 'SELECT true';
           CREATE OPERATOR = (LEFTARG = int, RIGHTARG = smallint, FUNCTION = sly)""",
        "SELECT CASE 1 WHEN 2::smallint THEN 'mine' ELSE 'own' END",
        "own",
    ),
    "a type": (
        "CREATE DOMAIN date AS text",
        "SELECT CAST('2020-01-02' AS date) + 1",
        "2020-01-03",
    ),
}


@pytest.mark.parametrize("shadow", SHADOWS)
async def test_built_in_names_reach_what_is_built_in(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline, shadow: str
) -> None:
    """A better match of types would beat pg_catalog's place on the search path: nothing else is on it."""
    made, sql, right = SHADOWS[shadow]
    await admin.execute(made.replace("sly(int, bigint)", "sly(int, smallint)"))
    assert (await databases.run(shop, ANA, sql, 1, deadline)).rows == ((right,),)


@pytest.mark.parametrize("name", ["total", "any_row"])
async def test_a_function_of_a_row_is_no_column(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline, name: str
) -> None:
    await admin.execute(
        """CREATE FUNCTION total(customers) RETURNS int LANGUAGE sql AS 'SELECT 1';
           CREATE FUNCTION any_row(anyelement) RETURNS int LANGUAGE sql AS 'SELECT 1'"""
    )
    sql = f"SELECT c.{name} FROM customers c"
    assert await admin.fetch(sql)
    with pytest.raises(StatementError, match="does not exist"):
        await databases.explain(shop, ANA, sql, deadline)


async def test_what_belongs_to_somebody_else_is_not_read_for_the_asker(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """The owner of a table decides what reading it runs, and may change that at any time."""
    await admin.execute(
        """CREATE SCHEMA ana AUTHORIZATION ana; GRANT USAGE ON SCHEMA ana TO "Bob ""B"; SET ROLE ana;
           CREATE TABLE ana.plain AS SELECT 1 AS a; GRANT SELECT ON ana.plain TO "Bob ""B"; RESET ROLE"""
    )
    sql = "SELECT a FROM ana.plain"
    assert (await databases.run(shop, ANA, sql, 5, deadline)).rows == (("1",),)
    for call in (databases.run(shop, BOB, sql, 5, deadline), databases.explain(shop, BOB, sql, deadline)):
        with pytest.raises(UnsafeSQLError, match='could run code of role "ana"') as caught:
            await call
        assert "trusted_owners" in (caught.value.hint or "")
    assert ("ana", "plain", "a") not in await databases.readable(shop, BOB)
    assert ("ana", "plain", "a") in await databases.readable(shop, ANA)
    trusting = Databases(UpstreamSettings(trusted_owners=("ana",)))
    assert (await trusting.run(shop, BOB, sql, 5, deadline)).rows == (("1",),)
    assert ("ana", "plain", "a") in await trusting.readable(shop, BOB)
    await trusting.aclose()


async def test_nobody_spoils_a_type_of_others_by_a_cast(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        """CREATE TYPE weather AS ENUM ('sun', 'rain'); CREATE TABLE days (w weather); GRANT SELECT ON days TO ana;
           INSERT INTO days VALUES ('sun'); CREATE SCHEMA bob AUTHORIZATION "Bob ""B"; SET ROLE "Bob ""B";
           CREATE TYPE bob.mine AS ENUM ('x');
           CREATE FUNCTION bob.turned(weather) RETURNS bob.mine LANGUAGE sql IMMUTABLE AS $$SELECT 'x'::bob.mine$$;
           CREATE CAST (weather AS bob.mine) WITH FUNCTION bob.turned(weather) AS IMPLICIT; RESET ROLE"""
    )
    assert (await databases.run(shop, ANA, "SELECT w FROM days WHERE w = 'sun'", 5, deadline)).rows == (
        ("sun",),
    )
    with pytest.raises(UnsafeSQLError):
        await databases.run(shop, ANA, "SELECT w::bob.mine FROM days", 5, deadline)


async def test_code_of_trusted_owners_runs(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        """CREATE SCHEMA tools; GRANT USAGE ON SCHEMA tools TO ana;
           CREATE FUNCTION tools.twice(int) RETURNS int LANGUAGE sql AS 'SELECT 2 * $1';
           CREATE VIEW doubled AS SELECT tools.twice(id) AS n FROM customers;
           GRANT SELECT ON doubled TO ana"""
    )
    sql = "SELECT max(n) FROM doubled"
    result = await databases.run(shop, ANA, sql, 5, deadline)
    assert result.rows == (("8",),)
    await admin.execute("ALTER FUNCTION tools.twice(int) OWNER TO stranger")
    # A good verdict is remembered: only one who is trusted could make it wrong, as here.
    assert await databases.run(shop, ANA, sql, 5, deadline) == result
    anew = Databases(UpstreamSettings())
    with pytest.raises(UnsafeSQLError, match='of role "stranger"'):
        await anew.run(shop, ANA, sql, 5, deadline)
    await admin.execute("ALTER DATABASE shop OWNER TO stranger")
    assert await anew.run(shop, ANA, sql, 5, deadline) == result
    await anew.aclose()


async def test_what_extensions_brought_is_trusted(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    available = await admin.fetchval("SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'")
    if not available:
        pytest.skip("this server was built without contrib modules")
    await admin.execute("CREATE EXTENSION citext; ALTER TABLE customers ALTER name TYPE citext")
    result = await databases.run(shop, ANA, "SELECT name FROM customers WHERE name = 'ADA'", 5, deadline)
    assert result == replace(result, columns=(("name", "text"),), rows=(("Ada",),))


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


async def test_a_statement_ends_with_its_deadline(databases: Databases, shop: Database) -> None:
    started = time.monotonic()
    with pytest.raises(CancelledError) as caught:
        await databases.run(shop, ANA, ENDLESS, 1, Deadline(time.monotonic() + 0.4))
    assert caught.value.sqlstate == "57014"
    assert time.monotonic() - started < 5
    with pytest.raises(CancelledError):
        await databases.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() - 1))


async def test_a_statement_ends_with_its_own_timeout(shop: Database, deadline: Deadline) -> None:
    hurried = Databases(UpstreamSettings(statement_timeout=0.2))
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


async def test_readable_columns_are_remembered_for_a_while(shop: Database, admin: Connection) -> None:
    now = [100.0]
    databases = Databases(UpstreamSettings(privileges_ttl=60), clock=lambda: now[0])
    before = await databases.readable(shop, ANA)
    assert ("public", "products", "name") in before
    assert ("public", "products", "price") not in before
    await admin.execute("GRANT SELECT ON products TO ana")
    now[0] += 59
    assert await databases.readable(shop, ANA) == before
    now[0] += 2
    assert ("public", "products", "price") in await databases.readable(shop, ANA)
    assert await databases.readable(shop, Asker("nobody", "shop")) == frozenset()
    await databases.aclose()


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


async def test_passwords_are_in_no_message(shop: Database, databases: Databases, deadline: Deadline) -> None:
    secret = replace(shop, logins=(Login("ana", "postgresql://ana:hunter2@127.0.0.1:1/shop"),))
    with pytest.raises(DatabaseUnavailableError) as caught:
        await databases.run(secret, ANA, "SELECT 1", 1, deadline)
    assert "hunter2" not in repr((caught.value.message, caught.value.detail, caught.value.hint))
    assert isinstance(caught.value.__cause__, OSError | asyncpg.PostgresError)


BURNING = "SELECT translate(lpad('', 16000, 'a'), lpad('', 16000, 'b'), '')"
"""Planned for seconds, in a function over constants that never looks whether it should stop."""


async def test_what_does_not_stop_is_left_and_counted(
    shop: Database, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.upstream.databases.check", lambda sql, _rules: Allowed(analyse(sql)))
    databases = Databases(UpstreamSettings(overdue_per_asker=2, pool_size=2))
    started = time.monotonic()
    burning = (databases.explain(shop, ANA, BURNING, Deadline(started + 0.5)) for _ in range(2))
    outcomes = await asyncio.gather(*burning, return_exceptions=True)
    assert time.monotonic() - started < 1.0
    assert {type(outcome) for outcome in outcomes} == {CancelledError}
    assert databases.overdue == 2
    with pytest.raises(QuotaError) as caught:
        await databases.run(shop, ANA, "SELECT 1", 1, deadline)
    assert caught.value.sqlstate == "53400"
    # Nobody else waits for them.
    assert (await databases.run(shop, BOB, "SELECT 1", 1, deadline)).rows == (("1",),)
    while databases.overdue == 2:
        await databases.run(shop, BOB, "SELECT 1", 1, Deadline(time.monotonic() + 10))
    # The asker's own next statement waits for the last of them, in the lane of those who ran out of time.
    assert (await databases.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() + 20))).rows == (("1",),)
    assert databases.overdue == 0
    await databases.aclose()


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
