"""PgBouncer behind and before the gateway, in session and in transaction mode: SQL, questions, what was chosen."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from pgparley.cluster import Cluster
from tests.conftest import free_port
from tests.integration.serve.conftest import Model
from tests.support import pooler
from tests.support.parts import START, connected, part
from tests.support.stack import Stack

QUESTION = "How many singers are older than 40"

pytestmark = [
    pytest.mark.skipif(not pooler.PROGRAM.is_file(), reason="no PgBouncer on this machine: make pooler"),
    pytest.mark.timeout(4 * START),
]


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


def test_behind(mode: str, upstream: Cluster, stack: Stack, model: Model, tmp_path: Path) -> None:
    model.script = {QUESTION: ["SELECT count(*) FROM singer WHERE age > 40"]}
    file = tmp_path / "pgparley.toml"
    with pooler.pgbouncer(upstream, tmp_path, mode, ("analyst", "postgres")) as behind:
        port = _configured(file, "127.0.0.1", behind, stack)
        with part(file, "gateway"), connected(port, "music", "analyst") as session:
            _ask_and_choose(session)


def test_before(mode: str, upstream: Cluster, stack: Stack, model: Model, tmp_path: Path) -> None:
    model.script = {QUESTION: ["SELECT count(*) FROM singer WHERE age > 40"]}
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
    asked = f"NL: {QUESTION}"
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
    rows = session.execute("SELECT kind, sql FROM nl.ask(%s)", (QUESTION,)).fetchall()
    assert [kind for kind, _ in rows] == ["verified"], rows
