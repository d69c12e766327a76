"""What is sent in the place of a statement gives its rows, along a hostile search path and under hostile settings."""

from __future__ import annotations

import time
from collections.abc import Sequence

import asyncpg
import pytest
from guard_lists import STILL_REFUSED, blocks

from engine.guard import Analysis, Refused, Rules, check
from engine.guard.server_rules import rules_for
from engine.printing.statement import Printed
from engine.settings import Allowances, GuardSettings, UpstreamSettings
from engine.upstream.access import Access
from engine.upstream.frame import Frame
from schema_catalog.pg import Connection
from schema_catalog.types import Database, Login

SHOP = Database("shop", "", "shop", ("public",))

# Whoever calls one of these has looked a name up along the search path.
TRAPS = """
CREATE SCHEMA trap;
CREATE FUNCTION trap.sprung() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
DO $$
DECLARE
    kind text;
    name text;
    body text := 'RETURNS boolean LANGUAGE sql AS ''SELECT trap.sprung()''';
BEGIN
    FOREACH kind IN ARRAY '{varchar,text,int4,int8,numeric,float8,bpchar,date,timestamptz,bool,jsonb}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION trap.compare(%1$s, %1$s) %2$s', kind, body);
        FOREACH name IN ARRAY '{=,<>,<,>,<=,>=,~~,!~~,~~*,~,@>}'::text[] LOOP
            EXECUTE format(
                'CREATE OPERATOR trap.%2$s (LEFTARG = %1$s, RIGHTARG = %1$s, FUNCTION = trap.compare)', kind, name
            );
        END LOOP;
        FOREACH name IN ARRAY '{lower,upper,length,abs,round,date_trunc,to_tsvector}'::text[] LOOP
            EXECUTE format('CREATE FUNCTION trap.%2$s(%1$s) %3$s', kind, name, body);
        END LOOP;
    END LOOP;
END $$;
CREATE DOMAIN trap.date AS text CHECK (trap.sprung());
CREATE DOMAIN trap.text AS pg_catalog.text CHECK (trap.sprung());
CREATE DOMAIN trap.int4 AS pg_catalog.int4 CHECK (trap.sprung());
CREATE TEXT SEARCH CONFIGURATION trap.english (COPY = pg_catalog.simple);
"""

HOSTILE = """
SET LOCAL search_path = trap, public, pg_catalog;
SET LOCAL standard_conforming_strings = off;
SET LOCAL escape_string_warning = off;
SET LOCAL transform_null_equals = on;
"""

OWN = """
CREATE EXTENSION citext;
CREATE EXTENSION pg_trgm;
CREATE EXTENSION hstore;
CREATE EXTENSION ltree;
CREATE EXTENSION vector;
CREATE TABLE people (id int, mail citext, mails citext[], name varchar, more hstore, place ltree, near vector);
INSERT INTO people VALUES
    (1, 'Ada@x.org', '{A,b}', 'Ada', 'a=>1', 'Top.Sea', '[1,2]'),
    (2, 'bob@X.org', '{C}', 'Bob', 'b=>2', 'Top', '[3,4]'),
    (3, NULL, NULL, NULL, NULL, NULL, NULL);
"""


async def sent(connection: Connection, sql: str, rules: Rules) -> Printed:
    """What the frame makes of a statement that passes the guard."""
    verdict = check(sql, rules)
    assert not isinstance(verdict, Refused), verdict
    frame = Frame(UpstreamSettings(), time.monotonic)
    access = Access(SHOP, "postgres", "postgres", Login("postgres", ""))
    return await frame.printed(connection, verdict.analysis, access, rules)  # type: ignore[arg-type]  # no meter is read


async def rows(connection: Connection, sql: str, settings: str = "") -> list[Sequence[object]]:
    """The columns' names and the rows, in the order of their texts."""
    async with connection.transaction(readonly=True):
        await connection.execute(settings or "SELECT")
        statement = await connection.prepare(sql)
        named = tuple(attribute.name for attribute in statement.get_attributes())
        return [named, *sorted((tuple(row) for row in await statement.fetch()), key=repr)]


def lasting(analysis: Analysis) -> bool:
    """Whether the statement gives the same rows a moment later, and asks nothing about the search path itself."""
    other = {
        "now",
        "statement_timestamp",
        "transaction_timestamp",
        "current_schema",
        "current_schemas",
        "current_setting",
    }
    own = analysis.nodes & {"SQLValueFunction", "RangeTableSample"}
    return analysis.repeatable and not own and not any(name[-1] in other for name in analysis.functions)


@pytest.mark.parametrize("name", ["allowed.sql", "honest.sql"])
async def test_every_golden_query_gives_the_same_rows_when_it_is_printed(
    admin: Connection, name: str
) -> None:
    rules = await rules_for(admin, Allowances())
    await admin.execute(TRAPS)
    failed, unsealed = [], []
    for sql in blocks(name):
        if any(mark in sql for mark in STILL_REFUSED):
            continue
        verdict = check(sql, rules)
        assert not isinstance(verdict, Refused), verdict
        try:
            async with admin.transaction(readonly=True):
                printed = await sent(admin, sql, rules)
            wanted = await rows(admin, verdict.analysis.body)
            found = await rows(
                admin, printed.text, HOSTILE if printed.sealed else "SET LOCAL search_path = pg_catalog"
            )
            if lasting(verdict.analysis) and repr(found) != repr(wanted):
                failed.append((sql, printed.text, wanted, found))
        except Exception as error:  # noqa: BLE001 - all of them are shown at the end
            failed.append((sql, f"{type(error).__name__}: {error}"))
        else:
            if not printed.sealed:
                unsealed.append(sql)
    assert not failed, "\n".join(map(str, failed))
    assert len(unsealed) <= 25, unsealed


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT id FROM people WHERE mail = 'ADA@X.ORG'", 1),
        ("SELECT id FROM people WHERE mail IN ('ADA@X.ORG', 'BOB@x.org')", 2),
        ("SELECT id FROM people WHERE mail NOT IN ('ADA@X.ORG')", 1),
        ("SELECT id FROM people WHERE mail LIKE '%@x.ORG'", 2),
        ("SELECT id FROM people WHERE mail BETWEEN 'ADA@X.ORG' AND 'adb'", 1),
        ("SELECT id FROM people WHERE mail IS DISTINCT FROM 'ADA@X.ORG'", 2),
        ("SELECT id FROM people WHERE 'a' = ANY (mails)", 1),
        ("SELECT CASE mail WHEN 'ADA@X.ORG' THEN 1 END AS n FROM people", 3),
        ("SELECT nullif(mail, 'ADA@X.ORG') FROM people", 3),
        ("SELECT a.id FROM people a JOIN people b USING (mail)", 2),
        ("SELECT max(mail), min(mail) FROM people", 1),
        ("SELECT id FROM people WHERE mail IN (SELECT upper(mail)::citext FROM people)", 2),
        ("SELECT id FROM people WHERE more -> 'a' = '1' OR more ? 'b'", 2),
        ("SELECT id FROM people WHERE place <@ 'Top'", 2),
        ("SELECT near <-> '[1,2]', near <=> '[1,2]'::vector, akeys(more) FROM people", 3),
        ("SELECT id FROM people WHERE similarity(name, 'ada') > 0.5 OR name % 'bob'", 2),
    ],
)
async def test_the_operators_of_a_type_stay_those_of_the_type(
    admin: Connection, sql: str, count: int
) -> None:
    await admin.execute(OWN)
    rules = await rules_for(admin, GuardSettings())
    async with admin.transaction(readonly=True):
        printed = await sent(admin, sql, rules)
    wanted = await rows(admin, sql)
    assert len(wanted) == count + 1
    assert await rows(admin, printed.text, "SET LOCAL search_path = pg_catalog") == wanted
    assert printed.sealed


async def test_a_place_in_what_is_sent_is_one_in_what_was_written(admin: Connection) -> None:
    sql = "SELECT name, name + 1 FROM customers WHERE city IN ('Paris')"
    async with admin.transaction(readonly=True):
        printed = await sent(admin, sql, await rules_for(admin, Allowances()))
    with pytest.raises(asyncpg.UndefinedFunctionError) as raised:
        await admin.fetch(printed.text)
    place = printed.original(int(raised.value.position))
    assert sql[place - 1 :].startswith("+ 1")
