"""The samples on a real server, and the demo's catalog: loaded once, consistent, readable by the analyst."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg
import pytest
from rich.console import Console

from pgparley.check.finding import Outcome
from pgparley.check.store import check_store
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.demo import run
from pgparley.demo.loading import SampleError
from pgparley.demo.prepare import ANALYST, STORE, prepare
from pgparley.demo.questions import QUESTIONS, answers
from pgparley.demo.run import configure, register
from pgparley.demo.samples import SAMPLES
from pgparley.demo.site import Site
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE
from schema_catalog.logins import login_for
from schema_catalog.migrate import migrate
from schema_catalog.store import CatalogStore, Entry
from schema_catalog.values import ValueStore
from tests.conftest import Postgres
from tests.support.parts import pgparley
from tests.support.statements import connected, execute

Rows = Sequence[Sequence[object]]

CHOSEN = """
WITH kept AS (
    INSERT INTO pgparley.learned_example (asker, database, question, normal_form, sql, kind, qid)
    VALUES ('analyst', 'tiny', 'how many?', 'how many', 'SELECT 1', 'chosen', 'q') RETURNING id
)
INSERT INTO pgparley.learned_vote SELECT id, 'many', '{public,t,a}', '{public,t,*}', 1 FROM kept
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A server and the questions a test puts to it."""

    cluster: Cluster

    async def rows(self, database: str, sql: str) -> Rows:
        """What the analyst gets."""
        connection = await asyncpg.connect(self.cluster.dsn(database, user=ANALYST))
        try:
            return [tuple(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    async def value(self, database: str, sql: str) -> object:
        """The first column of the first row."""
        return (await self.rows(database, sql))[0][0]


@pytest.fixture(scope="module")
def cluster(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("demo") as running:
        yield running


LARGE = ("flights", "baseball")
SMALL = tuple(sample for sample in SAMPLES if sample.name not in LARGE)


@pytest.fixture
async def server(cluster: Cluster) -> Server:
    """With the small samples. Loads at the first test; later ones find everything there."""
    await prepare(cluster, quiet(), SMALL)
    return Server(cluster)


@pytest.fixture
async def whole(server: Server) -> Server:
    """With all of them."""
    await prepare(server.cluster, quiet())
    return server


def quiet() -> Console:
    return Console(file=io.StringIO())


async def test_second_run_finds_everything_there(server: Server) -> None:
    console = Console(file=io.StringIO(), width=100)
    databases = await prepare(server.cluster, console, SMALL)
    assert [name for name, _ in databases] == [sample.name for sample in SMALL]
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("already there") == len(SMALL)


async def test_a_store_is_kept_unless_it_is_of_another_version(server: Server) -> None:
    dsn = server.cluster.dsn(STORE, user=STORE_ROLE)
    async with connected(dsn) as store:
        await migrate(store)
        await prepare(server.cluster, quiet(), ())
        assert not await migrate(store)
        await store.execute("UPDATE pgparley.migration SET digest = 'another'")
    await prepare(server.cluster, quiet(), ())
    async with connected(dsn) as store:
        assert await migrate(store), "it is empty"


async def _gold_gives_rows(server: Server, *databases: str) -> None:
    for question in QUESTIONS:
        if question.database in databases:
            for sql in question.gold:
                assert await server.rows(question.database, sql), sql


async def _answers(server: Server, database: str, known: Rows) -> bool:
    question = next(each for each in QUESTIONS if each.database == database)
    return answers(await server.rows(database, question.gold[0]), known)


async def test_gold_statements_return_rows_and_a_known_answer(server: Server) -> None:
    await _gold_gives_rows(server, *(sample.name for sample in SMALL))
    assert await _answers(server, "library", [("The Distant Bridge without End",)])


@pytest.mark.slow
async def test_whole_data_sets_are_there(whole: Server) -> None:
    await _gold_gives_rows(whole, *LARGE)
    assert await _answers(whole, "flights", [("Frontier Airlines Inc.",)])
    assert await _answers(whole, "baseball", [("Mark", "McGwire")])
    assert await whole.value("flights", "SELECT count(*) FROM flights") == 336_776
    assert await whole.value("flights", "SELECT count(*) FROM flights WHERE dep_time IS NULL") == 8_255
    assert await whole.value("baseball", "SELECT count(*) FROM batting") == 108_789


async def test_gross_and_net_sales_differ_so_that_the_question_is_ambiguous(server: Server) -> None:
    gross, net = [await server.rows("sales", sql) for sql in QUESTIONS[3].gold[:2]]
    assert not answers(gross, net)


async def test_analyst_reads_and_does_not_write(server: Server) -> None:
    connection = await asyncpg.connect(server.cluster.dsn("sales", user=ANALYST))
    try:
        assert await connection.fetchval("SELECT count(*) FROM customers") == 1_500
        for statement in ("DELETE FROM customers", "CREATE TABLE mine (n int)", "SELECT * FROM pg_authid"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()


async def test_new_revision_replaces_the_old_one(server: Server) -> None:
    library = next(sample for sample in SAMPLES if sample.name == "library")
    newer = replace(library, description="A library, described anew.")
    try:
        await prepare(server.cluster, quiet(), [newer])
        comment = await server.value(
            "library",
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'library'",
        )
        assert str(comment).startswith("A library, described anew. [sample ")
        assert await server.value("library", "SELECT count(*) FROM loans") == 16_000
        assert await newer.load(server.cluster.dsn("library")) is False
    finally:
        assert await library.load(server.cluster.dsn("library")) is True


async def test_foreign_database_is_left_alone(cluster: Cluster) -> None:
    admin = await asyncpg.connect(cluster.dsn())
    try:
        await admin.execute("CREATE DATABASE precious")
    finally:
        await admin.close()
    theirs = await asyncpg.connect(cluster.dsn("precious"))
    try:
        await theirs.execute("CREATE TABLE kept (n int)")
        with pytest.raises(SampleError, match="tables of its own"):
            await SAMPLES[4].load(cluster.dsn("precious"))
        assert await theirs.fetchval("SELECT count(*) FROM kept") == 0
    finally:
        await theirs.close()


async def entries(running: Cluster) -> tuple[Entry, ...]:
    async with asyncpg.create_pool(running.dsn(STORE), min_size=1, max_size=1) as pool:
        return await CatalogStore(pool).list()


async def in_this_process(site: Site, *arguments: str) -> str:
    return await asyncio.to_thread(pgparley, site.config, *arguments)


@pytest.fixture
async def running(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    """A server without samples but one table, with the demo's roles and its store."""
    monkeypatch.setattr(run, "pgparley", in_this_process)
    with postgres("register") as made:
        await prepare(made, Console(file=io.StringIO()), ())
        await execute(made.dsn(), "CREATE DATABASE tiny")
        granted = f"GRANT SELECT ON t TO {ANALYST}, {CATALOG_ROLE}"
        await execute(made.dsn("tiny"), "CREATE TABLE t (a text); INSERT INTO t VALUES ('x')", granted)
        yield made


async def test_registered_databases_let_the_analyst_in_the_second_time_too(
    running: Cluster, tmp_path: Path
) -> None:
    site = Site(tmp_path, running, 6432)
    configure(site)
    assert site.config.stat().st_mode & 0o777 == 0o600
    tiny = (("tiny", running.dsn("tiny", CATALOG_ROLE)),)
    await register(site, tiny)
    await execute(running.dsn(STORE), CHOSEN)
    await register(site, tiny)
    async with asyncpg.create_pool(running.dsn(STORE), min_size=1, max_size=1) as pool:
        assert await pool.fetchval("SELECT count(*) FROM pgparley.learned_vote") == 0, "choices are forgotten"
    (entry,) = await entries(running)
    dsn = login_for(entry.database, ANALYST)
    assert dsn is not None
    connection = await asyncpg.connect(dsn)
    try:
        seen = await connection.fetchrow("SELECT session_user::text, (SELECT count(*) FROM t)")
    finally:
        await connection.close()
    assert tuple(seen or ()) == (ANALYST, 1)


async def test_no_role_of_the_demo_may_more_than_it_needs(running: Cluster, tmp_path: Path) -> None:
    site = Site(tmp_path, running, 6432)
    configure(site)
    await register(site, (("tiny", running.dsn("tiny", CATALOG_ROLE)),))
    config = load(site.config, {"HOME": str(tmp_path)})
    found = {each.check: each async for each in check_store(config)}
    assert {each.outcome for each in found.values()} == {Outcome.OK}
    assert (found["store's role"].found, found["database tiny"].found) == (
        STORE_ROLE,
        f"read as {CATALOG_ROLE}",
    )
    assert config.catalog.login == running.dsn(user=CATALOG_ROLE)
    async with asyncpg.create_pool(config.engine.store, min_size=1, max_size=1) as pool:
        (kept,) = await ValueStore(pool).values("tiny", 10)
    assert kept.values == ("x",)
    for role, database, statement in (
        (CATALOG_ROLE, STORE, "SELECT FROM pgparley.login"),
        (CATALOG_ROLE, "tiny", "INSERT INTO t VALUES ('y')"),
        (STORE_ROLE, "tiny", "SELECT FROM t"),
        (ANALYST, STORE, "SELECT FROM pgparley.login"),
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await execute(running.dsn(database, role), statement)
