"""Keys of JSON and days in texts, from a real database to the expressions of a question; looks in any case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.findings.admit import admit
from engine.link import missing_values
from engine.link.missing_values import held_words
from engine.link.source import StoredValues
from engine.link.value_reader import read_values
from engine.upstream.databases import Databases
from engine.values.candidate import Candidate
from engine.values.elements import UnknownPhrase
from engine.values.settings import UpstreamSettings
from engine.values.state import Route
from engine.values.tools import Tools
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from schema_catalog.values import ColumnValues, ValueStore
from tests.support.allowed_values import allow, changed
from tests.support.asking import asked

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
