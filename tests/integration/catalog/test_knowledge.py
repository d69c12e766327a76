"""The schema nl_catalog as clients use it, on a real server: its functions, views and roles, and what questions see."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import fields, replace
from pathlib import Path

import asyncpg
import pytest

from page.elements import ATTRIBUTES
from pgparley.cluster import Cluster
from schema_catalog.catalog import CachedCatalog
from schema_catalog.store import CatalogStore
from schema_catalog.types import Attributes, Column, Snapshot, Table, TableKind
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.statements import change_nothing, connected, refused

As = Callable[..., AbstractAsyncContextManager[asyncpg.Connection]]

PAGE = Path(__file__).parents[3] / "docs" / "catalog.md"
NET = Column("net", "numeric", description="net amount")
ORDERS = Table("public", "orders", TableKind.TABLE, (Column("id", "integer"), NET), primary_key=("id",))
NOTES = Table("Old Stuff", "notes", TableKind.TABLE, (Column("Text", "text"),), description="kept")
SALES = Snapshot("sales", ("public",), (NOTES, ORDERS))
HR = replace(SALES, database="hr")


@pytest.fixture
async def database(make_store: MakeDatabase) -> str:
    """The name of a store that holds the databases sales and hr."""
    return (await make_store(SALES, HR)).dbname


@pytest.fixture
def session(server: Cluster, database: str) -> As:
    """Opens a session of a role on the store."""
    return lambda role="postgres": connected(server.dsn(database, role))


@pytest.fixture
async def admin(session: As) -> AsyncIterator[asyncpg.Connection]:
    async with session() as connection:
        yield connection


@pytest.fixture
async def steward(admin: asyncpg.Connection, make_role: MakeRole) -> str:
    """A role that may change what is said of sales, and of nothing else."""
    role = await make_role("LOGIN IN ROLE nl_steward")
    await admin.execute("SELECT nl_catalog.grant_database('sales', $1)", role)
    return role


@pytest.fixture
async def store(server: Cluster, database: str) -> AsyncIterator[CatalogStore]:
    async with asyncpg.create_pool(server.dsn(database), min_size=1, max_size=1) as pool:
        yield CatalogStore(pool)


async def entries(store: CatalogStore) -> dict[str, Snapshot]:
    return {database.name: each for database, each in await CachedCatalog(store).entries()}


async def test_what_is_said_stands_before_the_comment_and_the_conflict_is_shown(
    admin: asyncpg.Connection, store: CatalogStore
) -> None:
    await admin.execute("SELECT nl_catalog.describe('sales.orders.net', ' net of returns ')")
    await admin.execute("SELECT nl_catalog.add_synonym('sales.public.orders.net', e'net\\n revenue')")
    await admin.execute(
        "SELECT nl_catalog.describe('sales.\"Old Stuff\".notes.\"Text\"', 'what was written')"
    )
    rows = await admin.fetch(
        "SELECT element, description, comment, synonyms FROM nl_catalog.columns WHERE database = 'sales' ORDER BY 1"
    )
    assert [tuple(row) for row in rows] == [
        ('sales."Old Stuff".notes."Text"', "what was written", None, []),
        ("sales.public.orders.id", None, None, []),
        ("sales.public.orders.net", "net of returns", "net amount", ["net revenue"]),
    ]
    assert [tuple(row) for row in await admin.fetch("SELECT * FROM nl_catalog.conflicts")] == [
        ("sales", "sales.public.orders.net", "comment differs", "net of returns", "net amount", None, None)
    ]
    seen = await entries(store)
    assert seen["hr"] == HR
    text, net = seen["sales"].tables[0].columns[0], seen["sales"].tables[1].columns[1]
    assert text.description == "what was written"
    assert (net.description, net.synonyms) == ("net of returns", ("net revenue",))
    assert seen["sales"].fingerprint != SALES.fingerprint
    await admin.execute("SELECT nl_catalog.describe('sales.orders.net', NULL)")
    await admin.execute("SELECT nl_catalog.drop_synonym('sales.orders.net', 'Net Revenue')")
    assert (await entries(store))["sales"].tables[1] == ORDERS


async def test_every_change_has_who_when_before_and_after_and_each_can_be_restored(
    admin: asyncpg.Connection, session: As, steward: str
) -> None:
    async with session(steward) as theirs:
        first = await theirs.fetchval("SELECT nl_catalog.describe('sales.orders', 'what was sold')")
        hidden = await theirs.fetchval("SELECT nl_catalog.hide('sales.orders')")
        assert await theirs.fetchval("SELECT nl_catalog.hide('sales.orders')") == hidden
    await admin.execute("SELECT nl_catalog.show('sales.orders'), nl_catalog.describe('sales.orders', '')")
    rows = await admin.fetch(
        "SELECT changed_by, before, after, now() - changed_at < interval '1 h' AS recent"
        " FROM nl_catalog.history WHERE element = 'sales.public.orders' ORDER BY version"
    )
    plain = {"description": "what was sold", "synonyms": [], "hidden": False, "attributes": {}}
    said = [tuple(each[key] and json.loads(each[key]) for key in ("before", "after")) for each in rows]
    assert said == [
        (None, plain),
        (plain, plain | {"hidden": True}),
        (plain | {"hidden": True}, plain),
        (plain, None),
    ]
    assert [(row["changed_by"], row["recent"]) for row in rows] == [(steward, True)] * 2 + [
        ("postgres", True)
    ] * 2
    for version in (hidden, first):
        await admin.execute("SELECT nl_catalog.restore($1)", version)
        now = await admin.fetchrow(
            "SELECT description, hidden FROM nl_catalog.tables WHERE element = 'sales.public.orders'"
        )
        assert tuple(now) == ("what was sold", version == hidden)
    latest = await admin.fetchval("SELECT max(version) FROM nl_catalog.history")
    await admin.execute("SELECT nl_catalog.restore($1)", latest)
    assert await admin.fetchval("SELECT max(version) FROM nl_catalog.history") == latest
    await refused(admin.execute("SELECT nl_catalog.restore(-1)"), asyncpg.UndefinedObjectError)
    rewriting = admin.execute("UPDATE pgparley.knowledge_change SET changed_by = 'nobody'")
    await refused(rewriting, asyncpg.RestrictViolationError)


async def test_a_database_that_comes_back_can_have_its_knowledge_restored(
    admin: asyncpg.Connection, store: CatalogStore
) -> None:
    version = await admin.fetchval("SELECT nl_catalog.add_synonym('hr', 'staff')")
    await admin.execute("DELETE FROM pgparley.database WHERE name = 'hr'")
    await refused(admin.execute("SELECT nl_catalog.restore($1)", version), asyncpg.UndefinedObjectError)
    await admin.execute("INSERT INTO pgparley.database VALUES ('hr', 'postgresql://h/x', 'x', '{public}')")
    await store.save_snapshot(HR)
    await admin.execute("SELECT nl_catalog.restore($1)", version)
    assert (await entries(store))["hr"].said == ("staff",)


BAD_CALLS = {
    asyncpg.UndefinedObjectError: [
        "describe('sales.orders.nett', 'x')",
        "describe('sales.notes', 'off the path')",
        "describe('sales.a.b.c.d', 'x')",
        "drop_synonym('sales.orders', 'receipts')",
        "hide('sales.orders.gone')",
        "restore(NULL)",
        "grant_database('sales', 'no such role')",
        "revoke_database('sales', 'postgres')",
    ],
    asyncpg.InvalidCatalogNameError: [
        "describe('shop.orders', 'x')",
        "show('nothing')",
        "grant_database('shop', 'postgres')",
    ],
    asyncpg.InvalidNameError: [
        "describe('sales.or-ders', 'x')",
        "describe(NULL, 'x')",
    ],
    asyncpg.StringDataRightTruncationError: [
        "describe('sales.orders', repeat('x', 2001))",
    ],
    asyncpg.InvalidParameterValueError: [
        "add_synonym('sales.orders', ' ')",
        "add_synonym('sales.orders', NULL)",
        "add_synonym('sales.orders', e'a\\x01b')",
        "add_synonym('sales.orders', repeat('x', 61))",
    ],
}


async def test_a_bad_call_changes_nothing_and_says_what_to_do(admin: asyncpg.Connection) -> None:
    await change_nothing(admin, BAD_CALLS)


async def test_an_element_that_is_gone_is_a_conflict_and_what_was_said_of_it_can_be_taken_back(
    admin: asyncpg.Connection, store: CatalogStore
) -> None:
    await admin.execute("SELECT nl_catalog.describe('sales.orders.net', 'net of returns')")
    await store.save_snapshot(replace(SALES, tables=(NOTES,)))
    conflicts = await admin.fetch("SELECT element, problem FROM nl_catalog.conflicts")
    assert conflicts == [("sales.public.orders.net", "gone")]
    assert (await entries(store))["sales"] == replace(SALES, tables=(NOTES,))
    await admin.execute("SELECT nl_catalog.describe('sales.orders.net', NULL)")
    assert await admin.fetch("SELECT * FROM nl_catalog.conflicts") == []


async def test_a_steward_sees_and_changes_their_databases_alone(
    admin: asyncpg.Connection, session: As, steward: str
) -> None:
    hr = await admin.fetchval("SELECT nl_catalog.describe('hr.orders', 'secret')")
    async with session(steward) as theirs:
        for view in ("databases", "tables", "columns", "grants"):
            assert {row[0] for row in await theirs.fetch(f"SELECT database FROM nl_catalog.{view}")} == {
                "sales"
            }
        assert await theirs.fetch("SELECT * FROM nl_catalog.history") == []
        # A function that tells what it is given does not get to see rows that the view leaves out.
        await theirs.execute(
            "CREATE FUNCTION pg_temp.tell(t text) RETURNS boolean COST 0.0001 LANGUAGE plpgsql"
            " AS $$ BEGIN ASSERT t NOT LIKE 'hr%'; RETURN true; END $$"
        )
        await theirs.fetch("SELECT * FROM nl_catalog.columns WHERE pg_temp.tell(database)")
        alike = []
        for call in ("describe('hr.orders', 'x')", "hide('hr')", "add_synonym('none', 'x')"):
            problem = await refused(
                theirs.execute(f"SELECT nl_catalog.{call}"), asyncpg.InvalidCatalogNameError
            )
            alike.append(re.sub('"(hr|none)"', "", str(problem)))
        assert len(set(alike)) == 1
        await refused(theirs.execute("SELECT nl_catalog.restore($1)", hr), asyncpg.UndefinedObjectError)
        for call in ("grant_database('hr', current_user)", "revoke_database('sales', current_user)"):
            await refused(theirs.execute(f"SELECT nl_catalog.{call}"), asyncpg.InsufficientPrivilegeError)
        for table in ("database", "knowledge", "knowledge_change", "database_grant"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await theirs.execute(f"TABLE pgparley.{table}")
        await theirs.execute("SELECT nl_catalog.describe('sales', 'ours')")
    await admin.execute("SELECT nl_catalog.revoke_database('sales', $1)", steward)
    async with session(steward) as theirs:
        assert await theirs.fetch("SELECT * FROM nl_catalog.databases") == []
        await refused(
            theirs.execute("SELECT nl_catalog.describe('sales', 'mine')"), asyncpg.InvalidCatalogNameError
        )


async def test_set_role_gives_up_the_rights_of_the_session(admin: asyncpg.Connection, steward: str) -> None:
    await admin.execute(f"SET ROLE {steward}")
    assert [row[0] for row in await admin.fetch("SELECT database FROM nl_catalog.databases")] == ["sales"]
    await refused(admin.execute("SELECT nl_catalog.describe('hr', 'x')"), asyncpg.InvalidCatalogNameError)
    await admin.execute("RESET ROLE")
    await admin.execute("SELECT nl_catalog.describe('hr', 'x')")


async def test_a_reader_may_be_given_views_and_everyone_else_has_nothing(
    admin: asyncpg.Connection, session: As, make_role: MakeRole
) -> None:
    reader, stranger, boss = await make_role(), await make_role(), await make_role("LOGIN IN ROLE nl_admin")
    await admin.execute(
        f"GRANT USAGE ON SCHEMA nl_catalog TO {reader}; GRANT SELECT ON nl_catalog.columns TO {reader}"
    )
    async with session(boss) as theirs:
        await theirs.execute("SELECT nl_catalog.grant_database('sales', $1)", reader)
        await theirs.execute("SELECT nl_catalog.describe('hr', 'people')")
        assert len(await theirs.fetch("SELECT * FROM nl_catalog.databases")) == 2
    async with session(reader) as theirs:
        assert {row[0] for row in await theirs.fetch("SELECT database FROM nl_catalog.columns")} == {"sales"}
        for statement in ("TABLE nl_catalog.history", "SELECT nl_catalog.describe('sales', 'x')"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await theirs.execute(statement)
        with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError):
            await theirs.execute("DELETE FROM nl_catalog.columns")
    async with session(stranger) as theirs:
        for statement in ("TABLE nl_catalog.columns", "SELECT nl_catalog.show('sales')"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await theirs.execute(statement)


async def test_functions_do_not_follow_the_callers_search_path(
    session: As, steward: str, admin: asyncpg.Connection
) -> None:
    await admin.execute(f"CREATE SCHEMA trap AUTHORIZATION {steward}")
    async with session(steward) as theirs:
        await theirs.execute(
            "CREATE FUNCTION trap.btrim(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;"
            "CREATE FUNCTION trap.quote_ident(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;"
            "SET search_path = trap, pg_catalog"
        )
        await theirs.execute("SELECT nl_catalog.describe('sales.orders', 'x'), nl_catalog.hide('sales')")
        await theirs.fetch("SELECT * FROM nl_catalog.columns")


async def test_of_two_stewards_at_once_both_are_heard(session: As, steward: str) -> None:
    async with session(steward) as one, session(steward) as other:
        first = one.transaction()
        await first.start()
        await one.execute("SELECT nl_catalog.add_synonym('sales.orders', 'receipts')")
        # Another element, and a refresh, wait for nobody.
        await other.execute("SET lock_timeout = '10s'; SELECT nl_catalog.add_synonym('sales', 'shop')")
        second = asyncio.create_task(
            other.execute("SELECT nl_catalog.add_synonym('sales.orders', 'purchases')"), name="second"
        )
        await asyncio.wait([second], timeout=0.2)
        await first.commit()
        await second
        seen = await one.fetchval(
            "SELECT synonyms FROM nl_catalog.tables WHERE element = 'sales.public.orders'"
        )
        assert seen == ["receipts", "purchases"]
        # Whoever looks at an older state of the catalog is told, and overwrites nothing.
        older = one.transaction(isolation="repeatable_read")
        await older.start()
        await one.fetch("SELECT * FROM nl_catalog.tables")
        await other.execute("SELECT nl_catalog.hide('sales.orders')")
        with pytest.raises(asyncpg.SerializationError):
            await one.execute("SELECT nl_catalog.add_synonym('sales.orders', 'sold')")
        await older.rollback()


async def test_a_change_counts_at_the_next_question_and_only_once_committed(
    admin: asyncpg.Connection, store: CatalogStore
) -> None:
    catalog = CachedCatalog(store)
    before = await catalog.entries()
    async with admin.transaction():
        await admin.execute("SELECT nl_catalog.hide('sales.orders')")
        assert await catalog.entries() is before
    hr, sales = await catalog.entries()
    assert hr[1] is before[0][1]
    assert [table.name for table in sales[1].tables] == ["notes"]
    await admin.execute("SELECT nl_catalog.hide('sales')")
    assert [database.name for database, _ in await catalog.entries()] == ["hr"]
    await admin.execute("SELECT nl_catalog.show('sales'), nl_catalog.show('sales.orders')")
    assert (await catalog.entries())[1][1] == SALES


async def test_every_function_and_view_has_a_comment(admin: asyncpg.Connection) -> None:
    rows = await admin.fetch(
        "SELECT p.proname AS name, obj_description(p.oid, 'pg_proc') AS comment FROM pg_proc p"
        " WHERE p.pronamespace = 'nl_catalog'::regnamespace"
        " UNION ALL SELECT 'nl_catalog.' || c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c"
        " WHERE c.relnamespace = 'nl_catalog'::regnamespace AND c.relkind = 'v'"
    )
    assert len(rows) == 71
    assert [name for name, comment in rows if not comment] == []


async def test_every_view_and_argument_is_documented(admin: asyncpg.Connection) -> None:
    page = PAGE.read_text("utf-8").partition("## What a DBA says")[2]
    views = await admin.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'nl_catalog'::regnamespace AND relkind = 'v'"
    )
    table = page.partition("### Views")[2].partition("### ")[0]
    named = {
        name
        for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named == {view for (view,) in views}
    functions = await admin.fetch(
        "SELECT proname, coalesce(proargnames[1:pronargs], '{}') FROM pg_proc"
        " WHERE pronamespace = 'nl_catalog'::regnamespace"
    )
    for function, arguments in functions:
        assert f"`{function}({', '.join(arguments)})`" in page, function


async def test_every_attribute_is_documented(admin: asyncpg.Connection) -> None:
    table = PAGE.read_text("utf-8").partition("### Attributes")[2].partition("### Definitions")[0]
    for attribute in ATTRIBUTES:
        assert f"| `{attribute.name}` |" in table
        assert all(f"| `{value}` |" in table for value in attribute.choices), attribute.name
    assert {each.name for each in ATTRIBUTES} | {"rules"} == {field.name for field in fields(Attributes)}


async def test_all_of_it_runs_with_a_fixed_search_path(admin: asyncpg.Connection) -> None:
    loose = await admin.fetch(
        "SELECT proname FROM pg_proc WHERE prosecdef"
        " AND pronamespace IN ('pgparley'::regnamespace, 'nl_catalog'::regnamespace)"
        " AND NOT coalesce(proconfig, '{}') @> '{\"search_path=pg_catalog, pg_temp\"}'"
    )
    assert loose == []
