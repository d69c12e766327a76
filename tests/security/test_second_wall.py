"""The database's privileges hold alone: with a guard that lets everything through, nobody becomes somebody else."""

from __future__ import annotations

import pytest

from tests.security import engine_door
from tests.security.arena import ATTACKER, SECRET, Arena
from tests.security.attacks import Attack
from tests.security.engine_door import Door

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
