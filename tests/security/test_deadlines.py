"""Every call to the engine is back in time, whatever the asker's own code or statement does with the server."""

from __future__ import annotations

import time

import asyncpg
import pytest

from engine.values.settings import UpstreamSettings
from tests.security import engine_door
from tests.security.arena import ATTACKER, VICTIM, Arena
from tests.security.attacks import Attack
from tests.security.servers import NEWEST

SLACK = 0.5
"""Seconds after the deadline within which a call is back."""

_LOOP = "CREATE FUNCTION a.stuck() RETURNS text LANGUAGE plpgsql {volatility} AS $$ {body} $$;"

STUCK = {
    "a loop": "BEGIN LOOP PERFORM 1; END LOOP; END",
    "a loop that survives being cancelled": """
        BEGIN
            LOOP
                BEGIN
                    LOOP PERFORM 1; END LOOP;
                EXCEPTION WHEN query_canceled OR lock_not_available THEN NULL;
                END;
            END LOOP;
        END""",
    "a wait that survives being cancelled": """
        BEGIN
            LOOP
                BEGIN
                    PERFORM pg_catalog.pg_sleep(60);
                EXCEPTION WHEN query_canceled THEN NULL;
                END;
            END LOOP;
        END""",
    "one call that looks for no interrupts": """
        BEGIN
            RETURN pg_catalog.length(pg_catalog.translate(
                pg_catalog.lpad('', 500000, 'abc'), pg_catalog.lpad('', 2000, 'x'), ''));
        END""",
    "a timeout that it takes away from itself": """
        BEGIN
            PERFORM pg_catalog.set_config('statement_timeout', '0', true);
            LOOP PERFORM 1; END LOOP;
        END""",
    "recursion": "BEGIN RETURN a.stuck() || a.stuck(); END",
}
"""Bodies of functions of the asker's own, that do not come back."""


@pytest.mark.parametrize("server", NEWEST, indirect=True)
@pytest.mark.parametrize("stuck", STUCK)
@pytest.mark.parametrize("folded", [True, False], ids=["planned", "run"])
async def test_a_call_is_back_in_time(arena: Arena, stuck: str, *, folded: bool) -> None:
    volatility = "IMMUTABLE" if folded else "VOLATILE"
    made = _LOOP.format(volatility=volatility, body=STUCK[stuck])
    await arena.plant(Attack(stuck, made + "CREATE VIEW a.v AS SELECT a.stuck() AS c;", ()))
    settings = UpstreamSettings(pool_size=2, statement_timeout=0.4)
    async with engine_door.opened(arena, settings) as door:
        for ask in (door.explain, door.run):
            started = time.monotonic()
            await ask(ATTACKER, "SELECT c FROM a.v", seconds=1.0)
            assert time.monotonic() - started < 1.0 + SLACK
            # Nor is the next statement kept waiting by what the last one left.
            started = time.monotonic()
            assert "Result(" in await door.run(VICTIM, "SELECT 1", seconds=1.0)
            assert time.monotonic() - started < 1.0


async def test_a_locked_table_holds_nobody_up(arena: Arena) -> None:
    await arena.plant(Attack("lock", "CREATE TABLE a.t (c text);", ()))
    holder = await asyncpg.connect(arena.dsn(ATTACKER))
    try:
        await holder.execute("BEGIN; LOCK TABLE a.t IN ACCESS EXCLUSIVE MODE")
        settings = UpstreamSettings(pool_size=2, lock_timeout=0.3)
        async with engine_door.opened(arena, settings) as door:
            started = time.monotonic()
            told = await door.explain(VICTIM, "SELECT c FROM a.t", seconds=5.0)
            assert "55P03" in told
            assert time.monotonic() - started < 0.3 + SLACK
    finally:
        await holder.close()
