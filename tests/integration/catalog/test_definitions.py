"""What a DBA defines by functions of nl_catalog: bad calls answered at once, history, rights, the views."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.definitions import DefinitionStore, State, Verdict
from schema_catalog.store import CatalogStore
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.statements import change_nothing, connected, refused

ORDERS = Table("public", "orders", TableKind.TABLE, (Column("id", "integer"), Column("cust_no", "integer")))

CUSTOMERS = Table("public", "customers", TableKind.TABLE, (Column("no", "integer"), Column("status", "text")))

JOIN = "('sales.orders.cust_no', 'sales.customers.no')"


@pytest.fixture
async def pool(make_store: MakeDatabase) -> AsyncIterator[asyncpg.Pool]:
    """A store that holds the databases sales and hr."""
    made = await make_store(*(Snapshot(name, ("public",), (CUSTOMERS, ORDERS)) for name in ("sales", "hr")))
    async with asyncpg.create_pool(made.dsn, min_size=1, max_size=2) as opened:
        yield opened


BAD_CALLS = {
    asyncpg.UndefinedObjectError: [
        "declare_join('sales.orders.cust', 'sales.customers.no')",
        f"drop_join{JOIN}",
        "drop_term('sales', 'active')",
        "revoke('sales', 'how many?')",
    ],
    asyncpg.InvalidParameterValueError: [
        "declare_join('sales.orders', 'sales.customers.no')",
        "declare_join('sales.orders.id', 'hr.customers.no')",
        "declare_join('sales.orders.id', 'sales.orders.id')",
        "declare_join('sales.orders.id', 'sales.customers.no', 'many-to-many')",
        "declare_join('sales.orders.id', 'sales.customers.no', NULL)",
        "define_term('sales', ' ', 'customers.no > 1')",
        "define_term('sales', NULL, 'customers.no > 1')",
        "define_term('sales', repeat('x', 61), 'customers.no > 1')",
        "define_term('sales', e'a\\x01b', 'customers.no > 1')",
        "define_term('sales', 'active', NULL)",
        "define_term('sales', 'active', repeat('x', 401))",
        "define_term('sales', 'active', 'x', repeat('x', 2001))",
        "verify('sales', ' ?! ', 'SELECT 1')",
        "verify('sales', NULL, 'SELECT 1')",
        "verify('sales', repeat('x', 501), 'SELECT 1')",
        "verify('sales', 'how many?', '')",
        "verify('sales', 'how many?', repeat('x', 10001))",
        "verify('sales', 'how many?', 'SELECT 1', '{a,NULL}')",
        "verify('sales', 'how many?', 'SELECT 1', array_fill('a'::text, '{21}'))",
    ],
}


async def test_a_bad_call_changes_nothing_and_says_what_to_do(pool: asyncpg.Pool) -> None:
    await change_nothing(pool, BAD_CALLS)


async def test_a_join_is_declared_once_whichever_way_it_is_told(pool: asyncpg.Pool) -> None:
    first = await pool.fetchval(f"SELECT nl_catalog.declare_join{JOIN}")
    told = "('sales.public.customers.no', 'sales.public.orders.cust_no', cardinality => 'one-to-many')"
    assert await pool.fetchval(f"SELECT nl_catalog.declare_join{told}") == first
    await refused(
        pool.execute("SELECT nl_catalog.declare_join('sales.customers.no', 'sales.orders.cust_no')"),
        asyncpg.DuplicateObjectError,
    )
    assert tuple(await pool.fetchrow("SELECT * FROM nl_catalog.joins")) == (
        *("sales", "sales.public.orders.cust_no", "sales.public.customers.no", "many-to-one"),
        *("unchecked", None, None, None),
    )
    assert (await CatalogStore(pool).said()) == {}
    await pool.execute("SELECT nl_catalog.drop_join('sales.customers.no', 'sales.public.orders.cust_no')")
    assert await pool.fetch("SELECT * FROM nl_catalog.joins") == []


async def test_a_term_has_one_definition_and_keeps_what_was_written(pool: asyncpg.Pool) -> None:
    text = "$q$'); DROP TABLE pgparley.definition; -- $$ \\ %s {}$q$"
    first = await pool.fetchval(
        "SELECT nl_catalog.define_term('sales', e' Active\n customer', $1, $2)",
        "customers.status = 'A'",
        text,
    )
    await pool.execute("SELECT nl_catalog.define_term('sales', 'active  CUSTOMER', $1)", text)
    (row,) = await pool.fetch("SELECT term, definition, description, state FROM nl_catalog.terms")
    assert tuple(row) == ("active CUSTOMER", text, None, "unchecked")
    await pool.execute("SELECT nl_catalog.restore($1)", first)
    (row,) = await pool.fetch("SELECT term, definition, description FROM nl_catalog.terms")
    assert tuple(row) == ("Active customer", "customers.status = 'A'", text)
    kinds = await pool.fetch("SELECT DISTINCT kind, element FROM nl_catalog.history")
    assert list(map(tuple, kinds)) == [("term", "active customer")]
    await pool.execute("SELECT nl_catalog.drop_term('sales', 'Active Customer')")
    assert await pool.fetch("SELECT * FROM nl_catalog.terms") == []


async def test_a_question_has_one_verified_statement(pool: asyncpg.Pool) -> None:
    sql = "SELECT count(*)\nFROM customers WHERE no <> $$; DROP TABLE x -- '$$"
    verify = "SELECT nl_catalog.verify('sales', $1, $2, tags => $3)"
    await pool.execute(verify, " How many\n customers? ", sql, ["kpi", "board", "kpi"])
    assert tuple(await pool.fetchrow("SELECT * FROM nl_catalog.verified_queries")) == (
        *("sales", "How many customers?", sql, ["board", "kpi"]),
        *("postgres", "unchecked", None, None),
    )
    await pool.execute("SELECT nl_catalog.verify('sales', 'how many CUSTOMERS', 'SELECT 2')")
    assert [row[0] for row in await pool.fetch("SELECT sql FROM nl_catalog.verified_queries")] == ["SELECT 2"]
    before = await pool.fetchval("SELECT version FROM pgparley.learning_version")
    await pool.execute("SELECT nl_catalog.revoke('sales', 'HOW many customers??')")
    assert await pool.fetch("SELECT * FROM nl_catalog.verified_queries") == []
    assert await pool.fetchval("SELECT version FROM pgparley.learning_version") > before


async def test_every_change_of_a_definition_has_its_version_and_each_can_be_restored(
    pool: asyncpg.Pool,
) -> None:
    first = await pool.fetchval(f"SELECT nl_catalog.declare_join{JOIN}")
    one = "('sales.orders.cust_no', 'sales.customers.no', 'one-to-one')"
    second = await pool.fetchval(f"SELECT nl_catalog.declare_join{one}")
    gone = await pool.fetchval(f"SELECT nl_catalog.drop_join{JOIN}")
    rows = await pool.fetch("SELECT version, kind, element, before, after FROM nl_catalog.history ORDER BY 1")
    many, single = {"cardinality": "many-to-one"}, {"cardinality": "one-to-one"}
    assert [(row[0], *(row[n] and json.loads(row[n]) for n in (3, 4))) for row in rows] == [
        (first, None, many),
        (second, many, single),
        (gone, single, None),
    ]
    assert {tuple(row[1:3]) for row in rows} == {
        ("join", "sales.public.orders.cust_no = sales.public.customers.no")
    }
    for version, cardinality in ((first, ["many-to-one"]), (second, ["one-to-one"]), (gone, [])):
        await pool.execute("SELECT nl_catalog.restore($1)", version)
        found = await pool.fetch("SELECT cardinality FROM nl_catalog.joins")
        assert [row[0] for row in found] == cardinality


async def test_a_change_is_checked_anew_and_an_old_verdict_does_not_count_for_it(pool: asyncpg.Pool) -> None:
    store = DefinitionStore(pool)
    await pool.execute(f"SELECT nl_catalog.declare_join{JOIN}")
    (stored,) = await store.pending()
    await store.note(stored, Verdict(State.CHECKED))
    assert await store.pending() == ()
    before = await CatalogStore(pool).version()
    await pool.execute(
        "SELECT nl_catalog.declare_join('sales.orders.cust_no', 'sales.customers.no', 'one-to-one')"
    )
    assert await CatalogStore(pool).version() > before
    await store.note(stored, Verdict(State.REFUSED, "late"))
    assert await pool.fetchval("SELECT state FROM nl_catalog.joins") == "unchecked"
    (again,) = await store.pending("sales")
    assert await store.pending("hr") == ()
    await store.postpone(again, "no answer")
    assert tuple(await pool.fetchrow("SELECT state, reason FROM nl_catalog.joins")) == (
        "unchecked",
        "no answer",
    )
    await store.note(again, Verdict(State.CHECKED))
    await CatalogStore(pool).save_snapshot(Snapshot("sales", ("public",), (CUSTOMERS, ORDERS)))
    assert [each.name for each in await store.pending()] == ["public.orders.cust_no = public.customers.no"]


async def test_a_steward_defines_for_their_databases_alone(
    pool: asyncpg.Pool, server: Cluster, make_role: MakeRole
) -> None:
    steward = await make_role("LOGIN IN ROLE nl_steward")
    await pool.execute("SELECT nl_catalog.grant_database('sales', $1)", steward)
    hr = JOIN.replace("sales", "hr")
    version = await pool.fetchval(f"SELECT nl_catalog.declare_join{hr}")
    dbname = await pool.fetchval("SELECT current_database()")
    async with connected(server.dsn(dbname, steward)) as theirs:
        await theirs.execute(f"SELECT nl_catalog.declare_join{JOIN}")
        for name in ("sales", "hr"):
            await pool.execute("SELECT nl_catalog.define_term($1, 'active', 'x')", name)
            await pool.execute("SELECT nl_catalog.verify($1, 'how many?', 'SELECT 1')", name)
        for call in (
            "drop_term('hr', 'active')",
            "define_term('hr', 'active', 'x')",
            "verify('hr', 'how many?', 'SELECT 2')",
            "revoke('hr', 'how many?')",
        ):
            await refused(theirs.execute(f"SELECT nl_catalog.{call}"), asyncpg.InvalidCatalogNameError)
        for view in ("joins", "terms", "verified_queries", "history"):
            assert {row[0] for row in await theirs.fetch(f"SELECT database FROM nl_catalog.{view}")} == {
                "sales"
            }
        await refused(theirs.execute(f"SELECT nl_catalog.declare_join{hr}"), asyncpg.InvalidCatalogNameError)
        await refused(theirs.execute(f"SELECT nl_catalog.drop_join{hr}"), asyncpg.UndefinedObjectError)
        await refused(theirs.execute("SELECT nl_catalog.restore($1)", version), asyncpg.UndefinedObjectError)
        for statement in ("TABLE pgparley.definition", "SELECT pgparley.define('hr', 'join', '{}', NULL)"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await theirs.execute(statement)


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
