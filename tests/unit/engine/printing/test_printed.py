"""A statement printed anew: every name with its schema, every hidden operator in sight, literals that cannot turn."""

from __future__ import annotations

import pytest

from engine.guard import BUILT_IN
from engine.guard.analyse import analyse
from engine.printing.names import Kind, Names, Overload, Relation, Type
from engine.printing.statement import Printed, PrintingError, printed

INT, TEXT, VARCHAR, BOOL = (Type("pg_catalog", name) for name in ("int4", "text", "varchar", "bool"))
CITEXT = Type("public", "citext", own=True)


def overload(kind: Kind, name: str, *arguments: Type, result: Type = BOOL, trusted: bool = True) -> Overload:
    return Overload(kind, "public", name, arguments, result, exact=True, trusted=trusted)


NAMES = Names(
    {"people": "app", "pets": "app"},
    (
        Relation("app", "people", (("id", INT), ("name", VARCHAR), ("mail", CITEXT))),
        Relation("app", "pets", (("id", INT), ("owner", INT), ("mail", CITEXT))),
    ),
    {"mood": "app"},
    (
        *(overload(Kind.OPERATOR, name, CITEXT, CITEXT) for name in ("=", "<>", ">=", "<=", "~~")),
        overload(Kind.OPERATOR, "=", CITEXT, TEXT, trusted=False),
        overload(Kind.OPERATOR, "~~", CITEXT, TEXT),
        overload(Kind.FUNCTION, "max", CITEXT, result=CITEXT),
        overload(Kind.FUNCTION, "lower", CITEXT, result=TEXT, trusted=False),
    ),
)


def anew(sql: str) -> Printed:
    return printed(analyse(sql), NAMES, BUILT_IN)


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
        ("SELECT 1 WHERE 'a' NOT IN ('b')", "SELECT 1 WHERE 'a' OPERATOR(pg_catalog.<>) ALL('{\"b\"}')"),
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
            "SELECT id FROM people WHERE mail = 'x'",
            "SELECT id FROM app.people WHERE mail OPERATOR(public.=) CAST('x' AS public.citext)",
        ),
        (
            "SELECT id FROM people WHERE mail IN ('x', 'y')",
            'SELECT id FROM app.people WHERE mail OPERATOR(public.=) ANY(CAST(\'{"x","y"}\' AS public.citext[]))',
        ),
        (
            "SELECT max(mail), lower(mail) FROM people",
            "SELECT public.max(mail), pg_catalog.lower(mail) FROM app.people",
        ),
        (
            "SELECT to_tsvector('english', name) FROM people",
            "SELECT pg_catalog.to_tsvector('pg_catalog.english', name) FROM app.people",
        ),
    ],
)
def test_every_name_bears_its_schema(sql: str, text: str) -> None:
    assert anew(sql).text == text
    assert anew(sql).sealed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM people WHERE name = '01/02/2024'",
        "SELECT to_tsvector('public.english', name), elsewhere FROM people",
        "SELECT id FROM nowhere",
        "SELECT p.lower FROM people p",
        "SELECT x.id FROM (people JOIN pets USING (id)) AS x",
        "SELECT f.upper FROM unnest(ARRAY['a']) AS f",
    ],
)
def test_what_a_path_or_a_setting_could_read_otherwise_stays_in_the_frame(sql: str) -> None:
    assert not anew(sql).sealed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 WHERE random() BETWEEN 0 AND 1",
        "SELECT CASE random() WHEN 1 THEN 2 END",
        "WITH x AS (DELETE FROM people RETURNING 1) SELECT 1",
    ],
)
def test_what_cannot_be_printed_is_refused(sql: str) -> None:
    with pytest.raises(PrintingError):
        anew(sql)


def test_only_a_trusted_owners_overload_is_meant() -> None:
    names = Names(NAMES.schemas, NAMES.relations, overloads=NAMES.overloads)
    with pytest.raises(PrintingError, match=r"function public\.lower belongs to a role that is not trusted"):
        printed(analyse("SELECT public.lower(mail) FROM people"), names, BUILT_IN)
