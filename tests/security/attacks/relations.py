"""What belongs to a table or a view: rules, policies, indexes, constraints, statistics, partitions, children."""

from __future__ import annotations

from tests.security.attacks.attack import Attack, Moment

_TABLE = "CREATE TABLE a.t (id int, c text); INSERT INTO a.t VALUES (1, 'x'), (2, 'y');"

_OPERATOR = """
CREATE FUNCTION a.same(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN $1 = $2; END $$;
CREATE OPERATOR a.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = a.same, RESTRICT = eqsel, JOIN = eqjoinsel);
"""

_READ = ("SELECT * FROM a.shown", "SELECT count(*) FROM a.shown", "WITH s AS (TABLE a.shown) SELECT * FROM s")


def _view(name: str, made: str, first: int = 13) -> Attack:
    """A view that is read row by row: what it calls depends on the row, so that nothing is folded."""
    return Attack(f"view: {name}", made, ("SELECT * FROM a.shown",), first=first)


VIEWS = (
    Attack(
        "view: a function of constants",
        "CREATE VIEW a.shown AS SELECT a.spy_text('x') AS c;",
        ("SELECT c FROM a.shown", "SELECT 1 FROM a.shown WHERE c = 'y'"),
        Moment.PLANNED,
    ),
    _view("a function of a column", _TABLE + "CREATE VIEW a.shown AS SELECT a.spy_text(c) AS c FROM a.t;"),
    Attack(
        "view: a function in WHERE, and behind another view",
        _TABLE
        + """CREATE VIEW a.inner AS SELECT c FROM a.t WHERE a.spy_text(c) <> 'never';
             CREATE VIEW a.shown AS SELECT c FROM a.inner;""",
        _READ,
    ),
    _view(
        "security_invoker",
        _TABLE + "CREATE VIEW a.shown WITH (security_invoker) AS SELECT a.spy_text(c) AS c FROM a.t;",
        first=15,
    ),
    _view(
        "security_barrier",
        _TABLE
        + "CREATE VIEW a.shown WITH (security_barrier) AS SELECT c FROM a.t WHERE a.spy_text(c) <> 'never';",
    ),
    _view(
        "a function in FROM",
        """CREATE FUNCTION a.rows() RETURNS SETOF int LANGUAGE plpgsql
               AS $$ BEGIN PERFORM a.spy(); RETURN NEXT 1; END $$;
           CREATE VIEW a.shown AS SELECT g FROM a.rows() AS g;""",
    ),
    _view(
        "a function that runs its text",
        """CREATE FUNCTION a.dynamic() RETURNS boolean LANGUAGE plpgsql
               AS $$ DECLARE found boolean; BEGIN EXECUTE 'SELECT a.spy()' INTO found; RETURN found; END $$;
           CREATE VIEW a.shown AS SELECT a.dynamic();""",
    ),
    _view(
        "a function in SQL that is inlined",
        """CREATE FUNCTION a.inlined() RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a.spy()';
           CREATE VIEW a.shown AS SELECT a.inlined();""",
    ),
    _view(
        "a function in SQL that is parsed when it is made",
        """CREATE FUNCTION a.parsed() RETURNS boolean LANGUAGE sql RETURN a.spy();
           CREATE VIEW a.shown AS SELECT a.parsed();""",
        first=14,
    ),
    _view(
        "a default argument",
        """CREATE FUNCTION a.defaults(x boolean DEFAULT a.spy()) RETURNS boolean LANGUAGE sql AS 'SELECT $1';
           CREATE VIEW a.shown AS SELECT a.defaults();""",
    ),
    _view(
        "a SECURITY DEFINER function",
        """CREATE FUNCTION a.lent() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
               AS $$ BEGIN RETURN a.spy(); END $$;
           CREATE VIEW a.shown AS SELECT a.lent();""",
    ),
    _view(
        "an aggregate",
        _TABLE
        + """CREATE FUNCTION a.step(int, int) RETURNS int LANGUAGE plpgsql
                 AS $$ BEGIN PERFORM a.spy(); RETURN $1; END $$;
             CREATE AGGREGATE a.total(int) (SFUNC = a.step, STYPE = int, INITCOND = '0');
             CREATE VIEW a.shown AS SELECT a.total(id) FROM a.t;""",
    ),
    _view(
        "an aggregate's final function, as a window",
        _TABLE
        + """CREATE FUNCTION a.last(bigint) RETURNS bigint LANGUAGE plpgsql
                 AS $$ BEGIN PERFORM a.spy(); RETURN $1; END $$;
             CREATE AGGREGATE a.total(int) (SFUNC = int4_sum, STYPE = bigint, FINALFUNC = a.last);
             CREATE VIEW a.shown AS SELECT a.total(id) OVER (ORDER BY id) FROM a.t;""",
    ),
    _view(
        "an operator",
        _TABLE + _OPERATOR + "CREATE VIEW a.shown AS SELECT c OPERATOR(a.===) 'x' AS c FROM a.t;",
    ),
    Attack(
        "view: an operator that the planner tries on the commonest values",
        """CREATE TABLE a.t (c text); INSERT INTO a.t SELECT 'x' FROM generate_series(1, 50); ANALYZE a.t;"""
        + _OPERATOR
        + "CREATE VIEW a.shown AS SELECT c FROM a.t WHERE c OPERATOR(a.===) 'x';",
        ("SELECT c FROM a.shown",),
        Moment.PLANNED,
    ),
    _view(
        "a cast",
        """CREATE TYPE a.mood AS ENUM ('sad'); CREATE TABLE a.t (c a.mood); INSERT INTO a.t VALUES ('sad');
           CREATE FUNCTION a.mood_text(a.mood) RETURNS text LANGUAGE plpgsql
               AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
           CREATE CAST (a.mood AS text) WITH FUNCTION a.mood_text(a.mood);
           CREATE VIEW a.shown AS SELECT c::text AS c FROM a.t;""",
    ),
    Attack(
        "view: a literal of a domain",
        """CREATE DOMAIN a.word AS text CHECK (a.spy_text(VALUE) <> 'never');
           CREATE VIEW a.shown AS SELECT 'x'::a.word AS c;""",
        ("SELECT * FROM a.shown",),
    ),
    _view(
        "a column's value turned into a domain",
        _TABLE
        + """CREATE DOMAIN a.word AS text CHECK (a.spy_text(VALUE) <> 'never');
             CREATE VIEW a.shown AS SELECT c::a.word AS c FROM a.t;""",
    ),
    Attack(
        "view: rule that turns a table into one",
        """CREATE TABLE a.shown (c text);
           CREATE RULE "_RETURN" AS ON SELECT TO a.shown DO INSTEAD SELECT a.spy_text('x') AS c;""",
        ("SELECT c FROM a.shown",),
        Moment.PLANNED,
        last=15,
    ),
    Attack(
        "view: recursive, and a subquery in a subquery",
        """CREATE RECURSIVE VIEW a.shown (n) AS
               SELECT 1 UNION ALL SELECT n + 1 FROM shown WHERE n < 3 AND a.spy_int(n) = n;
           CREATE VIEW a.deep AS SELECT (SELECT count(*) FROM a.shown) AS n;""",
        ("SELECT n FROM a.shown", "SELECT n FROM a.deep"),
    ),
)

TABLES = (
    Attack(
        "policy",
        _TABLE
        + """ALTER TABLE a.t ENABLE ROW LEVEL SECURITY; ALTER TABLE a.t FORCE ROW LEVEL SECURITY;
             CREATE POLICY p ON a.t USING (a.spy_text(c) <> 'never');""",
        ("TABLE a.t", "SELECT count(*) FROM a.t", "SELECT 1 FROM a.t x, a.t y"),
    ),
    Attack(
        "policy: a subquery on a view",
        _TABLE
        + """CREATE VIEW a.gate AS SELECT a.spy_text(c) AS c FROM a.t;
             CREATE TABLE a.kept (c text); INSERT INTO a.kept VALUES ('x');
             ALTER TABLE a.kept ENABLE ROW LEVEL SECURITY; ALTER TABLE a.kept FORCE ROW LEVEL SECURITY;
             CREATE POLICY p ON a.kept USING (c IN (SELECT c FROM a.gate));""",
        ("TABLE a.kept",),
    ),
    Attack(
        "index: its predicate",
        _TABLE + "CREATE INDEX ON a.t (id) WHERE a.spy_text('x') = 'x';",
        ("SELECT c FROM a.t WHERE id = 1", "SELECT x.c FROM a.t x JOIN a.t y USING (id)"),
        Moment.PLANNED,
    ),
    Attack(
        "index: its expression",
        _TABLE + "CREATE INDEX ON a.t ((a.spy_text('x') || c));",
        ("SELECT c FROM a.t WHERE id = 1", "SELECT c FROM a.t ORDER BY c"),
        Moment.PLANNED,
    ),
    Attack(
        "statistics of an expression",
        _TABLE + "CREATE STATISTICS a.s (mcv) ON (a.spy_text('x') || c), id FROM a.t; ANALYZE a.t;",
        ("SELECT c FROM a.t WHERE id = 1", "SELECT id, count(*) FROM a.t GROUP BY id"),
        Moment.PLANNED,
        first=14,
    ),
    Attack(
        "constraint of a child, for exclusion",
        """CREATE TABLE a.t (id int, c text);
           CREATE TABLE a.child (CHECK (a.spy_text('x') = 'x')) INHERITS (a.t);
           CREATE TABLE a.other (CHECK (id > 5)) INHERITS (a.t);""",
        ("SELECT c FROM a.t WHERE id = 1",),
        Moment.PLANNED,
    ),
    Attack(
        "constraint of a table under UNION ALL, for exclusion",
        _TABLE + "ALTER TABLE a.t ADD CHECK (a.spy_text('x') = 'x');",
        ("SELECT c FROM (SELECT id, c FROM a.t UNION ALL SELECT id, c FROM a.t) u WHERE id = 1",),
        Moment.PLANNED,
    ),
    Attack(
        "partition key that is an expression",
        """CREATE TABLE a.t (id int, c text) PARTITION BY LIST ((a.spy_int(1) + id));
           CREATE TABLE a.t2 PARTITION OF a.t FOR VALUES IN (2);
           CREATE TABLE a.t3 PARTITION OF a.t DEFAULT;
           INSERT INTO a.t VALUES (1, 'x');""",
        ("SELECT c FROM a.t", "SELECT c FROM a.t WHERE id = 1"),
        Moment.PLANNED,
    ),
    Attack(
        "constraint of a partition",
        """CREATE TABLE a.t (id int, c text) PARTITION BY RANGE (id);
           CREATE TABLE a.t1 PARTITION OF a.t (CHECK (a.spy_text('x') = 'x')) FOR VALUES FROM (0) TO (5);
           CREATE TABLE a.t2 PARTITION OF a.t FOR VALUES FROM (5) TO (9);""",
        ("SELECT c FROM a.t WHERE c = 'x'", "SELECT c FROM a.t WHERE id < 3 AND c = 'x'"),
        Moment.PLANNED,
    ),
    Attack(
        "index of a partition",
        """CREATE TABLE a.t (id int, c text) PARTITION BY RANGE (id);
           CREATE TABLE a.t1 PARTITION OF a.t FOR VALUES FROM (0) TO (5);
           CREATE INDEX ON a.t1 (c) WHERE a.spy_text('x') = 'x';""",
        ("SELECT c FROM a.t",),
        Moment.PLANNED,
    ),
    Attack(
        "hash function of a partition key, in a class that a superuser made of role_a's",
        """CREATE FUNCTION a.hash_int(int, bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT
               AS $$ BEGIN PERFORM a.spy(); RETURN pg_catalog.hashint4extended($1, $2); END $$;""",
        ("SELECT c FROM a.t WHERE id = 1", "SELECT c FROM a.t WHERE id IN (1, 2)"),
        Moment.PLANNED,
        admin="""CREATE OPERATOR CLASS a.hash_ops FOR TYPE int USING hash AS
                     OPERATOR 1 pg_catalog.=(int, int), FUNCTION 2 a.hash_int(int, bigint);
                 CREATE TABLE a.t (id int, c text) PARTITION BY HASH (id a.hash_ops);
                 CREATE TABLE a.t0 PARTITION OF a.t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
                 CREATE TABLE a.t1 PARTITION OF a.t FOR VALUES WITH (MODULUS 2, REMAINDER 1);
                 ALTER TABLE a.t OWNER TO role_a; GRANT SELECT ON a.t TO role_b, catalog;""",
    ),
    Attack(
        "constraint of a foreign table that is a child",
        """CREATE TABLE a.t (id int, c text);
           CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw;
           CREATE FOREIGN TABLE a.far (CHECK (a.spy_text('x') = 'x')) INHERITS (a.t) SERVER loopback;
           CREATE TABLE a.other () INHERITS (a.t);""",
        ("SELECT c FROM a.t WHERE id = 1",),
        Moment.PLANNED,
    ),
)

RELATIONS = (*VIEWS, *TABLES)
