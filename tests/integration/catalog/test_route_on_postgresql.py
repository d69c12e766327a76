"""From real databases and roles to routes: introspection, store, privileges, encoder and stage together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

import asyncpg
import pytest

from engine.core.deadline import Deadline
from engine.core.ports import LanguageModel, Upstream
from engine.core.state import State
from engine.errors import NoRouteError
from engine.models.encoder import MiniLMEncoder
from engine.routing.router import HybridRouter
from engine.stages.route import route
from engine.types import Asker, AskRequest
from schema_catalog.catalog import CachedCatalog
from schema_catalog.privileges import readable_columns
from schema_catalog.refresh import ConnectSettings, refresh
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, ReadableColumns, Snapshot
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.tools import bare_tools

Ask = Callable[..., Awaitable[State]]

MUSIC = """
    CREATE TABLE singer (singer_id int PRIMARY KEY, name text, country text, age int);
    CREATE TABLE concert (concert_id int PRIMARY KEY, theme text, stadium text, year int);
    CREATE TABLE payroll (singer_id int REFERENCES singer, monthly_wage numeric);
    CREATE VIEW wages AS SELECT s.name, p.monthly_wage FROM singer s JOIN payroll p USING (singer_id);
"""
FLIGHTS = """
    CREATE TABLE airport (iata text PRIMARY KEY, city text, elevation int);
    CREATE TABLE flight (number text, origin text REFERENCES airport, destination text REFERENCES airport,
                         departure timestamptz) PARTITION BY RANGE (departure);
    CREATE TABLE flight_2024 PARTITION OF flight FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
"""


class ServersWord:
    """The part of the upstream that this stage uses: it asks the server."""

    async def readable(self, database: Database, asker: Asker, _: Snapshot | None = None) -> ReadableColumns:
        """What the server says that `role` may read."""
        connection = await asyncpg.connect(database.dsn)
        try:
            return await readable_columns(connection, asker.user)
        finally:
            await connection.close()


@pytest.fixture(scope="module")
def router() -> HybridRouter:
    return HybridRouter(MiniLMEncoder())


@pytest.fixture
async def store(make_store: MakeDatabase) -> AsyncIterator[CatalogStore]:
    database = await make_store()
    async with asyncpg.create_pool(database.dsn, min_size=1, max_size=2) as pool:
        yield CatalogStore(pool)


@pytest.fixture
def ask(store: CatalogStore, router: HybridRouter) -> Ask:
    """Routes a question of a role."""
    encoder = MiniLMEncoder()
    upstream = cast("Upstream", ServersWord())
    tools = bare_tools(CachedCatalog(store), upstream, encoder, cast("LanguageModel", None), router)

    async def go(question: str, role: str = "postgres", db: str | None = None) -> State:
        request = AskRequest(Asker(role, "postgres"), question, db=db)
        state = State(ask=request, k=3, calls=6, deadline=Deadline(at=60.0, clock=lambda: 0.0), started=0.0)
        return await route(state, tools)

    return go


async def register(store: CatalogStore, database: Database) -> None:
    await store.add(database)
    await refresh(store, database, ConnectSettings())


async def test_questions_find_their_database_in_words_that_it_does_not_hold(
    store: CatalogStore, ask: Ask, make_database: MakeDatabase
) -> None:
    music, flights = await make_database(MUSIC), await make_database(FLIGHTS)
    for database in (music, flights, await make_database("SELECT 1")):
        await register(store, database)
    state = await ask("How old is the oldest vocalist of each nation?")
    assert (state.routes[0].database.name, state.routes[0].tables[0]) == (music.name, ("public", "singer"))
    assert state.routes[0].probability > 0.8
    state = await ask("Which planes leave for Berlin?")
    assert (state.routes[0].database.name, state.routes[0].tables[0]) == (flights.name, ("public", "flight"))
    assert (await ask("Tell me a joke")).routes == ()
    assert [found.database.name for found in (await ask("Tell me a joke", db=music.name)).routes] == [
        music.name
    ]


async def test_each_role_is_routed_within_what_it_may_read(
    store: CatalogStore, ask: Ask, make_role: MakeRole, make_database: MakeDatabase
) -> None:
    clerk, stranger = await make_role(), await make_role()
    music = await make_database(
        f"{MUSIC} GRANT SELECT ON concert, wages TO {clerk}; GRANT SELECT (name) ON singer TO {clerk}"
    )
    flights = await make_database(f"{FLIGHTS} GRANT SELECT ON flight TO {clerk}")
    for database in (music, flights):
        await register(store, database)
    state = await ask("What is the monthly wage of each singer?", clerk)
    assert state.routes[0].database.name == music.name
    seen = {
        table.name: [column.name for column in table.columns] for table in state.routes[0].snapshot.tables
    }
    assert seen == {
        "concert": ["concert_id", "theme", "stadium", "year"],
        "singer": ["name"],
        "wages": ["name", "monthly_wage"],
    }
    assert state.routes[0].tables[0] == ("public", "wages")
    assert "payroll" not in f"{state.routes} {state.trace}"
    assert {
        table for _, table in (await ask("What is the monthly wage of each singer?")).routes[0].tables
    } == {
        "singer",
        "concert",
        "payroll",
        "wages",
    }
    with pytest.raises(NoRouteError) as caught:
        await ask("What is the monthly wage of each singer?", stranger)
    assert music.name not in str(caught.value.hint)


async def test_live_and_staging_come_back_together(
    store: CatalogStore, ask: Ask, make_database: MakeDatabase
) -> None:
    live, staging = await make_database(MUSIC), await make_database(MUSIC)
    for database in (live, staging):
        await register(store, database)
    state = await ask("How many concerts were there each year?")
    assert {found.database.name for found in state.routes} == {live.name, staging.name}
    assert any(line.event == "same schema" for line in state.trace)
