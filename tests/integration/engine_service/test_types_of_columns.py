"""What a strong model writes about arrays, ranges, JSON, instants and networks stands as it was written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from benchmarks.quality.models.recorded import answering_with, reply
from engine.app.question_store import Questions
from engine.app.service import Service
from engine.values.messages import Asker, AskRequest
from engine.values.settings import Limits
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.introspect import introspect
from schema_catalog.logins import make_login
from schema_catalog.store import CatalogStore
from schema_catalog.types import EVERYONE, Database

GOLDEN = Path(__file__).parents[2] / "golden" / "types"
WRITTEN = re.findall(r"^-- (.+)\n(.+);$", (GOLDEN / "written.sql").read_text("utf-8"), re.MULTILINE)


@pytest.fixture
async def house(pool: Any, server: Cluster) -> None:
    """The golden schema in `copy`, of which the catalog knows."""
    connection = await asyncpg.connect(server.dsn("copy"))
    await connection.execute((GOLDEN / "schema.sql").read_text("utf-8"))
    await connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana")
    database = Database("copy", server.dsn("copy"), "copy", ("public",))
    database = replace(database, logins=(make_login(database, EVERYONE),))
    await CatalogStore(pool).save_snapshot(await introspect(connection, database))
    await connection.close()


@pytest.mark.usefixtures("house")
async def test_what_is_right_stands_as_it_was_written(tools: Tools, pool: Any) -> None:
    first: dict[str, str | None] = {}
    said: dict[str, str] = {}
    async with answering_with(tools, said) as strong:
        service = Service(strong, Questions(pool, 600.0), Limits(k=3))
        for question, sql in WRITTEN:
            said[question] = reply(("", sql))
            answer = await service.ask(AskRequest(Asker("ana", "copy"), question, db="copy"))
            first[sql] = answer.rows[0].sql
    assert len(first) == len(WRITTEN) > 40
    assert first == {sql: sql for sql in first}
