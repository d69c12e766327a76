"""Python's other drivers: psycopg2, asyncpg, SQLAlchemy, a BI tool's way, psqlODBC."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from clients.ends import BAD, CHOSEN, DATABASE, PLAIN, USER, Case, Ends, same


def optional(name: str, package: str) -> Any:
    """A module that may be missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"no {name} on this machine: pip install {package}")


# -- DB-API drivers


def _dbapi(connect: Callable[[Ends, int], Any], mark: str, *, heals: bool = False) -> dict[str, Case]:  # noqa: C901 - a case is a function
    """The cases of a DB-API driver; `mark` is its placeholder, `heals`: it rolls back after an error by itself."""

    def fetched(connection: Any, query: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(connection.cursor()) as cursor:
            cursor.execute(query, *([values] if values else []))
            return [tuple(row) for row in cursor.fetchall()]

    def plain(ends: Ends) -> None:
        def everything(port: int) -> list[object]:
            with closing(connect(ends, port)) as connection:
                found: list[object] = [fetched(connection, query.split(", '\\x")[0]) for query in PLAIN]
                for query in BAD:
                    with pytest.raises(Exception) as caught:  # noqa: PT011 - each driver has a class of its own
                        fetched(connection, query)
                    found.append(str(caught.value))
                    connection.rollback()
                return found

        same(str(everything(ends.gateway)), str(everything(ends.direct)))

    def question(ends: Ends) -> None:
        with closing(connect(ends, ends.gateway)) as connection:
            for _ in range(6):
                assert [row[0] for row in fetched(connection, "NL: how many singers")] == [1, 2]
            assert fetched(connection, "NL: $$it's; here$$")[0][4] == "it's; here"

    def bound(ends: Ends) -> None:
        with closing(connect(ends, ends.gateway)) as connection:
            for n in range(6):
                query = f"SELECT explanation FROM nl.ask({mark}) WHERE n = 1"
                assert fetched(connection, query, f"it's; {n}?") == [(f"it's; {n}?",)]

    def follow_up(ends: Ends) -> None:
        with closing(connect(ends, ends.gateway)) as connection:
            fetched(connection, "NL: x")
            assert fetched(connection, "NL CHOOSE 1") == CHOSEN
            assert fetched(connection, "SELECT max(a) FROM nl.run('q1', 1) t") == [(3,)]
            assert fetched(connection, "NL WHY")[0][0] == "route"
            assert [row[1] for row in fetched(connection, "NL: which name")] == ["option"] * 3
            assert fetched(connection, "NL ANSWER $$it's; both$$")[0][4] == "second it's; both"
            assert fetched(connection, "NL NONE $$it's old$$")[0][1] == "option"

    def transaction(ends: Ends) -> None:
        with closing(connect(ends, ends.gateway)) as connection:
            fetched(connection, "NL: x")
            with closing(connection.cursor()) as cursor:
                cursor.execute("CREATE TEMP TABLE kept AS SELECT * FROM nl.ask('x')")
            connection.rollback()
            assert fetched(connection, "SELECT to_regclass('kept') IS NULL")[0][0] in (True, "1")

    def error(ends: Ends) -> None:
        with closing(connect(ends, ends.gateway)) as connection:
            with pytest.raises(Exception, match="no database can answer this") as caught:
                fetched(connection, "NL: no route")
            assert "NL003" in (getattr(caught.value, "pgcode", None), *caught.value.args)
            if not heals:
                with pytest.raises(Exception, match="aborted"):
                    fetched(connection, "NL: x")
            connection.rollback()
            assert len(fetched(connection, "NL: x")) == 2

    return {
        "plain SQL": plain,
        "question": question,
        "nl.ask bound": bound,
        "follow-up": follow_up,
        "transaction": transaction,
        "error": error,
    }


def _psycopg2(ends: Ends, port: int) -> Any:
    return optional("psycopg2", "psycopg2-binary").connect(ends.dsn(port))


def _psycopg2_cursor(ends: Ends) -> None:
    with closing(_psycopg2(ends, ends.gateway)) as connection, connection.cursor("c") as cursor:
        cursor.execute("SELECT n FROM nl.ask(%s)", ("x",))
        assert cursor.fetchall() == [(1,), (2,)]


def _psycopg2_copy(ends: Ends) -> None:
    import io  # noqa: PLC0415 - for this case alone

    with closing(_psycopg2(ends, ends.gateway)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE copied (a int, b text)")
        cursor.copy_expert(
            "COPY copied FROM STDIN", io.StringIO("".join(f"{n}\tNL: x\n" for n in range(500)))
        )
        out = io.StringIO()
        cursor.copy_expert("COPY copied TO STDOUT", out)
        assert out.getvalue().count("NL: x\n") == 500


def _odbc(ends: Ends, port: int) -> Any:
    pyodbc = optional("pyodbc", "pyodbc (and the packages unixodbc, odbc-postgresql)")
    libraries = sorted(Path("/usr/lib").glob("*/odbc/psqlodbcw.so"))
    if not libraries:
        pytest.skip("no psqlODBC on this machine: install odbc-postgresql and unixodbc")
    words = f"Driver={libraries[0]};Server=127.0.0.1;Port={port};Database={DATABASE};Uid={USER}"
    return pyodbc.connect(words + ";SSLmode=disable;UseServerSidePrepare=1")


def _odbc_lost_mark(ends: Ends) -> None:
    with closing(_odbc(ends, ends.gateway)) as connection, closing(connection.cursor()) as cursor:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - pyodbc's own class
            cursor.execute("NL: how many singers?", ("",))
        assert caught.value.args[0] in ("42601", "0A000", "HY000")


# -- asyncpg


@asynccontextmanager
async def _asyncpg(port: int) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(host="127.0.0.1", port=port, user=USER, database=DATABASE, ssl=False)
    try:
        yield connection
    finally:
        await connection.close()


def _async(work: Callable[[Any], Any]) -> Case:
    async def whole(ends: Ends) -> None:
        async with _asyncpg(ends.gateway) as connection:
            await work(connection)

    return lambda ends: asyncio.run(whole(ends))


async def _asyncpg_plain(port: int) -> list[str]:
    async with _asyncpg(port) as connection:
        found = [str(await connection.fetch(query)) for query in PLAIN]
        for query in BAD:
            with pytest.raises(asyncpg.PostgresError) as caught:
                await connection.fetch(query)
            found.append(f"{caught.value.sqlstate} {caught.value}")
        return found


async def _asyncpg_question(connection: Any) -> None:
    for _ in range(6):
        assert [row["n"] for row in await connection.fetch("NL: how many")] == [1, 2]


async def _asyncpg_bound(connection: Any) -> None:
    for n in range(6):
        query = "SELECT explanation FROM nl.ask($1) WHERE n = $2"
        assert await connection.fetchval(query, f"it's; {n}?", 1) == f"it's; {n}?"


async def _asyncpg_follow_up(connection: Any) -> None:
    await connection.fetch("NL: x")
    assert [tuple(row) for row in await connection.fetch("NL CHOOSE 1")] == CHOSEN
    assert await connection.fetchval("SELECT sum(a) FROM nl.run('q1', 1)") == 6
    await connection.fetch("NL: second")
    assert [tuple(row) for row in await connection.fetch("NL CHOOSE 1")] == CHOSEN
    assert (await connection.fetch("NL WHY"))[0]["stage"] == "route"
    assert [row["kind"] for row in await connection.fetch("NL: which name")] == ["option"] * 3
    assert (await connection.fetch("NL ANSWER $$it's; both$$"))[0]["explanation"] == "second it's; both"
    assert (await connection.fetch("NL NONE $$it's old$$"))[0]["kind"] == "option"


async def _asyncpg_describe(connection: Any) -> None:
    statement = await connection.prepare("NL: only described")
    assert [a.name for a in statement.get_attributes()][:2] == ["n", "kind"]
    assert statement.get_parameters() == ()
    statement = await connection.prepare("NL CHOOSE 1 OF 'q1'")
    assert [a.name for a in statement.get_attributes()] == ["a", "b"]


async def _asyncpg_cursor(connection: Any) -> None:
    async with connection.transaction():
        assert [row["n"] async for row in connection.cursor("NL: x", prefetch=1)] == [1, 2]


async def _asyncpg_error(connection: Any) -> None:
    with pytest.raises(asyncpg.PostgresError) as caught:
        await connection.fetch("NL: no route")
    assert caught.value.sqlstate == "NL003"
    assert await connection.fetchval("SELECT 1") == 1


async def _asyncpg_copy(connection: Any) -> None:
    await connection.execute("CREATE TEMP TABLE copied (a int, b text)")
    await connection.copy_records_to_table("copied", records=[(n, "NL: x") for n in range(1000)])
    assert await connection.fetchval("SELECT count(*) FROM copied") == 1000


async def _asyncpg_transaction(connection: Any) -> None:
    transaction = connection.transaction()
    await transaction.start()
    await connection.fetch("NL: x")
    await connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM nl.ask('x')")
    await transaction.rollback()
    assert await connection.fetchval("SELECT to_regclass('kept')") is None


# -- SQLAlchemy, and what BI tools do


def _alchemy(ends: Ends, work: Callable[[Any, Any], None], port: int | None = None) -> None:
    alchemy = optional("sqlalchemy", "sqlalchemy")
    engine = alchemy.create_engine(f"postgresql+psycopg://{USER}@127.0.0.1:{port or ends.gateway}/{DATABASE}")
    try:
        with engine.connect() as connection:
            work(alchemy, connection)
    finally:
        engine.dispose()


def _alchemy_text(alchemy: Any, connection: Any) -> None:
    rows = connection.execute(alchemy.text("NL: how many singers")).all()
    assert [row.n for row in rows] == [1, 2]


def _alchemy_bound(alchemy: Any, connection: Any) -> None:
    query = alchemy.text("SELECT n, explanation FROM nl.ask(:question) WHERE n = :n")
    assert connection.execute(query, {"question": "it's; :here?", "n": 2}).all() == [(2, "it's; :here?")]


def _alchemy_core(alchemy: Any, connection: Any) -> None:
    columns = [alchemy.column("n", alchemy.Integer), alchemy.column("sql", alchemy.Text)]
    call = alchemy.func.nl.ask("how many").table_valued(*columns).alias("t")
    assert [row.n for row in connection.execute(alchemy.select(call.c.n).where(call.c.n < 2))] == [1]


def _alchemy_follow_up(alchemy: Any, connection: Any) -> None:
    connection.execute(alchemy.text("NL: x"))
    assert connection.execute(alchemy.text("NL CHOOSE 1")).all() == CHOSEN
    assert connection.execute(alchemy.text("SELECT sum(a) FROM nl.run('q1', 1) t")).scalar() == 6


def _alchemy_plain(ends: Ends) -> None:
    def everything(port: int) -> list[str]:
        found: list[str] = []

        def work(alchemy: Any, connection: Any) -> None:
            for query in PLAIN:
                result = connection.execute(alchemy.text(query))
                found.extend((str(result.keys()), str(result.all())))
            for query in BAD:
                with pytest.raises(alchemy.exc.DBAPIError) as caught:
                    connection.execute(alchemy.text(query))
                found.append(str(caught.value.orig))
                connection.rollback()

        _alchemy(ends, work, port)
        return found

    same(everything(ends.gateway), everything(ends.direct))


def _alchemy_inspect(alchemy: Any, connection: Any) -> None:
    connection.execute(alchemy.text("CREATE TEMP TABLE looked (id int PRIMARY KEY, words text)"))
    inspector = alchemy.inspect(connection)
    assert [column["name"] for column in inspector.get_columns("looked")] == ["id", "words"]
    assert inspector.get_pk_constraint("looked")["constrained_columns"] == ["id"]


def _bi(ends: Ends) -> None:
    with psycopg.connect(ends.dsn(), autocommit=True) as connection:
        for query in (
            "SELECT * FROM (SELECT * FROM nl.ask('how many')) t LIMIT 10",
            '-- Metabase:: userID: 1\nSELECT "t"."n" FROM (SELECT * FROM nl.ask(\'x\') ) AS "t" WHERE 1 = 1 LIMIT 2000',
            "SELECT count(*) OVER (), t.* FROM (SELECT * FROM nl.ask('x')) t WHERE \"confidence\" > 0.1 OFFSET 0",
        ):
            assert len(connection.execute(query).fetchall()) == 2
        query = "SELECT * FROM (SELECT a, b FROM nl.run('q1', 1)) t LIMIT 10"
        assert connection.execute(query).fetchall() == CHOSEN


def _bi_describe(ends: Ends) -> None:
    with psycopg.connect(ends.dsn(), autocommit=True) as connection:
        cursor = connection.execute("SELECT * FROM (SELECT * FROM nl.ask('x')) t WHERE 1 = 0")
        assert len(cursor.description or ()) == 8
        assert cursor.fetchall() == []


CASES: dict[str, dict[str, Case]] = {
    "psycopg2": _dbapi(_psycopg2, "%s") | {"cursor": _psycopg2_cursor, "COPY": _psycopg2_copy},
    "asyncpg": {
        "plain SQL": lambda ends: same(
            asyncio.run(_asyncpg_plain(ends.gateway)), asyncio.run(_asyncpg_plain(ends.direct))
        ),
        "question": _async(_asyncpg_question),
        "nl.ask bound": _async(_asyncpg_bound),
        "follow-up": _async(_asyncpg_follow_up),
        "transaction": _async(_asyncpg_transaction),
        "error": _async(_asyncpg_error),
        "COPY": _async(_asyncpg_copy),
        "cursor": _async(_asyncpg_cursor),
        "describe": _async(_asyncpg_describe),
    },
    "SQLAlchemy": {
        "plain SQL": _alchemy_plain,
        "describe": lambda ends: _alchemy(ends, _alchemy_inspect),
        "question": lambda ends: _alchemy(ends, _alchemy_text),
        "nl.ask bound": lambda ends: _alchemy(ends, _alchemy_bound),
        "follow-up": lambda ends: _alchemy(ends, _alchemy_follow_up),
        "Core": lambda ends: _alchemy(ends, _alchemy_core),
    },
    "BI wrapper": {"question": _bi, "describe": _bi_describe},
    "psqlODBC": _dbapi(_odbc, "?", heals=True) | {"lost ?": _odbc_lost_mark},
}
