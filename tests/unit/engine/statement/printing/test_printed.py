"""A statement printed anew: for the frame with its relations qualified, for a session with every name."""

from __future__ import annotations

import pytest

from engine.guard import BUILT_IN
from engine.guard.analyse import analyse
from engine.statement.printing.names import Kind, Names, Relation
from engine.statement.printing.statement import MOST_COPIES, PrintingError, placed, printed
from engine.statement.printing.trees import nodes

NAMES = Names(
    {"people": "app", "pets": "app"},
    (
        Relation("app", "people", ("id", "name", "mail"), frozenset({"mail"})),
        Relation("app", "pets", ("id", "owner", "mail"), frozenset({"mail"})),
    ),
    {"mood": "app"},
    {(Kind.OPERATOR, "="): "public", (Kind.FUNCTION, "max"): "public", (Kind.FUNCTION, "lower"): "public"},
)


def framed(sql: str) -> str:
    return printed(analyse(sql), NAMES, BUILT_IN).text


def in_place(sql: str, *, typed: bool = True) -> str:
    return placed(printed(analyse(sql), NAMES, BUILT_IN), NAMES, typed=typed)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT name FROM people -- all", "SELECT name FROM app.people"),
        ("SELECT id + 1 FROM people", "SELECT id + 1 FROM app.people"),
        ("SELECT 'x'::mood, '1'::int", "SELECT CAST('x' AS app.mood), CAST('1' AS pg_catalog.int4)"),
        ("SELECT nullif(id, 0) FROM people", "SELECT NULLIF(id, 0) FROM app.people"),
        ("SELECT 1 WHERE id IN (1, 2.5)", "SELECT 1 WHERE id IN (1, 2.5)"),
        (
            "SELECT id FROM people JOIN pets USING (id)",
            "SELECT id FROM app.people INNER JOIN app.pets USING (id)",
        ),
    ],
)
def test_in_the_frame_relations_bear_their_schemas_and_all_else_stands_as_written(
    sql: str, text: str
) -> None:
    assert framed(sql) == text


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT name FROM people -- all", "SELECT name FROM app.people"),
        ("SELECT lower(name) FROM people", "SELECT pg_catalog.lower(name) FROM app.people"),
        ("SELECT id + 1 FROM people", "SELECT id OPERATOR(pg_catalog.+) 1 FROM app.people"),
        ("SELECT 'x'::mood, '1'::int", "SELECT CAST('x' AS app.mood), CAST('1' AS pg_catalog.int4)"),
        (r"SELECT 'a\b'", r"SELECT E'a\\b'"),
        ("SELECT 1 WHERE 1 = NULL", "SELECT 1 WHERE 1 OPERATOR(pg_catalog.=) NULL"),
        ("SELECT 1 WHERE 1 IN (2, 3)", "SELECT 1 WHERE 1 OPERATOR(pg_catalog.=) ANY(ARRAY[2, 3])"),
        ("SELECT 1 WHERE 1 IN (2)", "SELECT 1 WHERE 1 OPERATOR(pg_catalog.=) 2"),
        (
            "SELECT id FROM people WHERE id IN (1, id, 2)",
            "SELECT id FROM app.people WHERE id OPERATOR(pg_catalog.=) ANY(ARRAY[1, 2])"
            " OR id OPERATOR(pg_catalog.=) id",
        ),
        (
            "SELECT 1 WHERE 'a' NOT IN ('b', 'c')",
            "SELECT 1 WHERE 'a' OPERATOR(pg_catalog.<>) ALL('{\"b\",\"c\"}')",
        ),
        (
            "SELECT id FROM people WHERE id IN (SELECT owner FROM pets)",
            "SELECT id FROM app.people WHERE id OPERATOR(pg_catalog.=) ANY (SELECT owner FROM app.pets)",
        ),
        (
            "SELECT CASE id WHEN 1 THEN 2 END FROM people",
            "SELECT CASE WHEN id OPERATOR(pg_catalog.=) 1 THEN 2 END FROM app.people",
        ),
        (
            "SELECT nullif(id, 0) FROM people",
            "SELECT CASE WHEN id OPERATOR(pg_catalog.=) 0 THEN NULL ELSE id END AS nullif FROM app.people",
        ),
        (
            "SELECT * FROM people JOIN pets USING (id)",
            "SELECT app.people.id AS id, app.people.name AS name, app.people.mail AS mail, app.pets.owner AS owner,"
            " app.pets.mail AS mail FROM app.people INNER JOIN app.pets"
            " ON app.people.id OPERATOR(pg_catalog.=) app.pets.id",
        ),
        (
            "SELECT id FROM people p FULL JOIN pets q USING (id)",
            "SELECT COALESCE(p.id, q.id) AS id FROM app.people AS p FULL JOIN app.pets AS q"
            " ON p.id OPERATOR(pg_catalog.=) q.id",
        ),
        (
            "SELECT id FROM people WHERE mail = 'x' AND id = 1",
            "SELECT id FROM app.people WHERE mail OPERATOR(public.=) 'x' AND id OPERATOR(pg_catalog.=) 1",
        ),
        (
            "SELECT max(mail), lower(name) FROM people",
            "SELECT public.max(mail), pg_catalog.lower(name) FROM app.people",
        ),
        (
            "SELECT to_tsvector('english', name) FROM people",
            "SELECT pg_catalog.to_tsvector('pg_catalog.english', name) FROM app.people",
        ),
        (
            "SELECT f.part FROM unnest(ARRAY['a']) AS f",
            "SELECT f.part FROM pg_catalog.unnest(ARRAY[ 'a']) AS f",
        ),
    ],
)
def test_in_a_session_every_name_bears_its_schema(sql: str, text: str) -> None:
    assert in_place(sql) == text


def test_numbers_of_a_list_keep_their_type_or_take_another() -> None:
    sql = "SELECT 1 WHERE 1 IN (2, 0.5)"
    assert in_place(sql).endswith("ANY(ARRAY[2, 0.5])")
    assert in_place(sql, typed=False).endswith("ANY('{2,0.5}')")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM people WHERE name = '01/02/2024'",
        "SELECT to_tsvector('public.english', name), elsewhere FROM people",
        "SELECT id FROM nowhere",
        "SELECT p.lower FROM people p",
        "SELECT x.id FROM (people JOIN pets USING (id)) AS x",
        "SELECT f.upper FROM unnest(ARRAY['a']) AS f",
        "SELECT 1 FROM people WHERE name IS DISTINCT FROM 'a'",
        "SELECT 1 WHERE random() BETWEEN 0 AND 1",
        "SELECT CASE random() WHEN 1 THEN 2 END",
    ],
)
def test_what_a_path_or_a_setting_could_read_otherwise_stays_in_the_frame(sql: str) -> None:
    with pytest.raises(PrintingError):
        in_place(sql)
    assert framed(sql)


def nested(levels: int, before: str, behind: str) -> str:
    return f"SELECT {before * levels}id{behind * levels} FROM people"


GROWING = [
    ("nullif(", ", 1)"),
    ("(", " BETWEEN 1 AND 2)::int"),
    ("(", " BETWEEN SYMMETRIC 1 AND 2)::int"),
    ("CASE ", " WHEN 1 THEN 2 WHEN 3 THEN 4 END"),
    ("(", " IN (id, owner))::int"),
    ("(", " IS DISTINCT FROM 1)::int"),
    ("(1 BETWEEN SYMMETRIC 0 AND ", ")::int"),
]
"""What stands twice when it is written out, so that each level doubles it."""


@pytest.mark.parametrize(("before", "behind"), GROWING)
@pytest.mark.parametrize("levels", [3, 60])
def test_what_is_printed_has_a_bound(levels: int, before: str, behind: str) -> None:
    statement = printed(analyse(nested(levels, before, behind)), NAMES, BUILT_IN)
    written = sum(1 for _ in nodes(analyse(statement.text).tree))
    assert written < 100 * (levels + 1)
    try:
        text = placed(statement, NAMES, typed=True)
    except PrintingError:
        return
    assert sum(1 for _ in nodes(analyse(text).tree)) < written + MOST_COPIES


@pytest.mark.parametrize(
    "sql", ["WITH x AS (DELETE FROM people RETURNING 1) SELECT 1", "SELECT xmlelement(name a)"]
)
def test_what_no_query_may_hold_is_refused(sql: str) -> None:
    with pytest.raises(PrintingError):
        framed(sql)
