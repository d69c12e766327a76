"""What a DBA hides reaches no question, and a question over two databases is never answered from one in silence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.link.source import StoredValues
from engine.values.errors import NoRouteError
from engine.values.messages import Asker, AskRequest, ChooseRequest, RowKind, Topic, TopicRequest
from engine.values.model_profile import ModelProfile
from engine.values.ports import Completion, Prompt
from engine.values.settings import Limits
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.values import ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed, keep
from tests.support.generating import WITH_GRAMMARS
from tests.support.scripted import ScriptedLLM
from tests.support.statements import execute, fetch

ANA = Asker("ana", "music")

FAMILY = ("public", "singer", "family_name")


@dataclass
class GrammarLLM(ScriptedLLM):
    """Remembers the grammars that it was given, too."""

    profile: ModelProfile = WITH_GRAMMARS
    given: list[str] = field(default_factory=list)

    async def complete(self, prompt: Prompt, **options: object) -> Completion:
        """The next line."""
        self.given.append(str(options.get("grammar")))
        return await super().complete(prompt)


@pytest.fixture
async def model(pool: Any) -> GrammarLLM:
    """Values of the family names are allowed."""
    await keep(pool, "music", FAMILY, "Birk")
    return GrammarLLM(["SELECT age FROM singer"])


@pytest.fixture
def asking(pool: Any, tools: Tools) -> Service:
    return serving(replace(tools, values=StoredValues(ValueStore(pool))), pool, Limits(k=1, calls=6))


async def everything(service: Service, question: str) -> str:
    """The answer, its trace and its prompts."""
    reply = await service.ask(AskRequest(ANA, question))
    topics = [await service.topic(TopicRequest(ANA, topic, reply.qid)) for topic in (Topic.PROMPT, Topic.WHY)]
    return f"{reply} {[each.rows for each in topics]}"


async def test_a_hidden_column_is_nowhere(
    asking: Service, model: GrammarLLM, pool: Any, server: Cluster
) -> None:
    before = await everything(asking, "age of the singer Birk")
    assert "family_name" in before
    assert "= 'Birk'" in before
    assert "family_name" in model.given[0]
    model.prompts.clear()
    model.given.clear()
    model.lines = ["SELECT * FROM singer", "SELECT name FROM singer"]
    await pool.execute("SELECT nl_catalog.hide('music.singer.family_name')")
    after = await everything(asking, "age of the singer Birk")
    assert "SELECT name FROM singer" in after
    assert "named one by one" in after
    for text in (after, *map(str, model.prompts), *model.given):
        assert "family" not in text
        # The asker's own word may stand there, no condition on a value.
        assert "= 'Birk'" not in text
    theirs = await fetch(server.dsn("music", "ana"), "SELECT family_name FROM singer WHERE age = 32")
    assert theirs == [("Birk",)]


async def test_a_hidden_database_is_answered_as_one_that_is_not_there(asking: Service, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.hide('music')")
    problems = []
    for name in (None, "music", "nowhere"):
        with pytest.raises(NoRouteError) as caught:
            await asking.ask(AskRequest(ANA, "names of all singers", db=name))
        problems.append((caught.value.message, caught.value.detail, caught.value.hint))
    assert len(set(problems)) == 1
    assert "music" not in str(problems[0])


BOTH = AskRequest(ANA, "How many singers and pets are there?")


@pytest.fixture
async def asked(pool: Any, tools: Tools, server: Cluster) -> Service:
    """Of the other database, too, ana may read something."""
    await execute(server.dsn("copy"), "INSERT INTO pets VALUES (1), (2), (3); GRANT SELECT ON pets TO ana")
    model: Any = ScriptedLLM(["SELECT count(*) FROM singer", "SELECT count(*) FROM pets"])
    return serving(replace(tools, model=model), pool)


async def test_each_part_is_answered_by_its_own_database(asked: Service) -> None:
    reply = await asked.ask(BOTH)
    assert [row.kind for row in reply.rows] == [RowKind.CANDIDATE] * 2
    assert {row.database: row.sql for row in reply.rows} == {
        "music": "SELECT count(*) FROM singer",
        "copy": "SELECT count(*) FROM pets",
    }
    assert "a statement reads one database" in reply.rows[0].explanation
    (pets,) = (row for row in reply.rows if row.database == "copy")
    assert "“How many pets are there?”" in pets.explanation
    assert (await asked.choose(ChooseRequest(ANA, reply.qid, pets.n))).rows == (("3",),)
    assert reply.members == 2, "NL RUN runs none of them unread"


async def test_what_belongs_together_is_not_parted(asked: Service) -> None:
    (row,) = (await asked.ask(replace(BOTH, question="List the singers and their pets"))).rows
    assert (row.kind, row.sql) == (RowKind.ABSTAIN, None)
    assert "“singer” is only in music" in row.explanation
    assert "“pet” is only in copy" in row.explanation


async def test_a_foreign_table_is_a_table(pool: Any, asked: Service) -> None:
    await changed(pool, "music", "CREATE TABLE pets (id int); GRANT SELECT ON pets TO ana")
    reply = await asked.ask(BOTH)
    assert "a statement reads one database" not in " ".join(row.explanation for row in reply.rows)
