"""What role_a made in a schema of the search path while it could, and still owns now that it may create nothing there.

Owns the tables of somebody who is trusted, the things left behind, and statements that would call them where a name is
looked up along the search path. Every server upgraded from before 15 may hold such things.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

HOUSE = """
CREATE EXTENSION IF NOT EXISTS citext SCHEMA public;
DROP TABLE IF EXISTS public.clients, public.visits;
CREATE TABLE public.clients (id int PRIMARY KEY, nick varchar, mail public.citext, born date);
CREATE TABLE public.visits (id int, nick varchar, mail public.citext);
INSERT INTO public.clients VALUES (1, 'Ann', 'ANN@x.org', '1990-01-01'), (2, 'Bob', 'bob@x.org', '1991-01-01');
INSERT INTO public.visits VALUES (1, 'Ann', 'ann@X.org'), (2, 'Zed', 'zed@x.org');
GRANT SELECT ON public.clients, public.visits TO role_b;
"""

NO_MORE = "REVOKE CREATE ON SCHEMA public FROM role_a, PUBLIC"


@dataclass(frozen=True, slots=True)
class Leftover:
    """`plant`: what role_a makes in the schema `{s}`; `statements`: what would call it."""

    name: str
    plant: str
    statements: tuple[str, ...]


def _body(returns: str, value: str) -> str:
    return (
        f"RETURNS {returns} LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM a.spy(); RETURN {value}; END $$;"
    )


def _function(name: str, kind: str, returns: str, value: str, *uses: str) -> Leftover:
    return Leftover(f"{name}({kind})", f"CREATE FUNCTION {{s}}.{name}({kind}) {_body(returns, value)}", uses)


def _operator(name: str, left: str, right: str, *uses: str) -> Leftover:
    slug = "".join(str(ord(letter)) for letter in name) + "".join(filter(str.isalpha, left + right))
    plant = f"CREATE FUNCTION {{s}}.sly{slug}({left}, {right}) {_body('boolean', 'true')}"
    plant += (
        f"CREATE OPERATOR {{s}}.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {{s}}.sly{slug});"
    )
    return Leftover(f"{left} {name} {right}", plant, uses)


LEFTOVERS = (
    _function(
        "lower",
        "varchar",
        "text",
        "'x'",
        "SELECT lower(nick) FROM clients",
        "SELECT id FROM clients ORDER BY lower(nick)",
    ),
    _function("upper", "public.citext", "text", "'x'", "SELECT upper(mail) FROM clients"),
    _function("date_part", "text, date", "float8", "1", "SELECT date_part('year', born) FROM clients"),
    Leftover(
        "max(varchar)",
        f"CREATE FUNCTION {{s}}.step(varchar, varchar) {_body('varchar', '$1')}"
        "CREATE AGGREGATE {s}.max(varchar) (SFUNC = {s}.step, STYPE = varchar);",
        ("SELECT max(nick) FROM clients", "SELECT id, max(nick) OVER () FROM clients"),
    ),
    _operator(
        "=",
        "varchar",
        "varchar",
        "SELECT c.id FROM clients c JOIN visits v ON c.nick = v.nick",
        "SELECT c.id FROM clients c JOIN visits v USING (nick)",
        "SELECT c.id FROM clients c NATURAL JOIN (SELECT nick FROM visits) v",
        "SELECT id FROM clients WHERE nick IN (SELECT nick FROM visits)",
        "SELECT CASE nick WHEN nick THEN 1 END FROM clients",
        "SELECT nullif(nick, nick) FROM clients",
        "SELECT id FROM clients WHERE nick IS DISTINCT FROM nick",
        "SELECT id FROM clients WHERE nick IN (nick, 'Ann'::varchar)",
    ),
    _operator("~~", "varchar", "varchar", "SELECT id FROM clients WHERE nick LIKE 'A%'::varchar"),
    _operator(
        "<=", "varchar", "varchar", "SELECT id FROM clients WHERE nick BETWEEN 'A'::varchar AND 'B'::varchar"
    ),
    _operator("=", "public.citext", "text", "SELECT id FROM clients WHERE mail = 'ann@x.org'::text"),
    _operator("<>", "public.citext", "varchar", "SELECT id FROM clients WHERE mail <> nick"),
    Leftover(
        "date",
        "CREATE FUNCTION {s}.seen(text) "
        + _body("boolean", "true")
        + "CREATE DOMAIN {s}.date AS text CHECK ({s}.seen(VALUE));",
        ("SELECT born::text::date FROM clients", "SELECT date '2020-01-01' FROM clients"),
    ),
    Leftover(
        "json_to_recordset(json)",
        "CREATE FUNCTION {s}.json_to_recordset(json) RETURNS SETOF record LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM a.spy(); RETURN QUERY SELECT * FROM pg_catalog.json_to_recordset($1) AS t(id int); END $$;",
        ("SELECT id FROM json_to_recordset('[{\"id\": 1}]') AS t(id int)",),
    ),
)


def left(schema: str, leftovers: tuple[Leftover, ...]) -> str:
    """The script that leaves them behind in a schema."""
    return "".join(each.plant.replace("{s}", schema) for each in leftovers)


some = st.sets(st.sampled_from(range(len(LEFTOVERS))), min_size=1, max_size=4).map(
    lambda places: tuple(LEFTOVERS[place] for place in sorted(places))
)
"""Several leftovers at once."""
