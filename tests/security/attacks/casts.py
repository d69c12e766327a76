"""Casts of role_a's own types: PostgreSQL looks them up by type, in no schema, and calls their functions."""

from __future__ import annotations

from tests.security.attacks.attack import Attack

_ENUM = """
CREATE TYPE a.mood AS ENUM ('sad', 'ok');
CREATE TABLE a.moods (id int, c a.mood, cs a.mood[]);
INSERT INTO a.moods VALUES (1, 'ok', '{{ok,sad}}'), (2, 'sad', '{{}}');
CREATE FUNCTION a.mood_to(a.mood) RETURNS {type} LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN {value}; END $$;
CREATE CAST (a.mood AS {type}) WITH FUNCTION a.mood_to(a.mood) {context};
"""

_ROW = """
CREATE TABLE a.t (id int, c text);
INSERT INTO a.t VALUES (1, 'x');
CREATE FUNCTION a.row_to(a.t) RETURNS {type} LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN {value}; END $$;
CREATE CAST (a.t AS {type}) WITH FUNCTION a.row_to(a.t) {context};
"""


def _enum(type_: str, value: str, context: str = "") -> str:
    return _ENUM.format(type=type_, value=value, context=context)


def _row(type_: str, value: str, context: str = "") -> str:
    return _ROW.format(type=type_, value=value, context=context)


CASTS = (
    Attack(
        "explicit cast of an enum to text",
        _enum("text", "'x'"),
        (
            "SELECT c::text FROM a.moods",
            "SELECT CAST(c AS text) FROM a.moods",
            "SELECT cs::text[] FROM a.moods",
            "SELECT id FROM a.moods ORDER BY c::text",
            "SELECT count(*) FROM a.moods GROUP BY c::text",
        ),
    ),
    Attack(
        "assignment cast of an enum to text",
        _enum("text", "'x'", "AS ASSIGNMENT"),
        ("SELECT c::text FROM a.moods",),
    ),
    Attack(
        "implicit cast of an enum to text",
        _enum("text", "'x'", "AS IMPLICIT"),
        (
            "SELECT lower(c) FROM a.moods",
            "SELECT id FROM a.moods WHERE c LIKE 'x%'",
            "SELECT id FROM a.moods WHERE c ~ 'x'",
            "SELECT string_agg(c, ',') FROM a.moods",
            "SELECT left(c, 1), length(c) FROM a.moods",
            "SELECT m.id FROM a.moods m JOIN (SELECT text 'x' AS c) v ON m.c = v.c",
            "SELECT upper(c) FROM a.moods",
            "SELECT m.id FROM a.moods m JOIN (VALUES ('x')) v(x) ON lower(m.c) = v.x",
        ),
    ),
    Attack(
        "implicit cast of an enum to varchar",
        _enum("varchar", "'x'", "AS IMPLICIT"),
        ("SELECT c::varchar(3) FROM a.moods",),
    ),
    Attack(
        "implicit cast of an enum to integer",
        _enum("int", "1", "AS IMPLICIT"),
        (
            "SELECT c + 1 FROM a.moods",
            "SELECT sum(c) FROM a.moods",
            "SELECT id FROM a.moods WHERE c = 1",
            "SELECT g FROM a.moods, generate_series(1, c) AS g(g)",
            "SELECT substr('abc', c) FROM a.moods",
            "SELECT (ARRAY[1, 2])[c] FROM a.moods",
        ),
    ),
    Attack(
        "implicit cast of an enum to bigint",
        _enum("bigint", "1", "AS IMPLICIT"),
        (
            "SELECT 1 FROM a.moods LIMIT (SELECT c FROM a.moods LIMIT 1)",
            "SELECT 1 FROM a.moods OFFSET (SELECT c FROM a.moods LIMIT 1)",
        ),
    ),
    Attack(
        "assignment cast of an enum to boolean",
        _enum("boolean", "true", "AS ASSIGNMENT"),
        (
            "SELECT id FROM a.moods WHERE c",
            "SELECT id FROM a.moods WHERE NOT c",
            "SELECT id FROM a.moods WHERE c IS TRUE",
            "SELECT CASE WHEN c THEN 1 END FROM a.moods",
            "SELECT count(*) FILTER (WHERE c) FROM a.moods",
            "SELECT m.id FROM a.moods m JOIN a.moods n ON m.c",
            "SELECT count(*) FROM a.moods GROUP BY id, c HAVING c",
        ),
    ),
    Attack(
        "implicit cast of an enum to numeric, date, jsonb",
        _enum("numeric", "1", "AS IMPLICIT")
        + """CREATE FUNCTION a.mood_date(a.mood) RETURNS date LANGUAGE plpgsql IMMUTABLE
                 AS $$ BEGIN PERFORM a.spy(); RETURN '2020-01-01'; END $$;
             CREATE CAST (a.mood AS date) WITH FUNCTION a.mood_date(a.mood) AS IMPLICIT;
             CREATE FUNCTION a.mood_jsonb(a.mood) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE
                 AS $$ BEGIN PERFORM a.spy(); RETURN '{}'; END $$;
             CREATE CAST (a.mood AS jsonb) WITH FUNCTION a.mood_jsonb(a.mood) AS IMPLICIT;""",
        (
            "SELECT round(c, 1) FROM a.moods",
            "SELECT avg(c) FROM a.moods",
            "SELECT isfinite(c) FROM a.moods",
            "SELECT jsonb_typeof(c) FROM a.moods",
            "SELECT c -> 'a' FROM a.moods",
        ),
    ),
    Attack(
        "cast of an enum to json, which the JSON functions look for themselves",
        _enum("json", "'{}'"),
        (
            "SELECT to_json(c) FROM a.moods",
            "SELECT to_jsonb(c) FROM a.moods",
            "SELECT row_to_json(m) FROM a.moods m",
            "SELECT json_agg(c), jsonb_agg(c) FROM a.moods",
            "SELECT json_agg(m) FROM a.moods m",
            "SELECT jsonb_build_object('a', c) FROM a.moods",
            "SELECT json_build_array(c) FROM a.moods",
            "SELECT json_object_agg(id, c) FROM a.moods",
            "SELECT array_to_json(cs) FROM a.moods",
        ),
    ),
    Attack(
        "cast of an enum to json, which the constructors of SQL/JSON look for",
        _enum("json", "'{}'"),
        (
            "SELECT JSON_ARRAY(c) FROM a.moods",
            "SELECT JSON_OBJECT('a': c) FROM a.moods",
            "SELECT JSON_ARRAYAGG(c) FROM a.moods",
            "SELECT JSON_OBJECTAGG(id: c) FROM a.moods",
        ),
        first=16,
    ),
    Attack(
        "cast of a row to text",
        _row("text", "'x'"),
        (
            "SELECT t::text FROM a.t",
            "SELECT count(*) FROM a.t GROUP BY t::text",
        ),
    ),
    Attack(
        "implicit cast of a row",
        _row("text", "'x'", "AS IMPLICIT"),
        ("SELECT lower(t) FROM a.t", "SELECT id FROM a.t WHERE t LIKE 'x'"),
    ),
    Attack(
        "cast of a range to text",
        """CREATE TYPE a.span AS RANGE (subtype = int);
           CREATE TABLE a.spans (r a.span); INSERT INTO a.spans VALUES ('[1,2)');
           CREATE FUNCTION a.span_text(a.span) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
           CREATE CAST (a.span AS text) WITH FUNCTION a.span_text(a.span) AS IMPLICIT;""",
        ("SELECT r::text FROM a.spans", "SELECT string_agg(r, ',') FROM a.spans"),
    ),
    Attack(
        "cast of a multirange to text",
        """CREATE TYPE a.span AS RANGE (subtype = int, multirange_type_name = a.spans_);
           CREATE TABLE a.spans (r a.spans_); INSERT INTO a.spans VALUES ('{[1,2)}');
           CREATE FUNCTION a.span_text(a.spans_) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
           CREATE CAST (a.spans_ AS text) WITH FUNCTION a.span_text(a.spans_) AS IMPLICIT;""",
        ("SELECT r::text FROM a.spans", "SELECT length(r) FROM a.spans"),
        first=14,
    ),
    Attack(
        "cast of an element through the cast of its array",
        _enum("int", "1"),
        ("SELECT cs::int[] FROM a.moods", "SELECT sum(x) FROM a.moods, unnest(cs::int[]) AS x(x)"),
    ),
)
