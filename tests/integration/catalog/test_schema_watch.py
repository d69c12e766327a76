"""Changes of schemas on a real server: noticed, noted, told to whom they concern, renames proposed and decided on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from engine.app.metrics import Metrics
from engine.app.schema_watch import SchemaWatch
from engine.values.settings import CatalogSettings
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.knowledge import described
from schema_catalog.refresh import ConnectSettings, digest_now
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database
from tests.integration.catalog.conftest import MakeRole, newest, read_anew
from tests.support.statements import connected, refused


def watching(pool: asyncpg.Pool, login: str = "", **settings: float) -> SchemaWatch:
    """The watch of an engine; no values are allowed, so that it reads none."""
    return SchemaWatch(pool, None, Metrics(), CatalogSettings(**settings), login)  # type: ignore[arg-type]  # as it says


async def digest(pool: asyncpg.Pool) -> str:
    """That of sales, now."""
    return await digest_now((await CatalogStore(pool).get("sales")).database, ConnectSettings())


async def drift(pool: asyncpg.Pool) -> list[Any]:
    return list(await pool.fetch("SELECT what, old, new, state FROM nl_catalog.drift ORDER BY id"))


CHANGES = (
    "ALTER TABLE orders ADD COLUMN vat numeric",
    "ALTER TABLE orders RENAME COLUMN vat TO tax",
    "ALTER TABLE orders ALTER COLUMN id TYPE bigint",
    "ALTER TABLE orders ALTER COLUMN id SET NOT NULL",
    "ALTER TABLE orders ADD UNIQUE (id)",
    "ALTER TABLE orders ADD FOREIGN KEY (cust_no) REFERENCES customers",
    "COMMENT ON COLUMN orders.net IS 'net of returns'",
    "COMMENT ON TABLE orders IS 'what was sold'",
    "CREATE VIEW late AS SELECT * FROM orders",
    "ALTER TABLE orders RENAME TO purchases",
    "DROP TABLE customers CASCADE",
)


async def test_the_digest_changes_with_the_schema(shop: asyncpg.Connection, pool: asyncpg.Pool) -> None:
    digests = [await digest(pool)]
    for statement in CHANGES:
        await shop.execute(statement)
        digests.append(await digest(pool))
        assert digests[-1] not in digests[:-1], statement


async def test_the_digest_stays_where_rows_and_the_hidden_change(
    shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    before = await digest(pool)
    await shop.execute("INSERT INTO customers VALUES (1, 'A'); ANALYZE; CREATE INDEX ON orders (net)")
    assert await digest(pool) == before


async def test_the_watch_refreshes_what_changed_and_one_engine_at_a_time(
    shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    watch = watching(pool, watch=0.001)
    await watch.look()
    await shop.execute("ALTER TABLE orders RENAME COLUMN net TO net_amount")
    async with CatalogStore(pool).drift.turn("sales", 0.001) as mine:
        assert mine
        await watch.look()
        assert await drift(pool) == []
    await watch.look()
    assert await drift(pool) == [
        ("renamed", "sales.public.orders.net", "sales.public.orders.net_amount", "proposed")
    ]
    orders = (await newest(pool)).tables[1]
    assert [column.name for column in orders.columns] == ["id", "cust_no", "net_amount"]
    counted = watch.metrics.registry.get_sample_value
    assert counted("pgparley_renames_proposed") == 1
    assert counted("pgparley_schema_drift_total", {"database": "sales", "what": "renamed"}) == 1


async def test_a_database_that_does_not_answer_is_noted(
    shop: asyncpg.Connection, pool: asyncpg.Pool, server: Cluster
) -> None:
    await pool.execute("UPDATE pgparley.database SET dsn = $1", server.dsn("not_there"))
    await watching(pool).look()
    problem = await pool.fetchval("SELECT problem FROM pgparley.schema_watch")
    assert problem.startswith("cannot connect: ")


async def said(pool: asyncpg.Pool) -> list[Any]:
    return list(
        await pool.fetch("SELECT element, description, synonyms, hidden FROM nl_catalog.said ORDER BY 1")
    )


async def test_accepting_carries_over_what_was_said(shop: Any, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.describe('sales.orders.net', 'net of returns')")
    await pool.execute("SELECT nl_catalog.add_synonym('sales.orders', 'purchase')")
    await pool.execute("SELECT nl_catalog.declare_join('sales.orders.cust_no', 'sales.customers.no')")
    await shop.execute("ALTER TABLE orders RENAME TO sold; ALTER TABLE sold RENAME COLUMN net TO amount")
    await read_anew(pool)
    assert await drift(pool) == [
        ("renamed", "sales.public.orders", "sales.public.sold", "proposed"),
        ("renamed", "sales.public.orders.net", "sales.public.sold.amount", "proposed"),
    ]
    assert await pool.fetchval("SELECT breaks FROM nl_catalog.drift ORDER BY id LIMIT 1") == [
        "join sales.public.orders.cust_no = sales.public.customers.no",
        "knowledge of sales.public.orders",
        "knowledge of sales.public.orders.net",
    ]
    for number in await pool.fetch("SELECT id FROM nl_catalog.drift ORDER BY id"):
        await pool.execute("SELECT nl_catalog.accept_rename($1)", number["id"])
    assert await said(pool) == [
        ("sales.public.sold", None, ["purchase"], False),
        ("sales.public.sold.amount", "net of returns", [], False),
    ]
    assert await pool.fetchval("SELECT from_column FROM nl_catalog.joins") == "sales.public.sold.cust_no"
    assert {state for *_, state in await drift(pool)} == {"accepted"}
    history = await pool.fetch("SELECT element, after FROM nl_catalog.history WHERE kind = 'element'")
    assert ("sales.public.orders", None) in [tuple(row) for row in history]


async def test_declining_changes_nothing_and_a_decision_stands(shop: Any, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.describe('sales.orders.net', 'net of returns')")
    await shop.execute("ALTER TABLE orders RENAME COLUMN net TO amount")
    await read_anew(pool)
    number = await pool.fetchval("SELECT id FROM nl_catalog.drift")
    await pool.execute("SELECT nl_catalog.decline_rename($1)", number)
    assert await said(pool) == [("sales.public.orders.net", "net of returns", [], False)]
    for call in ("accept_rename", "decline_rename"):
        again = pool.execute(f"SELECT nl_catalog.{call}($1)", number)
        await refused(again, asyncpg.ObjectNotInPrerequisiteStateError)


async def test_what_was_hidden_stays_so_until_somebody_decides(shop: Any, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.hide('sales.orders.net')")
    await shop.execute("ALTER TABLE orders RENAME COLUMN net TO amount")
    await read_anew(pool)

    async def visible() -> set[str]:
        left = described(await newest(pool), (await CatalogStore(pool).said())["sales"])
        assert left is not None
        return {column.name for _, column in left.columns()}

    assert "amount" not in await visible()
    await pool.execute("SELECT nl_catalog.decline_rename(id) FROM nl_catalog.drift")
    assert "amount" in await visible()


async def test_a_proposal_follows_further_renames_and_ends_with_the_old_name(shop: Any, pool: Any) -> None:
    for old, new in (("net", "amount"), ("amount", "total")):
        await shop.execute(f"ALTER TABLE orders RENAME COLUMN {old} TO {new}")
        await read_anew(pool)
    assert await drift(pool) == [
        ("renamed", "sales.public.orders.net", "sales.public.orders.total", "proposed")
    ]
    await shop.execute("ALTER TABLE orders RENAME COLUMN total TO net")
    await read_anew(pool)
    assert (await drift(pool))[0][3] == "obsolete"


async def test_only_admins_and_stewards_of_the_database_decide(
    shop: Any, pool: Any, make_role: MakeRole
) -> None:
    await shop.execute("ALTER TABLE orders RENAME COLUMN net TO amount")
    await read_anew(pool)
    number = await pool.fetchval("SELECT id FROM nl_catalog.drift")
    reader, steward = await make_role(), await make_role("LOGIN IN ROLE nl_steward")
    call = f"SELECT nl_catalog.accept_rename({number})"
    async with pool.acquire() as connection:
        await connection.execute(f"SET ROLE {reader}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(call)
        await connection.execute(f"RESET ROLE; SET ROLE {steward}")
        assert await connection.fetch("SELECT FROM nl_catalog.drift") == []
        with pytest.raises(asyncpg.UndefinedObjectError):
            await connection.execute(call)
        await connection.execute("RESET ROLE")
        await connection.execute(f"SELECT nl_catalog.grant_database('sales', '{steward}')")
        await connection.execute(f"SET ROLE {steward}")
        await connection.execute(call)
        await connection.execute("RESET ROLE")
    assert await pool.fetchval("SELECT decided_by FROM nl_catalog.drift") == steward


async def test_a_refresh_that_is_asked_for_is_done_once_whatever_the_schedule_says(
    shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    watch = watching(pool, watch=0)
    await watch.answer()
    await shop.execute("ALTER TABLE orders RENAME COLUMN net TO net_amount")
    await watch.answer()
    assert await drift(pool) == []
    await pool.execute("SELECT nl_catalog.refresh('sales')")
    assert (await pool.fetchval("SELECT problem FROM nl_catalog.databases")).startswith("waits for an engine")
    await watch.answer()
    assert [each[3] for each in await drift(pool)] == ["proposed"]
    assert await pool.fetchval("SELECT problem FROM nl_catalog.databases") is None
    await shop.execute("DROP TABLE customers")
    await watch.answer()
    assert len(await drift(pool)) == 1


async def test_a_database_beside_the_store_is_registered_by_its_name(
    shop: asyncpg.Connection, pool: asyncpg.Pool, server: Cluster
) -> None:
    name = await shop.fetchval("SELECT current_database()")
    watch = watching(pool, server.dsn())
    await pool.execute("SELECT nl_catalog.register($1)", name)
    waiting = await pool.fetchrow("SELECT database, problem FROM nl_catalog.registrations")
    assert tuple(waiting) == (name, None)
    await watch.answer()
    assert await pool.fetch("SELECT FROM nl_catalog.registrations") == []
    tables = await pool.fetch('SELECT "table" FROM nl_catalog.tables WHERE database = $1 ORDER BY 1', name)
    assert [row[0] for row in tables] == ["customers", "orders"]
    twice = await refused(pool.execute("SELECT nl_catalog.register($1)", name), asyncpg.DuplicateObjectError)
    assert "nl_catalog.refresh" in str(twice.hint)
    await pool.execute("SELECT nl_catalog.unregister($1)", name)
    gone = pool.execute("SELECT nl_catalog.unregister($1)", name)
    await refused(gone, asyncpg.InvalidCatalogNameError)
    absent = pool.execute("SELECT nl_catalog.register('not there')")
    await refused(absent, asyncpg.InvalidCatalogNameError)


async def test_a_registration_that_fails_says_why_and_can_be_asked_for_again(
    pool: asyncpg.Pool, server: Cluster
) -> None:
    watch = watching(pool, server.dsn(user="not_there"))
    await pool.execute("SELECT nl_catalog.register('postgres')")
    await watch.answer()
    problem = await pool.fetchval("SELECT problem FROM nl_catalog.registrations")
    assert problem.startswith("cannot connect: ")
    assert await pool.fetch("SELECT FROM nl_catalog.databases") == []
    await pool.execute("SELECT nl_catalog.register('postgres')")
    assert await pool.fetchval("SELECT problem FROM nl_catalog.registrations") is None
    await pool.execute("SELECT nl_catalog.unregister('postgres')")
    assert await pool.fetch("SELECT FROM nl_catalog.registrations") == []


async def test_a_steward_has_their_databases_read_again_and_registers_none(
    shop: asyncpg.Connection, pool: asyncpg.Pool, make_role: MakeRole, server: Cluster
) -> None:
    steward = await make_role("LOGIN IN ROLE nl_steward")
    name = await pool.fetchval("SELECT current_database()")
    async with connected(server.dsn(name, steward)) as theirs:
        for call in ("register('postgres')", "unregister('sales')"):
            done = theirs.execute(f"SELECT nl_catalog.{call}")
            await refused(done, asyncpg.InsufficientPrivilegeError)
        await refused(theirs.execute("SELECT nl_catalog.refresh('sales')"), asyncpg.InvalidCatalogNameError)
        await pool.execute("SELECT nl_catalog.register('postgres')")
        assert await theirs.fetch("SELECT FROM nl_catalog.registrations") == []
        await pool.execute("SELECT nl_catalog.grant_database('sales', $1)", steward)
        await theirs.execute("SELECT nl_catalog.refresh('sales')")
        assert await CatalogStore(pool).drift.asked() == {"sales"}
        await pool.execute("SELECT nl_catalog.revoke_database('sales', $1)", steward)


async def test_health_counts_what_is_lacking(shop: asyncpg.Connection, pool: asyncpg.Pool) -> None:
    await shop.execute("ALTER TABLE orders ADD COLUMN status text; COMMENT ON COLUMN orders.net IS 'in euro'")
    await read_anew(pool)
    await pool.execute(
        "SELECT nl_catalog.describe('sales.customers', 'who buys'), nl_catalog.hide('sales.orders.id'),"
        " nl_catalog.describe('sales.orders.net', 'net of returns'),"
        " nl_catalog.define_term('sales', 'a', 'nonsense')"
    )
    await pool.execute("UPDATE pgparley.definition SET state = 'refused', reason = 'no such column'")
    rows = await pool.fetch(
        "SELECT problem, element, detail FROM nl_catalog.health ORDER BY problem, element"
    )
    assert [tuple(row) for row in rows] == [
        ("ambiguous name", "sales.public.customers.status", "“status” stands for 2"),
        ("ambiguous name", "sales.public.orders.status", "“status” stands for 2"),
        ("column without description", "sales.public.customers.no", "integer"),
        ("column without description", "sales.public.customers.status", "text"),
        ("column without description", "sales.public.orders.cust_no", "integer"),
        ("column without description", "sales.public.orders.status", "text"),
        ("conflict", "sales.public.orders.net", "comment differs"),
        ("refused definition", "a", "no such column"),
        ("table without description", "sales.public.orders", "table"),
        ("table without join", "sales.public.customers", "table"),
        ("table without join", "sales.public.orders", "table"),
        ("table without key", "sales.public.orders", "table"),
    ]


RENAME = "ALTER TABLE orders RENAME COLUMN net TO amount"


class Session:
    """A session of `role`, with the messages that it was sent."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.told: list[Any] = []
        connection.add_log_listener(lambda _, message: self.told.append(message))

    async def reads(self, sql: str = "SELECT FROM nl_catalog.tables") -> list[str]:
        """The messages of that statement."""
        before = len(self.told)
        await self.connection.execute(sql)
        return [message.message for message in self.told[before:]]


@pytest.fixture
async def session(own_store: Database) -> AsyncIterator[Callable[[str], Awaitable[Session]]]:
    async with AsyncExitStack() as stack:

        async def connect(role: str) -> Session:
            connection = await stack.enter_async_context(connected(own_store.dsn))
            await connection.execute(f"SET ROLE {role}")
            return Session(connection)

        yield connect


async def test_an_admin_is_told_once_a_session(
    shop: Any, pool: Any, session: Any, make_role: MakeRole
) -> None:
    role = await make_role("LOGIN IN ROLE nl_admin")
    admin = await session(role)
    assert await admin.reads() == []
    await shop.execute(RENAME)
    await read_anew(pool)
    assert await admin.reads() == [
        "renames that wait for a decision: 1; joins, terms and verified queries that are refused: 0"
    ]
    assert admin.told[-1].detail == "In sales."
    assert "nl_catalog.drift" in admin.told[-1].hint
    assert await admin.reads() == []
    await pool.execute("SELECT nl_catalog.decline_rename(id) FROM nl_catalog.drift")
    assert await (await session(role)).reads() == []


async def test_a_steward_is_told_of_open_databases_and_a_reader_never(
    shop: Any, pool: Any, session: Any, make_role: MakeRole
) -> None:
    await shop.execute(RENAME)
    await read_anew(pool)
    steward, reader = await make_role("LOGIN IN ROLE nl_steward"), await make_role()
    await pool.execute(f"GRANT USAGE ON SCHEMA nl_catalog TO {reader}")
    await pool.execute(f"GRANT SELECT ON nl_catalog.tables TO {reader}")
    ours = await session(steward)
    assert await ours.reads() == []
    for role in (steward, reader):
        await pool.execute(f"SELECT nl_catalog.grant_database('sales', '{role}')")
    call = "SELECT nl_catalog.describe('sales.orders', 'sold')"
    assert len(await ours.reads(call)) == 1
    assert await (await session(reader)).reads() == []
    await pool.execute(f"DROP OWNED BY {reader}")


async def test_what_the_schema_broke_is_told_too(
    shop: Any, pool: Any, session: Any, make_role: MakeRole
) -> None:
    await pool.execute("SELECT nl_catalog.define_term('sales', 'turnover', 'sum(orders.net)')")
    await pool.execute("UPDATE pgparley.definition SET state = 'refused', reason = 'no such column'")
    admin = await session(await make_role("LOGIN IN ROLE nl_admin"))
    told = await admin.reads("BEGIN READ ONLY; SELECT FROM nl_catalog.terms; COMMIT")
    assert [message.endswith("refused: 1") for message in told] == [True]


async def test_a_refresh_prints_the_renames_that_it_proposes(
    shop: Any, pool: Any, own_store: Database
) -> None:
    await pool.execute("SELECT nl_catalog.describe('sales.orders.net', 'net of returns')")
    await shop.execute(RENAME)
    app = catalog_app(lambda: own_store.dsn)
    for first in ("sales: 2 changes", "sales: unchanged"):
        result = await asyncio.to_thread(CliRunner().invoke, app, ["refresh", "sales"])
        assert result.exit_code == 0
        assert result.output.startswith(first)
        assert (
            "? column public.orders.net may be public.orders.amount now: the server has them" in result.output
        )
        assert "breaks knowledge of sales.public.orders.net" in result.output
        number = await pool.fetchval("SELECT id FROM nl_catalog.drift")
        assert f"nl_catalog.accept_rename({number})" in result.output
