"""What a DBA defines, checked on its database, and what questions get of it; only the model is scripted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from engine.api.service import Service
from engine.core.tools import Tools
from engine.definitions.checking import check_pending
from engine.types import Asker, AskRequest, Topic, TopicRequest
from pgparley.cluster import Cluster
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.introspect import introspect
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")

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


async def define(pool: Any, term: str, definition: str) -> None:
    await pool.execute("SELECT nl_catalog.define_term('music', $1, $2, 'as \"we\" say')", term, definition)


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("singer.age > 50", None),
        ("count(*) FILTER (WHERE singer.age > 50)", None),
        ("singer.singer_id IN (SELECT artist FROM album)", None),
        ("singer.ages > 50", "column singer.ages does not exist here"),
        ("singer.age > 'x'", 'invalid input syntax for type integer: "x"'),
        ("singer.age > 50; DELETE FROM singer", "it is no SQL expression"),
        ("singer.age > random()", "not allowed: it calls a volatile function"),
        ("pg_sleep(singer.age) IS NULL", "not allowed: function pg_sleep is not on the list"),
        ("lo_unlink(singer.age::oid) > 0", "not allowed: function lo_unlink is not on the list"),
    ],
)
async def test_a_term_is_taken_where_the_guard_and_the_server_take_it(
    pool: Any, tools: Tools, music: Any, definition: str, reason: str | None
) -> None:
    await define(pool, "veteran", definition)
    ((state, why),) = await checked(pool, tools)
    assert state == ("refused" if reason else "checked")
    assert (why or "").startswith(reason or "")
    entries = {database.name: each for database, each in await tools.catalog.entries()}
    assert bool(entries["music"].terms) is not bool(reason)


async def test_a_term_reaches_the_prompt_the_statement_and_the_words_of_the_answer(
    pool: Any, tools: Tools, service: Service, model: ScriptedLLM
) -> None:
    await define(pool, "veteran", "singer.age > 50")
    await checked(pool, tools)
    model.lines = [
        "SELECT name FROM singer",
        "SELECT name FROM singer WHERE age > 50",
        "SELECT age FROM singer",
    ]
    reply = await service.ask(AskRequest(ANA, "names of all veterans"))
    assert reply.rows[0].sql == model.lines[1]
    assert "veteran: singer.age > 50" in reply.rows[0].explanation
    first, second = (prompt.user for prompt in model.prompts[:2])
    assert first.index("### Schema") < first.index('"veteran": singer.age > 50  ("as \'we\' say")')
    assert "veteran means singer.age > 50, which the statement does not say" in second
    assert ("link", "term veteran") in {(line.stage, line.event) for line in reply.trace}
    model.prompts.clear()
    other = await service.ask(AskRequest(ANA, "names of all singers"))
    assert all("veteran" not in prompt.user for prompt in model.prompts)
    assert all("veteran" not in row.explanation for row in other.rows)


async def test_a_term_over_what_the_asker_may_not_read_is_nowhere(
    pool: Any, tools: Tools, service: Service, model: ScriptedLLM
) -> None:
    await define(pool, "rich", "singer.salary > 1000")
    await define(pool, "veteran", "singer.age > 50")
    assert await checked(pool, tools) == [("checked", None)] * 2
    await pool.execute("SELECT nl_catalog.hide('music.singer.age')")
    reply = await service.ask(AskRequest(ANA, "names of all rich veterans"))
    why = await service.topic(TopicRequest(ANA, Topic.WHY, reply.qid))
    for text in (str(reply), str(why.rows), *map(str, model.prompts)):
        assert "salary" not in text
        assert "> 50" not in text
        assert "term " not in text
