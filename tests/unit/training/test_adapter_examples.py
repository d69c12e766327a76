"""Known statements as a model writes them, and what examples of one schema share."""

from __future__ import annotations

import pytest

pytest.importorskip("gguf")

from training.adapter import groups, instructions, rate
from training.adapter_examples import INVOCATION, AdapterExample, as_written, drawn
from training.own_examples import own_schemas


@pytest.mark.parametrize(
    ("known", "written"),
    [
        (
            'SELECT "name" FROM "mountain" ORDER BY "height" DESC NULLS LAST LIMIT 1',
            "SELECT name FROM mountain ORDER BY height DESC LIMIT 1",
        ),
        ('SELECT "name" FROM "wine" ORDER BY "name" NULLS FIRST', "SELECT name FROM wine ORDER BY name"),
        (
            'SELECT "t1"."a" FROM "s" AS "t1" JOIN "u" AS "t2" ON "t1"."id" = "t2"."id"',
            "SELECT T1.a FROM s AS T1 JOIN u AS T2 ON T1.id = T2.id",
        ),
        (
            'SELECT "name" FROM "p" WHERE NOT "id" IN (SELECT "id" FROM "e")',
            "SELECT name FROM p WHERE id NOT IN (SELECT id FROM e)",
        ),
        (
            'SELECT "a" FROM "s" WHERE NOT "b" LIKE \'%x%\' AND NOT "c" IS NULL',
            "SELECT a FROM s WHERE b NOT LIKE '%x%' AND c IS NOT NULL",
        ),
        ('SELECT COUNT(*) FROM "s" WHERE "b" <> 1', "SELECT COUNT(*) FROM s WHERE b != 1"),
        ('SELECT "order" FROM "s"', 'SELECT "order" FROM s'),
    ],
)
def test_it_reads_as_models_write(known: str, written: str) -> None:
    assert as_written(known) == written


def item(name: str, gold: str, db: str = "shop") -> dict[str, object]:
    return {"id": name, "db": db, "gold": gold, "gold_rows": 1}


def test_a_statement_is_drawn_once_and_never_of_a_database_that_is_measured() -> None:
    items = [item(f"{db}-{n}", f"SELECT {n % 2}", db) for db in map(str, range(30)) for n in range(4)]
    kept = drawn(items, 1)  # type: ignore[arg-type]
    assert len(kept) == 6 * 2
    assert len({(each["db"], each["gold"]) for each in kept}) == len(kept)


def example(name: str, database: str, schema: int, *question: int) -> AdapterExample:
    return AdapterExample(name, database, (1, 2, schema, *INVOCATION, *question), (7, 8))


def test_examples_of_one_schema_share_what_stands_before_the_question() -> None:
    examples = [example("a", "x", 3, 5), example("b", "y", 4, 5), example("c", "x", 3, 6)]
    found = {each.prefix: each for each in groups(examples, 1)}
    assert set(found) == {(1, 2, 3), (1, 2, 4)}
    both = found[1, 2, 3]
    assert both.texts == ((*INVOCATION, 5, 7, 8), (*INVOCATION, 6, 7, 8))
    assert (both.plain, both.said) == ((0, 0), (2, 2))
    assert instructions(list(found.values())) == (1, 2)


def test_the_rate_rises_and_falls_to_nothing() -> None:
    rates = [rate(step, 100) for step in range(100)]
    assert max(rates) == rates[7]
    assert rates[0] < rates[7]
    assert rates[-1] == pytest.approx(rates[7] / 93, rel=0.02)


def test_our_own_pairs_are_of_many_schemas() -> None:
    schemas = own_schemas()
    assert len(schemas) == len({each.schema for each in schemas}) >= 50
    assert all(each.pairs and each.tables for each in schemas)
