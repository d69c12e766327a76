"""What the engine reads with the catalog's login (schema, privileges, sample values) runs nobody's planted code."""

from __future__ import annotations

import asyncpg

from engine.link.value_reader import read_values
from schema_catalog.introspect import introspect
from schema_catalog.refresh import ConnectSettings
from tests.security import engine_door
from tests.security.arena import CATALOG, VICTIM, Arena
from tests.security.attacks import Attack
from tests.security.cases import on_every_attack
from tests.security.engine_door import Door


@on_every_attack
async def test_the_catalogs_login_runs_nobodys_code(arena: Arena, door: Door, attack: Attack) -> None:
    await arena.plant(attack)
    connection = await asyncpg.connect(arena.dsn(CATALOG))
    try:
        snapshot = await introspect(connection, door.database)
    finally:
        await connection.close()
    await door.databases.readable(door.database, engine_door.asker(VICTIM))
    await door.databases.row_secured(door.database)
    columns = [(*table.key, column.name) for table, column in snapshot.columns()]
    await read_values(door.database, snapshot, columns, door.databases, ConnectSettings())
    assert columns, "nothing was there to read"
    assert not arena.log.sightings()
