"""A scripted model is asked about real schemas before anybody asks: by command, and by itself while nobody asks."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from engine.app.service import Service
from engine.values.errors import BusyError, InvalidSettingError, ModelAwayError, ModelUnavailableError
from engine.values.messages import Asker, AskRequest, Topic, TopicRequest
from engine.values.model_settings import ModelSettings, Price
from engine.values.ports import Prompt
from engine.values.settings import Ahead, CatalogSettings
from engine.values.suggestions import AskAheadRequest
from engine.values.tools import Tools
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.made_store import Made, MadeStore
from tests.integration.engine_service.conftest import ahead_of
from tests.support.allowed_values import changed, keep

ANA = Asker("ana", "music")
SINGER = ("public", "singer")
SAID = "? who is on stage tonight\n? what do we pay\nsinger = artist, performer\nsinger.salary = pay, wage\n"
HOSTED = ModelSettings(base_url="https://models.example/v1", model="strong", price=Price(1.0, 2.0))


@pytest.fixture(autouse=True)
def says(model: Any) -> None:
    model.lines[:] = [SAID]


async def made(pool: Any) -> list[str]:
    return [row[0] for row in await pool.fetch("SELECT question FROM nl_catalog.made_questions ORDER BY id")]


async def test_the_model_is_asked_about_each_database_once_also_by_an_engine_that_was_killed(
    tools: Tools, pool: Any, model: Any
) -> None:
    for prompts in (1, 2, 2, 2):
        # Another engine each time, which knows what is kept alone.
        await ahead_of(tools, pool).step()
        assert len(model.prompts) == prompts
    assert [('"copy"' in each.user, '"music"' in each.user) for each in model.prompts] == [(1, 0), (0, 1)]
    entries = {database.name: snapshot for database, snapshot in await tools.catalog.entries()}
    music = entries["music"]
    assert [each.question for each in music.made_questions] == ["who is on stage tonight", "what do we pay"]
    assert {each.tables for each in music.made_questions} == {(SINGER,)}
    (singer,) = music.tables
    assert singer.proposed_synonyms == ("artist", "performer")
    assert [each.proposed_synonyms for each in singer.columns if each.name == "salary"] == [("pay", "wage")]
    assert await pool.fetchval("SELECT DISTINCT written_by FROM nl_catalog.made_questions") == "scripted"


async def test_only_what_has_changed_is_asked_about_anew(tools: Tools, pool: Any, model: Any) -> None:
    ahead = ahead_of(tools, pool)
    for _ in range(4):
        await ahead.step()
    model.prompts.clear()
    await pool.execute("SELECT nl_catalog.add_synonym('music.singer', 'vocalist')")
    await ahead.step()
    assert model.prompts == []
    await changed(pool, "music", "ALTER TABLE singer ADD shoe_size int")
    model.lines[:] = ["? whose feet are large"]
    for _ in range(3):
        await ahead.step()
    assert [each.user.count("shoe_size") for each in model.prompts] == [2]
    # What was made of the other database stays.
    assert await made(pool) == ["who is on stage tonight", "what do we pay", "whose feet are large"]


@pytest.mark.parametrize(
    "settings",
    [
        CatalogSettings(),
        CatalogSettings(ask_ahead=Ahead.OWN, ask_ahead_tokens=0),
        CatalogSettings(ask_ahead=Ahead.OWN, ask_ahead_seconds=0.0),
    ],
)
async def test_nothing_is_asked_unless_it_is_wanted_and_there_is_a_budget(
    tools: Tools, pool: Any, model: Any, settings: CatalogSettings
) -> None:
    await ahead_of(tools, pool, settings).step()
    assert model.prompts == []


async def test_the_budget_of_a_day_ends_it(tools: Tools, pool: Any, model: Any) -> None:
    # A scripted prompt takes two tokens. An engine that was started anew knows of them, and another one.
    settings = CatalogSettings(ask_ahead=Ahead.OWN, ask_ahead_tokens=2)
    for _ in range(3):
        await ahead_of(tools, pool, settings).step()
    assert len(model.prompts) == 1
    await pool.execute("UPDATE pgparley.asked_ahead SET day = day - 1")
    await ahead_of(tools, pool, settings).step()
    assert len(model.prompts) == 2


async def test_a_paid_service_is_asked_by_itself_only_where_that_is_said(
    tools: Tools, pool: Any, model: Any
) -> None:
    await ahead_of(tools, pool, model=HOSTED).step()
    assert model.prompts == []
    with_own = replace(HOSTED, fallback=(ModelSettings(base_url="http://10.0.0.2", local=True),))
    await ahead_of(tools, pool, model=with_own).step()
    assert [each.local for each in model.prompts] == [True]
    anyone = CatalogSettings(ask_ahead=Ahead.ANY)
    await ahead_of(tools, pool, anyone, HOSTED).step()
    assert [each.local for each in model.prompts] == [True, False]


async def test_a_local_database_goes_to_no_paid_service(tools: Tools, pool: Any, model: Any) -> None:
    for name in ("copy", "music"):
        await pool.execute("SELECT nl_catalog.set_local($1, true)", name)
    ahead = ahead_of(tools, pool, CatalogSettings(ask_ahead=Ahead.ANY), HOSTED)
    await ahead.step()
    assert model.prompts == []
    await ahead.ask(AskAheadRequest("music"))
    # The model's client refuses it: tests/unit/engine/llm.
    assert model.prompts[0].local


class Hanging:
    """A model that answers when it is let, and says what became of its call."""

    def __init__(self, model: Any) -> None:
        self.profile = model.profile
        self.asked, self.ended = asyncio.Event(), ""

    async def complete(self, *_: object, **__: object) -> Any:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise


class Failing:
    """A model that is away at first, and then refuses."""

    def __init__(self, model: Any) -> None:
        self.profile = model.profile
        self.calls: list[type[ModelUnavailableError]] = []

    async def complete(self, *_: object, **__: object) -> Any:
        problem = (ModelAwayError, ModelUnavailableError)[min(len(self.calls), 1)]
        self.calls.append(problem)
        raise problem("no")


async def test_a_question_goes_before(tools: Tools, pool: Any, model: Any) -> None:
    hanging: Any = Hanging(model)
    await ahead_of(tools, pool, idle=lambda: False).step()
    assert model.prompts == []
    await ahead_of(replace(tools, model=hanging), pool, idle=lambda: not hanging.asked.is_set()).step()
    assert hanging.ended == "cancelled"
    assert await pool.fetch("SELECT FROM pgparley.made_set") == []


async def test_no_connection_of_the_store_waits_for_the_model(tools: Tools, pool: Any, model: Any) -> None:
    hanging: Any = Hanging(model)
    asked = asyncio.create_task(
        ahead_of(replace(tools, model=hanging), pool).ask(AskAheadRequest("music")), name="asked"
    )
    await hanging.asked.wait()
    assert pool.get_idle_size() == pool.get_size()
    with pytest.raises(BusyError):
        await ahead_of(tools, pool).ask(AskAheadRequest("music"))
    asked.cancel()
    await asyncio.wait({asked})
    assert (await ahead_of(tools, pool).ask(AskAheadRequest("music"))).questions


class Refusing:
    """A model that refuses its first prompt, and is away for local databases."""

    def __init__(self, model: Any) -> None:
        self.profile, self._model = model.profile, model
        self.refused: list[str] = []

    async def complete(self, prompt: Prompt, **options: Any) -> Any:
        if prompt.local:
            raise ModelAwayError("no")
        if not self.refused:
            self.refused.append(prompt.user)
            raise ModelUnavailableError("no")
        return await self._model.complete(prompt, **options)


async def test_what_the_model_refuses_holds_up_nothing(tools: Tools, pool: Any, model: Any) -> None:
    await changed(pool, "music", "CREATE TABLE fee (label text)")
    refusing: Any = Refusing(model)
    ahead = ahead_of(replace(tools, model=refusing), pool, model=HOSTED)
    with pytest.raises(ModelUnavailableError):
        await ahead.ask(AskAheadRequest("music"))
    assert [(await ahead.ask(AskAheadRequest("music"))).left for _ in range(2)] == [1, 0]
    assert [each.user for each in model.prompts][1:] == refusing.refused


async def test_a_service_that_is_away_holds_up_no_other(tools: Tools, pool: Any, model: Any) -> None:
    await pool.execute("SELECT nl_catalog.set_local('copy', true)")
    refusing: Any = Refusing(model)
    refusing.refused.append("")
    both = replace(HOSTED, fallback=(ModelSettings(base_url="http://10.0.0.2", local=True),))
    ahead = ahead_of(replace(tools, model=refusing), pool, CatalogSettings(ask_ahead=Ahead.ANY), both)
    await ahead.step()
    assert ['"music"' in each.user for each in model.prompts] == [True]


async def test_what_is_cancelled_counts_for_the_budget(tools: Tools, pool: Any, model: Any) -> None:
    hanging: Any = Hanging(model)
    settings = CatalogSettings(ask_ahead=Ahead.OWN, ask_ahead_tokens=100)
    other = replace(tools, model=hanging)
    ahead = ahead_of(other, pool, settings, idle=lambda: not hanging.asked.is_set())
    await ahead.step()
    hanging.asked.clear()
    await ahead.step()
    assert not hanging.asked.is_set()


async def test_a_model_that_refuses_is_not_asked_again_and_one_that_is_away_is(
    tools: Tools, pool: Any, model: Any
) -> None:
    failing: Any = Failing(model)
    ahead = ahead_of(replace(tools, model=failing), pool)
    with pytest.raises(ModelAwayError):
        await ahead.step()
    for _ in range(4):
        await ahead.step()
    assert failing.calls == [ModelAwayError, ModelUnavailableError, ModelUnavailableError]


async def test_nothing_that_a_prompt_may_not_hold_is_in_this_one(
    tools: Tools, pool: Any, owner: Any, model: Any
) -> None:
    await changed(pool, "music", "CREATE TABLE fee (label text)", "ALTER TABLE fee ENABLE ROW LEVEL SECURITY")
    for column, held in (("name", "Joe"), ("stage_name", "Jay"), ("family_name", "Ash")):
        await keep(pool, "music", (*SINGER, column), held)
    await keep(pool, "music", ("public", "fee", "label"), "Secret")
    await pool.execute(
        "SELECT nl_catalog.set_attribute('music.singer.stage_name', 'sensitivity', 'sensitive'),"
        " nl_catalog.set_attribute('music.singer.salary', 'sensitivity', 'masked'),"
        " nl_catalog.hide('music.singer.family_name')"
    )
    ahead = ahead_of(tools, pool)
    while (await ahead.ask(AskAheadRequest("music"))).left:
        pass
    seen = "".join(each.system + each.user for each in model.prompts)
    assert "singer.name: 'Joe'" in seen
    assert "fee" in seen
    for never in ("Jay", "Ash", "family_name", "salary", "Secret"):
        assert never not in seen


async def test_an_estimate_asks_nothing_and_tells_the_cost(tools: Tools, pool: Any, model: Any) -> None:
    ahead = ahead_of(tools, pool, model=HOSTED)
    told = await ahead.ask(AskAheadRequest("music", estimate=True))
    assert (told.left, told.model, told.own, told.unreached) == (1, "strong", False, 0)
    assert 300 < told.tokens < 1500
    assert told.tokens * 1e-6 < told.money < told.tokens * 2e-6
    assert model.prompts == []
    with pytest.raises(InvalidSettingError, match="not registered") as problem:
        await ahead.ask(AskAheadRequest("nowhere"))
    assert problem.value.hint


async def test_who_may_not_read_all_of_it_is_not_shown_what_was_made(service: Service, pool: Any) -> None:
    async def helped(user: str) -> str:
        rows = (await service.topic(TopicRequest(replace(ANA, user=user), Topic.HELP))).rows
        return "\n".join(str(command) for command, _ in rows)

    for column in ("name", "salary"):
        table = (*SINGER, column)
        await MadeStore(pool).keep(
            "music", Made((SINGER,), (table,), (f"about {column}",), {}), "f", "a model"
        )
        # The one of names alone is ana's to read.
        assert ("about name" in await helped("ana")) is (column == "name")
        assert f"about {column}" in await helped("postgres")
    reply = await service.ask(AskRequest(replace(ANA, user="postgres"), "what can I ask here?"))
    assert "about salary" in str(reply.rows[0].explanation)


async def test_the_command_tells_before_and_after_and_writes_seeds(
    api: str, pool: Any, server: Cluster, tmp_path: Path
) -> None:
    app = catalog_app(lambda: server.dsn("store"), engine=lambda: api)

    async def run(*arguments: str) -> tuple[int, str]:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["questions", *arguments])
        return result.exit_code, result.output

    file = tmp_path / "seeds.yaml"
    status, output = await run("music", "--seeds", str(file))
    assert status == 1
    assert "no question was made of music" in output
    status, output = await run("music")
    assert status == 0
    assert "music: 1 prompts to scripted, at most about" in output
    assert "public.singer: 4 words, 0 prompts left" in output
    assert "  ? who is on stage tonight" in output
    assert "2 questions and 4 words; 2 tokens." in output
    assert await run("music") == (0, "music: nothing to ask; its schema has not changed since.\n")
    assert (await run("music", "--seeds", str(file)))[0] == 0
    assert yaml.safe_load(file.read_text())[1] == {
        "question": "what do we pay",
        "database": "music",
        "sql": "",
    }
