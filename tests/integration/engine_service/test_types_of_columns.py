"""What a strong model writes about arrays, ranges, JSON, instants and networks stands as it was written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.quality.models.recorded import answering_with, reply
from engine.values.messages import Asker, AskRequest
from engine.values.settings import Limits
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed

GOLDEN = Path(__file__).parents[2] / "golden" / "types"
WRITTEN = re.findall(r"^-- (.+)\n(.+);$", (GOLDEN / "written.sql").read_text("utf-8"), re.MULTILINE)


async def test_what_is_right_stands_as_it_was_written(tools: Tools, pool: Any) -> None:
    schema = (GOLDEN / "schema.sql").read_text("utf-8")
    await changed(pool, "copy", schema, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana")
    first: dict[str, str | None] = {}
    said: dict[str, str] = {}
    async with answering_with(tools, said) as strong:
        service = serving(strong, pool, Limits(k=3))
        for question, sql in WRITTEN:
            said[question] = reply(("", sql))
            answer = await service.ask(AskRequest(Asker("ana", "copy"), question, db="copy"))
            first[sql] = answer.rows[0].sql
    assert len(first) == len(WRITTEN) > 40
    assert first == {sql: sql for sql in first}
