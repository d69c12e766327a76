"""Suggested descriptions and synonyms: written by a scripted model, kept in a real store, decided on by SQL."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from engine.app.question_store import Questions
from engine.app.suggesting import Suggesting
from engine.values.errors import InvalidSettingError
from engine.values.suggestions import SuggestReply, SuggestRequest
from engine.values.tools import Tools
from pgparley.catalog_commands import catalog_app
from schema_catalog.store import CatalogStore
from schema_catalog.types import SuggestionKind
from tests.support.allowed_values import keep
from tests.support.page_site import save
from tests.support.statements import refused

SINGER = ("public", "singer")
ANSWER = "table singer: people who sing | vocalists\nage: years since birth | years\nsalary: what they earn | pay, wage"


@pytest.fixture
def suggesting(tools: Tools, model: Any, pool: Any) -> Suggesting:
    model.lines[:] = [ANSWER]
    return Suggesting(tools.catalog, model, pool)


async def listed(pool: Any) -> list[tuple[Any, ...]]:
    rows = await pool.fetch("SELECT element, kind, suggestion, state FROM nl_catalog.suggestions ORDER BY id")
    return [tuple(row) for row in rows]


async def waiting(pool: Any, text: str) -> int:
    return int(await pool.fetchval("SELECT id FROM nl_catalog.suggestions WHERE suggestion = $1", text))


async def test_what_is_suggested_waits_and_counts_for_nothing(
    suggesting: Suggesting, tools: Tools, pool: Any
) -> None:
    version = await CatalogStore(pool).version()
    reply = await suggesting.suggest(SuggestRequest("music"))
    assert (reply.table, reply.left) == (SINGER, 0)
    assert [(each.kind, each.text) for each in reply.suggestions[:2]] == [
        (SuggestionKind.DESCRIPTION, "people who sing"),
        (SuggestionKind.SYNONYM, "vocalists"),
    ]
    assert len(await listed(pool)) == len(reply.suggestions) == 7
    assert {state for *_, state in await listed(pool)} == {"proposed"}
    assert await CatalogStore(pool).version() == version
    assert await pool.fetch("SELECT FROM pgparley.knowledge") == []
    assert await suggesting.suggest(SuggestRequest("music", SINGER)) == SuggestReply()


async def test_what_was_suggested_is_not_asked_for_again(suggesting: Suggesting, model: Any) -> None:
    await suggesting.suggest(SuggestRequest("music"))
    model.prompts.clear()
    reply = await suggesting.suggest(SuggestRequest("music", table="singer"))
    assert reply.suggestions == ()
    names = model.prompts[0].user.partition("### Names\n")[2]
    assert names == "name\nstage_name\nfamily_name\n### Lines"


async def test_only_what_questions_came_near_to_can_be_asked_for(
    suggesting: Suggesting, model: Any, pool: Any
) -> None:
    request = SuggestRequest("music", missed=True)
    assert await suggesting.suggest(request) == SuggestReply()
    await save(Questions(pool), "q1", "Whose wage?", "music", word="wage", nearest="singer.salary")
    reply = await suggesting.suggest(request)
    assert {each.element for each in reply.suggestions} == {(*SINGER, "salary")}
    assert model.prompts[0].user.partition("### Names\n")[2] == "salary\n### Lines"


async def test_nothing_hidden_and_no_value_of_what_is_sensitive_reaches_the_model(
    suggesting: Suggesting, model: Any, pool: Any
) -> None:
    for column, held in (("name", "Joe"), ("stage_name", "Jay"), ("family_name", "Ash")):
        await keep(pool, "music", (*SINGER, column), held)
    await pool.execute(
        "SELECT nl_catalog.set_attribute('music.singer.stage_name', 'sensitivity', 'sensitive')"
    )
    await pool.execute("SELECT nl_catalog.hide('music.singer.family_name')")
    await suggesting.suggest(SuggestRequest("music"))
    seen = "".join(prompt.system + prompt.user for prompt in model.prompts)
    assert "name: 'Joe'" in seen
    for never in ("Jay", "Ash", "family_name"):
        assert never not in seen


async def test_what_is_not_there(suggesting: Suggesting) -> None:
    for request, told in (
        (SuggestRequest("nowhere"), "not registered"),
        (SuggestRequest("music", table="nothing"), "is no table"),
    ):
        with pytest.raises(InvalidSettingError, match=told) as problem:
            await suggesting.suggest(request)
        assert problem.value.hint


async def test_accepting_says_it_and_declining_puts_it_away(suggesting: Suggesting, pool: Any) -> None:
    await suggesting.suggest(SuggestRequest("music"))
    for text in ("people who sing", "vocalists"):
        await pool.execute("SELECT nl_catalog.accept_suggestion($1)", await waiting(pool, text))
    await pool.execute("SELECT nl_catalog.decline_suggestion($1)", await waiting(pool, "pay"))
    rows = await pool.fetch("SELECT element, description, synonyms FROM nl_catalog.said")
    assert [tuple(row) for row in rows] == [("music.public.singer", "people who sing", ["vocalists"])]
    assert len(await pool.fetch("SELECT FROM nl_catalog.history")) == 2
    by = await pool.fetch("SELECT state, decided_by FROM nl_catalog.suggestions WHERE decided_at IS NOT NULL")
    assert {tuple(row) for row in by} == {("accepted", "postgres"), ("declined", "postgres")}
    for call in ("accept_suggestion", "decline_suggestion"):
        again = pool.execute(f"SELECT nl_catalog.{call}($1)", await waiting(pool, "pay"))
        await refused(again, asyncpg.ObjectNotInPrerequisiteStateError)
    await pool.execute("SELECT nl_catalog.describe('music.singer.age', 'in years')")
    with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError, match="has a description by now"):
        await pool.execute(
            "SELECT nl_catalog.accept_suggestion($1)", await waiting(pool, "years since birth")
        )
    with pytest.raises(asyncpg.UndefinedObjectError):
        await pool.execute("SELECT nl_catalog.accept_suggestion(0)")


async def test_only_admins_and_stewards_of_the_database_see_and_decide(
    suggesting: Suggesting, pool: Any
) -> None:
    await suggesting.suggest(SuggestRequest("music"))
    number = await waiting(pool, "vocalists")
    call = f"SELECT nl_catalog.accept_suggestion({number})"
    await pool.execute("GRANT nl_steward TO ana")
    async with pool.acquire() as connection:
        await connection.execute("SET ROLE bob")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(call)
        await connection.execute("RESET ROLE; SET ROLE ana")
        assert await connection.fetch("SELECT FROM nl_catalog.suggestions") == []
        with pytest.raises(asyncpg.UndefinedObjectError):
            await connection.execute(call)
        await connection.execute("RESET ROLE; SELECT nl_catalog.grant_database('music', 'ana'); SET ROLE ana")
        await connection.execute(call)
        await connection.execute("RESET ROLE")
    by = await pool.fetchval("SELECT decided_by FROM nl_catalog.suggestions WHERE state = 'accepted'")
    assert by == "ana"


async def test_the_command_goes_from_table_to_table(api: str, model: Any) -> None:
    model.lines[:] = [ANSWER]
    app = catalog_app(lambda: "", engine=lambda: api)

    async def run(*arguments: str) -> tuple[int, str]:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["suggest", *arguments])
        return result.exit_code, result.output

    status, output = await run("music")
    assert status == 0
    assert "public.singer: 7 suggestions, 0 tables left" in output
    assert "  ? public.singer.age description: years since birth" in output
    assert "7 suggestions. Decline what is wrong and accept the rest" in output
    assert "SELECT nl_catalog.accept_suggestions('music');" in output
    model.lines[:] = ["nothing that can be read"]
    assert await run("music") == (0, "public.singer: 0 suggestions, 0 tables left\nNothing to suggest.\n")
    status, output = await run("nowhere")
    assert status == 1
    assert "not registered" in output
