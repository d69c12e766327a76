"""Where the benchmark runs: an embedded PostgreSQL with the data loaded, a relay to a model server, the engine's tools.

Owns PostgreSQL, the relay to the model server and the tools, which are those that the engine process builds for
itself, over a store of their own. The model server is `model_server`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from benchmarks.harness.model import Meter, metering
from benchmarks.harness.questions import CATALOGUED, Asked, Views, catalogued
from benchmarks.harness.systems import READER, Place, Task
from engine.app import main as engine_process
from engine.link.contents import JSON_TYPES
from engine.link.value_reader import SAME_FOR_ALL, refresh_values, text_columns
from engine.llm.client import ChatModel
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.ports import Upstream
from engine.values.settings import EngineSettings, SelectionSettings, UpstreamSettings
from engine.values.tools import Tools
from pgparley import cluster
from pgparley.cluster import Cluster
from schema_catalog.introspect import introspect
from schema_catalog.logins import make_login
from schema_catalog.pg import Connection, Pool
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore, DuplicateNameError
from schema_catalog.types import Database, Snapshot
from schema_catalog.values import ValueStore

DATA, STORE = "bench", "store"
"""The databases of the benchmark's data and of the engine's state."""

_PRIVILEGES_TTL = 86_400.0
"""Nothing is granted while the benchmark runs."""


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that a pass needs. `pool`: the store of the engine. `plain`: the same model without grammars."""

    cluster: Cluster
    pool: Pool
    tools: Tools
    plain: ChatModel
    meter: Meter
    places: dict[str, Place]

    @property
    def dsn(self) -> str:
        """Of the benchmark's data, as the superuser."""
        return self.cluster.dsn(DATA)

    async def task(self, asked: Asked) -> Task:
        """A question made ready: an AmbiQT question gets its schema, and a catalog that holds nothing else."""
        question = asked.question
        if asked.views is None:
            place = None if question.database is None else self.places[question.database]
            return Task(question, place, self.tools)
        place = Place(self._database(asked.views.snapshot.database), asked.views.snapshot)
        await self._create(asked.views)
        await _allow_values(self.pool, self.tools.upstream, place)
        return Task(question, place, replace(self.tools, catalog=OneDatabase(place)))

    def _database(self, schema: str) -> Database:
        return named(self.cluster, schema)

    async def _create(self, views: Views) -> None:
        async with _connected(self.dsn) as connection:
            found = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)"
            if not await connection.fetchval(found, views.snapshot.database):
                await connection.execute(views.ddl)


@dataclass(frozen=True, slots=True)
class OneDatabase:
    """`engine.values.ports.Catalog` of one database."""

    place: Place

    async def entries(self) -> tuple[tuple[Database, Snapshot], ...]:
        """That one."""
        return ((self.place.database, self.place.snapshot),)


@asynccontextmanager
async def site(work: Path, bench: Path, kinds: Sequence[str] = CATALOGUED) -> AsyncIterator[Site]:
    """The site of the benchmark's data, which PostgreSQL keeps in `work`; everything stops at the end.

    `kinds`: of which folders of `bench`.
    """

    async def fill(running: Cluster) -> tuple[Database, ...]:
        await prepared(running, DATA)
        await asyncio.to_thread(load, running, bench, kinds)
        return tuple(named(running, name) for name in catalogued(bench, kinds))

    async with serving(work, fill) as place:
        yield place


Fill = Callable[[Cluster], Awaitable[Sequence[Database]]]
"""Loads data into a server, and says which databases a catalog of it holds."""


@asynccontextmanager
async def serving(work: Path, fill: Fill) -> AsyncIterator[Site]:
    """A site of the databases that `fill` names; everything stops at the end."""
    running = await asyncio.to_thread(cluster.start, work / "postgres")
    try:
        databases = await fill(running)
        await prepared(running, STORE)
        async with metering() as meter:
            settings = ModelSettings(base_url=meter.url, grammar=GrammarSupport.EMBEDDED)
            engine = EngineSettings(
                socket=work / "engine.sock",
                store_dsn=running.dsn(STORE),
                vectors=work / "vectors.sqlite",
                model=settings,
                # Sets are measured before selection, which is measured by itself.
                selection=SelectionSettings(base=False),
                upstream=UpstreamSettings(privileges_ttl=_PRIVILEGES_TTL),
            )
            plain = ChatModel(replace(settings, grammar=GrammarSupport.NONE), meter.url)
            async with engine_process.tools(engine) as (tools, _, pool):
                await _register(pool, tools.upstream, databases)
                entries = await tools.catalog.entries()
                places = {database.name: Place(database, snapshot) for database, snapshot in entries}
                yield Site(running, pool, tools, plain, meter, places)
            await plain.aclose()
    finally:
        await asyncio.to_thread(cluster.stop, running)


def named(running: Cluster, schema: str) -> Database:
    """The benchmark's database of that name, a schema on the server."""
    return readable(Database(schema, running.dsn(DATA), DATA, (schema,), (schema,)))


def readable(database: Database) -> Database:
    """The database with a login for the role that asks."""
    return replace(database, logins=(make_login(database, READER),))


async def prepared(running: Cluster, name: str) -> None:
    """Makes a database, and the role that asks, where they are missing."""
    async with _connected(running.dsn()) as connection:
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name):
            await connection.execute(f"CREATE DATABASE {name}")
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", READER):
            await connection.execute(f"CREATE ROLE {READER} LOGIN; GRANT pg_read_all_data TO {READER}")


async def forget_store(running: Cluster) -> None:
    """The catalog holds schemas and values of what was loaded before."""
    async with _connected(running.dsn()) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {STORE}")


def load(running: Cluster, bench: Path, kinds: Sequence[str] = CATALOGUED) -> None:
    """Loads what is not there yet, and Defog anew each day: its rows are dated from the day of loading."""
    loader = [sys.executable, str(bench / "load.py"), "--dsn", running.dsn(DATA)]
    for what in kinds:
        _checked([*loader, "--what", what])
    if asyncio.run(_stale(running)):
        _checked([*loader, "--what", "defog", "--force"])


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"loading the benchmark failed: {done.stderr.strip()}")


async def _stale(running: Cluster) -> bool:
    old = (
        "SELECT EXISTS (SELECT FROM bench_meta.loaded WHERE name LIKE 'defog/%' AND loaded_at < current_date)"
    )
    async with _connected(running.dsn(DATA)) as connection:
        return bool(await connection.fetchval(old))


async def _register(pool: Pool, upstream: Upstream, databases: Sequence[Database]) -> None:
    """Registers what is not yet."""
    store = CatalogStore(pool)
    known = {entry.database.name for entry in await store.list() if entry.snapshot_id is not None}
    for database in databases:
        if database.name not in known:
            async with _connected(database.dsn) as connection:
                snapshot = await introspect(connection, database)
            await _allow_values(pool, upstream, Place(database, snapshot))
            # The last, so that what was cut off before it is done again.
            await store.save_snapshot(snapshot)
        # A store of an earlier version holds databases without logins.
        for login in database.logins:
            await store.add_login(database.name, login)


async def _allow_values(pool: Pool, upstream: Upstream, place: Place) -> None:
    """The values of all columns of text, and the keys of JSON, may be used, as a DBA allows; read once."""
    database = place.database
    read = "SELECT EXISTS (SELECT FROM pgparley.value_column WHERE database = $1 AND read_at IS NOT NULL)"
    if await pool.fetchval(read, database.name):
        return
    with contextlib.suppress(DuplicateNameError):
        await CatalogStore(pool).add(database)
    json = [
        (*table.key, column.name)
        for table, column in place.snapshot.columns()
        if table.kind in SAME_FOR_ALL and column.type in JSON_TYPES
    ]
    await pool.executemany(
        'INSERT INTO pgparley.value_column (database, schema, "table", "column")'
        " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        [(database.name, *key) for key in (*text_columns(place.snapshot), *json)],
    )
    await refresh_values(ValueStore(pool), database, place.snapshot, upstream, ConnectSettings())


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(dsn, statement_cache_size=0)
    try:
        yield connection
    finally:
        await connection.close()
