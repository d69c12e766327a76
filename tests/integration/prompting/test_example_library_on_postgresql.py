"""Every statement of the library of worked examples is planned by a real server over its own schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from engine.prompting.example_library import ExampleSchema, example_schemas
from pgparley import cluster
from tests.support.example_snapshots import definitions


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[psycopg.Connection[Any]]:
    running = cluster.start(tmp_path_factory.mktemp("examples") / "pg")
    with psycopg.connect(running.dsn()) as connection:
        yield connection
    cluster.stop(running)


@pytest.mark.parametrize("schema", example_schemas(), ids=lambda schema: schema.schema)
def test_every_statement_is_planned(session: psycopg.Connection[Any], schema: ExampleSchema) -> None:
    with session.transaction(force_rollback=True):
        session.execute(definitions(schema).encode())
        for pair in schema.pairs:
            assert session.execute(f"EXPLAIN {pair.sql}".encode()).fetchall(), pair.sql
