"""The engine's service over a real server, catalog and store; only the language model is scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
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
from engine.route.router import HybridRouter
from engine.upstream import Databases
from engine.values.model_settings import ModelSettings
from engine.values.settings import (
    Ahead,
    CatalogSettings,
    DialogueSettings,
    GenerationSettings,
    Limits,
    SelectionSettings,
    Strategy,
    UpstreamSettings,
)
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.catalog import CachedCatalog
from schema_catalog.logins import make_login
from schema_catalog.migrate import migrate
from schema_catalog.quotas import QuotaStore
from schema_catalog.store import CatalogStore
from schema_catalog.types import EVERYONE, Database
from tests.conftest import COPY, Postgres
from tests.support.allowed_values import changed
from tests.support.scripted import ScriptedLLM, WordEncoder
from tests.support.statements import connected, execute_now
from tests.support.tools import bare_tools

MUSIC = """
CREATE TABLE singer (singer_id int PRIMARY KEY, name text, stage_name text, family_name text, age int, salary int);
INSERT INTO singer VALUES (1, 'Joe', 'J', 'Ash', 52, 1), (2, 'Ann', 'A', 'Birk', 32, 2);
GRANT SELECT (singer_id, name, stage_name, family_name, age) ON singer TO ana;
"""
"""Three columns are what "name" may mean: masking one leaves another, so that there are several statements."""


NAMES = ("store", "music", "copy")


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> Iterator[Cluster]:
    """With two roles, and templates of a store and of `music` and `copy`, which are registered in it."""
    with postgres("service") as running:
        execute_now(running.dsn(), "CREATE ROLE ana LOGIN", "CREATE ROLE bob LOGIN")
        execute_now(running.dsn(), *(f"CREATE DATABASE {name}" for name in NAMES))
        asyncio.run(_fill(running))
        execute_now(running.dsn(), *(f"ALTER DATABASE {name} RENAME TO {name}_template" for name in NAMES))
        yield running


async def _fill(server: Cluster) -> None:
    async with asyncpg.create_pool(server.dsn("store"), min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            await migrate(connection)
        for name, tables in (("music", MUSIC), ("copy", "CREATE TABLE pets (id int)")):
            database = Database(name, server.dsn(name), name, ("public",))
            await CatalogStore(pool).add(replace(database, logins=(make_login(database, EVERYONE),)))
            await changed(pool, name, tables)


@pytest.fixture
async def pool(server: Cluster) -> AsyncIterator[Any]:
    """The store; the databases `music` and `copy` are registered in it."""
    admin = await asyncpg.connect(server.dsn())
    for name in NAMES:
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE {name}_template {COPY}")
    async with asyncpg.create_pool(server.dsn("store"), min_size=1, max_size=3) as made:
        yield made
    for name in NAMES:
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


@pytest.fixture
async def owner(server: Cluster, pool: Any) -> AsyncIterator[Any]:
    """A connection to `music` as its owner."""
    async with connected(server.dsn("music")) as connection:
        yield connection


@pytest.fixture
def model() -> ScriptedLLM:
    return ScriptedLLM([f"SELECT {column} FROM singer" for column in ("name", "stage_name", "family_name")])


@pytest.fixture
async def tools(pool: Any, model: ScriptedLLM) -> AsyncIterator[Tools]:
    """Without questions back, which `test_dialogue` is about."""
    upstream = Databases(UpstreamSettings(pool_size=2))
    encoder: Any = WordEncoder()
    yield bare_tools(
        catalog=CachedCatalog(CatalogStore(pool)),
        upstream=upstream,
        encoder=encoder,
        model=model,
        router=HybridRouter(encoder),
        dialogue=DialogueSettings(questions=0, abstention=1.0),
        generation=GenerationSettings(strategy=Strategy.SEARCH),
    )
    await upstream.aclose()


LIMITS = Limits(k=2, calls=4)


def serving(tools: Tools, pool: Any, limits: Limits = LIMITS, **more: Any) -> Service:
    """A service that keeps its questions for ten minutes."""
    return Service(tools, Questions(pool), limits, **more)


@pytest.fixture
def service(pool: Any, tools: Tools) -> Service:
    return serving(tools, pool)


BY_ITSELF = CatalogSettings(ask_ahead=Ahead.OWN)
OWN = ModelSettings(model="scripted", local=True)


def ahead_of(
    tools: Tools,
    pool: Any,
    settings: CatalogSettings = BY_ITSELF,
    model: ModelSettings = OWN,
    idle: Callable[[], bool] = lambda: True,
) -> AskingAhead:
    """By itself with a model of the operator's own, which nobody's question waits for."""
    return AskingAhead(tools.catalog, tools.model, pool, tools.upstream, model, settings, idle)


@pytest.fixture
async def api(
    service: Service, tools: Tools, pool: Any, points: CalibrationStore, tmp_path: Path
) -> AsyncIterator[str]:
    """The socket where the service and what the commands ask answer."""
    ready, calibrating = asyncio.Event(), Calibrating(points, tools.selection, LIMITS)
    console = ConsoleViews(pool, ModelSettings(), ready, calibrating, lambda: 0)
    evaluating = Evaluating(tools, LIMITS, Trials(pool, tools.upstream), points)
    suggesting = Suggesting(tools.catalog, tools.model, pool)
    interface = EngineAPI(
        service, Metrics(), ready, console, calibrating, evaluating, suggesting, ahead_of(tools, pool)
    )
    runner = web.AppRunner(interface.application())
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "e.sock")).start()
    yield str(tmp_path / "e.sock")
    await runner.cleanup()


@pytest.fixture
def points(pool: Any) -> CalibrationStore:
    return CalibrationStore(pool, "recipe")


@pytest.fixture
def selecting(tools: Tools, points: CalibrationStore) -> Tools:
    return replace(tools, calibration=points, selection=SelectionSettings(audit=0.0))


@pytest.fixture
def calibrating(selecting: Tools, points: CalibrationStore) -> Calibrating:
    return Calibrating(points, selecting.selection, LIMITS)


@pytest.fixture
def learning(selecting: Tools, points: CalibrationStore, pool: Any) -> Service:
    """The service whose choices are kept."""
    return serving(selecting, pool, points=points)


@pytest.fixture
def engines(pool: Any, tools: Tools) -> tuple[Service, Service]:
    """Two engines over one store."""

    def made() -> Service:
        return serving(tools, pool, Limits(k=2, calls=4, concurrent=20), quotas=QuotaStore(pool))

    return made(), made()


@pytest.fixture
def groups(server: Cluster, pool: Any) -> Iterator[None]:
    """Ana is one of the analysts, who are some of the staff."""
    execute_now(
        server.dsn(), "CREATE ROLE staff", "CREATE ROLE analysts IN ROLE staff", "GRANT analysts TO ana"
    )
    yield
    execute_now(server.dsn(), "DROP ROLE analysts, staff")
