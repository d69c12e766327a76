"""What is asked of one installation: more, through PgBouncer, while its model fails, with a value in an error."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from engine.app.client import EngineAddress, EngineClient
from engine.values.errors import NLError
from engine.values.messages import Asker, AskRequest
from pgparley.cluster import Cluster
from tests.conftest import free_port
from tests.integration.serve.conftest import FAILURES, Model
from tests.support import pooler
from tests.support.parts import START, connected, outcomes, part
from tests.support.stack import Stack

pytestmark = pytest.mark.timeout(4 * START)

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


NAMES = "What are the singers called?"
NAME, COUNTRY = "SELECT name FROM singer", "SELECT country FROM singer"


def test_more_asks_for_what_was_not_shown_and_says_where_nothing_is_new(stack: Stack, model: Model) -> None:
    model.script, model.beyond = {NAMES: [NAME]}, [NAME, COUNTRY]
    with psycopg.connect(stack.uri("music"), autocommit=True) as session:
        assert [row[5] for row in session.execute(f"NL: $${NAMES}$$")] == [NAME]
        assert [row[5] for row in session.execute("NL MORE")] == [COUNTRY]
        told = session.execute("NL SHOWPROMPT").fetchall()
        assert f"- {NAME}\\n" in str(told)
        (nothing,) = session.execute("NL MORE").fetchall()
        assert nothing[1] == "abstain"
        assert nothing[4].startswith("Nothing new passed all checks")


OVER_40 = "How many singers are older than 40"

with_pgbouncer = pytest.mark.skipif(
    not pooler.PROGRAM.is_file(), reason="no PgBouncer on this machine: make pooler"
)


@pytest.fixture(params=["session", "transaction"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _configured(file: Path, upstream_host: str, upstream_port: int, stack: Stack) -> int:
    """Writes a gateway's configuration; its port."""
    port = free_port()
    file.write_text(
        f"""[gateway]
upstream_host = "{upstream_host}"
upstream_port = {upstream_port}
listen_port = {port}
[engine]
socket = "{stack.socket}"
""",
        encoding="utf-8",
    )
    return port


@with_pgbouncer
def test_behind_pgbouncer(mode: str, upstream: Cluster, stack: Stack, model: Model, tmp_path: Path) -> None:
    model.script = {OVER_40: ["SELECT count(*) FROM singer WHERE age > 40"]}
    file = tmp_path / "pgparley.toml"
    with pooler.pgbouncer(upstream, tmp_path, mode, ("analyst", "postgres")) as behind:
        port = _configured(file, "127.0.0.1", behind, stack)
        with part(file, "gateway"), connected(port, "music", "analyst") as session:
            _ask_and_choose(session)


@with_pgbouncer
def test_before_pgbouncer(mode: str, upstream: Cluster, stack: Stack, model: Model, tmp_path: Path) -> None:
    model.script = {OVER_40: ["SELECT count(*) FROM singer WHERE age > 40"]}
    file = tmp_path / "pgparley.toml"
    port = _configured(file, str(upstream.socket_dir), upstream.port, stack)
    with (
        part(file, "gateway"),
        pooler.pgbouncer(upstream, tmp_path, mode, ("analyst", "postgres"), gateway=port) as before,
        connected(before, "music", "analyst") as session,
    ):
        _ask_and_choose(session)


def _ask_and_choose(session: psycopg.Connection[tuple[object, ...]]) -> None:
    # As without a gateway: this PgBouncer knows no prepared statements in transaction mode.
    session.prepare_threshold = None
    asked = f"NL: {OVER_40}"
    assert session.execute("SELECT count(*) FROM singer WHERE age > %s", (40,)).fetchone() == (50,)
    row = session.execute(asked).fetchone()
    assert row is not None
    assert row[2] == "music"
    assert session.execute(f"NL CHOOSE 1 OF '{row[7]}'").fetchone() == (50,)
    with session.transaction():
        assert session.execute("SELECT name FROM singer WHERE age = %s", (1,)).fetchone() == ("Singer 1",)
        again = session.execute(asked).fetchone()
        assert again is not None
        assert again[1] == "verified"
    rows = session.execute("SELECT kind, sql FROM nl.ask(%s)", (OVER_40,)).fetchall()
    assert [kind for kind, _ in rows] == ["verified"], rows
