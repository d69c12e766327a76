"""The everyday questions: their statements run and give rows, and none has a word of its schema."""

from __future__ import annotations

import re
from collections.abc import Iterator

import asyncpg
import pytest

from benchmarks.quality.anew.sets import everyday_files, everyday_items, everyday_made
from engine.question.tokens import question_words
from pgparley.cluster import Cluster
from schema_catalog.words import identifier_words
from tests.conftest import Postgres


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
