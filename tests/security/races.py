"""Traps that role_a sets and removes while somebody asks: what was checked is not what is read a moment later."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Race:
    """`trap` and `harmless` take turns, each in one transaction of role_a's; `statement` may meet either."""

    name: str
    plant: str
    trap: str
    harmless: str
    statement: str


_TABLE = "CREATE TABLE a.t (id int, c text); INSERT INTO a.t VALUES (1, 'x');"
_WORD = """
CREATE DOMAIN a.word AS text;
CREATE TABLE a.words (da a.word[]); INSERT INTO a.words VALUES ('{x}');
"""
_MOOD = """
CREATE TYPE a.mood AS ENUM ('sad', 'ok');
CREATE TABLE a.moods (c a.mood); INSERT INTO a.moods VALUES ('ok');
CREATE FUNCTION a.mood_text(a.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
"""

RACES = (
    Race(
        "view",
        "CREATE VIEW a.v AS SELECT text 'x' AS c;",
        "CREATE OR REPLACE VIEW a.v AS SELECT a.spy_text('x') AS c",
        "CREATE OR REPLACE VIEW a.v AS SELECT text 'x' AS c",
        "SELECT c FROM a.v",
    ),
    Race(
        "view behind a view",
        "CREATE VIEW a.v AS SELECT text 'x' AS c; CREATE VIEW a.w AS SELECT c FROM a.v;",
        "CREATE OR REPLACE VIEW a.v AS SELECT a.spy_text('x') AS c",
        "CREATE OR REPLACE VIEW a.v AS SELECT text 'x' AS c",
        "SELECT c FROM a.w",
    ),
    Race(
        "function",
        """CREATE FUNCTION a.f() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''x''::text';
           CREATE VIEW a.v AS SELECT a.f() AS c;""",
        "CREATE OR REPLACE FUNCTION a.f() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT a.spy_text(''x'')'",
        "CREATE OR REPLACE FUNCTION a.f() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''x''::text'",
        "SELECT c FROM a.v",
    ),
    Race(
        "constraint of a domain",
        _WORD,
        "ALTER DOMAIN a.word ADD CONSTRAINT boom CHECK (a.spy_text(VALUE) <> 'never') NOT VALID",
        "ALTER DOMAIN a.word DROP CONSTRAINT boom",
        "SELECT coalesce(da, '{boom}') FROM a.words",
    ),
    Race(
        "cast",
        _MOOD,
        "CREATE CAST (a.mood AS text) WITH FUNCTION a.mood_text(a.mood)",
        "DROP CAST (a.mood AS text)",
        "SELECT c::text FROM a.moods",
    ),
    Race(
        "table replaced by a view",
        "CREATE TABLE a.v (c text);",
        "BEGIN; DROP TABLE a.v; CREATE VIEW a.v AS SELECT a.spy_text('x') AS c; COMMIT",
        "BEGIN; DROP VIEW a.v; CREATE TABLE a.v (c text); COMMIT",
        "SELECT c FROM a.v",
    ),
    Race(
        "table and view that change names",
        "CREATE TABLE a.v (c text); CREATE VIEW a.hidden AS SELECT a.spy_text('x') AS c;",
        "BEGIN; ALTER TABLE a.v RENAME TO kept; ALTER VIEW a.hidden RENAME TO v; COMMIT",
        "BEGIN; ALTER VIEW a.v RENAME TO hidden; ALTER TABLE a.kept RENAME TO v; COMMIT",
        "SELECT c FROM a.v",
    ),
    Race(
        "schemas that change names",
        """CREATE SCHEMA shop; CREATE TABLE shop.v (c text);
           CREATE SCHEMA hidden; CREATE VIEW hidden.v AS SELECT a.spy_text('x') AS c;
           GRANT USAGE ON SCHEMA shop, hidden TO role_b; GRANT SELECT ON shop.v, hidden.v TO role_b;""",
        "BEGIN; ALTER SCHEMA shop RENAME TO kept; ALTER SCHEMA hidden RENAME TO shop; COMMIT",
        "BEGIN; ALTER SCHEMA shop RENAME TO hidden; ALTER SCHEMA kept RENAME TO shop; COMMIT",
        "SELECT c FROM shop.v",
    ),
    Race(
        "index",
        _TABLE,
        "CREATE INDEX trap ON a.t (id) WHERE a.spy_text('x') = 'x'",
        "DROP INDEX a.trap",
        "SELECT c FROM a.t WHERE id = 1",
    ),
    Race(
        "policy",
        _TABLE + "ALTER TABLE a.t ENABLE ROW LEVEL SECURITY; ALTER TABLE a.t FORCE ROW LEVEL SECURITY;",
        "CREATE POLICY trap ON a.t USING (a.spy_text('x') = 'x')",
        "DROP POLICY trap ON a.t",
        "SELECT c FROM a.t",
    ),
    Race(
        "child with a constraint",
        "CREATE TABLE a.t (id int, c text); CREATE TABLE a.child (id int, c text, CHECK (a.spy_text('x') = 'x'));",
        "ALTER TABLE a.child INHERIT a.t",
        "ALTER TABLE a.child NO INHERIT a.t",
        "SELECT c FROM a.t WHERE id = 1",
    ),
    Race(
        "shadow of a built-in",
        "CREATE TABLE a.t (c varchar); INSERT INTO a.t VALUES ('x');",
        "CREATE FUNCTION public.upper(varchar) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT a.spy_text($1)'",
        "DROP FUNCTION public.upper(varchar)",
        "SELECT upper(c) FROM a.t",
    ),
)
