"""The normal form on a server: golden pairs, and random statements, of which those with one form give one result."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from pathlib import Path

import pytest

from engine.statement.canonical import canonical
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from schema_catalog.types import Database

GOLDEN = Path(__file__).parents[2] / "golden" / "canonical"


def pairs(name: str, sign: str) -> list[tuple[str, str]]:
    blocks = re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]
    return [(first, second) for first, second in (block.strip().split(f"\n{sign}\n") for block in blocks)]


async def rows(admin: Connection, sql: str) -> list[tuple[object, ...]]:
    found = [tuple(map(repr, row.values())) for row in await admin.fetch(sql)]
    return found if re.search(r"ORDER BY (?!.*\))", sql) else sorted(found)


async def test_pairs_that_mean_the_same_are_equal_and_give_the_same(
    admin: Connection, shop: Database
) -> None:
    snapshot = await introspect(admin, shop)
    equal = pairs("equal.sql", "==")
    assert len(equal) >= 15
    for first, second in equal:
        assert canonical(first, snapshot) == canonical(second, snapshot), f"{first}\n{second}"
        assert await rows(admin, first) == await rows(admin, second), first


async def test_pairs_that_differ_are_told_apart(admin: Connection, shop: Database) -> None:
    snapshot = await introspect(admin, shop)
    different = pairs("different.sql", "<>")
    assert len(different) >= 30
    for first, second in different:
        assert canonical(first, snapshot) != canonical(second, snapshot), f"{first}\n{second}"
        one, other = await rows(admin, first), await rows(admin, second)
        if "-- seen" in first:
            assert one != other, first


async def test_whatever_is_equal_gives_the_same_rows(admin: Connection, shop: Database) -> None:
    """Across all golden statements: those whose forms meet are few, and all give the same rows."""
    snapshot = await introspect(admin, shop)
    met: dict[str, list[str]] = {}
    statements = [sql for pair in (*pairs("equal.sql", "=="), *pairs("different.sql", "<>")) for sql in pair]
    for name in ("guard/allowed.sql", "names/resolved.sql"):
        statements += re.split(r"\n{2,}", (GOLDEN.parent / name).read_text("utf-8"))[1:]
    for sql in dict.fromkeys(statements):
        met.setdefault(canonical(sql, snapshot), []).append(sql.strip().strip(";"))
    several = [group for group in met.values() if len(group) > 1]
    assert len(pairs("equal.sql", "==")) <= len(several) <= len(pairs("equal.sql", "==")) + 10
    for group in several:
        results = [await rows(admin, sql) for sql in group]
        assert all(result == results[0] for result in results), group


SHOP = """
    CREATE TABLE a (id int, x int, d date); CREATE TABLE b (id int, x int, d date);
    INSERT INTO a VALUES (1, 1, '2020-01-01'), (2, NULL, '2020-01-02'), (2, 3, NULL), (4, 1, '2020-01-01');
    INSERT INTO b VALUES (2, 1, '2020-01-02'), (3, NULL, NULL), (4, 3, '2020-01-01'), (4, 4, '2020-01-03');
"""

FROM = """
a p, b q
b q, a p
a p JOIN b q ON p.id = q.id
b q JOIN a p ON q.id = p.id
a p, a q
a q, a p
a p LEFT JOIN b q ON p.id = q.id
b q RIGHT JOIN a p ON p.id = q.id
b q LEFT JOIN a p ON q.id = p.id
a p FULL JOIN b q ON p.id = q.id
a p CROSS JOIN b q
a q CROSS JOIN a p
(SELECT * FROM a) p, b q
(SELECT id, x, d FROM a) AS p, b q
(SELECT x AS id, id AS x, d FROM a) p, b q
a p JOIN b q ON p.id = q.id AND p.x < q.x
a p LEFT JOIN b q ON p.id = q.id AND p.x < q.x
(a p JOIN b q ON p.id = q.id) LEFT JOIN b r ON r.id = p.x
a p JOIN (b q LEFT JOIN b r ON r.id = q.x) ON true
a p LEFT JOIN (b q JOIN b r ON r.x = q.x) ON p.id = q.id
a p JOIN b q USING (id)
b q JOIN a p USING (id)
""".strip().splitlines()

TERMS = """
p.id = q.id
q.id = p.id
p.id = q.x
p.x < q.x
q.x > p.x
q.x < p.x
p.x <= 3
3 >= p.x
p.x BETWEEN 1 AND 3
p.x >= 1 AND p.x <= 3
p.x IN (1, 3)
p.x IN (3, 1, 1)
p.x = 1
p.x IN (1)
p.d = '2020-01-01'
p.d = DATE '2020-01-01'
DATE '2020-01-01' = q.d
NOT p.x = 1
p.x <> 1
true
p.x IS NULL
NOT (p.x IS NULL)
p.x NOT IN (1, 3)
NOT p.x IN (1, 3)
p.x IS DISTINCT FROM q.x
EXISTS (SELECT 1 FROM b s WHERE s.id = p.id)
EXISTS (SELECT s.x FROM b s WHERE p.id = s.id)
p.id IN (SELECT id FROM b)
p.id = ANY (SELECT s.id FROM b s)
p.id IN (SELECT b.x FROM b)
""".strip().splitlines()

GIVE = """
p.id, q.x
p.id AS k, q.x AS v
q.x, p.id
q.id, p.x
count(*)
count(1)
count(p.x)
count(DISTINCT p.x)
DISTINCT p.id
p.id + q.x
q.x + p.id
p.id - q.x
sum(p.x)
max(p.d), min(q.d)
p.id, row_number() OVER (ORDER BY p.id, p.x, q.id, q.x, p.d, q.d)
CASE WHEN p.x = 1 THEN q.x END
""".strip().splitlines()

TAIL = ["", "", "LIMIT 0", "LIMIT ALL", "OFFSET 0", "ORDER BY 1", "ORDER BY 1 DESC", "ORDER BY 1 NULLS LAST"]


def statement(rng: random.Random) -> str:
    terms = [f"({term})" for term in rng.sample(TERMS, rng.choice([0, 1, 1, 2]))]
    where = f" WHERE {rng.choice([' AND ', ' AND ', ' OR ']).join(terms)}" if terms else ""
    give = rng.choice(GIVE)
    return f"SELECT {give} FROM {rng.choice(FROM)}{where} {rng.choice(TAIL)}"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
async def test_equal_forms_give_equal_rows(admin: Connection, shop: Database, seed: int) -> None:
    await admin.execute(SHOP)
    snapshot = await introspect(admin, shop)
    rng = random.Random(seed)  # noqa: S311 - nothing secret is drawn
    met: dict[str, set[str]] = defaultdict(set)
    for _ in range(1500):
        sql = statement(rng)
        met[canonical(sql, snapshot)].add(sql)
    groups = [sorted(group) for form, group in met.items() if len(group) > 1]
    assert len(groups) > 40
    for group in groups:
        # Rows as a bag: ties of ORDER BY may come in any order.
        results = [sorted(repr(tuple(row.values())) for row in await admin.fetch(sql)) for sql in group]
        assert all(result == results[0] for result in results), group
