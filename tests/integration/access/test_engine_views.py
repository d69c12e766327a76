"""The console's views of the engine: the engine's rows under the console's columns."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from engine.app.console_views import ConsoleViews
from engine.app.question_store import Questions
from engine.judge.calibrating import Calibrating
from engine.judge.point_store import CalibrationStore
from engine.learn.store import LearningStore, NewExample
from engine.llm.circuit import Outage
from engine.values.errors import UnsupportedError
from engine.values.learned import ExampleKind, Vote
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, RowKind, ViewRequest
from engine.values.model_profile import EMBEDDED
from engine.values.model_settings import ModelSettings, ServiceSettings
from engine.values.settings import LearningSettings, Limits, SelectionSettings
from proxy.console import views
from proxy.console.tables import description, row
from schema_catalog.migrate import migrate

from .conftest import Server


async def test_every_view_fits_its_columns(server: Server) -> None:
    dsn = f"postgresql://postgres@/postgres?host={server.socket_dir}&port={server.port}"
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            await migrate(connection)
        questions = Questions(pool)
        answer = AnswerRow(1, RowKind.CANDIDATE, "sales", 0.5, "one", "SELECT 1", None, "q1")
        ask = AskRequest(Asker("ana", "sales"), "how many?")
        await questions.save(ask, AskReply("q1", (answer,), seconds=1.25))
        await questions.chosen("q1", 1)
        await pool.execute(
            "INSERT INTO pgparley.database (name, dsn, dbname, search_path) VALUES ('s', 'secret', 's', '{}')"
        )
        await pool.execute(
            "SELECT pgparley.note_drift('s', 'renamed', 'table', '{public,a}', '{public,b}', 'same number')"
        )
        vote = Vote("many", ("public", "t", "a"), ("public", "t", "b"), 1.0)
        taught = NewExample("ana", "s", "how many?", "SELECT 1", ExampleKind.CHOSEN, "q1", (vote,))
        await LearningStore(pool, LearningSettings()).keep([taught])
        calibrating = Calibrating(CalibrationStore(pool, "recipe"), SelectionSettings(), Limits())
        model = ModelSettings(base_url="http://me:hunter2@there:1/v1")
        engine = ConsoleViews(pool, model, asyncio.Event(), calibrating, lambda: 0)
        seen = {}
        for name in views.FROM_ENGINE:
            shape = views.columns_of(name)
            assert shape is not None
            seen[name] = (await engine.view(ViewRequest(name))).rows
            assert seen[name]
            for formats in ((), (1,)):
                assert all(row(values, shape, formats) for values in seen[name])
            assert description(shape, ())
        assert seen["nl_models"][0][2:] == ("there:1", "starting", "")
        outage = Outage(0.0, 7, "Connection error.", 9.0)
        down = ConsoleViews(pool, model, asyncio.Event(), calibrating, lambda: 0, lambda: outage)
        assert (await down.view(ViewRequest("nl_models"))).rows[0][3] == (
            "failed 7 times in a row, at last with: Connection error."
        )
        spare = ServiceSettings(base_url="http://spare:2/v1", model="other", api_key="secret")
        both = ModelSettings(base_url="http://there:1/v1", api_key="secret", fallback=(spare,))
        found = ConsoleViews(
            pool, both, asyncio.Event(), calibrating, lambda: 0, profile=lambda: EMBEDDED.without("system")
        )
        shown = (await found.view(ViewRequest("nl_models"))).rows
        assert "grammar: embedded; " in str(shown[0][4])
        assert "refused: system" in str(shown[0][4])
        assert shown[1][:3] == ("fallback", "other", "spare:2")
        assert "secret" not in str(shown)
        assert seen["nl_questions"][0][3:6] == ("how many?", "candidate", 1)
        assert seen["nl_feedback"][0][3:5] == (1, "chosen")
        assert seen["nl_feedback"][0][6:] == (1, 1, 0)
        assert seen["nl_drift"][0][2:7] == ("renamed", "table", "s.public.a", "s.public.b", "proposed")
        assert "hunter2" not in str(seen)
        assert "secret" not in str(seen)
        with pytest.raises(UnsupportedError):
            await engine.view(ViewRequest("nl_secrets"))
        await pool.execute("DROP SCHEMA pgparley CASCADE")
