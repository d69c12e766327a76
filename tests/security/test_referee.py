"""The referee finds every kind of change that printing a statement anew could make to what it means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from engine.statement.printing.names import Kind, Names
from engine.upstream.referee import agree, plan
from tests.security.servers import Server

TABLES = """
CREATE TYPE address AS (street text, town text);
CREATE TABLE a (id int PRIMARY KEY, s smallint, r real, n numeric, t text, c char(5), home address, j json, at date);
CREATE TABLE b (id bigint, s int, t varchar, c text);
CREATE INDEX ON a (s);
"""

CHANGES = [
    ("LIMIT", "SELECT id FROM a LIMIT 1", "SELECT id FROM a LIMIT 2"),
    ("OFFSET", "SELECT id FROM a OFFSET 1", "SELECT id FROM a OFFSET 2"),
    (
        "WITH TIES",
        "SELECT id FROM a ORDER BY s FETCH FIRST 1 ROW WITH TIES",
        "SELECT id FROM a ORDER BY s LIMIT 1",
    ),
    (
        "DISTINCT ON",
        "SELECT DISTINCT ON (s) id FROM a ORDER BY s, n",
        "SELECT DISTINCT ON (s, n) id FROM a ORDER BY s, n",
    ),
    ("VALUES", "SELECT * FROM (VALUES (1), (2)) v", "SELECT * FROM (VALUES (1), (3)) v"),
    (
        "UNION of a recursion",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION SELECT n + 1 FROM x WHERE n < 5) SELECT n FROM x",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 5) SELECT n FROM x",
    ),
    ("UNION", "SELECT s FROM a UNION SELECT s FROM b", "SELECT s FROM a UNION ALL SELECT s FROM b"),
    ("EXCEPT", "SELECT s FROM a EXCEPT SELECT s FROM b", "SELECT s FROM a INTERSECT SELECT s FROM b"),
    ("window order", "SELECT sum(n) OVER (ORDER BY s) FROM a", "SELECT sum(n) OVER (ORDER BY s DESC) FROM a"),
    (
        "window frame",
        "SELECT sum(n) OVER (ORDER BY s ROWS 1 PRECEDING) FROM a",
        "SELECT sum(n) OVER (ORDER BY s ROWS 2 PRECEDING) FROM a",
    ),
    (
        "window exchanged",
        "SELECT sum(n) OVER w, min(n) OVER v FROM a WINDOW w AS (ORDER BY s), v AS (ORDER BY n)",
        "SELECT sum(n) OVER w, min(n) OVER v FROM a WINDOW v AS (ORDER BY s), w AS (ORDER BY n)",
    ),
    (
        "operator before a subquery",
        "SELECT id FROM a WHERE s > ALL (SELECT s FROM b)",
        "SELECT id FROM a WHERE s >= ALL (SELECT s FROM b)",
    ),
    (
        "operand before a subquery",
        "SELECT id FROM a WHERE s NOT IN (SELECT s FROM b)",
        "SELECT id FROM a WHERE id NOT IN (SELECT s FROM b)",
    ),
    ("ANY", "SELECT s = ANY (SELECT s FROM b) FROM a", "SELECT s = ALL (SELECT s FROM b) FROM a"),
    ("collation", 'SELECT max(t COLLATE "C") FROM a', "SELECT max(t) FROM a"),
    (
        "other collation",
        "SELECT id FROM a WHERE t < 'x' COLLATE \"C\"",
        "SELECT id FROM a WHERE t < 'x' COLLATE \"POSIX\"",
    ),
    (
        "type of IN",
        "SELECT id FROM a WHERE r IN (0.1, 0.2)",
        "SELECT id FROM a WHERE r = ANY (ARRAY[0.1, 0.2])",
    ),
    (
        "type of NULLIF",
        "SELECT sum(s) / NULLIF(count(*), 0.0) FROM a",
        "SELECT sum(s) / CASE WHEN count(*) = 0.0 THEN NULL ELSE count(*) END FROM a",
    ),
    (
        "NULLIF turned",
        "SELECT NULLIF(s, id) FROM a",
        "SELECT CASE WHEN id = s THEN NULL ELSE s END AS nullif FROM a",
    ),
    (
        "NULLIF of another",
        "SELECT NULLIF(s, 1) FROM a",
        "SELECT CASE WHEN s = 2 THEN NULL ELSE s END AS nullif FROM a",
    ),
    (
        "CASE of a day",
        "SELECT CASE at WHEN timestamp '2020-01-01 10:00' THEN 1 END FROM a",
        "SELECT CASE WHEN at = date '2020-01-01' THEN 1 END FROM a",
    ),
    (
        "CASE of another",
        "SELECT CASE s WHEN 1 THEN 2 WHEN 3 THEN 4 END FROM a",
        "SELECT CASE WHEN s = 1 THEN 2 WHEN id = 3 THEN 4 END FROM a",
    ),
    (
        "NULL of a composite",
        "SELECT id FROM a WHERE home IS NOT DISTINCT FROM NULL",
        "SELECT id FROM a WHERE home IS NULL",
    ),
    ("type of USING", "SELECT s FROM a JOIN b USING (s)", "SELECT a.s FROM a JOIN b ON a.s = b.s"),
    (
        "type inside",
        "SELECT s * 1000 FROM a JOIN b USING (s)",
        "SELECT a.s * 1000 FROM a JOIN b ON a.s = b.s",
    ),
    (
        "blanks of USING",
        "SELECT octet_length(c) FROM a JOIN b USING (c)",
        "SELECT octet_length(a.c) FROM a JOIN b ON a.c = b.c",
    ),
    (
        "side of USING",
        "SELECT id FROM a RIGHT JOIN b USING (id)",
        "SELECT a.id FROM a RIGHT JOIN b ON a.id = b.id",
    ),
    ("name of a column", "SELECT s FROM a", "SELECT s AS t FROM a"),
    ("order of columns", "SELECT s, id FROM a", "SELECT id, s FROM a"),
    ("type of a column", "SELECT s FROM a", "SELECT s::int FROM a"),
    (
        "column definition",
        "SELECT count(x) FROM json_to_recordset('[{\"x\": 1}]') AS f (x int)",
        "SELECT count(x) FROM json_to_recordset('[{\"x\": 1}]') AS f (x int8)",
    ),
    (
        "ordinality",
        "SELECT count(*) FROM unnest(ARRAY[1]) WITH ORDINALITY AS f",
        "SELECT count(*) FROM unnest(ARRAY[1]) AS f",
    ),
    ("join", "SELECT a.id FROM a LEFT JOIN b USING (id)", "SELECT a.id FROM a JOIN b USING (id)"),
    ("operator", "SELECT id FROM a WHERE s < 1", "SELECT id FROM a WHERE s <= 1"),
    ("function", "SELECT lower(t) FROM a", "SELECT upper(t) AS lower FROM a"),
    ("constant", "SELECT id FROM a WHERE t = 'x'", "SELECT id FROM a WHERE t = 'y'"),
    ("length of a type", "SELECT n::numeric(5, 1) FROM a", "SELECT n::numeric(5, 2) FROM a"),
    ("sample", "SELECT id FROM a TABLESAMPLE SYSTEM (10)", "SELECT id FROM a TABLESAMPLE BERNOULLI (10)"),
    (
        "seed",
        "SELECT id FROM a TABLESAMPLE SYSTEM (10) REPEATABLE (1)",
        "SELECT id FROM a TABLESAMPLE SYSTEM (10) REPEATABLE (2)",
    ),
    ("direction", "SELECT id FROM a ORDER BY id", "SELECT id FROM a ORDER BY id DESC"),
    ("NULLS FIRST", "SELECT id FROM a ORDER BY n", "SELECT id FROM a ORDER BY n NULLS FIRST"),
    ("GROUP BY", "SELECT count(*) FROM a GROUP BY s", "SELECT count(*) FROM a GROUP BY n"),
    (
        "ROLLUP",
        "SELECT count(*) FROM a GROUP BY ROLLUP (s, n)",
        "SELECT count(*) FROM a GROUP BY CUBE (s, n)",
    ),
    (
        "HAVING",
        "SELECT s FROM a GROUP BY s HAVING count(*) > 1",
        "SELECT s FROM a GROUP BY s HAVING count(*) > 2",
    ),
    ("DISTINCT", "SELECT DISTINCT n FROM a", "SELECT n FROM a"),
    ("DISTINCT of an aggregate", "SELECT count(DISTINCT s) FROM a", "SELECT count(s) FROM a"),
    ("FILTER", "SELECT count(*) FILTER (WHERE s > 1) FROM a", "SELECT count(*) FROM a"),
    (
        "order of an aggregate",
        "SELECT array_agg(t ORDER BY n) FROM a",
        "SELECT array_agg(t ORDER BY n DESC) FROM a",
    ),
    ("configuration", "SELECT to_tsvector('english', t) FROM a", "SELECT to_tsvector('simple', t) FROM a"),
    ("IS TRUE", "SELECT id FROM a WHERE (s > 1) IS NOT TRUE", "SELECT id FROM a WHERE (s > 1) IS FALSE"),
    ("NULL in a list", "SELECT id FROM a WHERE s NOT IN (1, NULL)", "SELECT id FROM a WHERE s NOT IN (1)"),
    (
        "array or list",
        "SELECT id FROM a WHERE s <> ALL ('{1,2}')",
        "SELECT id FROM a WHERE s <> ANY (ARRAY[1, 2])",
    ),
    (
        "correlation",
        "SELECT (SELECT max(b.s) FROM b WHERE b.id = a.id) FROM a",
        "SELECT (SELECT max(b.s) FROM b) FROM a",
    ),
    (
        "operand of a row",
        "SELECT id FROM a WHERE (s, id) < (1, 2)",
        "SELECT id FROM a WHERE (id, s) < (1, 2)",
    ),
    ("what fails", "SELECT id FROM a", "SELECT id + 'x' FROM a"),
]

LATER = [
    (
        14,
        "GROUP BY DISTINCT",
        "SELECT count(*) FROM a GROUP BY DISTINCT ROLLUP (s, n), ROLLUP (s)",
        "SELECT count(*) FROM a GROUP BY ROLLUP (s, n), ROLLUP (s)",
    ),
    (
        14,
        "CYCLE",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n FROM x) CYCLE n SET c USING p SELECT n FROM x",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n FROM x) SELECT n FROM x",
    ),
]
"""(version from which a server knows it, kind, as written, changed)."""

OWN = """
CREATE FUNCTION same_length(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT length($1) = length($2)';
CREATE FUNCTION longer(int, int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 <> $2';
CREATE SCHEMA own;
CREATE OPERATOR own.= (LEFTARG = text, RIGHTARG = text, FUNCTION = same_length);
CREATE OPERATOR own.< (LEFTARG = int, RIGHTARG = int, FUNCTION = longer);
"""

SEARCHED = [
    (
        "NULLIF",
        "SELECT NULLIF(t, 'x') FROM a",
        "SELECT CASE WHEN t OPERATOR(own.=) 'x' THEN NULL ELSE t END AS nullif FROM a",
    ),
    (
        "CASE",
        "SELECT CASE t WHEN 'x' THEN 1 END FROM a",
        "SELECT CASE WHEN t OPERATOR(own.=) 'x' THEN 1 END FROM a",
    ),
    (
        "subquery",
        "SELECT t NOT IN (SELECT t FROM a) FROM a",
        "SELECT NOT t OPERATOR(own.=) ANY (SELECT t FROM a) FROM a",
    ),
    ("row", "SELECT (1, s) < (id, 2) FROM a", "SELECT (1, s) OPERATOR(own.<) (id, 2) FROM a"),
    ("plain", "SELECT id FROM a WHERE t = 'x'", "SELECT id FROM a WHERE t OPERATOR(own.=) 'x'"),
]
"""An operator that is not the one of the path, where a plan does not show which it is."""

SAME = [
    (
        "SELECT id FROM a WHERE s IN (1, 2)",
        "SELECT id FROM a WHERE s OPERATOR(pg_catalog.=) ANY (ARRAY[1, 2])",
    ),
    ("SELECT NULLIF(s, 1) FROM a", "SELECT CASE WHEN s = 1 THEN NULL ELSE s END AS nullif FROM a"),
    ("SELECT CASE s WHEN 1 THEN 2 END FROM a", "SELECT CASE WHEN s = 1 THEN 2 END FROM a"),
    ("SELECT CASE t WHEN 'x' THEN t END FROM b", "SELECT CASE WHEN t = 'x' THEN t END FROM b"),
    ("SELECT CASE t WHEN t THEN 2 END FROM b", "SELECT CASE WHEN t = t THEN 2 END FROM b"),
    ("SELECT id FROM a WHERE s BETWEEN 1 AND 2", "SELECT id FROM a WHERE s >= 1 AND s <= 2"),
    ("SELECT a.id FROM a JOIN b USING (t)", "SELECT a.id FROM a JOIN b ON a.t = b.t"),
    ("SELECT lower(t) FROM a", "SELECT pg_catalog.lower(t) FROM a"),
]


@pytest.fixture
async def session(server: Server) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    postgres = await asyncpg.connect(server.cluster.dsn(user="postgres"))
    await postgres.execute("CREATE DATABASE referee")
    connection = await asyncpg.connect(server.cluster.dsn("referee", "postgres"))
    await connection.execute(TABLES)
    yield connection
    await connection.close()
    await postgres.execute("DROP DATABASE referee")
    await postgres.close()


async def same(connection: Any, written: str, placed: str, version: int, names: Names | None = None) -> bool:
    """What the referee says, in a transaction of its own."""
    transaction = connection.transaction(readonly=True)
    await transaction.start()
    try:
        return await agree(connection, await plan(connection, written), placed, names or Names(), version)
    finally:
        await transaction.rollback()


async def test_every_kind_of_change_is_found(server: Server, session: Any) -> None:
    later = [change for version, *change in LATER if version <= server.version]
    missed = []
    for kind, written, changed in [*CHANGES, *later]:
        assert await same(session, written, written, server.version), kind
        if await same(session, written, changed, server.version):
            missed.append(kind)
    assert not missed


async def test_an_operator_that_a_plan_hides_is_the_one_of_the_path(server: Server, session: Any) -> None:
    await session.execute(OWN)
    await session.execute("SET search_path = pg_catalog, own, public")
    names = Names(foreign={(Kind.OPERATOR, "="): "own", (Kind.OPERATOR, "<"): "own"})
    missed = [
        kind
        for kind, written, changed in SEARCHED
        if await same(
            session,
            written.replace("FROM a", "FROM public.a"),
            changed.replace("FROM a", "FROM public.a"),
            server.version,
            names,
        )
    ]
    assert not missed


async def test_what_is_only_written_out_agrees(server: Server, session: Any) -> None:
    for written, placed in SAME:
        assert await same(session, written, placed, server.version), written
