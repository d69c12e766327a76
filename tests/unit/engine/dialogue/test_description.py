"""A statement in words, without its SQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.core.candidate import Candidate, Change, Meaning, Preview, RuleKind
from engine.dialogue.description import describe, explain, in_parts


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
        ("shows", "name, 'large' if hours is more than 99 otherwise 'small', rank by hours downwards"),
        ("from", "project with h, if any"),
        ("for each", "name, 'large' if hours is more than 99 otherwise 'small'"),
        ("only groups where", "number of rows is more than 1"),
        ("limited to", "5"),
        ("where h is", "project id, total hours from time entry for each project id"),
    )
    assert in_parts("no statement") == ()


def test_a_meaning_that_is_the_statement_is_not_repeated() -> None:
    sql = "SELECT name FROM singer WHERE age > 30"
    said = explain(Candidate("music", sql, meaning=Meaning(says=sql)), Candidate("music", sql))
    assert said == "name from singer where age is more than 30"
    told = Candidate("music", sql, meaning=Meaning(says="the singers above thirty."))
    assert explain(told, told) == "the singers above thirty"


def test_what_was_made_of_the_first_says_how_many_rows_more_it_finds() -> None:
    sql = "SELECT count(*) FROM singer WHERE country IS DISTINCT FROM 'France'"
    first = Candidate("music", "SELECT count(*) FROM singer WHERE country <> 'France'", preview=counted("3"))
    change = Change("unknown_as_other", RuleKind.BESIDE, "takes rows without country as well", first.sql, sql)
    made = Candidate("music", sql, changes=(change,), preview=counted("5"))
    assert explain(made, first).endswith("takes rows without country as well; 5 rows where 1 finds 3")
    assert "where 1 finds" not in explain(replace(made, preview=counted("3")), first)
    assert "where 1 finds" not in explain(replace(made, preview=None), first)
    assert "where 1 finds" not in explain(replace(made, changes=()), first)


def counted(rows: str) -> Preview:
    return Preview(("count",), ((rows,),), total=1)
