"""The database's privileges hold alone, and who asks is who the server sees, whatever a role is called or has set."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from schema_catalog.naming import quote_ident
from tests.security import engine_door
from tests.security.arena import ATTACKER, CATALOG, SECRET, VICTIM, Arena
from tests.security.attacks import Attack
from tests.security.engine_door import Door, opened

PLANT = """
CREATE TABLE a.notes (c text);
CREATE SEQUENCE a.numbers;
CREATE FUNCTION a.read_as(target text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
        loot text;
    BEGIN
        EXECUTE format('SET LOCAL ROLE %I', target);
        SELECT secret INTO STRICT loot FROM b.secrets;
        RETURN loot;
    END $$;
CREATE FUNCTION a.commanded(command text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
        loot text;
    BEGIN
        EXECUTE command;
        SELECT secret INTO STRICT loot FROM b.secrets;
        RETURN loot;
    END $$;
CREATE PROCEDURE a.ending() LANGUAGE plpgsql AS $$ BEGIN ROLLBACK; SET ROLE role_b; END $$;
"""

CLIMBS = (
    "SELECT a.spy()",
    "SELECT a.climb('role_b'), a.climb('none'), a.climb('catalog'), a.climb('postgres')",
    "SELECT a.read_as('role_b')",
    "SELECT a.read_as('catalog')",
    "SELECT a.commanded('RESET ROLE')",
    "SELECT a.commanded('RESET SESSION AUTHORIZATION')",
    "SELECT a.commanded('SET SESSION AUTHORIZATION role_b')",
    "SELECT a.commanded('SET LOCAL SESSION AUTHORIZATION DEFAULT')",
    "SELECT a.commanded('RESET ALL')",
    "SELECT a.commanded('CALL a.ending()')",
    "SELECT a.commanded('GRANT role_b TO role_a')",
    "SELECT set_config('role', 'role_b', false), a.commanded('SELECT 1')",
    "SELECT set_config('role', 'none', false), a.commanded('SELECT 1')",
    "SELECT set_config('session_authorization', 'role_b', false), a.commanded('SELECT 1')",
    "SELECT secret FROM b.secrets",
    "SELECT pg_read_file('pg_hba.conf')",
    "SELECT usename, query FROM pg_stat_activity",
    "SELECT rolpassword FROM pg_authid",
)

WRITES = (
    "WITH w AS (INSERT INTO a.notes VALUES ('x') RETURNING c) SELECT c FROM w",
    "SELECT a.commanded('INSERT INTO a.notes VALUES (''x'')')",
    "SELECT a.commanded('SET TRANSACTION READ WRITE')",
    "SELECT set_config('transaction_read_only', 'off', false), a.commanded('INSERT INTO a.notes VALUES (''x'')')",
    "SELECT nextval('a.numbers')",
    "SELECT lo_create(7777)",
    "SELECT a.commanded('CREATE TABLE a.made (c text)')",
    "SELECT c INTO a.made FROM a.notes",
)


@pytest.fixture
def unguarded(door: Door, monkeypatch: pytest.MonkeyPatch) -> Door:
    engine_door.open_the_guard(monkeypatch)
    return door


async def test_nobody_climbs_and_nothing_is_written(arena: Arena, unguarded: Door) -> None:
    await arena.plant(Attack("climbs", PLANT, ()))
    for statement in CLIMBS:
        assert SECRET not in await unguarded.all_of_it(ATTACKER, statement), statement
        risen = [sighting for sighting in arena.log.sightings() if not sighting.harmless_for(ATTACKER)]
        assert not risen, statement
    for statement in WRITES:
        await unguarded.all_of_it(ATTACKER, statement)
        left = await arena.admin.fetchrow(
            "SELECT (SELECT count(*) FROM a.notes), (SELECT is_called FROM a.numbers),"
            " pg_catalog.to_regclass('a.made'), (SELECT count(*) FROM pg_catalog.pg_largeobject_metadata)"
        )
        assert tuple(left or ()) == (0, False, None, 0), statement


NAMES = (
    "role_b@localhost",
    "role_b&user=role_b",
    "x?user=role_b",
    "x%40role_b",
    "role_b%00",
    "role_b:secret@elsewhere",
    "role_b/arena",
    "*",
    "${user}",
    "Role_B",
    "role_b ",
    'role"b',
    "role'b",
    "role\\b",
    "röle_b",
    "role_b; SET ROLE role_b",
    "NONE",
    "--",
)
"""Names that mean somebody else where they are put into an address or a statement without care."""

SETTINGS = (
    "standard_conforming_strings = off",
    "client_encoding = 'SJIS'",
    "client_encoding = 'SQL_ASCII'",
    "search_path = 'a, public'",
    "default_transaction_read_only = off",
    "row_security = off",
    "quote_all_identifiers = on",
    "constraint_exclusion = on",
    "transform_null_equals = on",
    "backslash_quote = on",
    "bytea_output = escape",
    "datestyle = 'SQL, DMY'",
    "statement_timeout = 0",
    "lock_timeout = 0",
    "idle_in_transaction_session_timeout = 0",
    "client_min_messages = debug5",
    "application_name = 'role_b'",
)
"""What a role may set for itself, to be read by the server in each session of its own."""


@pytest.fixture
async def others(arena: Arena) -> AsyncIterator[Arena]:
    """The arena with a role of each name."""
    names = ", ".join(quote_ident(name) for name in NAMES)
    for name in NAMES:
        await arena.admin.execute(f"CREATE ROLE {quote_ident(name)} LOGIN")
    await arena.admin.execute(f"GRANT {names} TO {CATALOG}")
    yield arena
    await arena.admin.execute(f"DROP ROLE {names}")


async def test_no_name_is_taken_for_another(others: Arena, door: Door) -> None:
    for name in NAMES:
        told = await door.run(name, "SELECT current_user")
        assert repr(((name,),)) in told or "Result(" not in told, (name, told)
        # Whose table it is decides before the server is asked what the role may read.
        assert 'code of role "role_b"' in await door.run(name, "SELECT secret FROM b.secrets")


async def test_a_name_that_is_no_roles_is_nobody(door: Door) -> None:
    for name in ("none", "role_b\0x", "role_b\n", "ROLE_B", "postgres", "nobody", ""):
        told = await door.run(name, "SELECT secret FROM b.secrets")
        assert "Result(" not in told, name
        assert "the secret" not in told, name


async def test_a_roles_own_settings_change_nothing(arena: Arena) -> None:
    sql = r"SELECT '\', ' , pg_backend_pid(), \', '表', NULL = NULL, DATE '2020-01-02', '\x5c'::bytea"
    try:
        for setting in SETTINGS:
            changed = f"ALTER ROLE {ATTACKER} RESET ALL; ALTER ROLE {ATTACKER} SET {setting}"
            await arena.as_role(ATTACKER, changed)
            # A session reads what its role has set when it begins.
            async with opened(arena) as door:
                expected = await door.run(VICTIM, sql)
                assert "Result(" in expected
                assert await door.run(ATTACKER, sql) == expected, setting
    finally:
        await arena.admin.execute(f"ALTER ROLE {ATTACKER} RESET ALL")


LEFT = (
    "PERFORM pg_catalog.pg_advisory_lock(42)",
    "EXECUTE 'PREPARE left_behind AS SELECT 1'",
    "PERFORM pg_catalog.set_config('search_path', 'a', false)",
    "EXECUTE 'LISTEN left_behind'",
    "EXECUTE 'DECLARE left_behind CURSOR WITH HOLD FOR SELECT 1'",
    "PERFORM pg_catalog.set_config('session_authorization', 'role_a', false)",
)
"""What a function can leave in a session, in spite of a rollback."""


async def test_no_session_serves_two_askers(arena: Arena) -> None:
    """Whatever one asker's code leaves in its session, the next asker's statement does not run in it."""
    note = "RAISE LOG 'planted|%|%|%', current_user, session_user, pg_catalog.pg_backend_pid()"
    head = "RETURNS text LANGUAGE plpgsql VOLATILE AS"
    victim = f"""CREATE FUNCTION b.note() {head} $$ BEGIN {note}; RETURN 'x'; END $$;
                 CREATE VIEW b.noted AS SELECT b.note() AS c;"""
    await arena.as_role(VICTIM, victim)
    for leave in LEFT:
        planted = f"""CREATE OR REPLACE FUNCTION a.leave() {head} $$
                BEGIN {note}; {leave}; RETURN 'x'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $$;
            CREATE OR REPLACE VIEW a.left_behind AS SELECT a.leave() AS c;"""
        await arena.as_role(ATTACKER, planted)
        async with opened(arena) as door:
            # A role's own code may run where that role asks: it can do nothing there that the role could not.
            assert "Result(" in await door.run(ATTACKER, "SELECT c FROM a.left_behind"), leave
            assert "Result(" in await door.run(VICTIM, "SELECT c FROM b.noted"), leave
        first, second = arena.log.sightings()
        assert (first.current_user, first.session_user) == (ATTACKER, ATTACKER)
        assert (second.current_user, second.session_user) == (VICTIM, VICTIM)
        assert first.loot != second.loot, f"one backend served both: {leave}"
