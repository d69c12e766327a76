"""CHECK constraints of domains: they run where a literal is read, which for most literals is while planning."""

from __future__ import annotations

from tests.security.attacks.attack import Attack, Moment

_DOMAIN = "CREATE DOMAIN a.word AS text CHECK (a.spy_text(VALUE) <> 'never');"

_TABLE = (
    _DOMAIN
    + """
CREATE TYPE a.pair AS (w a.word, n int);
CREATE TABLE a.words (id int, d a.word, da a.word[], p a.pair, pa a.pair[]);
INSERT INTO a.words VALUES (1, 'x', '{x}', '(x,1)', '{}');
"""
)

DOMAINS = (
    Attack(
        "domain in an array literal",
        _TABLE,
        (
            "SELECT coalesce(da, '{boom}') FROM a.words",
            "SELECT id FROM a.words WHERE da = '{boom}'",
            "SELECT id FROM a.words WHERE da && '{boom}'",
            "SELECT id FROM a.words WHERE da @> '{boom}'",
            "SELECT CASE WHEN id = 1 THEN da ELSE '{boom}' END FROM a.words",
            "SELECT array_cat(da, '{boom}') FROM a.words",
            "SELECT greatest(da, '{boom}') FROM a.words",
            "SELECT id FROM a.words WHERE da IN ('{boom}')",
            "SELECT id FROM a.words WHERE da IS DISTINCT FROM '{boom}'",
            "SELECT nullif(da, '{boom}') FROM a.words",
            "SELECT da FROM a.words UNION ALL SELECT '{boom}'",
        ),
        Moment.PLANNED,
    ),
    Attack(
        "domain in a composite literal",
        _TABLE,
        (
            "SELECT coalesce(p, '(boom,1)') FROM a.words",
            "SELECT id FROM a.words WHERE p IN ('(boom,1)', '(boom,2)')",
            "SELECT id FROM a.words WHERE pa = '{\"(boom,1)\"}'",
            "SELECT array_append(pa, '(boom,1)') FROM a.words",
        ),
        Moment.PLANNED,
    ),
    Attack(
        "domain in a JSON record",
        _TABLE,
        (
            'SELECT json_populate_record(w, \'{"d": "boom"}\') FROM a.words w',
            'SELECT x.id FROM a.words w, jsonb_populate_record(w, \'{"d": "boom"}\') AS x',
            'SELECT x.id FROM a.words w, jsonb_populate_recordset(w, \'[{"d": "boom"}]\') AS x',
            'SELECT jsonb_populate_record(p, \'{"w": "boom"}\') FROM a.words',
            'SELECT json_populate_recordset(w, \'[{"da": ["boom"]}]\') FROM a.words w',
        ),
    ),
    Attack(
        "domain as the subtype of a range",
        _DOMAIN
        + """CREATE TYPE a.stretch AS RANGE (subtype = a.word);
             CREATE TABLE a.words (r a.stretch); INSERT INTO a.words VALUES ('[a,b]');""",
        (
            "SELECT 1 FROM a.words WHERE r = '[boom,boom]'",
            "SELECT 1 FROM a.words WHERE r && '[boom,boom]'",
            "SELECT coalesce(r, '[boom,boom]') FROM a.words",
        ),
        Moment.PLANNED,
    ),
    Attack(
        "domain over a domain, NOT NULL above, CHECK below",
        _DOMAIN
        + """CREATE DOMAIN a.shout AS a.word NOT NULL;
             CREATE TABLE a.words (da a.shout[]); INSERT INTO a.words VALUES ('{X}');""",
        ("SELECT coalesce(da, '{boom}') FROM a.words",),
        Moment.PLANNED,
    ),
    Attack(
        "domain whose CHECK compares by an operator of its own",
        """CREATE FUNCTION a.near(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN true; END $$;
           CREATE OPERATOR a.~= (LEFTARG = text, RIGHTARG = text, FUNCTION = a.near);
           CREATE DOMAIN a.word AS text CHECK (VALUE OPERATOR(a.~=) 'x');
           CREATE TABLE a.words (da a.word[]); INSERT INTO a.words VALUES ('{x}');""",
        ("SELECT coalesce(da, '{boom}') FROM a.words",),
        Moment.PLANNED,
    ),
    Attack(
        "domain whose CHECK casts by a cast of its own",
        """CREATE TYPE a.mood AS ENUM ('boom');
           CREATE FUNCTION a.mood_text(a.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
           CREATE CAST (a.mood AS text) WITH FUNCTION a.mood_text(a.mood);
           CREATE DOMAIN a.word AS a.mood CHECK (VALUE::text = 'x');
           CREATE TABLE a.words (da a.word[]); INSERT INTO a.words VALUES ('{boom}');""",
        ("SELECT coalesce(da, '{boom}') FROM a.words",),
        Moment.PLANNED,
    ),
    Attack(
        "domain in the type of a view's column",
        _TABLE + "CREATE VIEW a.shown AS SELECT da, p FROM a.words;",
        ("SELECT coalesce(da, '{boom}') FROM a.shown", "SELECT coalesce(p, '(boom,1)') FROM a.shown"),
        Moment.PLANNED,
    ),
    Attack(
        "domain in a WITH query and in a subquery",
        _TABLE,
        (
            "WITH w AS MATERIALIZED (SELECT da FROM a.words) SELECT coalesce(da, '{boom}') FROM w",
            "SELECT (SELECT coalesce(x.da, '{boom}') FROM a.words x LIMIT 1) FROM a.words",
            "SELECT 1 FROM a.words WHERE EXISTS (SELECT FROM a.words x WHERE x.da = '{boom}')",
        ),
        Moment.PLANNED,
    ),
    Attack(
        "domain on the table of another",
        _DOMAIN,
        ("SELECT coalesce(da, '{boom}') FROM b.own",),
        Moment.PLANNED,
        victim="CREATE TABLE b.own (da a.word[]); INSERT INTO b.own VALUES ('{x}')",
    ),
)
