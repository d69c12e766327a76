"""Statements on a real server run with the rights of the asker, and run no code but that of trusted owners."""

from __future__ import annotations

from dataclasses import replace

import asyncpg
import pytest

from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.errors import DatabaseUnavailableError, NotPermittedError, UnsafeSQLError
from engine.values.messages import Asker
from engine.values.ports import StatementError
from engine.values.settings import UpstreamSettings
from pgparley.cluster import Cluster
from schema_catalog.logins import make_login
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection
from schema_catalog.types import Database, Login, Snapshot

ANA = Asker("ana", "shop")
BOB = Asker('Bob "B', "shop")


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


async def test_who_has_no_login_runs_nothing(
    databases: Databases, shop: Database, deadline: Deadline
) -> None:
    for role in ("stranger", "postgres", "nobody", "none", 'x"; RESET ROLE; --'):
        asker = Asker(role, "shop")
        with pytest.raises(NotPermittedError) as caught:
            await databases.run(shop, asker, "SELECT 1", 1, deadline)
        assert caught.value.sqlstate == "42501"
        assert f"pgparley catalog login shop {quote_ident(role)}" in str(caught.value.hint)
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


async def test_of_a_newer_snapshot_they_are_read_at_once(shop: Database, admin: Connection) -> None:
    databases = Databases(UpstreamSettings(privileges_ttl=60), clock=lambda: 100.0)
    old, new = Snapshot("shop", ("public",), ()), Snapshot("shop", ("public",), ())
    assert ("public", "products", "name") in await databases.readable(shop, ANA, old)
    await admin.execute("ALTER TABLE products RENAME COLUMN name TO title")
    assert ("public", "products", "title") not in await databases.readable(shop, ANA, old)
    assert ("public", "products", "title") in await databases.readable(shop, ANA, new)
    await databases.aclose()


async def test_passwords_are_in_no_message(shop: Database, databases: Databases, deadline: Deadline) -> None:
    secret = replace(shop, logins=(Login("ana", "postgresql://ana:hunter2@127.0.0.1:1/shop"),))
    with pytest.raises(DatabaseUnavailableError) as caught:
        await databases.run(secret, ANA, "SELECT 1", 1, deadline)
    assert "hunter2" not in repr((caught.value.message, caught.value.detail, caught.value.hint))
    assert isinstance(caught.value.__cause__, OSError | asyncpg.PostgresError)
