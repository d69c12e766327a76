"""The samples on a real server: loaded, consistent, readable by the analyst, and loaded once."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import asyncpg
import pytest
from rich.console import Console

from pgparley.cluster import Cluster
from pgparley.demo.loading import SampleError
from pgparley.demo.prepare import ANALYST, STORE, prepare
from pgparley.demo.questions import QUESTIONS, Question, answers
from pgparley.demo.samples import SAMPLES
from schema_catalog.login_rights import STORE_ROLE
from schema_catalog.migrate import migrate
from tests.conftest import Postgres

Rows = Sequence[Sequence[object]]


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


@pytest.fixture
async def server(cluster: Cluster) -> Server:
    """Loads at the first test; later ones find everything there."""
    await prepare(cluster, quiet())
    return Server(cluster)


def quiet() -> Console:
    return Console(file=io.StringIO())


async def test_second_run_finds_everything_there(server: Server) -> None:
    console = Console(file=io.StringIO(), width=100)
    databases = await prepare(server.cluster, console)
    assert [name for name, _ in databases] == [sample.name for sample in SAMPLES]
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("already there") == len(SAMPLES)


async def test_a_store_of_another_version_is_made_anew(server: Server) -> None:
    store = await asyncpg.connect(server.cluster.dsn(STORE, user=STORE_ROLE))
    try:
        await migrate(store)
        await store.execute("UPDATE pgparley.migration SET digest = 'another'")
    finally:
        await store.close()
    await prepare(server.cluster, quiet(), ())
    store = await asyncpg.connect(server.cluster.dsn(STORE, user=STORE_ROLE))
    try:
        assert await migrate(store), "it is empty"
    finally:
        await store.close()


async def test_a_store_of_this_version_is_kept(server: Server) -> None:
    store = await asyncpg.connect(server.cluster.dsn(STORE, user=STORE_ROLE))
    try:
        await migrate(store)
        await prepare(server.cluster, quiet(), ())
        assert not await migrate(store)
    finally:
        await store.close()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.database)
async def test_each_gold_statement_returns_rows(server: Server, question: Question) -> None:
    for sql in question.gold:
        assert await server.rows(question.database, sql)


@pytest.mark.parametrize(
    ("database", "known"),
    [
        ("flights", [("Frontier Airlines Inc.",)]),
        ("baseball", [("Mark", "McGwire")]),
        ("library", [("The Distant Bridge without End",)]),
    ],
)
async def test_known_answers(server: Server, database: str, known: Rows) -> None:
    question = next(q for q in QUESTIONS if q.database == database)
    assert answers(await server.rows(database, question.gold[0]), known)


async def test_whole_data_sets_are_there(server: Server) -> None:
    assert await server.value("flights", "SELECT count(*) FROM flights") == 336_776
    assert await server.value("flights", "SELECT count(*) FROM flights WHERE dep_time IS NULL") == 8_255
    assert await server.value("baseball", "SELECT count(*) FROM batting") == 108_789


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
