"""What is sent in the place of a statement gives its rows, along a hostile search path and under hostile settings."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
from guard_lists import STILL_REFUSED, blocks

from engine.guard import BUILT_IN, Analysis, Refused, Rules, check
from engine.guard.server_rules import rules_for
from engine.statement.printing.names import Names
from engine.statement.printing.statement import Printed, placed
from engine.statement.printing.statement import printed as statement_printed
from engine.upstream.access import Access
from engine.upstream.frame import Frame
from engine.values.errors import UnsafeSQLError
from engine.values.settings import Allowances, GuardSettings, UpstreamSettings
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

TRUSTED = "SET LOCAL search_path = pg_catalog, public"

STAYS = {
    "SELECT id FROM people WHERE mail IS DISTINCT FROM 'ADA@X.ORG'",
    "SELECT id FROM people WHERE similarity(name, 'ada') > 0.5 OR name % 'bob'",
}
"""What has no spelling of its operator, and what takes one of somebody's for types that are PostgreSQL's."""

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


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent in the frame, and what in a session: None where the statement does not run there."""

    framed: Printed
    placed: str | None


async def sent(connection: Connection, sql: str, rules: Rules) -> Sent:
    """What the frame makes of a statement that passes the guard."""
    verdict = check(sql, rules)
    assert not isinstance(verdict, Refused), verdict
    frame = Frame(UpstreamSettings(), time.monotonic)
    access = Access(SHOP, "postgres", "postgres", Login("postgres", ""))
    made: list[Any] = []
    for make in (frame.printed, frame.placed):
        async with connection.transaction(readonly=True):
            await connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
            with suppress(asyncpg.InFailedSQLTransactionError):
                made.append(await make(connection, verdict.analysis, access, rules))  # type: ignore[arg-type]  # no meter is read
    return Sent(*made)


async def rows(connection: Connection, sql: str, settings: str = "") -> list[Sequence[object]]:
    """The columns' names and types, and the rows, in the order of their texts."""
    async with connection.transaction(readonly=True):
        await connection.execute(settings or "SELECT")
        statement = await connection.prepare(sql)
        named = tuple((attribute.name, attribute.type.oid) for attribute in statement.get_attributes())
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
    failed: list[Any] = []
    framed = []
    for sql in blocks(name):
        if any(mark in sql for mark in STILL_REFUSED):
            continue
        verdict = check(sql, rules)
        assert not isinstance(verdict, Refused), verdict
        try:
            made = await sent(admin, sql, rules)
            wanted = await rows(admin, verdict.analysis.body)
            for text, settings in ((made.framed.text, TRUSTED), (made.placed, HOSTILE)):
                found = None if text is None else await rows(admin, text, settings)
                if found and lasting(verdict.analysis) and repr(found) != repr(wanted):
                    failed.append((sql, text, wanted, found))
        except Exception as error:  # noqa: BLE001 - all of them are shown at the end
            failed.append((sql, f"{type(error).__name__}: {error}"))
        else:
            if made.placed is None:
                framed.append(sql)
    assert not failed, "\n".join(map(str, failed))
    assert len(framed) <= 4, framed


async def stands(connection: Connection, sql: str, rules: Rules) -> Sent:
    """What is sent, which gives the statement's rows."""
    made = await sent(connection, sql, rules)
    wanted = await rows(connection, sql)
    assert await rows(connection, made.framed.text, TRUSTED) == wanted, sql
    if made.placed is not None:
        assert await rows(connection, made.placed, "SET LOCAL search_path = pg_catalog") == wanted, sql
    return made


COUNTED = [
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
]


async def test_the_operators_of_a_type_stay_those_of_the_type(admin: Connection) -> None:
    await admin.execute(OWN)
    rules = await rules_for(admin, GuardSettings())
    for sql, count in COUNTED:
        made = await stands(admin, sql, rules)
        assert len(await rows(admin, sql)) == count + 1, sql
        assert (made.placed is None) == (sql in STAYS), sql


MIXED = """
CREATE TYPE addr AS (street text, town text);
CREATE TABLE a (id int, s smallint, r real, v varchar, c char(5), j jsonb, ad addr, ar int[], big bigint);
CREATE TABLE b (id bigint, s int, c text, r numeric);
INSERT INTO a VALUES
    (1, 1, 0.1, 'x', 'ab', '{"a": 1}', ROW('a', 'b'), '{1,2}', 5),
    (2, 2, 0.2, 'y', 'cd', '[1]', ROW(NULL, NULL), '{3}', 6),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO b VALUES (1, 1, 'ab', 0.1), (2, 40000, 'cd', 0.3);
"""


MEETING = (
    "SELECT id FROM a WHERE r IN (0.1, 0.2)",
    "SELECT id FROM a WHERE r NOT IN (0.1, 0.2)",
    "SELECT id FROM a WHERE id IN (1.0, 2.5)",
    "SELECT id FROM a WHERE s IN (1, 2) AND id IN (1, s, 2)",
    "SELECT id FROM a WHERE big IN (5, 7)",
    "SELECT v || 'x' FROM a",
    "SELECT v || ' ' || c FROM a",
    "SELECT sum(s) / NULLIF(count(*), 0.0) FROM a",
    "SELECT id FROM a WHERE ad IS NOT DISTINCT FROM NULL",
    "SELECT s * 1000 FROM a JOIN b USING (s)",
    "SELECT c FROM a JOIN b USING (c)",
    "SELECT r FROM a FULL JOIN b USING (r)",
    "SELECT id FROM a WHERE ar IN ('{1,2}', '{3}')",
    "SELECT id FROM a WHERE ad IN (ROW('a', 'b')::addr, ROW('c', 'd')::addr)",
    "SELECT j -> 'a', j ->> 'a', j ? 'a', j - 'a' FROM a WHERE id < 3",
    "SELECT CASE id WHEN 1.5 THEN 1 WHEN 2 THEN 2 END FROM a",
)


@pytest.mark.parametrize("beside", ["", OWN], ids=["alone", "beside extensions"])
async def test_types_that_meet_mean_what_they_do_in_postgresql(admin: Connection, beside: str) -> None:
    await admin.execute(beside + MIXED)
    rules = await rules_for(admin, GuardSettings())
    for sql in MEETING:
        await stands(admin, sql, rules)


PLANTED = """
CREATE FUNCTION public.lower(varchar) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$;
"""


@pytest.mark.parametrize(
    "planted",
    [
        f"{PLANTED} ALTER FUNCTION public.lower(varchar) OWNER TO stranger",
        f"{PLANTED} GRANT CREATE ON SCHEMA public TO stranger",
        PLANTED,
    ],
    ids=["left behind", "may create", "not allowed"],
)
async def test_the_path_has_no_schema_in_which_others_gave_a_name_a_meaning(
    admin: Connection, planted: str
) -> None:
    sql = "SELECT lower('A'::varchar), name FROM customers"
    await admin.execute(planted)
    with pytest.raises(asyncpg.RaiseError):
        await rows(admin, sql)
    verdict = check(sql, BUILT_IN)
    assert not isinstance(verdict, Refused)
    frame = Frame(UpstreamSettings(), time.monotonic)
    access = Access(SHOP, "postgres", "postgres", Login("postgres", ""))
    async with admin.transaction(readonly=True):
        await admin.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        made = await frame.printed(admin, verdict.analysis, access, BUILT_IN)  # type: ignore[arg-type]  # no meter is read
        assert (
            await admin.fetchval("SELECT pg_catalog.current_setting('search_path')") == "pg_catalog, pg_temp"
        )
        assert await admin.fetch(made.text)
        # Above the statement was planned along a path without that schema, and every name qualified.
        assert await frame.placed(admin, verdict.analysis, access, BUILT_IN)  # type: ignore[arg-type]  # the same


async def test_nobody_waits_while_a_long_statement_is_printed(admin: Connection) -> None:
    levels = 60
    sql = f"SELECT {'nullif(' * levels}id{', 1)' * levels} FROM customers"
    loop, printing = threading.get_ident(), set()

    def noting(*arguments: Any, **options: Any) -> str:
        printing.add(threading.get_ident())
        return placed(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.upstream.frame.placed", noting)
        made = await sent(admin, sql, BUILT_IN)
    assert made.placed is None
    assert len(made.framed.text) < 2 * len(sql)
    assert printing
    assert loop not in printing


async def test_what_a_schema_that_is_left_out_may_decide_is_refused(admin: Connection) -> None:
    await admin.execute(f"{OWN} GRANT CREATE ON SCHEMA public TO stranger")
    rules = await rules_for(admin, GuardSettings())
    for sql, refused in (
        ("SELECT id FROM people WHERE id = 1 AND name || 'x' IN ('a', 'b')", False),
        ("SELECT id FROM people WHERE name IS DISTINCT FROM 'x'", True),
    ):
        with pytest.raises(UnsafeSQLError, match="refused") if refused else nullcontext():
            await sent(admin, sql, rules)


async def test_a_place_in_what_is_sent_is_one_in_what_was_written(admin: Connection) -> None:
    sql = "SELECT name, name + 1 FROM customers -- all\nWHERE city IN ('Paris')"
    verdict = check(sql, BUILT_IN)
    assert not isinstance(verdict, Refused)
    printed = statement_printed(verdict.analysis, Names({"customers": "public"}), BUILT_IN)
    with pytest.raises(asyncpg.UndefinedFunctionError) as raised:
        await admin.fetch(printed.text)
    place = printed.original(int(raised.value.position or 0))
    assert sql[place - 1 :].startswith("+ 1")
