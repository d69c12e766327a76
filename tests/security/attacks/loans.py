"""What role_b builds on role_a's objects in good faith: the relation is role_b's, the code is role_a's."""

from __future__ import annotations

from tests.security.attacks.attack import Attack, Moment

_TABLE = "CREATE TABLE b.own (id int, c text); INSERT INTO b.own VALUES (1, 'x');"

LOANS = (
    Attack(
        "role_b's view calls role_a's function",
        "",
        ("SELECT c FROM b.shown", "SELECT count(*) FROM b.shown WHERE c = 'x'"),
        victim=_TABLE + "CREATE VIEW b.shown AS SELECT a.spy_text(c) AS c FROM b.own;",
    ),
    Attack(
        "role_b's view reads role_a's view",
        "CREATE VIEW a.shown AS SELECT a.spy_text('x') AS c;",
        ("SELECT c FROM b.shown",),
        victim="CREATE VIEW b.shown AS SELECT c FROM a.shown;",
    ),
    Attack(
        "role_b's policy asks role_a's view",
        "CREATE VIEW a.gate AS SELECT a.spy_text('x') AS c;",
        ("TABLE b.own",),
        victim=_TABLE
        + """ALTER TABLE b.own ENABLE ROW LEVEL SECURITY; ALTER TABLE b.own FORCE ROW LEVEL SECURITY;
             CREATE POLICY p ON b.own USING (c IN (SELECT c FROM a.gate));""",
    ),
    Attack(
        "role_b's index of role_a's function",
        "",
        ("SELECT c FROM b.own WHERE id = 1",),
        Moment.PLANNED,
        victim=_TABLE + "CREATE INDEX ON b.own ((a.spy_text('x') || c));",
    ),
    Attack(
        "role_b's column of role_a's enum",
        """CREATE TYPE a.mood AS ENUM ('sad', 'ok');
           CREATE FUNCTION a.mood_text(a.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
           CREATE CAST (a.mood AS text) WITH FUNCTION a.mood_text(a.mood) AS IMPLICIT;""",
        ("SELECT lower(m) FROM b.own", "SELECT m::text FROM b.own"),
        victim="CREATE TABLE b.own (m a.mood); INSERT INTO b.own VALUES ('ok');",
    ),
    Attack(
        "role_b's type made of role_a's domain",
        "CREATE DOMAIN a.word AS text CHECK (a.spy_text(VALUE) <> 'never');",
        ("SELECT coalesce(p, '(boom)') FROM b.own", "SELECT 1 FROM b.own WHERE p IN ('(boom)', '(bang)')"),
        Moment.PLANNED,
        victim="CREATE TYPE b.pair AS (w a.word); CREATE TABLE b.own (p b.pair); INSERT INTO b.own VALUES ('(x)');",
    ),
    Attack(
        "role_b's view of an operator of role_a's over built-in types",
        """CREATE FUNCTION a.same(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN true; END $$;
           CREATE OPERATOR a.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = a.same);""",
        ("SELECT c FROM b.shown",),
        victim=_TABLE + "CREATE VIEW b.shown AS SELECT c OPERATOR(a.===) 'x' AS c FROM b.own;",
    ),
)
