"""How many rows and bytes of an answer are read from a real server."""

from __future__ import annotations

import pytest

from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.messages import Asker
from engine.values.ports import StatementError
from engine.values.role_limits import ResultCaps
from engine.values.settings import UpstreamSettings
from schema_catalog.pg import Connection
from schema_catalog.types import Database

ANA = Asker("ana", "shop")


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
