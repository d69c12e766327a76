"""What the guard allows, held against the server: it runs, it exists, and nothing in it is volatile."""

from __future__ import annotations

from dataclasses import replace

import asyncpg
import pytest
from guard_lists import SHOP, STILL_REFUSED, attacks, blocks

from engine.guard import Allowed, Reason, Refused, allowed, check, versions
from engine.guard.server_rules import rules_for
from engine.values.settings import Allowances
from schema_catalog.pg import Connection

NOTHING = Allowances()


@pytest.mark.parametrize("name", ["allowed.sql", "honest.sql"])
async def test_every_golden_query_is_legitimate(admin: Connection, name: str) -> None:
    rules = await rules_for(admin, NOTHING)
    failed = []
    for sql in blocks(name):
        verdict = check(sql, rules)
        if any(mark in sql for mark in STILL_REFUSED):
            assert isinstance(verdict, Refused)
            continue
        assert isinstance(verdict, Allowed), verdict
        try:
            async with admin.transaction(readonly=True):
                await admin.fetch(verdict.analysis.body)
        except asyncpg.PostgresError as error:
            failed.append((sql, str(error)))
    assert failed == []


async def test_every_allowed_function_exists_and_none_is_volatile(admin: Connection) -> None:
    rows = await admin.fetch(
        """SELECT DISTINCT proname::text, provolatile = 'v' AS volatile, proretset, l.lanname::text
           FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
           WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ($1)""",
        sorted(allowed.FUNCTIONS),
    )
    assert {row["proname"] for row in rows} == allowed.FUNCTIONS
    assert {row["proname"] for row in rows if row["volatile"]} == allowed.UNREPEATABLE


async def test_no_allowed_function_takes_a_name_to_look_up_or_gives_one(admin: Connection) -> None:
    """Text search names a configuration, a lookup that reads no table of a user's; nothing else does."""
    rows = await admin.fetch(
        """SELECT DISTINCT p.proname::text FROM pg_proc p
           JOIN pg_type t ON t.oid = ANY (p.proargtypes::oid[] || p.prorettype)
           WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY ($1)
             AND (t.typname ~ '^reg' AND t.typname <> 'regconfig'
                  OR t.typname IN ('internal', 'refcursor', 'xml'))
           ORDER BY 1""",
        sorted(allowed.FUNCTIONS),
    )
    # text(xml) is a cast, pg_typeof gives a type's name; numeric_support and such are reached through none of these.
    assert [row["proname"] for row in rows] == ["pg_typeof", "text"]


async def test_every_allowed_operator_exists_and_none_calls_a_volatile_function(admin: Connection) -> None:
    rows = await admin.fetch(
        """SELECT DISTINCT oprname::text, p.provolatile = 'v' AS volatile
           FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
           WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprname = ANY ($1)""",
        sorted(allowed.OPERATORS),
    )
    # The server writes != as <>.
    assert {row["oprname"] for row in rows} == allowed.OPERATORS - {"!="}
    assert [row["oprname"] for row in rows if row["volatile"]] == []


async def test_every_allowed_type_exists_and_is_no_lookup(admin: Connection) -> None:
    spelled = {"smallint", "integer", "int", "bigint", "boolean", "real", "decimal"}
    rows = await admin.fetch(
        """SELECT typname::text, typtype::text, typinput::text FROM pg_type
           WHERE typnamespace = 'pg_catalog'::regnamespace AND typname = ANY ($1)""",
        sorted(allowed.TYPES),
    )
    assert {row["typname"] for row in rows} >= allowed.TYPES - spelled
    assert {row["typtype"] for row in rows} <= {"b", "r", "m"}


async def test_every_relation_of_the_system_is_refused(admin: Connection) -> None:
    rows = await admin.fetch(
        """SELECT n.nspname::text, c.relname::text
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
             AND c.relkind IN ('r', 'v', 't')"""
    )
    assert len(rows) > 200
    passed = [
        (schema, name)
        for schema, name in rows
        for sql in (f'TABLE {schema}."{name}"', f'SELECT * FROM "{name}"')
        # The views of information_schema are found by their bare names only where it is on the path.
        if isinstance(check(sql), Allowed) and not (schema == "information_schema" and "*" in sql)
    ]
    assert passed == []


async def test_a_row_of_a_table_reaches_no_dangerous_function(admin: Connection) -> None:
    """`t.f` calls f with t's row: built-ins that take any row and are volatile all start with pg_."""
    rows = await admin.fetch(
        """SELECT proname::text FROM pg_proc p JOIN pg_type t ON t.oid = p.proargtypes[0]
           WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.provolatile = 'v' AND p.pronargs >= 1
             AND p.pronargs - p.pronargdefaults <= 1 AND t.typname IN ('any', 'anyelement', 'record',
                 'anynonarray', 'anycompatible', 'anycompatiblenonarray')"""
    )
    assert rows
    assert [row["proname"] for row in rows if not row["proname"].startswith("pg_")] == []


async def test_the_dot_that_reads_files_is_real(admin: Connection) -> None:
    sql = "SELECT f.pg_read_file FROM unnest(ARRAY['PG_VERSION']) AS f"
    assert (await admin.fetchval(sql)).strip() == "18"
    assert not isinstance(check(sql), Allowed)


async def test_the_server_says_what_the_unit_tests_take_for_granted(admin: Connection) -> None:
    rules = await rules_for(admin, NOTHING)
    assert (rules.version, rules.database) == (18, "shop")
    assert rules.types == SHOP.types
    assert rules.relations == SHOP.relations
    assert rules.callable_fields is not None
    assert rules.callable_fields > (SHOP.callable_fields or set())
    assert not rules.callable_fields & {"town", "zip", "street", "name", "pg_level", "upper", "mood", "email"}
    assert rules.dropped == ()


async def test_no_attack_passes_where_the_server_was_asked(admin: Connection) -> None:
    """But for what is none on this server: its own types and tables, fields that nothing answers to."""
    rules = await rules_for(admin, NOTHING)
    passed = [
        attack
        for attack in attacks()
        if isinstance(check(attack.sql, replace(rules, version=attack.version)), Allowed)
    ]
    own = {"mood", "public.mood", "email", "pg_accounts", "names a database"}
    assert {attack.named for attack in passed if attack.reason is not Reason.FIELD} == own
    ran = []
    for attack in passed:
        if attack.reason is Reason.FIELD:
            try:
                await admin.fetch(attack.sql)
            except (asyncpg.UndefinedColumnError, asyncpg.WrongObjectTypeError):
                continue
            ran.append(attack.named)
    # A column, and calls of functions that are allowed.
    assert sorted(ran) == ["pg_column_size", "pg_level", "upper"]


async def test_types_of_others_are_not_trusted(admin: Connection) -> None:
    await admin.execute(
        """CREATE ROLE eve; GRANT CREATE ON SCHEMA public, sales TO eve;
        SET ROLE eve;
        CREATE TYPE sales.trap AS ENUM ('a'); CREATE TYPE public.stage AS ENUM ('b');
        CREATE FUNCTION public.evil(text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
        RESET ROLE; REVOKE CREATE ON SCHEMA public, sales FROM eve;
        CREATE DOMAIN checked AS text CHECK (public.evil(VALUE));
        CREATE TYPE holds AS (a checked[]); CREATE TYPE holds_trap AS (a sales.trap);
        CREATE TYPE points AS (at regclass); CREATE TYPE fine AS (a mood[], b postal, c int)"""
    )
    try:
        rules = await rules_for(admin, Allowances(types=("sales.trap", "public.nothing")))
        names = {name for _, name in rules.types}
        assert "fine" in names
        assert not names & {"trap", "checked", "holds", "holds_trap", "points"}
        assert ("sales", "stage") in rules.types
        assert isinstance(check("SELECT 'won'::sales.stage", rules), Allowed)
        assert isinstance(check("SELECT 'won'::stage", rules), Refused)
        assert {(each.name, each.why) for each in rules.dropped} == {
            ("sales.trap", "its owner is not trusted"),
            ("public.nothing", "this database has no such type"),
        }
        assert "evil" in (rules.callable_fields or ())
        trusting = await rules_for(admin, Allowances(types=("sales.trap",)), ["eve"])
        assert {("sales", "trap"), ("public", "checked")} <= trusting.types
    finally:
        await admin.execute("DROP OWNED BY eve CASCADE; DROP ROLE eve")


async def test_extensions_are_allowed_but_for_what_is_dangerous_in_them(admin: Connection) -> None:
    whole = ("pg_trgm", "vector", "citext", "unaccent", "fuzzystrmatch", "hstore", "ltree")
    for extension in (*whole, "tablefunc", "dblink"):
        await admin.execute(f"CREATE EXTENSION {extension}")
    wished = Allowances(extensions=whole, functions=("public.crosstab", "public.dblink", "public.nothing"))
    rules = await rules_for(admin, wished)
    for sql in (
        "SELECT similarity(name, 'Adah'), word_similarity('a', name) FROM customers WHERE name % 'Adah'",
        "SELECT name FROM customers ORDER BY name <-> 'Ada', name <<-> 'Ada' LIMIT 3",
        "SELECT '[1,2]'::vector <=> '[2,3]', cosine_distance('[1]'::public.vector, '[2]')",
        "SELECT 'A'::citext = 'a', unaccent('é'), levenshtein('kitten', 'sitting')",
        "SELECT 'a=>1'::hstore -> 'a', 'a=>1'::hstore ? 'a', akeys('a=>1'::hstore), 'Top.Sea'::ltree <@ 'Top'",
    ):
        verdict = check(sql, rules)
        assert isinstance(verdict, Allowed), verdict
        await admin.fetch(sql)
    why = {each.name: each.why for each in rules.dropped}
    assert why["public.crosstab"] == "it may run a text as SQL or reach elsewhere"
    assert why["public.dblink"] == "it is volatile"
    assert why["public.set_limit"] == "it is volatile"
    assert why["public.citextin"] == "it takes or gives a name to look up"
    assert why["public.nothing"] == "this database has no such function"
    refused = check("SELECT * FROM crosstab('SELECT 1') AS t (a int)", rules)
    assert isinstance(refused, Refused)
    assert refused.hint == "public.crosstab cannot be allowed: it may run a text as SQL or reach elsewhere."
    one = await rules_for(admin, Allowances(operators=("public.<=>", "public.@#@")))
    assert isinstance(check("SELECT 'a' <=> 'b'", one), Allowed)
    assert [each.name for each in one.dropped] == ["public.@#@"]


async def test_a_function_of_others_spoils_the_name(admin: Connection) -> None:
    await admin.execute(
        """CREATE EXTENSION fuzzystrmatch; CREATE ROLE eve; GRANT CREATE ON SCHEMA public, sales TO eve; SET ROLE eve;
        CREATE FUNCTION public.levenshtein(text, varchar) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
        CREATE FUNCTION sales.soundex(varchar) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'x'$$;
        RESET ROLE; REVOKE CREATE ON SCHEMA public, sales FROM eve"""
    )
    try:
        rules = await rules_for(
            admin, Allowances(functions=("public.levenshtein", "public.soundex", "sales.soundex"))
        )
        assert rules.functions == {("public", "soundex")}
        assert {each.name for each in rules.dropped} == {"public.levenshtein", "sales.soundex"}
        assert isinstance(check("SELECT public.soundex('a')", rules), Allowed)
        assert isinstance(check("SELECT soundex('a')", rules), Refused)
    finally:
        await admin.execute("DROP OWNED BY eve CASCADE; DROP ROLE eve")


async def test_what_others_may_put_something_in_the_place_of_is_not_trusted(admin: Connection) -> None:
    await admin.execute(
        """CREATE EXTENSION fuzzystrmatch; CREATE ROLE eve; CREATE SCHEMA eves AUTHORIZATION eve;
        CREATE FUNCTION eves.given(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
        CREATE EXTENSION ltree SCHEMA eves"""
    )
    wished = Allowances(extensions=("fuzzystrmatch", "ltree"), functions=("eves.given",))
    try:
        rules = await rules_for(admin, wished)
        why = {each.name: each.why for each in rules.dropped}
        belongs = 'its schema belongs to role "eve", which is not trusted'
        assert (
            why["eves.given"] == why["eves.ltree_addltree"] == why["eves.||"] == why["eves.ltree"] == belongs
        )
        assert ("public", "soundex") in rules.functions
        assert ("eves", "||") not in rules.operators
        for grantee in ("PUBLIC", "eve"):
            await admin.execute(f"GRANT CREATE ON SCHEMA public TO {grantee}")
            dropped = {each.name: each.why for each in (await rules_for(admin, wished)).dropped}
            revoke = f"REVOKE CREATE ON SCHEMA public FROM {grantee}"
            assert dropped["public.soundex"] == f"others may create in its schema: {revoke}"
            await admin.execute(revoke)
        assert ("public", "soundex") in (await rules_for(admin, wished)).functions
        assert ("eves", "||") in (await rules_for(admin, wished, ["eve"])).operators
        await admin.execute("DROP EXTENSION fuzzystrmatch")
        await admin.execute("GRANT CREATE ON DATABASE shop TO eve; GRANT CREATE ON SCHEMA public TO eve")
        await admin.execute("SET ROLE eve; CREATE EXTENSION fuzzystrmatch; RESET ROLE")
        await admin.execute("REVOKE CREATE ON SCHEMA public FROM eve")
        dropped = {each.name: each.why for each in (await rules_for(admin, wished)).dropped}
        assert dropped["public.soundex"] == 'its extension belongs to role "eve", which is not trusted'
    finally:
        await admin.execute("RESET ROLE; DROP OWNED BY eve CASCADE; DROP ROLE eve")


async def test_a_with_query_hides_a_system_table_from_the_server_too(admin: Connection) -> None:
    for sql, rows in (
        ("WITH pg_class AS (SELECT 7 AS x) SELECT x FROM pg_class", [(7,)]),
        ("WITH RECURSIVE a AS (SELECT x FROM pg_class), pg_class AS (SELECT 7 AS x) SELECT x FROM a", [(7,)]),
        ("WITH pg_class AS (SELECT 7 AS x) SELECT (SELECT x FROM (SELECT x FROM pg_class) s)", [(7,)]),
        ("WITH pg_class AS (SELECT 7 AS x) (SELECT 8 AS x UNION TABLE pg_class) ORDER BY x", [(7,), (8,)]),
    ):
        assert isinstance(check(sql), Allowed)
        assert [tuple(row) for row in await admin.fetch(sql)] == rows


async def test_names_that_versions_bring_are_there(admin: Connection) -> None:
    assert versions.FUNCTIONS.keys() <= allowed.FUNCTIONS
    assert versions.TYPES.keys() <= allowed.TYPES
    assert versions.NODES.keys() <= allowed.NODES


async def test_a_statement_at_the_limits_is_quick(admin: Connection) -> None:
    """What the guard's limits let pass ends in seconds, whatever it is (docs/security.md)."""
    await admin.execute("SET statement_timeout = 5000")
    for sql in (
        "SELECT length(repeat('x', 100000))",
        "SELECT length(translate(lpad('', 3000, 'a'), lpad('', 3000, 'b'), ''))",
        "SELECT factorial(1000), 2.0 ^ 10000, power(10.0, 10000)",
        "SELECT count(*) FROM generate_series(1, 1000) a, generate_series(1, 1000) b",
        "SELECT length(string_agg(lpad('', 1000, 'x'), '')) FROM generate_series(1, 10000)",
        "SELECT cardinality(array_fill(0, ARRAY[100000]))",
    ):
        assert isinstance(check(sql), Allowed), check(sql)
        await admin.fetch(sql)
