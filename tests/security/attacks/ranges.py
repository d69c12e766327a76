"""Functions of range types: the planner measures with subtype_diff.

The other one, canonical, needs a type that only a superuser can declare ahead of it.
"""

from __future__ import annotations

from tests.security.attacks.attack import Attack, Moment

_MEASURED = """
CREATE FUNCTION a.gap(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN $1 - $2; END $$;
CREATE TYPE a.span AS RANGE (subtype = float8, subtype_diff = a.gap{many});
CREATE TABLE a.spans (id int, r a.span);
INSERT INTO a.spans SELECT i, a.span(i, i + 2) FROM generate_series(1, 200) AS i;
ANALYZE a.spans;
"""

_PLAIN = _MEASURED.format(many="")

RANGES = (
    Attack(
        "subtype_diff while planning",
        _PLAIN,
        (
            "SELECT id FROM a.spans WHERE r && '[3,50)'",
            "SELECT id FROM a.spans WHERE r <@ '[3,50)'",
            "SELECT id FROM a.spans WHERE r @> '[3,4)'",
        ),
        Moment.PLANNED,
    ),
    Attack(
        "subtype_diff behind a view",
        _PLAIN + "CREATE VIEW a.shown AS SELECT id FROM a.spans WHERE r && '[3,50)';",
        ("SELECT id FROM a.shown",),
        Moment.PLANNED,
    ),
    Attack(
        "subtype_diff of a multirange",
        _MEASURED.format(many=", multirange_type_name = a.spans_of")
        + """CREATE TABLE a.many (m a.spans_of);
             INSERT INTO a.many SELECT a.spans_of(r) FROM a.spans; ANALYZE a.many;""",
        ("SELECT 1 FROM a.many WHERE m && '{[3,50)}'", "SELECT 1 FROM a.many WHERE m <@ '{[3,50)}'"),
        Moment.PLANNED,
        first=14,
    ),
    Attack(
        "subtype compared by the operators of a class that a superuser made of role_a's functions",
        """CREATE TYPE a.size AS ENUM ('s', 'm', 'l');
           CREATE FUNCTION a.size_cmp(a.size, a.size) RETURNS int LANGUAGE plpgsql IMMUTABLE
               AS $$ BEGIN PERFORM a.spy(); RETURN pg_catalog.enum_cmp($1, $2); END $$;""",
        (
            "SELECT coalesce(r, '[s,l]') FROM a.spans",
            "SELECT 1 FROM a.spans WHERE r = '[s,m]'",
        ),
        Moment.PLANNED,
        admin="""CREATE OPERATOR CLASS a.size_ops FOR TYPE a.size USING btree AS
                     OPERATOR 1 pg_catalog.<(anyenum, anyenum), OPERATOR 2 pg_catalog.<=(anyenum, anyenum),
                     OPERATOR 3 pg_catalog.=(anyenum, anyenum), OPERATOR 4 pg_catalog.>=(anyenum, anyenum),
                     OPERATOR 5 pg_catalog.>(anyenum, anyenum), FUNCTION 1 a.size_cmp(a.size, a.size);
                 CREATE TYPE a.span AS RANGE (subtype = a.size, subtype_opclass = a.size_ops);
                 CREATE TABLE a.spans (r a.span); ALTER TABLE a.spans OWNER TO role_a;
                 GRANT SELECT ON a.spans TO role_b, catalog;""",
    ),
)
