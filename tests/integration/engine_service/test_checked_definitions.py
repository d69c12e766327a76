"""What a DBA defines, checked on its database, and what questions get of it; only the model is scripted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from engine.core.tools import Tools
from engine.definitions.checking import check_pending
from pgparley.cluster import Cluster
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.introspect import introspect
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore

ALBUMS = """
CREATE TABLE album (title text, artist int, maker text, secret text);
GRANT SELECT (title, artist, maker) ON album TO ana;
INSERT INTO album VALUES ('Dawn', 1, 'm', 's');
"""
JOIN = "('music.album.artist', 'music.singer.singer_id')"


@pytest.fixture
async def music(server: Cluster, pool: Any) -> AsyncIterator[Any]:
    """The database as its owner, with albums whose singers no foreign key names."""
    connection = await asyncpg.connect(server.dsn("music"))
    await connection.execute(ALBUMS)
    await read_anew(pool, connection)
    yield connection
    await connection.close()


async def read_anew(pool: Any, connection: Any) -> None:
    store = CatalogStore(pool)
    await store.save_snapshot(await introspect(connection, (await store.get("music")).database))


async def checked(pool: Any, tools: Tools) -> list[tuple[str, str | None]]:
    """State and reason of what was to be checked."""
    found = await check_pending(pool, tools.upstream, ConnectSettings())
    return [(verdict.state.value, verdict.reason) for _, verdict in found]


async def test_a_declared_join_is_an_edge_of_the_graph_once_it_is_checked(
    pool: Any, tools: Tools, music: Any
) -> None:
    before = {database.name: each for database, each in await tools.catalog.entries()}["music"]
    await pool.execute(f"SELECT nl_catalog.declare_join{JOIN}")
    album, singer = ("public", "album"), ("public", "singer")
    assert foreign_key_graph(before).column_pairs(album, singer) == []
    assert await checked(pool, tools) == [("checked", None)]
    after = {database.name: each for database, each in await tools.catalog.entries()}["music"]
    assert foreign_key_graph(after).column_pairs(album, singer) == [("artist", "singer_id")]
    await music.execute("ALTER TABLE album RENAME COLUMN artist TO performer")
    await read_anew(pool, music)
    assert await checked(pool, tools) == [("refused", "column album.artist does not exist here")]


async def test_a_join_of_types_that_do_not_compare_is_refused_with_the_servers_words(
    pool: Any, tools: Tools, music: Any
) -> None:
    await pool.execute("SELECT nl_catalog.declare_join('music.album.maker', 'music.singer.singer_id')")
    assert await checked(pool, tools) == [("refused", "operator does not exist: text = integer")]
    assert await pool.fetchval("SELECT state FROM nl_catalog.joins") == "refused"
    assert await checked(pool, tools) == []


async def test_a_catalog_role_without_rights_to_read_checks_names_and_types(
    pool: Any, tools: Tools, music: Any, server: Cluster
) -> None:
    await pool.execute("UPDATE pgparley.database SET dsn = $1", server.dsn("music", "bob"))
    await pool.execute(f"SELECT nl_catalog.declare_join{JOIN}")
    ((state, reason),) = await checked(pool, tools)
    assert state == "checked"
    assert "permission denied" in str(reason)


async def test_what_belongs_to_a_database_that_does_not_answer_waits_with_the_reason(
    pool: Any, tools: Tools, music: Any
) -> None:
    await pool.execute(f"SELECT nl_catalog.declare_join{JOIN}")
    dsn = await pool.fetchval("SELECT dsn FROM pgparley.database WHERE name = 'music'")
    await pool.execute(
        "UPDATE pgparley.database SET dsn = 'postgresql://127.0.0.1:1/music' WHERE name = 'music'"
    )
    assert await checked(pool, tools) == []
    state, reason = await pool.fetchrow("SELECT state, reason FROM nl_catalog.joins")
    assert state == "unchecked"
    assert reason.startswith("not checked: cannot connect")
    await pool.execute("UPDATE pgparley.database SET dsn = $1 WHERE name = 'music'", dsn)
    assert await checked(pool, tools) == [("checked", None)]
