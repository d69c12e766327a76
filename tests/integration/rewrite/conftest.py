"""One server with a database for each schema that the golden pairs are written for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.conftest import Postgres
from tests.support.golden_rules import SCHEMAS
from tests.support.random_rows import create, fill

Rows = list[tuple[Any, ...]]


class Databases:
    """Runs statements in the database of a schema, over rows that a seed decides."""

    def __init__(self, sessions: dict[str, psycopg.Connection[Any]]) -> None:
        self._sessions = sessions
        self._seeds: dict[str, int] = {}

    def rows(self, schema: str, seed: int, sql: str) -> Rows:
        """The rows of `sql`; raises psycopg's error where the server refuses it."""
        if self._seeds.get(schema) != seed:
            fill(self._sessions[schema], SCHEMAS[schema], seed)
            self._seeds[schema] = seed
        return self._sessions[schema].execute(sql.encode()).fetchall()


@pytest.fixture(scope="session")
def databases(postgres: Postgres) -> Iterator[Databases]:
    with postgres("rewrite") as running:
        with psycopg.connect(running.dsn(), autocommit=True) as admin:
            for name in SCHEMAS:
                admin.execute(f"CREATE DATABASE {name}".encode())
        sessions = {name: psycopg.connect(running.dsn(name), autocommit=True) for name in SCHEMAS}
        for name, session in sessions.items():
            create(session, SCHEMAS[name])
        yield Databases(sessions)
        for session in sessions.values():
            session.close()
