"""Masked columns: of what is generated only counts, and joins by declared keys, pass; on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.errors import UnsafeSQLError
from engine.values.messages import Asker
from engine.values.settings import GuardSettings, UpstreamSettings
from schema_catalog.introspect import introspect
from schema_catalog.knowledge import Knowledge, Said, described
from schema_catalog.pg import Connection
from schema_catalog.types import Attributes, Database, Sensitivity, Snapshot

ANA = Asker("ana", "shop")

TABLES = """
CREATE TABLE person (id int PRIMARY KEY, email text UNIQUE, city text, born date,
    domain text GENERATED ALWAYS AS (split_part(email, '@', 2)) STORED);
CREATE TABLE login (email text REFERENCES person (email), at timestamptz, device text);
CREATE TABLE letter (id int PRIMARY KEY, sender text, receiver text, FOREIGN KEY (receiver) REFERENCES person (email));
CREATE TABLE pair (a text, b int, PRIMARY KEY (a, b));
CREATE TABLE pair_use (a text, b int, note text, FOREIGN KEY (a, b) REFERENCES pair);
CREATE TABLE member (since date) INHERITS (person);
CREATE TABLE town (name text PRIMARY KEY, people int);
CREATE VIEW people AS SELECT id, email AS mail, lower(city) AS city FROM person;
CREATE VIEW people_of_people AS SELECT p.id, p.mail AS post, p.city FROM people p;
CREATE VIEW cities AS SELECT id, city FROM person;
CREATE VIEW wide AS SELECT to_jsonb(p) AS body, p.id FROM person p;
CREATE VIEW known AS SELECT id, city FROM person WHERE email LIKE '%example%';
CREATE VIEW mails AS SELECT DISTINCT email AS e FROM person;
CREATE VIEW either AS SELECT email AS e, id FROM person UNION ALL SELECT name, 1 FROM town;
CREATE VIEW devices AS SELECT l.device, p.city FROM login l JOIN person p ON l.email = p.email;
CREATE FUNCTION mail_of(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT email FROM person WHERE id = $1';
CREATE VIEW hidden_in_function AS SELECT id, mail_of(id) AS x FROM town, person;
CREATE MATERIALIZED VIEW kept AS SELECT id, email AS e, city FROM person;
INSERT INTO person VALUES (1, 'ann@example.org', 'Graz', '1990-01-01'), (2, 'bo@example.org', 'Wien', '1991-01-01');
INSERT INTO login VALUES ('ann@example.org', now(), 'phone');
INSERT INTO letter VALUES (1, 'x', 'bo@example.org');
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana;
"""

REFUSED = """
SELECT email FROM person
SELECT * FROM person
SELECT p.* FROM person p
TABLE person
SELECT p FROM person p
SELECT person FROM person
SELECT to_jsonb(p) FROM person p
SELECT to_jsonb(p.*) FROM person p
SELECT row_to_json(p) FROM person p
SELECT (p).email FROM person p
SELECT email(p) FROM person p
SELECT ROW(p.*) FROM person p
SELECT p::text FROM person p
SELECT count(p) FROM person p
SELECT count(email) FROM person
SELECT count(DISTINCT email) FROM person
SELECT count(*) FILTER (WHERE email LIKE 'a%') FROM person
SELECT count(*) FROM person WHERE email = 'ann@example.org'
SELECT count(*) FROM person WHERE email LIKE 'a%'
SELECT count(*) FROM person WHERE email ~ '^a'
SELECT count(*) FROM person WHERE email IS NULL
SELECT count(*) FROM person WHERE email IN ('a', 'b')
SELECT count(*) FROM person WHERE lower(email) = 'a'
SELECT count(*) FROM person WHERE NOT (email > 'b')
SELECT id FROM person WHERE CASE WHEN email < 'b' THEN true ELSE false END
SELECT id FROM person ORDER BY email
SELECT id FROM person ORDER BY lower(email) DESC
SELECT count(*) FROM person GROUP BY email
SELECT email, count(*) FROM person GROUP BY 1
SELECT count(*) FROM person GROUP BY GROUPING SETS ((email), ())
SELECT city FROM person GROUP BY city HAVING max(email) > 'b'
SELECT max(email) FROM person
SELECT string_agg(email, ',') FROM person
SELECT array_agg(id ORDER BY email) FROM person
SELECT DISTINCT email FROM person
SELECT DISTINCT ON (email) id FROM person
SELECT row_number() OVER (ORDER BY email) FROM person
SELECT count(*) OVER (PARTITION BY email) FROM person
SELECT count(*) OVER w FROM person WINDOW w AS (PARTITION BY email)
SELECT s.e FROM (SELECT email AS e FROM person) s
SELECT count(*) FROM (SELECT DISTINCT email FROM person) s
SELECT count(*) FROM (SELECT * FROM person) s
WITH p AS (SELECT email FROM person) SELECT count(*) FROM p
WITH p AS (SELECT * FROM person) SELECT id FROM p
SELECT (SELECT email FROM person LIMIT 1)
SELECT id FROM person WHERE email = (SELECT max(email) FROM person)
SELECT name FROM town WHERE EXISTS (SELECT FROM person WHERE email = name)
SELECT name FROM town WHERE name IN (SELECT email FROM person)
SELECT email FROM person UNION SELECT name FROM town
SELECT id::text FROM person EXCEPT SELECT email FROM person
SELECT t.name FROM town t JOIN person p ON p.email = t.name
SELECT count(*) FROM person p JOIN login l USING (email) WHERE email = 'a'
SELECT email FROM person JOIN login USING (email)
SELECT l.email FROM person p JOIN login l ON l.email = p.email
SELECT l.email FROM login l
SELECT count(*) FROM person p JOIN letter l ON l.sender = p.email
SELECT l.receiver FROM person p JOIN letter l ON l.receiver = p.email
SELECT receiver FROM letter
SELECT count(*) FROM person p JOIN login l ON l.email >= p.email
SELECT count(*) FROM person p JOIN login l ON l.email = p.email OR p.id = 1
SELECT count(*) FROM person p JOIN login l ON lower(l.email) = lower(p.email)
SELECT count(*) FROM person p LEFT JOIN login l ON NOT (l.email = p.email)
SELECT count(*) FROM person a JOIN person b USING (email)
SELECT count(*) FROM person NATURAL JOIN member
SELECT count(*) FROM person p JOIN (VALUES ('ann@example.org')) v (e) ON v.e = p.email
SELECT count(*) FROM person p, LATERAL (SELECT p.email) x
SELECT x.e FROM person p CROSS JOIN LATERAL unnest(ARRAY[p.email]) AS x (e)
SELECT a.c2 FROM person AS a (c1, c2)
SELECT j.m FROM (person p CROSS JOIN town t) AS j (k, m)
SELECT domain FROM person
SELECT email FROM member
SELECT count(*) FROM member WHERE email > 'b'
SELECT mail FROM people
SELECT * FROM people
SELECT count(*) FROM people WHERE mail LIKE 'a%'
SELECT post FROM people_of_people
SELECT count(*) FROM people_of_people GROUP BY post
SELECT body FROM wide
SELECT body ->> 'email' FROM wide
SELECT count(*) FROM known
SELECT count(*) FROM mails
SELECT id FROM either
SELECT x FROM hidden_in_function
SELECT id FROM hidden_in_function
SELECT e FROM kept
SELECT mail_of(1)
SELECT count(*) FROM town WHERE name = mail_of(1)
SELECT count(*) FROM pair_use u JOIN pair p ON u.a = p.a
SELECT a FROM pair_use
""".strip().splitlines()

PASSED = """
SELECT count(*) FROM person
SELECT city, count(*) FROM person GROUP BY city
SELECT id, city, born FROM person ORDER BY born DESC
SELECT count(*) FROM person WHERE city = 'Graz'
SELECT count(*) FROM (SELECT id FROM person) s
SELECT count(*) FROM person p JOIN login l ON l.email = p.email
SELECT p.city, l.device FROM login l JOIN person p ON p.email = l.email WHERE p.city <> 'Linz'
SELECT p.city, l.device FROM login l, person p WHERE p.email = l.email AND l.device = 'phone'
SELECT count(*) FROM person JOIN login USING (email)
SELECT city, device FROM person NATURAL JOIN login
SELECT p.id FROM person p LEFT JOIN login l ON l.email = p.email AND l.device = 'phone'
SELECT p.id FROM person p WHERE EXISTS (SELECT FROM login l WHERE l.email = p.email)
SELECT p.id, l.id FROM person p JOIN letter l ON l.receiver = p.email
SELECT u.note FROM pair_use u JOIN pair p ON u.a = p.a AND u.b = p.b
WITH p AS (SELECT id, city FROM person) SELECT city FROM p
SELECT id, city FROM people
SELECT id FROM people_of_people
SELECT id, city FROM cities
SELECT * FROM cities
SELECT device FROM devices
SELECT id, city FROM kept
SELECT id FROM wide
SELECT count(*) FROM member
SELECT name FROM town ORDER BY people
SELECT rank() OVER (ORDER BY born) FROM person
""".strip().splitlines()


@dataclass
class OneSnapshot:
    """A catalog of one database."""

    database: Database
    snapshot: Snapshot

    async def entries(self) -> tuple[tuple[Database, Snapshot], ...]:
        return ((self.database, self.snapshot),)


def said(snapshot: Snapshot, *elements: tuple[str, ...]) -> Snapshot:
    masked = Attributes(sensitivity=Sensitivity.MASKED)
    said_of = tuple(Knowledge(each, None, (), hidden=False, attributes=masked) for each in elements)
    found = described(snapshot, Said(said_of))
    assert found is not None
    return found


@pytest.fixture
async def catalog(shop: Database, admin: Connection) -> OneSnapshot:
    await admin.execute(TABLES)
    found = await introspect(admin, shop)
    return OneSnapshot(
        shop, said(found, ("public", "person", "email"), ("public", "pair", "a"), ("public", "pair_use", "a"))
    )


@pytest.fixture
async def masking(catalog: OneSnapshot) -> AsyncIterator[Databases]:
    guard = GuardSettings(functions=("public.mail_of",))
    made = Databases(UpstreamSettings(pool_size=2, privileges_ttl=60), guard, catalog=catalog)
    yield made
    await made.aclose()


async def test_nothing_but_counts_and_declared_joins_passes(
    masking: Databases, shop: Database, deadline: Deadline
) -> None:
    assert len(REFUSED) >= 60
    told = {sql: await refused(masking, shop, sql, deadline) for sql in REFUSED}
    assert [sql for sql, why in told.items() if "mask" not in why and "email(p)" not in sql] == []


async def refused(databases: Databases, shop: Database, sql: str, deadline: Deadline) -> str:
    """Why it is; empty where it passes."""
    try:
        await databases.explain(shop, ANA, sql, deadline)
    except UnsafeSQLError as problem:
        return problem.message
    return ""


async def test_what_does_not_read_a_masked_column_runs(
    masking: Databases, shop: Database, deadline: Deadline
) -> None:
    for sql in PASSED:
        result = await masking.run(shop, ANA, sql, 10, deadline)
        assert "@" not in str(result.rows), sql


async def test_each_way_to_run_a_statement_is_checked(
    masking: Databases, shop: Database, deadline: Deadline
) -> None:
    sql = "SELECT email FROM person"
    for call in (masking.explain, masking.plan, masking.in_place):
        with pytest.raises(UnsafeSQLError, match=r"person\.email is masked"):
            await call(shop, ANA, sql, deadline)
    with pytest.raises(UnsafeSQLError):
        await masking.run(shop, ANA, sql, 1, deadline)


async def test_without_a_mask_the_same_statements_run(
    databases: Databases, shop: Database, deadline: Deadline, catalog: OneSnapshot
) -> None:
    """So that a refusal is of the mask, and of nothing else."""
    own = [sql for sql in REFUSED if "mail_of" not in sql and "email(p)" not in sql]
    for sql in own:
        if "hidden_in_function" not in sql:
            await databases.explain(shop, ANA, sql, deadline)


async def test_a_masked_table_gives_its_count_alone(
    shop: Database, catalog: OneSnapshot, deadline: Deadline
) -> None:
    catalog.snapshot = said(catalog.snapshot, ("public", "town"))
    databases = Databases(UpstreamSettings(pool_size=2), catalog=catalog)
    assert (await databases.run(shop, ANA, "SELECT count(*) FROM town", 1, deadline)).rows == (("0",),)
    with pytest.raises(UnsafeSQLError, match=r"town\.people is masked"):
        await databases.explain(shop, ANA, "SELECT sum(people) FROM town", deadline)
    await databases.aclose()
