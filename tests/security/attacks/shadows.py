"""Objects of role_a in a schema of the search path that pass for PostgreSQL's own (CVE-2018-1058).

`planted.sql` lets role_a create in public, as PostgreSQL did for everybody before 15.
"""

from __future__ import annotations

from tests.security.attacks.attack import Attack, Moment

_TABLE = """
CREATE TABLE a.t (id int, c varchar, j jsonb, da text[]); INSERT INTO a.t VALUES (1, 'x', '{"a": 1}', '{x}');
CREATE TYPE a.mood AS ENUM ('sad', 'ok');
CREATE TABLE a.moods (c a.mood); INSERT INTO a.moods VALUES ('ok'), ('sad');
"""


def _function(signature: str, returns: str, value: str) -> str:
    return (
        f"CREATE FUNCTION public.{signature} RETURNS {returns} LANGUAGE plpgsql IMMUTABLE"
        f" AS $$ BEGIN PERFORM a.spy(); RETURN {value}; END $$;"
    )


def _operator(name: str, left: str, right: str) -> str:
    return (
        _function(f"sly({left}, {right})", "boolean", "true")
        + f"CREATE OPERATOR public.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.sly);"
    )


def _lacking(name: str, signature: str, statement: str, last: int, returns: str = "text") -> Attack:
    """A word that newer servers reserve for themselves is a call of anybody's function on older ones."""
    planted = _function(signature, returns, "NULL")
    return Attack(f"word that this server lacks: {name}", _TABLE + planted, (statement,), last=last)


SHADOWS = (
    Attack(
        "function with nearer argument types",
        _TABLE + _function("upper(varchar)", "text", "$1"),
        ("SELECT upper(c) FROM a.t", "SELECT id FROM a.t WHERE upper(c) = 'X'"),
    ),
    Attack(
        "function of one's own type",
        _TABLE + _function("lower(a.mood)", "text", "'x'"),
        ("SELECT lower(c) FROM a.moods",),
    ),
    Attack(
        "aggregate of one's own type",
        _TABLE
        + _function("step(int, a.mood)", "int", "1")
        + "CREATE AGGREGATE public.sum(a.mood) (SFUNC = public.step, STYPE = int);",
        ("SELECT sum(c) FROM a.moods",),
    ),
    Attack(
        "function of a row, written as a column",
        _TABLE + _function("total(a.t)", "int", "1"),
        ("SELECT t.total FROM a.t", "SELECT x.total FROM a.t AS x ORDER BY x.total"),
    ),
    Attack(
        "operator with nearer argument types",
        _TABLE + _operator("=", "varchar", "varchar"),
        (
            "SELECT id FROM a.t x WHERE x.c = x.c",
            "SELECT x.id FROM a.t x JOIN a.t y USING (c)",
            "SELECT x.id FROM a.t x NATURAL JOIN (SELECT c FROM a.t) y",
            "SELECT CASE c WHEN c THEN 1 END FROM a.t",
            "SELECT id FROM a.t WHERE c IN (SELECT c FROM a.t)",
            "SELECT id FROM a.t WHERE c = ANY (SELECT c FROM a.t)",
            "SELECT nullif(c, c) FROM a.t",
            "SELECT id FROM a.t WHERE c IS DISTINCT FROM c",
        ),
    ),
    Attack(
        "operator of one's own type",
        _TABLE + _operator("=", "a.mood", "a.mood"),
        ("SELECT 1 FROM a.moods WHERE c = 'ok'", "SELECT 1 FROM a.moods WHERE c IN ('ok', 'sad')"),
    ),
    Attack(
        "operator that stands for a word",
        _TABLE + _operator("~~", "varchar", "varchar") + "CREATE OPERATOR public.< (LEFTARG = varchar,"
        " RIGHTARG = varchar, FUNCTION = public.sly); CREATE OPERATOR public.>= (LEFTARG = varchar,"
        " RIGHTARG = varchar, FUNCTION = public.sly); ",
        ("SELECT id FROM a.t WHERE c LIKE c", "SELECT id FROM a.t WHERE c BETWEEN c AND c"),
    ),
    Attack(
        "type that this server lacks",
        """CREATE DOMAIN public.int4multirange AS text CHECK (a.spy_text(VALUE) <> 'never');
           CREATE TABLE a.t (id int); INSERT INTO a.t VALUES (1);""",
        ("SELECT '{}'::int4multirange FROM a.t", "SELECT CAST('{}' AS int4multirange) FROM a.t"),
        last=13,
    ),
    _lacking("JSON_VALUE", "json_value(jsonb, text)", "SELECT JSON_VALUE(j, '$.a') FROM a.t", 16),
    _lacking("JSON_QUERY", "json_query(jsonb, text)", "SELECT JSON_QUERY(j, '$.a') FROM a.t", 16),
    _lacking(
        "JSON_EXISTS",
        "json_exists(jsonb, text)",
        "SELECT 1 FROM a.t WHERE JSON_EXISTS(j, '$.a')",
        16,
        "boolean",
    ),
    _lacking("JSON_SCALAR", "json_scalar(int)", "SELECT JSON_SCALAR(id) FROM a.t", 16),
    _lacking("JSON_SERIALIZE", "json_serialize(jsonb)", "SELECT JSON_SERIALIZE(j) FROM a.t", 16),
    _lacking("JSON", "json(text[])", "SELECT JSON(da) FROM a.t", 16),
    _lacking("JSON_ARRAY", "json_array(int, int)", "SELECT JSON_ARRAY(id, 2) FROM a.t", 15),
    _lacking("JSON_ARRAYAGG", "json_arrayagg(int)", "SELECT JSON_ARRAYAGG(id) FROM a.t", 15),
    _lacking(
        "string_to_table", "string_to_table(text, text)", "SELECT string_to_table('a', 'b') FROM a.t", 13
    ),
    _lacking("any_value", "any_value(int)", "SELECT any_value(id) FROM a.t", 15, "int"),
    _lacking("array_sort", "array_sort(text[])", "SELECT array_sort(da) FROM a.t", 17, "text[]"),
    _lacking("erf", "erf(int)", "SELECT erf(id) FROM a.t", 15, "int"),
    Attack(
        "word that this server lacks, on a constant",
        _function("json_value(jsonb, text)", "text", "''"),
        ("SELECT JSON_VALUE(jsonb '{}', '$')",),
        Moment.PLANNED,
        last=16,
    ),
)
