"""Values that a statement compares with, on a real server: written as stored, held to a list, never shown to others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.link import looking
from engine.link.source import StoredValues
from engine.link.value_reader import read_values
from engine.upstream import Databases
from engine.values.messages import Asker, AskReply, AskRequest, RowKind, Topic, TopicRequest
from engine.values.ports import Completion, Prompt
from engine.values.settings import DialogueSettings, Limits, UpstreamSettings
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from schema_catalog.values import ColumnValues, ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import allow, changed
from tests.support.generating import WITH_GRAMMARS
from tests.support.scripted import ScriptedLLM
from tests.support.statements import execute

ANA, BOB = Asker("ana", "music"), Asker("bob", "music")
STATUS = ("public", "tour", "status")
QUESTION = "stop of each tour that is in transit"
TOUR = """
CREATE TABLE tour (tour_id int PRIMARY KEY, stop text, status text);
INSERT INTO tour VALUES (1, 'Oslo', 'In Transit'), (2, 'Bern', 'Canceled by venue'), (3, 'Rome', 'Canceled by band'),
    (4, 'Lima', 'Sold out'), (5, 'Kyiv', 'It''s "on"'), (6, 'Bonn', NULL);
GRANT SELECT ON tour TO ana;
GRANT SELECT (tour_id, stop) ON tour TO bob;
"""


class WritingLLM(ScriptedLLM):
    """Also keeps the grammars that it is given."""

    written: list[str]

    async def complete(self, prompt: Prompt, *, grammar: str | None = None, **more: object) -> Completion:
        """The next line."""
        self.written.append(grammar or "")
        return await super().complete(prompt, **more)


@pytest.fixture
def model() -> WritingLLM:
    made = WritingLLM([], profile=WITH_GRAMMARS)
    made.written = []
    return made


@pytest.fixture
async def allowed(pool: Any, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Tools]:
    """The values of `tour.status` are allowed and read; a look at them may take its time on a busy machine."""
    monkeypatch.setattr(looking, "SECONDS", 30.0)
    upstream = Databases(UpstreamSettings(pool_size=2, privileges_ttl=0.0))
    database, store = (await CatalogStore(pool).get("music")).database, ValueStore(pool)
    snapshot = await changed(pool, "music", TOUR)
    await allow(pool, "music", [STATUS])
    (read,) = await read_values(database, snapshot, [STATUS], upstream, ConnectSettings())
    assert isinstance(read, ColumnValues)
    await store.keep("music", read)
    alone = replace(tools.generation, masks=False, exchanges=False, repair=False)
    yield replace(tools, upstream=upstream, values=StoredValues(store), generation=alone)
    await upstream.aclose()


@pytest.fixture
def asking(pool: Any, allowed: Tools) -> Service:
    return serving(allowed, pool, Limits(k=3, calls=1))


async def asked(service: Service, model: ScriptedLLM, where: str, asker: Asker = ANA) -> AskReply:
    model.lines[:] = [f"SELECT stop FROM tour WHERE {where}"]
    return await service.ask(AskRequest(asker, QUESTION))


async def test_a_literal_is_written_as_the_column_holds_it(asking: Service, model: WritingLLM) -> None:
    reply = await asked(asking, model, "status IN ('in-transit', 'sold out') AND status <> 'its on'")
    (row,) = reply.rows
    assert row.sql is not None
    assert row.sql.endswith("status IN ('In Transit', 'Sold out') AND status <> 'It''s \"on\"'")
    assert "reads 'in-transit' as 'In Transit'" in row.explanation
    shown = await asking.topic(TopicRequest(ANA, Topic.EXPLAIN, reply.qid, 1))
    assert any("literal_as_stored" in str(line) for line in shown.rows)


async def test_two_near_values_are_two_statements_and_a_question(
    asking: Service, model: WritingLLM, pool: Any, allowed: Tools
) -> None:
    reply = await asked(asking, model, "status = 'cancelled'")
    first, second, *_ = [row.sql or "" for row in reply.rows]
    assert {first.rpartition(" = ")[2], second.rpartition(" = ")[2]} == {
        "'Canceled by band'",
        "'Canceled by venue'",
    }
    settings = DialogueSettings(question=0.01, row=0.2, abstention=1.0)
    service = serving(replace(allowed, dialogue=settings), pool, Limits(k=3, calls=1))
    rows = (await asked(service, model, "status = 'cancelled'")).rows
    assert {row.kind for row in rows} == {RowKind.OPTION}
    said = " ".join(row.explanation for row in rows)
    assert "Canceled by band" in said
    assert "Canceled by venue" in said


async def test_the_grammar_holds_a_statement_to_a_whole_list(
    asking: Service, model: WritingLLM, server: Cluster
) -> None:
    await asked(asking, model, "status = 'In Transit'")
    assert "\"'It''s \\\"on\\\"'\"" in model.written[-1]
    await execute(server.dsn("music"), "INSERT INTO tour VALUES (7, 'Nice', 'Postponed')")
    (row,) = (await asked(asking, model, "status = 'Postponed'")).rows
    assert "In Transit" not in model.written[-1]
    assert "does not occur" not in row.explanation


async def test_who_may_not_read_a_column_sees_none_of_its_values(asking: Service, model: WritingLLM) -> None:
    reply = await asked(asking, model, "stop = 'in transit'", BOB)
    why = await asking.topic(TopicRequest(BOB, Topic.WHY, reply.qid))
    assert "Transit" not in f"{model.written} {reply.rows} {why.rows}"
    refused = await asked(asking, model, "status = 'in transit'", BOB)
    assert "In Transit" not in f"{model.written} {refused}"
