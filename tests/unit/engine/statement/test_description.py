"""A statement in words, without its SQL, and its expressions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from engine.ask.explanation import explain
from engine.ask.wording import Names
from engine.statement.description import describe, in_parts
from engine.statement.expressions import Reader
from engine.statement.scope import Scopes
from engine.statement.tree import parsed
from engine.values.candidate import Candidate, Change, Meaning, Preview, RuleKind
from schema_catalog.types import Column, Snapshot
from tests.support.schemas import MUSIC, table


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT region, SUM(gross_sales) AS total FROM orders GROUP BY region",
            "region, total gross sales from orders for each region",
        ),
        (
            "SELECT name FROM singer WHERE country = 'France' AND age > 30 ORDER BY age DESC LIMIT 3",
            "name from singer where country is 'France' and age is more than 30 ordered by age descending limited to 3",
        ),
        (
            "SELECT count(*) FROM a JOIN b ON a.id = b.id WHERE b.d >= date '2020-01-01' HAVING count(*) > 3",
            "number of rows from a with b where d is at least '2020-01-01'"
            " only groups where number of rows is more than 3",
        ),
        (
            "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer WHERE country = 'France')",
            "name from singer where age is more than average age from singer where country is 'France'",
        ),
        (
            "SELECT name FROM singer s WHERE NOT EXISTS"
            " (SELECT 1 FROM song g WHERE g.singer_id = s.id AND g.year = 2024)",
            "name from singer where there is no song where year is 2024",
        ),
        (
            "SELECT name FROM a EXCEPT SELECT name FROM b ORDER BY 1",
            "name from a without name from b ordered by name",
        ),
        ("no statement", ""),
        ("VALUES (1)", ""),
    ],
)
def test_words(sql: str, words: str) -> None:
    assert describe(sql) == words


def test_in_parts_for_who_reads_no_sql() -> None:
    sql = """WITH h AS (SELECT project_id, sum(hours) AS hours FROM time_entry GROUP BY project_id)
        SELECT p.name, CASE WHEN h.hours > 99 THEN 'large' ELSE 'small' END, rank() OVER (ORDER BY h.hours DESC)
        FROM project p LEFT JOIN h USING (project_id) GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 5"""
    assert in_parts(sql) == (
        (
            "shows",
            "name, 'large' if hours is more than 99 otherwise 'small', RANK() OVER (ORDER BY h.hours DESC)",
        ),
        ("from", "project with h, if any"),
        ("for each", "name, 'large' if hours is more than 99 otherwise 'small'"),
        ("only groups where", "number of rows is more than 1"),
        ("limited to", "5"),
        ("where h is", "project id, total hours from time entry for each project id"),
    )
    assert in_parts("no statement") == ()


LATEST = (
    "SELECT status FROM repair_status AS s WHERE s.order_no = r.order_no ORDER BY changed_at DESC LIMIT 1"
)
FAR = "SELECT part_no FROM part UNION ALL SELECT c.child_no FROM far JOIN component AS c ON c.parent_no = far.part_no"


@pytest.mark.parametrize(
    ("sql", "aspect", "words"),
    [
        (
            f"SELECT r.customer FROM repair AS r CROSS JOIN LATERAL ({LATEST}) AS l WHERE l.status = 'ready'",
            "from",
            f"repair AS r CROSS JOIN LATERAL ({LATEST}) AS l",
        ),
        (
            f"SELECT l.status FROM repair AS r, LATERAL ({LATEST}) AS l",
            "from",
            f"repair AS r, LATERAL ({LATEST}) AS l",
        ),
        (
            "SELECT x.a FROM (SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC) AS x",
            "from",
            "(SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC) AS x",
        ),
        (f"WITH RECURSIVE far AS ({FAR}) SELECT part_no FROM far", "where far is", FAR),
        ("SELECT DISTINCT ON (a) a, b FROM t ORDER BY a", "shows", "DISTINCT ON (a) a, b"),
        ("SELECT LAG(a) OVER (ORDER BY b) FROM t", "shows", "LAG(a) OVER (ORDER BY b)"),
        ("SELECT a FROM t FULL JOIN u USING (a)", "from", "t FULL JOIN u USING (a)"),
        ("SELECT a FROM t TABLESAMPLE SYSTEM (10)", "from", "t TABLESAMPLE SYSTEM (10)"),
        ("SELECT x FROM GENERATE_SERIES(1, 3) AS x", "from", "GENERATE_SERIES(1, 3) AS x"),
        ("SELECT SUM(a) FROM t GROUP BY ROLLUP (b)", "for each", "ROLLUP (b)"),
        ("SELECT a FROM t FETCH FIRST 3 ROWS WITH TIES", "limited to", "FETCH FIRST 3 ROWS WITH TIES"),
        (
            "SELECT a FROM t WHERE a > 1 AND b IN (SELECT c FROM u ORDER BY d LIMIT 5)",
            "where",
            "a is more than 1 and b IN (SELECT c FROM u ORDER BY d LIMIT 5)",
        ),
        (
            "SELECT a FROM t WHERE NOT (a = 1 AND (b = 2 OR c = 3))",
            "where",
            "NOT (a = 1 AND (b = 2 OR c = 3))",
        ),
        (
            "SELECT a FROM t WHERE (b AT TIME ZONE 'Europe/Vienna')::date = '2026-06-01'",
            "where",
            "CAST((b AT TIME ZONE 'Europe/Vienna') AS DATE) = '2026-06-01'",
        ),
        ("SELECT a FROM t WHERE 'x' = ANY(tags) AND b = 2", "where", "'x' = ANY(tags) and b is 2"),
        # Conditions are read in one way, and what a join asks beside its keys is told.
        ("SELECT a FROM t WHERE (b = 1 OR c = 2) AND d = 3", "where", "(b is 1 or c is 2) and d is 3"),
        ("SELECT a FROM t WHERE b = 1 OR c = 2", "where", "b is 1 or c is 2"),
        ("SELECT a FROM t LEFT JOIN u ON u.a = t.a AND u.b = 1 WHERE c = 2", "where", "c is 2"),
        ("SELECT a FROM t LEFT JOIN u ON u.a = t.a AND u.b = 1", "from", "t with u where b is 1, if any"),
    ],
)
def test_what_has_no_words_is_told_as_it_is_written(sql: str, aspect: str, words: str) -> None:
    assert dict(in_parts(sql))[aspect] == words


def test_no_condition_is_cut_and_a_meaning_that_is_the_statement_is_not_repeated() -> None:
    tests = [f"a_long_name_of_column_{number} = 'a long value of a column {number}'" for number in range(20)]
    told = describe(f"SELECT a FROM t WHERE {' AND '.join(tests)} AND last = 'one'")
    assert told.endswith("and last is 'one'")
    many = ", ".join(map(str, range(900)))
    assert describe(f"SELECT a FROM t WHERE b IN ({many}) AND c = 2").endswith(
        "or 7 or 892 others and c is 2"
    )
    sql = "SELECT name FROM singer WHERE age > 30"
    said = explain(Candidate("music", sql, meaning=Meaning(says=sql)), Candidate("music", sql))
    assert said == "name from singer where age is more than 30"
    told = Candidate("music", sql, meaning=Meaning(says="the singers above thirty."))
    assert explain(told, told) == "the singers above thirty"


def test_what_was_made_of_the_first_says_how_many_rows_more_it_finds() -> None:
    sql = "SELECT count(*) FROM singer WHERE country IS DISTINCT FROM 'France'"
    first = Candidate("music", "SELECT count(*) FROM singer WHERE country <> 'France'", preview=counted("3"))
    change = Change("unknown_as_other", RuleKind.BESIDE, "includes rows without country", first.sql, sql)
    made = Candidate("music", sql, changes=(change,), preview=counted("5"))
    assert explain(made, first).endswith("includes rows without country; 5 rows where 1 finds 3")
    assert "where 1 finds" not in explain(replace(made, preview=counted("3")), first)
    assert "where 1 finds" not in explain(replace(made, preview=None), first)
    assert "where 1 finds" not in explain(replace(made, changes=()), first)


def counted(rows: str) -> Preview:
    return Preview(("count",), ((rows,),), total=1)


FLIGHTS = Snapshot(
    "flights",
    ("public",),
    (
        replace(
            table("flights", "flight"),
            columns=(
                Column("flight", "integer"),
                Column(
                    "dep_time",
                    "integer",
                    description="Actual departure, as hhmm; NULL: the flight was cancelled",
                ),
                Column("dep_delay", "integer", description="Departure delay in minutes; negative: early"),
                Column(
                    "origin", "text", description="FAA code of the airport of departure, or nothing at all"
                ),
                Column("h", "integer", description="Hits"),
                Column("hh", "integer", description="Hits"),
                Column("st", "text", description="A active, B blocked"),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT COUNT(*) FROM flights WHERE dep_time IS NULL",
            "number of rows from flights where the flight was cancelled",
        ),
        (
            "SELECT AVG(f.dep_delay) FROM flights AS f WHERE f.dep_time IS NOT NULL AND f.origin = 'JFK'",
            "average departure delay in minutes from flights where not (the flight was cancelled) and origin is 'JFK'",
        ),
        ("SELECT origin, dep_time FROM flights", "origin, actual departure from flights"),
        ("SELECT h, hh, st FROM flights", "h, hh, st from flights"),
        ("SELECT h FROM flights ORDER BY h DESC", "hits from flights ordered by hits descending"),
        # What has no words is told as it is written.
        ("SELECT bar(dep_delay) FROM flights", "BAR(dep_delay) from flights"),
    ],
)
def test_columns_are_told_by_their_comments(sql: str, words: str) -> None:
    assert describe(sql, FLIGHTS) == words
    assert "departure" not in describe(sql)


def words(expression: str) -> str:
    tree = parsed(f"SELECT {expression} FROM stadium")
    assert isinstance(tree, exp.Select)
    parts = Reader(Scopes(tree, MUSIC), {}).parts(tree.expressions[0])
    return Names(frozenset()).said(parts)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("name", "name"),
        ("stadium.name::text AS n", "name"),
        ("COUNT(*)", "number of rows"),
        ("COUNT(DISTINCT name)", "number of different name values"),
        ("AVG(capacity)", "average capacity"),
        ("stadium_id + 1", "stadium id plus 1"),
        ("EXTRACT(YEAR FROM name)", "year of name"),
        ("EXTRACT(EPOCH FROM name)", "seconds of name"),
        ("name = 'A'", "name is 'A'"),
        ("name <> 'A'", "name is not 'A'"),
        ("NOT (stadium_id > 3 OR name = 'A')", "stadium id is at most 3 and name is not 'A'"),
        ("stadium_id BETWEEN 1 AND -2", "stadium id is between 1 and -2"),
        ("name IN ('A', 'B')", "name is 'A' or 'B'"),
        ("name IS NULL", "name is unknown"),
        ("name LIKE '%A%'", "name contains 'A'"),
        ("name NOT LIKE '%A'", "name does not end with 'A'"),
        ("stadium_id IN (SELECT stadium_id FROM stadium)", "stadium id is one of those"),
        ("stadium_id > (SELECT AVG(concert_id) FROM concert)", "stadium id is more than average concert id"),
        ("NOT EXISTS (SELECT 1 FROM singer_in_concert)", "there is no singer in concert"),
        ("COUNT(*) FILTER (WHERE name = 'A')", "number of rows if name is 'A'"),
        (
            "RANK() OVER (PARTITION BY name ORDER BY capacity DESC)",
            "rank for each name by capacity descending",
        ),
        (
            "CASE name WHEN 'A' THEN 1 WHEN 'B' THEN 2 ELSE 3 END",
            "1 if name is 'A' otherwise 2 if name is 'B' otherwise 3",
        ),
        ("SUM(CASE WHEN name = 'A' THEN 1 ELSE 0 END)", "number of rows where name is 'A'"),
        ("my_function(name, 2)", "my function of name and 2"),
        ("CURRENT_DATE - INTERVAL '3 months'", "today minus 3 months"),
    ],
)
def test_an_expression_in_words(expression: str, said: str) -> None:
    assert words(expression) == said
