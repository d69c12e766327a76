"""The demo's catalog: what is registered, and that the analyst's statements can log in there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg

from pgparley import cluster
from pgparley.cluster import Cluster
from pgparley.demo.prepare import ANALYST
from pgparley.demo.run import STORE, configure, register
from pgparley.demo.site import Site
from schema_catalog.logins import login_for
from schema_catalog.store import CatalogStore, Entry
from tests.support.statements import execute


async def entries(running: Cluster) -> tuple[Entry, ...]:
    async with asyncpg.create_pool(running.dsn(STORE), min_size=1, max_size=1) as pool:
        return await CatalogStore(pool).list()


async def test_registered_databases_let_the_analyst_in_the_second_time_too(tmp_path: Path) -> None:
    running = await asyncio.to_thread(cluster.start, tmp_path / "pg")
    try:
        await execute(running.dsn(), "CREATE DATABASE tiny", f"CREATE ROLE {ANALYST} LOGIN")
        await execute(running.dsn("tiny"), "CREATE TABLE t (a text)", f"GRANT SELECT ON t TO {ANALYST}")
        site = Site(tmp_path, running, 6432)
        await configure(site)
        assert site.config.stat().st_mode & 0o777 == 0o600
        for _ in range(2):
            await register(site, (("tiny", running.dsn("tiny")),))
        (entry,) = await entries(running)
        dsn = login_for(entry.database, ANALYST)
        assert dsn is not None
        connection = await asyncpg.connect(dsn)
        try:
            seen = await connection.fetchrow("SELECT session_user::text, (SELECT count(*) FROM t)")
        finally:
            await connection.close()
        assert tuple(seen or ()) == (ANALYST, 0)
    finally:
        await asyncio.to_thread(cluster.stop, running)
