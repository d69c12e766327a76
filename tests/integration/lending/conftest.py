"""A gateway with a real engine behind it: real server, catalog, store and service; only the models are scripted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
from aiohttp import web

from engine.app.asking_ahead import AskingAhead
from engine.app.console_views import ConsoleViews
from engine.app.endpoints import EngineAPI
from engine.app.evaluating import Evaluating, Trials
from engine.app.metrics import Metrics
from engine.app.question_store import Questions
from engine.app.service import Service
from engine.app.suggesting import Suggesting
from engine.judge.calibrating import Calibrating
from engine.judge.point_store import CalibrationStore
from engine.learn.feedback import Learner
from engine.learn.store import LearningStore
from engine.route.router import HybridRouter
from engine.upstream import Databases
from engine.values.model_settings import ModelSettings
from engine.values.settings import (
    CatalogSettings,
    DialogueSettings,
    GenerationSettings,
    LearningSettings,
    Limits,
    SelectionSettings,
    Strategy,
    UpstreamSettings,
)
from pgparley.cluster import Cluster
from schema_catalog.catalog import CachedCatalog
from schema_catalog.identity import read_identity
from schema_catalog.introspect import introspect
from schema_catalog.migrate import migrate
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database
from tests.support.scripted import ScriptedLLM, WordEncoder
from tests.support.tools import bare_tools
from tests.wire_fixtures import Gateway, LoopThread, loop_thread, start_gateway, wire_cluster

__all__ = ["loop_thread", "start_gateway", "wire_cluster"]

MUSIC = """
CREATE TABLE singer (singer_id int PRIMARY KEY, name text, stage_name text, age int);
INSERT INTO singer VALUES (1, 'Joe', 'J', 52), (2, 'Ann', 'A', 32);
GRANT SELECT ON singer TO ana, bob;
CREATE TABLE secret (word text);
INSERT INTO secret VALUES ('the word of bob');
GRANT SELECT ON secret TO bob;
CREATE SCHEMA ana AUTHORIZATION ana;
SET ROLE ana;
CREATE FUNCTION ana.slow() RETURNS text IMMUTABLE LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_sleep(15); RETURN 'slow'; END $$;
CREATE VIEW ana.sleepy AS SELECT ana.slow() AS name;
RESET ROLE;
"""


@dataclass(frozen=True)
class House:
    """The gateway and the engine behind it; `model` says what the engine's candidates are."""

    gateway: Gateway
    cluster: Cluster
    model: ScriptedLLM
    service: Service
    upstream: Databases
    pool: Pool
    engine: Path

    def connect(self, user: str = "ana", dbname: str = "music", **more: Any) -> psycopg.Connection[Any]:
        """A session through the gateway."""
        return psycopg.connect(self.gateway.dsn(user, dbname), **{"autocommit": True, **more})

    def admin(self, dbname: str = "music") -> psycopg.Connection[Any]:
        """A superuser's session past the gateway."""
        return psycopg.connect(self.cluster.dsn(dbname), autocommit=True)


async def register(name: str, tables: str, cluster: Cluster, store: CatalogStore) -> None:
    """Fills a new database and tells the catalog of it."""
    connection: Connection = await asyncpg.connect(cluster.dsn(name))
    await connection.execute(tables)
    identity = await read_identity(connection)
    database = Database(name, cluster.dsn(name, "catalog"), name, ("public",), identity=identity)
    await store.add(database)
    await store.save_snapshot(await introspect(connection, database))
    await connection.close()


async def _service(cluster: Cluster, model: ScriptedLLM) -> tuple[Service, Databases, Pool]:
    pool: Pool = await asyncpg.create_pool(cluster.dsn("store"), min_size=1, max_size=3)
    async with pool.acquire() as connection:
        await migrate(connection)
    store = CatalogStore(pool)
    for name, tables in (("music", MUSIC), ("pets", "CREATE TABLE pets (id int)")):
        await register(name, tables, cluster, store)
    upstream = Databases(UpstreamSettings(pool_size=2))
    encoder: Any = WordEncoder()
    catalog = CachedCatalog(store)
    searching = GenerationSettings(strategy=Strategy.SEARCH)
    shown = DialogueSettings(questions=0, abstention=1.0)
    tools = bare_tools(
        catalog, upstream, encoder, model, HybridRouter(encoder), dialogue=shown, generation=searching
    )
    learner = Learner(tools, LearningStore(pool, LearningSettings()))
    service = Service(tools, Questions(pool), Limits(k=2, calls=3, timeout=20), learner=learner)
    return service, upstream, pool


async def _listening(service: Service, pool: Pool, path: Path) -> web.AppRunner:
    nothing: Any = None
    points = CalibrationStore(pool, "recipe")
    calibrating = Calibrating(points, SelectionSettings(), Limits())
    views = ConsoleViews(pool, ModelSettings(), asyncio.Event(), calibrating, lambda: 0)
    app = EngineAPI(
        service,
        Metrics(),
        asyncio.Event(),
        views,
        calibrating,
        Evaluating(bare_tools(), Limits(), Trials(pool, nothing), points),
        Suggesting(nothing, nothing, pool),
        AskingAhead(nothing, nothing, pool, nothing, ModelSettings(), CatalogSettings(), lambda: False),
    ).application()
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.UnixSite(runner, str(path)).start()
    return runner


@pytest.fixture(scope="session")
def house(
    wire_cluster: Cluster,
    loop_thread: LoopThread,
    start_gateway: Callable[..., Gateway],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[House]:
    """Roles ana and bob, who read different things of `music`; nobody has a login anywhere."""
    with psycopg.connect(wire_cluster.dsn(), autocommit=True) as admin:
        for role in ("ana", "bob", "catalog"):
            admin.execute(f"CREATE ROLE {role} LOGIN")
        for name in ("store", "music", "pets"):
            admin.execute(f"CREATE DATABASE {name}")
    model = ScriptedLLM(["SELECT name FROM singer"])
    service, upstream, pool = loop_thread.run(_service(wire_cluster, model))
    folder = tmp_path_factory.mktemp("house")
    folder.chmod(0o700)
    runner = loop_thread.run(_listening(service, pool, folder / "engine.sock"))
    gateway = start_gateway(str(folder / "engine.sock"), runtime_dir=str(folder), loan_grace=1.0)
    yield House(gateway, wire_cluster, model, service, upstream, pool, folder / "engine.sock")
    loop_thread.run(runner.cleanup())
    loop_thread.run(upstream.aclose())
    loop_thread.run(pool.close())


@pytest.fixture(autouse=True)
def _lines(house: House) -> None:
    """Each test begins with the same script."""
    house.model.lines[:] = ["SELECT name FROM singer"]
