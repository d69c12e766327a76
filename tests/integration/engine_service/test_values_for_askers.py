"""Values, keys of JSON and days on their way to a question: they help who may read them, and nobody else sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.findings.admit import admit
from engine.link import missing_values
from engine.link.missing_values import held_words
from engine.link.source import StoredValues
from engine.link.value_reader import read_values
from engine.upstream import Databases
from engine.values.candidate import Candidate
from engine.values.elements import UnknownPhrase
from engine.values.messages import Asker, AskRequest, Topic, TopicRequest
from engine.values.settings import Limits, UpstreamSettings
from engine.values.state import Route
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from schema_catalog.values import ColumnValues, ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import allow, changed, deny, keep
from tests.support.asking import asked
from tests.support.statements import execute

ANA = Asker("ana", "music")

QUESTION = "age of the singer with family name birk"

FAMILY = ("public", "singer", "family_name")

SALARY = ("public", "singer", "salary")


@pytest.fixture
async def upstream() -> AsyncIterator[Databases]:
    made = Databases(UpstreamSettings(pool_size=2, privileges_ttl=0.0))
    yield made
    await made.aclose()


@pytest.fixture
async def values(pool: Any, upstream: Databases) -> StoredValues:
    """The values of `family_name` and of `salary`, which ana may not read, are allowed and read."""
    store = ValueStore(pool)
    catalog = CatalogStore(pool)
    database = (await catalog.get("music")).database
    snapshot = await catalog.newest("music")
    assert snapshot is not None
    await allow(pool, "music", [FAMILY, SALARY])
    for read in await read_values(database, snapshot, [FAMILY, SALARY], upstream, ConnectSettings()):
        assert isinstance(read, ColumnValues)
        await store.keep("music", read)
    await keep(pool, "music", SALARY, "birk")
    return StoredValues(store)


@pytest.fixture
def asking(pool: Any, tools: Tools, upstream: Databases, values: StoredValues) -> Service:
    allowed = replace(tools, upstream=upstream, values=values)
    return serving(allowed, pool, Limits(k=2, calls=2))


async def everything(service: Service, asker: Asker) -> str:
    """The trace and the prompts of a question."""
    reply = await service.ask(AskRequest(asker, QUESTION))
    shown = await service.topic(TopicRequest(asker, Topic.PROMPT, reply.qid))
    why = await service.topic(TopicRequest(asker, Topic.WHY, reply.qid))
    return f"{shown.rows} {why.rows}"


async def test_a_value_is_shown_behind_the_schema_and_in_the_trace(asking: Service, model: Any) -> None:
    text = await everything(asking, ANA)
    assert "music: singer.family_name = 'Birk'" in text
    prompt = model.prompts[0].user
    assert prompt.index("### Schema") < prompt.index("### Values") < prompt.index("### Question")
    assert "singer.family_name = 'Birk'\n\n### Question" in prompt


async def test_a_value_that_the_asker_may_not_read_is_nowhere(asking: Service) -> None:
    text = await everything(asking, ANA)
    assert "salary" not in text
    assert "'birk'" not in text


async def test_row_level_security_ends_it_at_once(asking: Service, server: Cluster) -> None:
    await execute(
        server.dsn("music"),
        "ALTER TABLE singer ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON singer USING (true)",
    )
    assert "Birk" not in await everything(asking, ANA)


async def test_a_revoked_column_gives_no_value(asking: Service, server: Cluster) -> None:
    await execute(server.dsn("music"), "REVOKE SELECT (family_name) ON singer FROM ana")
    assert "Birk" not in await everything(asking, ANA)


async def test_a_permission_taken_back_counts_at_the_next_question(asking: Service, pool: Any) -> None:
    assert "Birk" in await everything(asking, ANA)
    await deny(pool, "music", FAMILY)
    assert "Birk" not in await everything(asking, ANA)


async def test_new_values_are_seen_at_the_next_question(
    asking: Service, pool: Any, values: StoredValues
) -> None:
    assert await values.index("music") is await values.index("music")
    await keep(pool, "music", FAMILY, "BIRK")
    assert "singer.family_name = 'BIRK'" in await everything(asking, ANA)


async def test_memory_is_bounded(pool: Any, values: StoredValues) -> None:
    few = StoredValues(ValueStore(pool), kept=1)
    index = await few.index("music")
    assert (len(index), index.complete) == (1, (False,))
    await keep(pool, "copy", ("public", "pets", "id"), "7")
    assert len(await few.index("copy")) == 1
    assert await few.index("music") is not index


async def test_a_store_that_fails_costs_the_values_alone(asking: Service, pool: Any) -> None:
    await pool.execute("ALTER TABLE pgparley.value_column RENAME TO elsewhere")
    text = await everything(asking, ANA)
    assert "no values" in text
    assert "SELECT name FROM singer" in text


async def test_a_column_with_texts_that_are_not_kept_has_more(
    pool: Any, server: Cluster, upstream: Databases
) -> None:
    catalog = CatalogStore(pool)
    database, snapshot = (await catalog.get("music")).database, await catalog.newest("music")
    assert snapshot is not None

    async def read() -> ColumnValues:
        (found,) = await read_values(database, snapshot, [FAMILY], upstream, ConnectSettings())
        assert isinstance(found, ColumnValues)
        return found

    await execute(
        server.dsn("music"), "INSERT INTO singer (singer_id, family_name) VALUES (3, ''), (4, NULL)"
    )
    assert await read() == ColumnValues(FAMILY, ("Ash", "Birk"), counts=(1, 1))
    await execute(
        server.dsn("music"), "INSERT INTO singer (singer_id, family_name) VALUES (5, repeat('long', 30))"
    )
    assert await read() == ColumnValues(FAMILY, ("Ash", "Birk"), more=True, counts=(1, 1))


SQL = """
CREATE TABLE report (report_id int PRIMARY KEY, payload jsonb, due text, place text);
INSERT INTO report VALUES (1, '{"heat": 3, "door": {"open": true}}', '28.05.2026', 'Upper Gravel'),
    (2, '{"heat": 4.5, "note": "x"}', '01.06.2026', 'Sand'), (3, '[1]', NULL, NULL);
GRANT SELECT ON report TO ana;
"""


async def test_what_columns_hold_is_read_and_used(
    pool: Any, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A look may take its time on a busy machine.
    monkeypatch.setattr(missing_values, "CASE_SECONDS", 30.0)
    upstream = Databases(UpstreamSettings(pool_size=2, privileges_ttl=0.0))
    database, store = (await CatalogStore(pool).get("music")).database, ValueStore(pool)
    snapshot = await changed(pool, "music", SQL)
    allowed = [
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if table.name == "report" and column.name != "place" and column.type in {"text", "json", "jsonb"}
    ]
    await allow(pool, "music", allowed)
    for read in await read_values(database, snapshot, allowed, upstream, ConnectSettings()):
        assert isinstance(read, ColumnValues)
        await store.keep("music", read)
    route = Route(database, snapshot, 1.0, (("public", "report"),))
    values = StoredValues(store)
    found = {each.column[2]: each.expressions for each in await values.contents(route, upstream)}
    assert found == {
        "payload": ("({}->>'heat')::numeric", "({}->'door'->>'open')::boolean", "{}->>'note'"),
        "due": ("to_date({}, 'DD.MM.YYYY')",),
    }
    # Keys are no values of the column.
    assert [each.column[2] for each in await values.lists(route, upstream)] == ["due"]
    await _looked_for(route, replace(tools, upstream=upstream, values=values))


async def _looked_for(route: Route, tools: Tools) -> None:
    """Nobody allowed the values of `place`: the database is asked."""
    words = (UnknownPhrase("sand", None, 0.1), UnknownPhrase("clay", None, 0.1))
    state = asked("reports of sand", route)
    left = await held_words(words, route, state, tools)
    assert [(each.text, len(each.looked)) for each in left] == [("clay", 2)]
    candidate = Candidate("music", "SELECT report_id FROM report WHERE place = 'upper gravel'")
    state = replace(state, candidates=(candidate,))
    done = await admit(state, tools)
    (only,) = done.candidates
    assert only.missing == ()
    result = await tools.upstream.run(route.database, state.ask.asker, only.sql, 5, state.deadline)
    assert result.rows == (("1",),)
