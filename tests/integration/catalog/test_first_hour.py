"""docs/first_hour.md: its commands as they stand, on the database of the quick start."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from tests.conftest import COPY, ROOT
from tests.support.commands import runner
from tests.support.statements import connected, execute_now

PAGE = (ROOT / "docs" / "first_hour.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(sh|sql)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def store(server: Cluster, empty_store: str) -> Iterator[str]:
    """The DSN of an empty store, beside the database `own` on its server."""
    execute_now(server.dsn(), f"CREATE DATABASE hour TEMPLATE {empty_store} {COPY}", "CREATE DATABASE own")
    execute_now(
        server.dsn("own"), (ROOT / "tests" / "fixtures" / "own_database" / "schema.sql").read_text("utf-8")
    )
    yield server.dsn("hour")
    execute_now(server.dsn(), "DROP DATABASE hour WITH (FORCE)", "DROP DATABASE own WITH (FORCE)")


def test_its_commands_run_as_they_stand(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = runner(catalog_app(lambda: store))
    assert [kind for kind, _ in BLOCKS] == ["sh", *["sql"] * 5, "sh"]
    for kind, text in BLOCKS:
        if kind == "sql":
            assert asyncio.run(warnings(store, text)) == []
            continue
        for line in text.splitlines():
            program, group, *words = shlex.split(line)
            assert (program, group) == ("pgparley", "catalog")
            done = run(*words)
            assert done.exit_code == 0, (line, done.output)
    kept = (tmp_path / "own.yaml").read_text("utf-8")
    assert all(words in kept for words in ("order lines", "client", "open order", "joins:"))


async def warnings(dsn: str, sql: str) -> list[str]:
    """Runs it; gives what the server warned of."""
    said: list[str] = []
    async with connected(dsn) as connection:
        connection.add_log_listener(
            lambda _, message: said.append(message.message) if message.severity == "WARNING" else None
        )
        await connection.execute(sql)
    return said
