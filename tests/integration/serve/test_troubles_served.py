"""An installation whose model server fails for a while, and one whose server repeats a row's value in an error."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from engine.app.client import EngineAddress, EngineClient
from engine.values.errors import NLError
from engine.values.messages import Asker, AskRequest
from tests.integration.serve.conftest import FAILURES, Model
from tests.support.parts import START, outcomes
from tests.support.stack import Stack

pytestmark = pytest.mark.timeout(2 * START)

OLDER = "How many singers are older than 30"
NOTES = "What are the notes of all visits as numbers?"
VALUE = "zanzibar"
STATEMENT = "SELECT note::int FROM visit"


@pytest.fixture(autouse=True)
def _script(model: Model) -> None:
    model.script = {OLDER: ["SELECT count(*) FROM singer WHERE age > 30"], NOTES: [STATEMENT]}


def test_a_check_finds_it_working(stack: Stack) -> None:
    assert outcomes(stack.config)["engine"] == "ok"


async def asked(client: EngineClient) -> NLError | None:
    try:
        await client.ask(AskRequest(Asker("analyst", "music"), OLDER), timeout=60)
    except NLError as problem:
        return problem
    return None


async def test_a_model_server_fails_for_a_while(stack: Stack, model: Model) -> None:
    async with EngineClient(EngineAddress(str(stack.socket))) as client:
        assert await asked(client) is None
        assert "pgparley_model_circuit_open 0.0" in await client.metrics()
        model.away = True
        failed = [await asked(client) for _ in range(FAILURES)]
        assert [each and each.sqlstate for each in failed] == ["58000"] * FAILURES
        requests = model.asked
        refused = await asked(client)
        assert refused is not None
        assert model.asked == requests
        assert "has failed 2 times in a row since " in (refused.detail or "")
        assert "out of memory" in (refused.detail or "")
        state = (await client.view("nl_models", timeout=10)).rows[0][3]
        assert str(state).startswith("failed 2 times in a row, at last with: ")
        page = await client.metrics()
        assert "pgparley_model_circuit_open 1.0" in page
        assert "pgparley_model_circuit_opened_total 1.0" in page
        assert await client.ready()
        model.away = False
        async with asyncio.timeout(START):
            while await asked(client) is not None:
                pass
        assert (await client.view("nl_models", timeout=10)).rows[0][3] == "ready"
        assert "pgparley_model_circuit_open 0.0" in await client.metrics()


def test_an_error_with_a_value_is_the_askers_and_in_no_log(stack: Stack) -> None:
    """Of statements that the engine runs, and the asker's own session."""
    said = []
    for dbname in ("postgres", "clinic"):
        with psycopg.connect(stack.uri(dbname), autocommit=True) as session:
            session.execute(f"NL (db clinic): $${NOTES}$$")
            for statement in ("NL CHOOSE 1", f"NL CORRECT $${STATEMENT} WHERE visit_id = '{VALUE}'$$"):
                with pytest.raises(psycopg.Error) as problem:
                    session.execute(statement)
                said.append(str(problem.value))
    assert all(f'nvalid input syntax for type integer: "{VALUE}"' in each for each in said), said
    log = (stack.home / "serve.log").read_text("utf-8")
    assert '"event": "nl_failed"' in log
    assert "22P02" in log
    assert VALUE not in log
