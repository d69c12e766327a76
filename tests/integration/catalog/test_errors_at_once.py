"""What a DBA says wrongly is answered at once, in the call's own answer, in psql as on the page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.statements import connected, refused


def table(schema: str, name: str, **columns: str) -> Table:
    return Table(schema, name, TableKind.TABLE, tuple(Column(each, of) for each, of in columns.items()))


TABLES = (
    table("public", "orders", id="integer", net="numeric", year="integer", placed="date"),
    table("public", "Customers", id="integer", Name="text"),
    table("crm", "lead", lid="integer", val="numeric"),
)


class Session:
    """A connection, and what the server has said on it beside rows."""

    def __init__(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        self.connection = connection
        self.said: list[asyncpg.PostgresLogMessage] = []
        connection.add_log_listener(lambda _, message: self.said.append(message))

    async def warned(self, call: str) -> str:
        """The warnings of a call of `nl_catalog`."""
        self.said.clear()
        await self.connection.execute(f"SELECT nl_catalog.{call}")
        assert all(each.detail and each.hint for each in self.said)
        return "; ".join(str(each) for each in self.said)


@pytest.fixture
async def session(make_store: MakeDatabase) -> AsyncIterator[Session]:
    store = await make_store(Snapshot("sales", ("public",), TABLES))
    async with connected(store.dsn) as connection:
        yield Session(connection)


MISNAMED = [
    ("add_synonym('orders.net', 'x')", "Write 'sales.public.orders.net'"),
    ("add_synonym('public.orders', 'x')", "Write 'sales.public.orders'"),
    ("add_synonym('sales.orders.nett', 'x')", "Columns of sales.public.orders: id, net, year, placed"),
    ("add_synonym('sales.customers', 'x')", """Write 'sales.public."Customers"'"""),
    ("declare_join('sales.orders.id', 'sales.lead.lid')", "Write 'sales.crm.lead.lid'"),
]


async def test_a_name_that_nothing_has_is_answered_by_how_it_is_written(session: Session) -> None:
    for call, hint in MISNAMED:
        error = await refused(session.connection.execute(f"SELECT nl_catalog.{call}"), asyncpg.PostgresError)
        assert "database.schema.table.column" in str(error.detail), call
        assert hint in str(error.hint), call


async def test_a_hint_names_nothing_of_a_database_that_is_not_open_to_the_caller(
    session: Session, make_role: MakeRole
) -> None:
    role = await make_role("IN ROLE nl_steward")
    await session.connection.execute(f"SET ROLE {role}")
    error = await refused(
        session.connection.execute("SELECT nl_catalog.add_synonym('orders.net', 'x')"),
        asyncpg.InvalidCatalogNameError,
    )
    assert "sales" not in f"{error} {error.detail} {error.hint}"


NO_SQL = [
    ("define_term('sales', 'revenue', 'sum(orders.net')", "definition of 'revenue' cannot be read"),
    ("define_term('sales', 'revenue', 'sum(orders.net); DROP TABLE x')", "cannot be read: "),
    (
        "verify('sales', 'How many?', 'SELEC count(*) FROM orders')",
        "statement of 'How many?' cannot be read",
    ),
    ("verify('sales', 'How many?', 'DELETE FROM orders')", "cannot be read: "),
    ("verify('sales', 'How many?', 'SELECT 1; SELECT 2')", "cannot be read: "),
]


async def test_what_is_no_sql_is_not_kept(session: Session) -> None:
    for call, error in NO_SQL:
        found = await refused(
            session.connection.execute(f"SELECT nl_catalog.{call}"), asyncpg.PostgresSyntaxError
        )
        assert error in str(found), call
    assert not await session.connection.fetchval("SELECT count(*) FROM pgparley.definition")


async def test_what_is_read_to_be_checked_never_runs(session: Session) -> None:
    await session.connection.execute("CREATE SEQUENCE pgparley.probe")
    for number, written in enumerate(
        ("setval('pgparley.probe', 7)", "1); PERFORM setval('pgparley.probe', 7); PERFORM (1")
    ):
        await session.connection.execute(
            "SELECT nl_catalog.define_term('sales', $1, $2)", f"probe {number}", written
        )
    assert not await session.connection.fetchval("SELECT is_called FROM pgparley.probe")


WARNED = [
    (
        "define_term('sales', 'revenue', 'sum(orders.nett)')",
        "term 'revenue' is kept, but not used: orders has no column nett",
    ),
    ("define_term('sales', 'revenue', 'sum(ordr.net)')", "there is no table ordr"),
    ("define_term('sales', 'revenue', 'sum(net)')", "write net with its table before it: orders.net"),
    ("define_term('sales', 'names', 'customers.\"Name\"')", "there is no table customers"),
    ("define_term('sales', 'value', 'sum(lead.val)')", "write lead.val with its schema: crm.lead.val"),
    ("verify('sales', 'q', 'SELECT lead.val FROM lead')", "there is no table lead"),
    ("verify('sales', 'q', 'SELECT o.net FROM order_lines o')", "there is no table order_lines"),
    ("verify('sales', 'q', 'SELECT x.net FROM orders o')", "there is no table x"),
]


async def test_what_names_nothing_is_kept_with_a_warning(session: Session) -> None:
    for call, warning in WARNED:
        await session.connection.execute("DELETE FROM pgparley.definition")
        assert warning in await session.warned(call), call
        assert await session.connection.fetchval("SELECT count(*) FROM pgparley.definition") == 1


async def test_who_did_it_is_the_person_and_nobody_speaks_for_another(
    session: Session, make_role: MakeRole
) -> None:
    store, role = session.connection, await make_role("IN ROLE nl_steward")
    await store.execute("SET nl_catalog.person = 'dora'; SELECT nl_catalog.describe('sales', 'one')")
    await store.execute("SELECT nl_catalog.verify('sales', 'q', 'SELECT 1 FROM orders')")
    await store.execute(
        f"SELECT nl_catalog.grant_database('sales', '{role}'); SET SESSION AUTHORIZATION {role}"
    )
    await store.execute("SELECT nl_catalog.describe('sales', 'two')")
    await store.execute("RESET SESSION AUTHORIZATION")
    changed = await store.fetch("SELECT changed_by, kind FROM nl_catalog.history ORDER BY version")
    assert [tuple(row) for row in changed] == [("dora", "element"), ("dora", "query"), (role, "element")]
    assert await store.fetchval("SELECT owner FROM nl_catalog.verified_queries") == "dora"


async def test_house_rules_propose_what_is_better_said_as_a_term(session: Session) -> None:
    store = session.connection
    rules = (
        "Revenue is without VAT.\nIgnore large orders: orders.net > 1000\nThe fiscal year starts in April."
    )
    told = await session.warned(f"set_rules('sales', '{rules}')")
    assert "better said as a term" in told
    (proposed,) = [str(each.hint) for each in session.said]
    calls = [line for line in proposed.splitlines() if line.startswith("SELECT")]
    assert calls == [
        "SELECT nl_catalog.define_term('sales', 'large orders', 'orders.net > 1000');",
        "SELECT nl_catalog.define_term('sales', 'fiscal year',"
        " 'extract(year FROM orders.placed + interval ''9 months'')');",
    ]
    for call in calls:
        session.said.clear()
        await store.execute(call)
        assert not session.said
    assert await session.warned(f"set_rules('sales', '{rules}')") == "", (
        "what is defined is not proposed again"
    )
    assert await store.fetchval("SELECT rules FROM nl_catalog.databases") == rules
    version = await store.fetchval("SELECT nl_catalog.set_rules('sales', NULL)")
    assert await store.fetchval("SELECT rules FROM nl_catalog.databases") is None
    await store.execute("SELECT nl_catalog.restore($1)", version - 1 if version else None)
