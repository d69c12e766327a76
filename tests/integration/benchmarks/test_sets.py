"""The candidates benchmark over a real server, and the everyday questions, whose statements give rows."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest
from aiohttp import web

from benchmarks.harness.questions import AMBIQT, SPIDER, UNROUTED, QuestionSet, Selection, asked
from benchmarks.harness.running import Pass, run
from benchmarks.harness.site import Site, site
from benchmarks.harness.systems import Alone, Gateway, System
from benchmarks.quality.anew.sets import everyday_files, everyday_items, everyday_made
from engine.question.tokens import question_words
from pgparley.cluster import Cluster
from schema_catalog.words import identifier_words
from tests.chat_server import chat_server, completion
from tests.conftest import Postgres

LOADER = """
import sys, psycopg
dsn, what = sys.argv[sys.argv.index("--dsn") + 1], sys.argv[sys.argv.index("--what") + 1]
with psycopg.connect(dsn, autocommit=True) as c:
    c.execute("CREATE SCHEMA IF NOT EXISTS bench_meta")
    c.execute("CREATE TABLE IF NOT EXISTS bench_meta.loaded"
              " (name text PRIMARY KEY, loaded_at timestamptz NOT NULL DEFAULT now())")
    c.execute("INSERT INTO bench_meta.loaded VALUES (%s) ON CONFLICT DO NOTHING", (what + "/all",))
    c.execute("CREATE SCHEMA IF NOT EXISTS music")
    c.execute("CREATE TABLE IF NOT EXISTS music.singer (id bigint PRIMARY KEY, name text)")
    c.execute("INSERT INTO music.singer VALUES (1, 'Ann') ON CONFLICT DO NOTHING")
"""

SINGER = {
    "db": "music",
    "table": "singer",
    "columns": [{"name": "id", "type": "bigint"}, {"name": "artist_name", "type": "text"}],
    "primary_key": ["id"],
    "foreign_keys": [],
}

AMBIGUOUS = {
    "id": "ambiqt-C-1",
    "db": "music",
    "question": "Show the name of every singer.",
    "ddl_both": "CREATE SCHEMA {schema};"
    ' CREATE VIEW {schema}.singer AS SELECT id, name AS artist_name FROM "music"."singer"',
    "schema_both": [SINGER],
}


def written(bench: Path) -> Path:
    """A benchmark's folder with a question of each kind."""
    files = {
        "spider/schemas.jsonl": SINGER,
        "defog/schemas.jsonl": SINGER,
        "spider/dev.jsonl": {
            "id": "spider-dev-1",
            "db": "music",
            "question": "Show the name of every singer.",
        },
        "ambiqt/C.jsonl": AMBIGUOUS,
    }
    for name, item in files.items():
        (bench / name).parent.mkdir(parents=True, exist_ok=True)
        (bench / name).write_text(json.dumps(item) + "\n", encoding="utf-8")
    (bench / "load.py").write_text(LOADER, encoding="utf-8")
    return bench


@asynccontextmanager
async def scripted_model(column: str) -> AsyncIterator[str]:
    """A server that always asks for `column`."""

    async def chat(_: web.Request) -> web.Response:
        return completion(f"SELECT {column} FROM singer\n```")

    async with chat_server(chat) as address:
        yield address


async def answered(
    place: Site, of: QuestionSet, system: System, bench: Path, work: Path
) -> tuple[list[str], int]:
    """The statements of the set's one answer, and the calls that it took."""
    one = Pass.of_system(of, system, asked(bench, of, Selection(None, 1)), work)
    await run(one, place.task, place.meter.take, lambda _: None)
    (answer,) = one.answers
    assert answer.error is None
    return [proposal.sql for proposal in answer.proposals], answer.cost.calls


async def test_systems_answer_over_real_tools(tmp_path: Path) -> None:
    bench, work = written(tmp_path / "bench"), tmp_path / "work"
    async with site(work, bench) as place:
        pgparley = Gateway("pgparley", 2)
        async with scripted_model("name") as place.meter.target:
            for of in (SPIDER, UNROUTED):
                sql, calls = await answered(place, of, pgparley, bench, work)
                assert sql == ["SELECT name FROM singer"]
                assert calls >= 1
            assert await answered(place, SPIDER, Alone(), bench, work) == (["SELECT name FROM singer"], 1)
        # The reading exists in the views of the question alone.
        async with scripted_model("artist_name") as place.meter.target:
            sql, _ = await answered(place, AMBIQT[0], pgparley, bench, work)
            assert sql == ["SELECT artist_name FROM singer"]


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("everyday") as running:
        yield running


async def test_every_gold_statement_gives_rows(server: Cluster) -> None:
    for database in await everyday_made(server):
        connection = await asyncpg.connect(server.dsn(database.name))
        asked = [each for each in everyday_items() if each["db"] == database.name]
        assert len(asked) == 6
        for item in asked:
            for gold in item["golds"]:
                assert await connection.fetch(gold), (item["id"], gold)
        await connection.close()


def test_no_question_has_a_word_of_its_schema() -> None:
    for file in everyday_files():
        schema = re.sub(r"'[^']*'", "", file.read_text(encoding="utf-8").partition("INSERT")[0])
        words = set(identifier_words(schema))
        for item in everyday_items():
            if item["db"] == file.stem:
                assert words.isdisjoint(question_words(item["question"])), item["id"]
