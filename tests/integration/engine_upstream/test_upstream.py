"""Statements on a real server as the asking user: who may read what, for how long, and how failures look."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import asyncpg
import pytest

from engine.errors import CancelledError, DatabaseUnavailableError, NotPermittedError, UnsafeSQLError
from engine.settings import UpstreamSettings
from engine.state import Deadline, StatementError
from engine.upstream import Databases
from pgparley.cluster import Cluster
from schema_catalog.pg import Connection
from schema_catalog.types import Database

ENDLESS = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r"
ENDLESS_ACTIVITY = """FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
                      AND query LIKE '%UNION ALL SELECT 1 FROM r%'"""


async def test_explain_gives_the_planners_cost(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    cheap = await databases.explain(shop, "ana", "SELECT 1", deadline)
    dear = await databases.explain(
        shop, "ana", "SELECT * FROM customers a, orders b, order_items c;", deadline
    )
    assert 0 < cheap.cost < dear.cost
    assert cheap.rows == 1 < dear.rows


async def test_explain_runs_nothing(databases: Databases, shop: Database, deadline: Deadline) -> None:
    started = time.monotonic()
    await databases.explain(shop, "ana", ENDLESS, deadline)
    assert time.monotonic() - started < 5


async def test_run_gives_text_as_the_server_writes_it(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    sql = """SELECT true, NULL::int, 1.50, 0.1::float8, '10.0.0.1'::inet, ARRAY['a b', NULL], ROW(1, NULL),
                    '{"a": 1}'::jsonb, TIMESTAMP '2020-01-02 03:04:05', DATE '2020-01-02',
                    INTERVAL '1 day 2 hours', '\\x01'::bytea, 'x'::char(3), 'it''s', '' -- the end"""
    result = await databases.run(shop, "ana", sql, 10, deadline)
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
    result = await databases.run(shop, "ana", "TABLE moods", 10, deadline)
    # The server itself describes a domain as its base type.
    assert result.columns == (("m", "text"), ("c", "integer"), ("p", "text"), ("ms", "text"), ("r", "text"))
    assert result.rows == (("ok", "5", "(1,x)", "{sad}", "customers"), (None, None, "(,)", None, None))


async def test_duplicate_and_missing_column_names(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    result = await databases.run(
        shop, "ana", 'SELECT id, id, 1, 2, name AS "A b" FROM customers ORDER BY id LIMIT 1', 10, deadline
    )
    assert [name for name, _ in result.columns] == ["id", "id", "?column?", "?column?", "A b"]
    assert result.rows == (("1", "1", "1", "2", "Ada"),)
    empty = await databases.run(shop, "ana", "SELECT FROM customers", 10, deadline)
    assert empty.columns == ()
    assert empty.rows == ((), (), (), ())


async def test_rows_are_capped_and_keep_their_order(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    sql = "SELECT id FROM customers ORDER BY id DESC"
    capped = await databases.run(shop, "ana", sql, 3, deadline)
    assert capped.rows == (("4",), ("3",), ("2",))
    assert capped.truncated
    exact = await databases.run(shop, "ana", sql, 4, deadline)
    assert len(exact.rows) == 4
    assert not exact.truncated


async def test_privileges_are_the_askers(databases: Databases, shop: Database, deadline: Deadline) -> None:
    assert await databases.run(shop, "ana", "SELECT current_user", 1, deadline)
    visible = await databases.run(shop, "ana", "SELECT id, name FROM products", 10, deadline)
    assert len(visible.rows) == 3
    for sql in (
        "SELECT price FROM products",
        "SELECT count(*) FROM products p WHERE p.price > 1",
        "TABLE bookings",
    ):
        for call in (
            databases.explain(shop, "ana", sql, deadline),
            databases.run(shop, "ana", sql, 1, deadline),
        ):
            with pytest.raises(StatementError) as caught:
                await call
            assert caught.value.sqlstate == "42501"
    # The same connection serves the next role with that role's own rights.
    result = await databases.run(shop, 'Bob "B', "SELECT current_user, count(*) FROM customers", 1, deadline)
    assert result.rows == (('Bob "B', "4"),)
    with pytest.raises(StatementError, match="permission denied for table orders"):
        await databases.explain(shop, 'Bob "B', "SELECT * FROM orders", deadline)


async def test_row_level_security_is_the_askers(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        """ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
           CREATE POLICY own ON customers TO ana USING (city = 'London')"""
    )
    result = await databases.run(shop, "ana", "SELECT name FROM customers ORDER BY name", 10, deadline)
    assert result.rows == (("Ada",), ("Dan",))


@pytest.mark.parametrize("role", ["stranger", "postgres", "nobody", "none", 'x"; RESET ROLE; --'])
async def test_a_role_that_cannot_be_taken(
    databases: Databases, shop: Database, deadline: Deadline, role: str
) -> None:
    with pytest.raises(NotPermittedError) as caught:
        await databases.run(shop, role, "SELECT 1", 1, deadline)
    assert caught.value.sqlstate == "42501"
    if role == "stranger":
        assert caught.value.hint is not None
        assert "GRANT stranger TO" in caught.value.hint
    # The connection goes back to the pool as it came.
    assert (await databases.run(shop, "ana", "SELECT current_user", 1, deadline)).rows == (("ana",),)


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
            await databases.run(shop, "ana", sql, 1, deadline)
        assert caught.value.sqlstate == "NL005"
        with pytest.raises(UnsafeSQLError):
            await databases.explain(shop, "ana", sql, deadline)


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
        await databases.run(shop, "ana", "SELECT n FROM sly", 1, deadline)
    assert caught.value.sqlstate == "25006"
    assert await admin.fetchval("SELECT count(*) FROM log") == 0


SHADOWS = {
    "a function": (
        "CREATE FUNCTION upper(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''mine''::text'",
        "SELECT upper('a'::varchar)",
    ),
    "a function of a table's row": (
        "CREATE FUNCTION total(customers) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT c.total FROM customers c",
    ),
    "a function of any row": (
        "CREATE FUNCTION any_row(anyelement) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT c.any_row FROM customers c",
    ),
    "an operator": (
        """CREATE FUNCTION sly(int, text) RETURNS bool LANGUAGE sql AS 'SELECT true';
           CREATE OPERATOR = (LEFTARG = int, RIGHTARG = text, FUNCTION = sly)""",
        "SELECT 1 = 'x'::text",
    ),
    "an operator that is not written": (
        """CREATE FUNCTION sly(int, text) RETURNS bool LANGUAGE sql AS 'SELECT true';
           CREATE OPERATOR = (LEFTARG = int, RIGHTARG = text, FUNCTION = sly)""",
        "SELECT CASE 1 WHEN 'x'::text THEN 1 END",
    ),
}


@pytest.mark.parametrize("shadow", SHADOWS)
async def test_somebody_elses_function_is_not_reached_by_a_built_in_name(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline, shadow: str
) -> None:
    made, sql = SHADOWS[shadow]
    await admin.execute(made)
    # PostgreSQL itself would call it.
    assert await admin.fetch(sql)
    with pytest.raises(UnsafeSQLError, match="is not only PostgreSQL's own"):
        await databases.explain(shop, "ana", sql, deadline)
    assert await databases.explain(shop, "ana", "SELECT lower(name), c.city FROM customers c", deadline)


PLANTED = {
    "a view": ("CREATE VIEW ana.trap AS SELECT ana.evil('x') AS a", "SELECT a FROM ana.trap"),
    "a view of a view": (
        "CREATE VIEW ana.inner AS SELECT ana.evil('x') AS a; CREATE VIEW ana.trap AS SELECT a FROM ana.inner",
        "WITH c AS (SELECT a FROM ana.trap) SELECT a FROM c",
    ),
    "an index": (
        "CREATE TABLE ana.trap (a int); CREATE INDEX ON ana.trap (a) WHERE ana.evil('x') = 'x'",
        "SELECT a FROM ana.trap WHERE a = 1",
    ),
    "a policy": (
        """CREATE TABLE ana.trap (a int); INSERT INTO ana.trap VALUES (1);
           ALTER TABLE ana.trap ENABLE ROW LEVEL SECURITY; ALTER TABLE ana.trap FORCE ROW LEVEL SECURITY;
           CREATE POLICY p ON ana.trap USING (ana.evil('x') = 'x')""",
        "TABLE ana.trap",
    ),
    "a constraint of a child": (
        """CREATE TABLE ana.trap (a int);
           CREATE TABLE ana.child (CHECK (ana.evil('x') = 'x')) INHERITS (ana.trap);
           CREATE TABLE ana.other () INHERITS (ana.trap)""",
        "SELECT a FROM ana.trap WHERE a = 1",
    ),
    "an operator": (
        """CREATE OPERATOR ana.@@@ (LEFTARG = text, RIGHTARG = text, FUNCTION = ana.evil2);
           CREATE VIEW ana.trap AS SELECT 'x' OPERATOR(ana.@@@) 'x' AS a""",
        "SELECT a FROM ana.trap",
    ),
}


@pytest.mark.parametrize("trap", PLANTED)
async def test_a_users_own_code_does_not_get_the_catalogs_connection(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline, trap: str
) -> None:
    """`SET ROLE` lends the connection: a function that runs on it could take any role that it may lend."""
    made, sql = PLANTED[trap]
    await admin.execute(
        """CREATE SCHEMA ana AUTHORIZATION ana; CREATE TABLE secret (s text);
           GRANT SELECT ON secret TO "Bob ""B"; SET ROLE ana;
           CREATE FUNCTION ana.evil(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
               IF session_user = 'catalog' THEN
                   PERFORM set_config('role', 'Bob "B', true);
                   PERFORM s FROM public.secret;
                   RAISE EXCEPTION 'got the secret';
               END IF;
               RETURN x; END $$;
           CREATE FUNCTION ana.evil2(x text, y text) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN RETURN ana.evil(x); END $$"""
    )
    await admin.execute(made)
    await admin.execute("RESET ROLE")
    with pytest.raises(UnsafeSQLError, match=r"would run function ana\.evil2? of ana"):
        await databases.run(shop, "ana", sql, 5, deadline)
    with pytest.raises(UnsafeSQLError, match="of ana"):
        await databases.explain(shop, "ana", sql, deadline)
    # Without this check the trap works, while a statement is planned or run.
    trusting = Databases(UpstreamSettings(trusted_owners=("ana",)))
    with pytest.raises(StatementError, match="got the secret"):
        await trusting.run(shop, "ana", sql, 5, deadline)
    await trusting.aclose()


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
    result = await databases.run(shop, "ana", sql, 5, deadline)
    assert result.rows == (("8",),)
    await admin.execute("ALTER FUNCTION tools.twice(int) OWNER TO stranger")
    with pytest.raises(UnsafeSQLError, match="of stranger"):
        await databases.run(shop, "ana", sql, 5, deadline)
    await admin.execute("ALTER DATABASE shop OWNER TO stranger")
    assert await databases.run(shop, "ana", sql, 5, deadline) == result


async def test_a_function_in_from_hides_no_call(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute("CREATE FUNCTION value(text) RETURNS text LANGUAGE sql AS $$SELECT 'called'$$")
    sql = "SELECT f.value FROM unnest(ARRAY['x']) AS f"
    assert await admin.fetchval(sql) == "called"
    with pytest.raises(UnsafeSQLError, match="function value is not only"):
        await databases.run(shop, "ana", sql, 5, deadline)


async def test_what_extensions_brought_is_trusted(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    available = await admin.fetchval("SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'")
    if not available:
        pytest.skip("this server was built without contrib modules")
    await admin.execute("CREATE EXTENSION citext; ALTER TABLE customers ALTER name TYPE citext")
    result = await databases.run(shop, "ana", "SELECT name FROM customers WHERE name = 'ADA'", 5, deadline)
    assert result == replace(result, columns=(("name", "text"),), rows=(("Ada",),))


async def test_the_login_roles_settings_do_not_change_how_text_is_read(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    """With backslash escapes, the server would see a call outside of the quotes that the guard saw."""
    await admin.execute("ALTER ROLE catalog SET standard_conforming_strings = off")
    await admin.execute("ALTER ROLE catalog SET search_path = 'nowhere'")
    # Two literals and a column. Read with the escapes, the first literal would end before the call.
    sql = r"SELECT '\', ' , pg_backend_pid(), \', name FROM customers"
    result = await databases.run(shop, "ana", sql, 1, deadline)
    assert result.rows[0][:2] == ("\\", " , pg_backend_pid(), \\")


async def test_the_search_path_is_the_databases(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await admin.execute(
        'GRANT USAGE ON SCHEMA "Archive" TO ana; GRANT SELECT ON ALL TABLES IN SCHEMA "Archive" TO ana'
    )
    archive = replace(shop, name="archive", search_path=("pg_catalog", "Archive"))
    assert (await databases.run(archive, "ana", 'SELECT "Id" FROM "Old Orders"', 5, deadline)).rows == (
        ("1",),
    )
    with pytest.raises(StatementError, match="does not exist"):
        await databases.run(shop, "ana", 'SELECT "Id" FROM "Old Orders"', 5, deadline)


async def test_errors_of_the_server_keep_their_parts(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    with pytest.raises(StatementError) as caught:
        await databases.run(shop, "ana", "SELECT nam FROM customers", 5, deadline)
    assert caught.value.sqlstate == "42703"
    assert caught.value.message == 'column "nam" does not exist'
    assert caught.value.hint is not None
    assert caught.value.position == 8
    with pytest.raises(StatementError) as planned:
        await databases.explain(shop, "ana", "/* é */ SELECT nam FROM customers", deadline)
    assert planned.value.position == 8
    with pytest.raises(StatementError) as divided:
        await databases.run(shop, "ana", "SELECT 1 / (id - 1) FROM customers", 5, deadline)
    assert divided.value.sqlstate == "22012"


async def test_a_statement_ends_with_its_deadline(databases: Databases, shop: Database) -> None:
    started = time.monotonic()
    with pytest.raises(CancelledError) as caught:
        await databases.run(shop, "ana", ENDLESS, 1, Deadline(time.monotonic() + 0.4))
    assert caught.value.sqlstate == "57014"
    assert time.monotonic() - started < 5
    with pytest.raises(CancelledError):
        await databases.run(shop, "ana", "SELECT 1", 1, Deadline(time.monotonic() - 1))


async def test_a_statement_ends_with_its_own_timeout(shop: Database, deadline: Deadline) -> None:
    hurried = Databases(UpstreamSettings(statement_timeout=0.2))
    with pytest.raises(CancelledError, match="statement timeout"):
        await hurried.run(shop, "ana", ENDLESS, 1, deadline)
    await hurried.aclose()


async def test_a_locked_table_is_not_waited_for(
    shop: Database, admin: Connection, deadline: Deadline
) -> None:
    hurried = Databases(UpstreamSettings(lock_timeout=0.1))
    async with admin.transaction():
        await admin.execute("LOCK TABLE customers")
        with pytest.raises(StatementError) as caught:
            await hurried.explain(shop, "ana", "SELECT 1 FROM customers", deadline)
    assert caught.value.sqlstate == "55P03"
    await hurried.aclose()


async def test_a_cancelled_caller_cancels_the_statement(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    running = f"SELECT count(*) {ENDLESS_ACTIVITY}"
    task = asyncio.create_task(databases.run(shop, "ana", ENDLESS, 1, deadline), name="endless")
    while not await admin.fetchval(running):
        pass
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while await admin.fetchval(running):
        pass
    assert (await databases.run(shop, "ana", "SELECT 1", 1, deadline)).rows == (("1",),)


async def test_more_statements_than_connections_wait_their_turn(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    results = await asyncio.gather(
        *(databases.run(shop, "ana", f"SELECT {number}", 1, deadline) for number in range(20))
    )
    assert [result.rows for result in results] == [((str(number),),) for number in range(20)]


async def test_a_server_that_is_not_there(
    databases: Databases, shop: Database, server: Cluster, deadline: Deadline
) -> None:
    nowhere = replace(shop, dsn=shop.dsn.replace(f"port={server.port}", "port=1"))
    missing = replace(shop, dsn=server.dsn("missing"))
    for database in (nowhere, missing):
        with pytest.raises(DatabaseUnavailableError) as caught:
            await databases.run(database, "ana", "SELECT 1", 1, deadline)
        assert caught.value.sqlstate == "58000"
        with pytest.raises(DatabaseUnavailableError):
            await databases.readable(database, "ana")


async def test_a_lost_connection_is_replaced(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    task = asyncio.create_task(databases.run(shop, "ana", ENDLESS, 1, deadline), name="endless")
    kill = f"SELECT count(pg_terminate_backend(pid)) {ENDLESS_ACTIVITY}"
    while not await admin.fetchval(kill):
        pass
    with pytest.raises(DatabaseUnavailableError):
        await task
    assert (await databases.run(shop, "ana", "SELECT 1", 1, deadline)).rows == (("1",),)


async def test_readable_columns_are_remembered_for_a_while(shop: Database, admin: Connection) -> None:
    now = [100.0]
    databases = Databases(UpstreamSettings(privileges_ttl=60), clock=lambda: now[0])
    before = await databases.readable(shop, "ana")
    assert ("public", "products", "name") in before
    assert ("public", "products", "price") not in before
    await admin.execute("GRANT SELECT ON products TO ana")
    now[0] += 59
    assert await databases.readable(shop, "ana") == before
    now[0] += 2
    assert ("public", "products", "price") in await databases.readable(shop, "ana")
    assert await databases.readable(shop, "nobody") == frozenset()
    await databases.aclose()


async def test_closing_frees_the_connections(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    await databases.run(shop, "ana", "SELECT 1", 1, deadline)
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgparley'"
    assert await admin.fetchval(count) == 1
    await databases.aclose()
    while await admin.fetchval(count):
        pass


async def test_passwords_are_in_no_message(shop: Database, databases: Databases, deadline: Deadline) -> None:
    secret = replace(shop, dsn="postgresql://catalog:hunter2@127.0.0.1:1/shop")
    with pytest.raises(DatabaseUnavailableError) as caught:
        await databases.run(secret, "ana", "SELECT 1", 1, deadline)
    assert "hunter2" not in repr((caught.value.message, caught.value.detail, caught.value.hint))
    assert isinstance(caught.value.__cause__, OSError | asyncpg.PostgresError)
