"""What a DBA defines, checked on its database, and what questions get of it; only the model is scripted."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.app.checking import check_pending, watch
from engine.app.service import Service
from engine.learn.store import LearningStore
from engine.values.background import Background
from engine.values.messages import Asker, AskRequest, ChooseRequest, RowKind, Topic, TopicRequest
from engine.values.settings import LearningSettings
from engine.values.tools import Tools
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.refresh import ConnectSettings, refresh
from schema_catalog.store import CatalogStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed
from tests.support.scripted import ScriptedLLM
from tests.support.waiting import until

ANA = Asker("ana", "music")

ALBUMS = """
CREATE TABLE album (title text, artist int, maker text, secret text);
GRANT SELECT (title, artist, maker) ON album TO ana;
INSERT INTO album VALUES ('Dawn', 1, 'm', 's');
"""
JOIN = "('music.album.artist', 'music.singer.singer_id')"


@pytest.fixture
async def music(owner: Any, pool: Any) -> Any:
    """The database as its owner, with albums whose singers no foreign key names."""
    await changed(pool, "music", ALBUMS)
    return owner


async def checked(pool: Any, tools: Tools) -> list[tuple[str, str | None]]:
    """State and reason of what was to be checked."""
    found = await check_pending(pool, tools.upstream)
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
    await changed(pool, "music", "ALTER TABLE album RENAME COLUMN artist TO performer")
    assert await checked(pool, tools) == [("refused", "column album.artist does not exist here")]


async def test_a_definition_is_not_planned_so_that_the_catalogs_role_needs_no_right_and_types_are_not_looked_at(
    pool: Any, tools: Tools, music: Any, server: Cluster
) -> None:
    await pool.execute("UPDATE pgparley.database SET dsn = $1", server.dsn("music", "bob"))
    await pool.execute("SELECT nl_catalog.declare_join('music.album.maker', 'music.singer.singer_id')")
    async with music.transaction():
        await music.execute("LOCK TABLE album, singer")
        assert await checked(pool, tools) == [("checked", None)]


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
    assert reason == "not checked: database music does not answer"
    await pool.execute("UPDATE pgparley.database SET dsn = $1 WHERE name = 'music'", dsn)
    assert await checked(pool, tools) == [("checked", None)]


async def define(pool: Any, term: str, definition: str) -> None:
    await pool.execute("SELECT nl_catalog.define_term('music', $1, $2, 'as \"we\" say')", term, definition)


VETERANS = [
    ("singer.age > 50", None),
    ("singer.age > 'x'", None),
    ("singer.singer_id IN (SELECT artist FROM album)", None),
    ("singer.ages > 50", "column singer.ages does not exist here"),
    ("singer.age > random()", "not allowed: it calls a volatile function"),
]


async def test_a_term_is_taken_where_the_guard_takes_it_and_its_names_exist(
    pool: Any, tools: Tools, music: Any
) -> None:
    for definition, reason in VETERANS:
        await define(pool, "veteran", definition)
        ((state, why),) = await checked(pool, tools)
        assert state == ("refused" if reason else "checked"), definition
        assert (why or "").startswith(reason or "")
        entries = {database.name: each for database, each in await tools.catalog.entries()}
        assert bool(entries["music"].terms) is not bool(reason), definition


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


@pytest.fixture
def remembering(pool: Any, tools: Tools) -> Service:
    return serving(replace(tools, memory=LearningStore(pool, LearningSettings())), pool)


async def verify(pool: Any, question: str, sql: str) -> None:
    await pool.execute("SELECT nl_catalog.verify('music', $1, $2)", question, sql)


async def test_a_verified_query_answers_its_question_first_and_is_an_example_for_others(
    pool: Any, tools: Tools, remembering: Service, model: ScriptedLLM
) -> None:
    sql = "SELECT stage_name FROM singer"
    await verify(pool, "Name of each singer?", sql)
    assert (await remembering.ask(AskRequest(ANA, "name of each singer"))).rows[0].kind is RowKind.CANDIDATE
    assert await checked(pool, tools) == [("checked", None)]
    first = (await remembering.ask(AskRequest(ANA, "name of EACH singer"))).rows[0]
    assert (first.kind, first.sql, first.confidence) == (RowKind.VERIFIED, sql, None)
    assert "verified as the answer to this question" in first.explanation
    model.prompts.clear()
    await remembering.ask(AskRequest(ANA, "name of each old singer"))
    assert f'"Name of each singer?"\n{sql}' in model.prompts[0].user
    await pool.execute("SELECT nl_catalog.revoke('music', 'name of each singer')")
    model.prompts.clear()
    assert (await remembering.ask(AskRequest(ANA, "name of each singer"))).rows[0].kind is RowKind.CANDIDATE
    assert sql not in model.prompts[0].user


async def test_a_verified_query_over_what_the_asker_may_not_read_is_nowhere(
    pool: Any, tools: Tools, remembering: Service, model: ScriptedLLM
) -> None:
    await verify(pool, "pay of each singer", "SELECT salary FROM singer")
    await verify(pool, "age of each singer", "SELECT age FROM singer")
    assert await checked(pool, tools) == [("checked", None)] * 2
    await pool.execute("SELECT nl_catalog.hide('music.singer.age')")
    for question in ("pay of each singer", "age of each singer", "each singer"):
        reply = await remembering.ask(AskRequest(ANA, question))
        why = await remembering.topic(TopicRequest(ANA, Topic.WHY, reply.qid))
        assert all(row.kind is not RowKind.VERIFIED for row in reply.rows)
        for text in (str(reply.rows), str(why.rows), *(prompt.user for prompt in model.prompts)):
            assert "salary" not in text
            assert "SELECT age" not in text


async def test_a_verified_query_that_the_database_refuses_is_out_of_use_with_the_reason(
    pool: Any, tools: Tools, remembering: Service
) -> None:
    for sql, reason in (
        ("SELECT nme FROM singer", "column nme does not exist"),
        ("SELECT 1", "it reads no table"),
    ):
        await verify(pool, "name of each singer", sql)
        await checked(pool, tools)
        state, why = await pool.fetchrow("SELECT state, reason FROM nl_catalog.verified_queries")
        assert (state, why.startswith(reason)) == ("refused", True), why
        rows = (await remembering.ask(AskRequest(ANA, "name of each singer"))).rows
        assert all(row.kind is RowKind.CANDIDATE for row in rows)


async def test_a_verified_query_that_only_the_server_refuses_is_shown_to_nobody(
    pool: Any, tools: Tools, remembering: Service
) -> None:
    await verify(pool, "name of each singer", "SELECT name FROM singer WHERE age = 'x'")
    assert await checked(pool, tools) == [("checked", None)]
    rows = (await remembering.ask(AskRequest(ANA, "name of each singer"))).rows
    assert rows
    assert all(row.kind is RowKind.CANDIDATE for row in rows)


async def test_a_refresh_quarantines_what_the_schema_broke_and_takes_it_back_when_it_is_mended(
    pool: Any, tools: Tools, music: Any, server: Cluster
) -> None:
    await verify(pool, "each title", "SELECT title FROM album")
    await define(pool, "titled", "album.title <> ''")
    assert await checked(pool, tools) == [("checked", None)] * 2
    app = catalog_app(lambda: server.dsn("store"))
    for change, told in (("title TO name", 2), ("name TO title", 0)):
        await music.execute(f"ALTER TABLE album RENAME COLUMN {change}")
        outcome = await asyncio.to_thread(CliRunner().invoke, app, ["refresh", "music"])
        assert outcome.exit_code == 0
        assert outcome.output.count("is refused: column") == told
        states = await pool.fetch(
            "SELECT state FROM nl_catalog.terms UNION ALL SELECT state FROM nl_catalog.verified_queries"
        )
        assert {row[0] for row in states} == {"refused" if told else "checked"}


async def test_the_engine_checks_what_is_defined_while_it_runs(pool: Any, tools: Tools) -> None:
    watching = asyncio.create_task(watch(pool, tools.upstream, Background()), name="definitions")
    try:
        await define(pool, "veteran", "singer.age > 50")
        await until(lambda: pool.fetchval("SELECT state = 'checked' FROM nl_catalog.terms"), 30)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_definitions_of_a_renamed_column_are_refused_with_its_old_name(
    pool: Any, tools: Tools, music: Any
) -> None:
    store = CatalogStore(pool)
    await refresh(store, (await store.get("music")).database, ConnectSettings())
    await pool.execute("SELECT nl_catalog.define_term('music', 'made', 'album.maker IS NOT NULL')")
    await pool.execute("SELECT nl_catalog.verify('music', 'who?', 'SELECT maker FROM album')")
    await checked(pool, tools)
    await music.execute("ALTER TABLE album RENAME COLUMN maker TO label")
    await refresh(store, (await store.get("music")).database, ConnectSettings())
    assert {state for state, _ in await checked(pool, tools)} == {"refused"}
    await pool.execute("SELECT nl_catalog.accept_rename(id) FROM nl_catalog.drift WHERE state = 'proposed'")
    assert await checked(pool, tools) == []
    found = await pool.fetch(
        "SELECT state, reason FROM nl_catalog.terms UNION ALL SELECT state, reason FROM nl_catalog.verified_queries"
    )
    assert all(state == "refused" and "maker" in reason for state, reason in found)


async def test_a_verified_query_with_parameters_answers_what_fills_them_in(
    pool: Any, tools: Tools, remembering: Service, model: ScriptedLLM, music: Any
) -> None:
    verify = "SELECT nl_catalog.verify('music', 'stage names of {singer: text} above {age: int}', $1)"
    sql = "SELECT stage_name FROM singer WHERE name = {singer} AND age > {age}"
    await pool.execute(verify, "SELECT {singer} || name FROM singer")
    assert await checked(pool, tools) == [("refused", "the parameter age stands nowhere in it as a value")]
    await pool.execute(verify, sql)
    assert await checked(pool, tools) == [("checked", None)]
    reply = await remembering.ask(AskRequest(ANA, "What are the stage names of Joe above 30?"))
    (row,) = reply.rows
    assert (row.kind, row.confidence) == (RowKind.VERIFIED, None)
    assert "filled in: singer Joe, age 30" in row.explanation
    assert (model.prompts, reply.usage.calls) == ([], 0)
    assert (await remembering.choose(ChooseRequest(ANA, reply.qid, 1))).rows == (("J",),)
    other = await remembering.ask(AskRequest(ANA, "What are the family names of Joe above 30?"))
    assert other.rows[0].kind is not RowKind.VERIFIED
    assert "{singer" not in str(model.prompts), "it is no example: it holds no values"
