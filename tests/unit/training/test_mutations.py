"""Wrong statements made by rule: they differ from the right one in words, parse, and are the same each time."""

from __future__ import annotations

import random

import pytest
import sqlglot
from sqlglot import exp

from engine.ranking.ranker import phrases
from tests.support.schemas import MUSIC
from training.mutations import RULES, Draft, Rule, mutations

RIGHT = (
    "SELECT country, COUNT(singer_id) FROM singer WHERE NOT artist_name = 'A' AND singer_id > 3"
    " GROUP BY country HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT t1.title, t1.year FROM concert AS t1 JOIN stadium AS t2 ON t1.stadium_id = t2.stadium_id"
    " WHERE t2.capacity > 100 OR t1.year = 2014",
    "SELECT MAX(capacity) FROM stadium",
    "SELECT x.name FROM (SELECT name FROM stadium WHERE capacity > 1 INTERSECT SELECT name FROM stadium) AS x",
)


@pytest.mark.parametrize("sql", RIGHT[:3])
def test_mutations_differ_from_the_right_one_and_from_each_other(sql: str) -> None:
    found = mutations(sql, MUSIC, 5, "seed")
    said = {frozenset(phrases(each)) for each in [sql, *found]}
    assert len(found) == 5
    assert len(said) == 6
    assert all(isinstance(sqlglot.parse_one(each, dialect="postgres"), exp.Query) for each in found)


def test_the_same_seed_makes_the_same_and_another_others() -> None:
    assert mutations(RIGHT[0], MUSIC, 5, "a") == mutations(RIGHT[0], MUSIC, 5, "a")
    assert mutations(RIGHT[0], MUSIC, 5, "a") != mutations(RIGHT[0], MUSIC, 5, "b")


@pytest.mark.parametrize("rule", dict.fromkeys(RULES), ids=lambda rule: str(rule.__name__))
def test_every_rule_applies_to_something(rule: Rule) -> None:
    changed = False
    for number, sql in enumerate(RIGHT * 4):
        tree = sqlglot.parse_one(sql, dialect="postgres")
        assert isinstance(tree, exp.Query)
        draft = Draft(tree, MUSIC, random.Random(number))  # noqa: S311 - a seeded draw, no secret
        changed |= rule(draft) and draft.tree.sql(dialect="postgres") != sql
    assert changed
