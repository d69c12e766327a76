"""The demo's catalog: what is registered, and that the analyst's statements can log in there."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from rich.console import Console

from pgparley.check.finding import Outcome
from pgparley.check.store import check_store
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.demo import run
from pgparley.demo.prepare import ANALYST, STORE, prepare
from pgparley.demo.run import configure, register
from pgparley.demo.site import Site
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE
from schema_catalog.logins import login_for
from schema_catalog.store import CatalogStore, Entry
from schema_catalog.values import ValueStore
from tests.conftest import Postgres
from tests.support.parts import pgparley
from tests.support.statements import execute

CHOSEN = """
WITH kept AS (
    INSERT INTO pgparley.learned_example (asker, database, question, normal_form, sql, kind, qid)
    VALUES ('analyst', 'tiny', 'how many?', 'how many', 'SELECT 1', 'chosen', 'q') RETURNING id
)
INSERT INTO pgparley.learned_vote SELECT id, 'many', '{public,t,a}', '{public,t,*}', 1 FROM kept
"""


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
